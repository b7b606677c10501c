// The load generator sends one request over and over on a fixed number of connections, and
// reports what came back.
//
// Comes in: a [Task] as one line of JSON on standard input and, once it is ready, an empty line that
// starts the timed part. Goes out: the lines "ready" and "done" on standard error, between which all
// timed requests lie, and a [Report] as JSON on standard output. It sends nothing while it is ready,
// so the caller can read counters at both edges.
//
// Reading order: load.go (one run), client.go (one connection), writing.go (its requests), ending.go
// (its end), failure.go (what can go wrong), seen.go (what is counted).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(arguments []string) error {
	switch {
	case len(arguments) == 0:
		return run(os.Stdin, os.Stdout, os.Stderr)
	case len(arguments) == 1 && arguments[0] == "version":
		fmt.Println(version())
		return nil
	case len(arguments) == 2 && arguments[0] == "get":
		return get(arguments[1])
	default:
		return errors.New("usage: generator (a task on standard input) | generator version | generator get URL")
	}
}

// get sends one request, for `helm test`, and expects status 200.
func get(url string) error {
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}

func run(in io.Reader, out, edges io.Writer) error {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("could not read the task: %w", err)
	}
	var task Task
	if err := json.Unmarshal(line, &task); err != nil {
		return fmt.Errorf("the task is not one: %w", err)
	}
	report, err := load(&task, edge{
		start: func() error {
			fmt.Fprintln(edges, "ready")
			_, err := lines.ReadBytes('\n')
			return err
		},
		end: func() { fmt.Fprintln(edges, "done") },
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(report)
}

// version is that of fortio's runner, which times the requests.
func version() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == "fortio.org/fortio" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return ""
}
