// A JSON API with net/http, for end-to-end tests. An order reads the item's row and writes one. With the argument
// `load`, the plain client of client.go.
package main

import (
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"

	_ "github.com/lib/pq"
)

const statement = `with item as (select id, name, cents from items where id = $1::int),
written as (insert into orders (item, pieces) select id, $2::int from item)
select name, cents * $2::int as total from item`

type order struct {
	Item   int `json:"item"`
	Pieces int `json:"pieces"`
}

type bill struct {
	Name  string `json:"name"`
	Total int    `json:"total"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "load" {
		load(os.Args[2:])
		return
	}
	database, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	database.SetMaxIdleConns(8)
	prepared, err := database.Prepare(statement)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /orders", func(writer http.ResponseWriter, request *http.Request) {
		take(prepared, writer, request)
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}

func take(prepared *sql.Stmt, writer http.ResponseWriter, request *http.Request) {
	var requested order
	if err := json.NewDecoder(request.Body).Decode(&requested); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	var found bill
	if err := prepared.QueryRow(requested.Item, requested.Pieces).Scan(&found.Name, &found.Total); err != nil {
		http.Error(writer, err.Error(), http.StatusInternalServerError)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	writer.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(writer).Encode(found)
}
