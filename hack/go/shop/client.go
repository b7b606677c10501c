package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A plain client, which has nothing in common with the load generator but Go: each connection sends one request after
// the other, and opens anew where the answer announces its end. Latency is from the first byte sent, or the connection
// opened for it, to the last byte read.
type client struct {
	address, status string
	request         []byte
	connection      net.Conn
	reader          *bufio.Reader
}

// found is one line of what the client prints.
type found struct {
	Connections     int     `json:"connections"`
	PerSecond       float64 `json:"perSecond"`
	P50Microseconds float64 `json:"p50Microseconds"`
	Failed          int     `json:"failed"`
}

// load waits until the service gives the expected status, and prints a line for each number of connections.
func load(arguments []string) {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	address := flags.String("to", "", "address and port")
	path := flags.String("path", "/", "")
	host := flags.String("host", "", "header Host, if not the address")
	body := flags.String("body", "", "JSON to POST; without it, a GET")
	status := flags.Int("status", http.StatusOK, "expected status")
	connections := flags.String("connections", "1,4", "loads, one after the other")
	seconds := flags.Float64("seconds", 5, "length of each, after one as long that is thrown away")
	_ = flags.Parse(arguments)
	if *host == "" {
		*host = *address
	}
	head := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", *path, *host)
	if *body != "" {
		head = fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n",
			*path, *host, len(*body))
	}
	plain := client{address: *address, status: strconv.Itoa(*status), request: []byte(head + "\r\n" + *body)}
	plain.wait()
	for _, text := range strings.Split(*connections, ",") {
		count, err := strconv.Atoi(text)
		if err != nil {
			log.Fatal(err)
		}
		length := time.Duration(*seconds * float64(time.Second))
		plain.measure(count, length)
		_ = json.NewEncoder(os.Stdout).Encode(plain.measure(count, length))
	}
}

func (c client) wait() {
	for try := 0; ; try++ {
		err := c.ask()
		c.hangUp()
		if err == nil {
			return
		}
		if try == 600 {
			log.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (c client) measure(connections int, length time.Duration) found {
	begin := time.Now()
	latencies := make([][]float64, connections)
	failed := make([]int, connections)
	var all sync.WaitGroup
	for one := range connections {
		all.Go(func() { latencies[one], failed[one] = c.until(begin.Add(length)) })
	}
	all.Wait()
	elapsed := time.Since(begin).Seconds()
	answered := slices.Concat(latencies...)
	slices.Sort(answered)
	result := found{Connections: connections, PerSecond: float64(len(answered)) / elapsed}
	if len(answered) > 0 {
		result.P50Microseconds = answered[len(answered)/2]
	}
	for _, count := range failed {
		result.Failed += count
	}
	return result
}

// until sends requests until the time is up. Each call has a connection of its own, because c is a copy.
func (c client) until(end time.Time) (latencies []float64, failed int) {
	c.connection = nil
	for now := time.Now(); now.Before(end); {
		err := c.ask()
		done := time.Now()
		if err != nil {
			failed++
		} else {
			latencies = append(latencies, float64(done.Sub(now).Nanoseconds())/1000)
		}
		now = done
	}
	c.hangUp()
	return latencies, failed
}

func (c *client) ask() error {
	if c.connection == nil {
		connection, err := net.DialTimeout("tcp", c.address, 10*time.Second)
		if err != nil {
			return err
		}
		c.connection, c.reader = connection, bufio.NewReader(connection)
	}
	keeps, err := c.exchange()
	if err != nil || !keeps {
		c.hangUp()
	}
	return err
}

func (c *client) hangUp() {
	if c.connection != nil {
		_ = c.connection.Close()
		c.connection = nil
	}
}

// exchange sends the request, and returns whether the connection may be used again.
func (c *client) exchange() (bool, error) {
	if err := c.connection.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return false, err
	}
	if _, err := c.connection.Write(c.request); err != nil {
		return false, err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return false, err
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return false, err
	}
	if !strings.HasPrefix(answer.Status, c.status) {
		return !answer.Close, fmt.Errorf("unexpected answer: %s", answer.Status)
	}
	return !answer.Close, nil
}
