// The load generator sends one request over and over on a fixed number of connections, and says
// what came back.
//
// Comes in: a [Task] as one line of JSON on standard input and, once it is ready, an empty line that
// starts the timed part. Goes out: the lines "ready" and "done" on standard error, between which all
// timed requests lie, and a [Report] as JSON on standard output. It sends nothing while it is ready,
// so the caller can read counters at both edges.
//
// Reading order: load.go (one run), client.go (one connection), failure.go (what can go wrong),
// seen.go (what is counted).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(version())
		return
	}
	if err := run(os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
