package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"fortio.org/fortio/periodic"
	"fortio.org/log"
)

// Task is what to send, and how much of it.
type Task struct {
	// Address and port of the only host that requests are sent to.
	Address string `json:"address"`
	// Request as it is sent, every time.
	Request []byte `json:"request"`
	// ServerName that TLS handshakes ask for, an address if none; null without TLS.
	ServerName *string `json:"serverName"`
	// Status of an answer that is a success.
	Status int `json:"status"`
	// Parts of a mix; empty if there is one request. Each gets a share of the connections, and so of
	// the rate of a schedule. Request, ServerName and Status are then those of the first.
	Parts []Part `json:"parts"`
	// Connections that send requests at the same time.
	Connections int `json:"connections"`
	// KeepAlive is whether a connection carries more than one request.
	KeepAlive bool `json:"keepAlive"`
	// Requests to send in all; 0 if Nanoseconds limit the load.
	Requests int64 `json:"requests"`
	// Nanoseconds for which requests are sent; 0 if Requests limit the load.
	Nanoseconds int64 `json:"nanoseconds"`
	// RequestsPerSecond over all connections, evenly spaced; 0 for as many as are answered.
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	// TimeoutNanoseconds of one request, from its first byte to the last of its answer.
	TimeoutNanoseconds int64 `json:"timeoutNanoseconds"`
	// OffsetNanoseconds at which the histogram begins.
	OffsetNanoseconds int64 `json:"offsetNanoseconds"`
	// ResolutionSeconds of the histogram.
	ResolutionSeconds float64 `json:"resolutionSeconds"`
	// Log is a file that gets a line for each request; none if empty.
	Log string `json:"log"`
}

// Report is what fortio's runner found, in fortio's format, and what was observed of the answers.
type Report struct {
	periodic.RunnerResults
	// RetCodes counts complete answers by their status; noAnswer stands for all other requests.
	RetCodes map[int]int64
	Seen     Seen
	// Parts are what was found of each request of a mix.
	Parts []PartReport `json:",omitempty"`
}

// edge is called at the two edges of the timed part. Nothing is sent while start runs.
type edge struct {
	start func() error
	end   func()
}

// garbagePercent: collecting garbage takes CPU time from the subject and adds to latencies. The heap stays small.
const garbagePercent = 400

// load sends what the task requests.
func load(task *Task, at edge) (*Report, error) {
	debug.SetGCPercent(garbagePercent)
	log.SetLogLevelQuiet(log.Error)
	options, err := task.options()
	if err != nil {
		return nil, err
	}
	parts, err := task.parts()
	if err != nil {
		return nil, err
	}
	runner := periodic.NewPeriodicRunner(options)
	clients := make([]*Client, task.Connections)
	for i := range clients {
		clients[i] = newClient(task, parts[i])
		runner.Options().Runners[i] = clients[i]
	}
	// None is opened in the timed part unless the service ends one.
	each(clients, func(client *Client) {
		client.Run(context.Background(), 0)
		client.forget()
	})
	if err := at.start(); err != nil {
		return nil, fmt.Errorf("was not started: %w", err)
	}
	report := &Report{RunnerResults: runner.Run(), RetCodes: map[int]int64{}}
	at.end()
	slowest := time.Duration(report.DurationHistogram.Max * float64(time.Second))
	each(clients, func(client *Client) { client.finish(slowest) })
	for _, client := range clients {
		for status, count := range client.statuses {
			report.RetCodes[task.shown(client.part, status)] += count
		}
		report.Seen.add(&client.seen)
	}
	report.Parts = partReports(task, clients)
	return report, nil
}

func (t *Task) options() (*periodic.RunnerOptions, error) {
	options := &periodic.RunnerOptions{
		RunType:     "HTTP",
		QPS:         t.RequestsPerSecond,
		Uniform:     t.RequestsPerSecond > 0,
		NumThreads:  t.Connections,
		Exactly:     t.Requests,
		Duration:    time.Duration(t.Nanoseconds),
		Offset:      time.Duration(t.OffsetNanoseconds),
		Resolution:  t.ResolutionSeconds,
		Percentiles: []float64{50, 75, 90, 95, 99, 99.9},
		Out:         io.Discard,
	}
	if options.QPS == 0 {
		options.QPS = -1 // as fast as answers come
	}
	if options.Exactly > 0 {
		options.Duration = -1 // with a duration, the runner would stretch a schedule
	}
	if t.Connections < 1 || t.Requests < 1 && t.Nanoseconds < 1 {
		return nil, fmt.Errorf("the task needs connections, and requests or nanoseconds")
	}
	if t.Requests > 0 && t.Requests < int64(t.Connections) {
		return nil, fmt.Errorf("%d connections are too many for %d requests", t.Connections, t.Requests)
	}
	return options, options.AddAccessLogger(t.Log, "json")
}

// each lets all clients do something at the same time.
func each(clients []*Client, do func(*Client)) {
	var all sync.WaitGroup
	for _, client := range clients {
		all.Go(func() { do(client) })
	}
	all.Wait()
}
