package main

import (
	"fmt"
	"slices"

	"fortio.org/fortio/stats"
)

// otherStatus stands for a status that a part of a mix does not expect, but its first part does.
const otherStatus = 0

// Part is a request of a mix.
type Part struct {
	// Name in the report.
	Name string `json:"name"`
	// Request as it is sent, every time.
	Request []byte `json:"request"`
	// ServerName that TLS handshakes ask for, an address if none; null without TLS.
	ServerName *string `json:"serverName"`
	// Status of an answer that is a success.
	Status int `json:"status"`
	// Weight of its share of the connections.
	Weight int64 `json:"weight"`
}

// PartReport is what was found of a part of a mix.
type PartReport struct {
	Name string
	// Connections that carried it.
	Connections int
	// Expected counts complete answers of the expected status, and Failed all other requests.
	Expected, Failed int64
	// DurationHistogram of all its requests, in seconds.
	DurationHistogram *stats.HistogramData
}

// parts returns the part that each connection carries. Connections take turns on a schedule, so parts
// do, too: side by side, those of one part would send a burst in each round.
func (t *Task) parts() ([]*Part, error) {
	parts := make([]*Part, 0, t.Connections)
	if len(t.Parts) == 0 {
		return slices.Repeat([]*Part{{Request: t.Request, ServerName: t.ServerName, Status: t.Status}}, t.Connections), nil
	}
	if t.Connections < len(t.Parts) {
		return nil, fmt.Errorf("%d connections are too few for a mix of %d requests", t.Connections, len(t.Parts))
	}
	shares := t.shares()
	carried := make([]int, len(shares))
	for range t.Connections {
		next := 0
		for i := range shares {
			if (2*carried[i]+1)*shares[next] < (2*carried[next]+1)*shares[i] {
				next = i
			}
		}
		carried[next]++
		parts = append(parts, &t.Parts[next])
	}
	return parts, nil
}

// shares returns the connections of each part: as its weight says, but one at least. Every further
// connection goes to the part that has the fewest for its weight.
func (t *Task) shares() []int {
	shares := slices.Repeat([]int{1}, len(t.Parts))
	for range t.Connections - len(t.Parts) {
		neediest := 0
		for i := range shares {
			mine := int64(shares[i]+1) * t.Parts[neediest].Weight
			if mine < int64(shares[neediest]+1)*t.Parts[i].Weight {
				neediest = i
			}
		}
		shares[neediest]++
	}
	return shares
}

// shown returns the status under which an answer to a part counts: all successes count together, and
// no failure looks like one.
func (t *Task) shown(part *Part, status int) int {
	switch status {
	case part.Status:
		return t.Status
	case t.Status:
		return otherStatus
	default:
		return status
	}
}

// partReports returns the reports of the parts in their order; nil if there is one request.
func partReports(task *Task, clients []*Client) []PartReport {
	var reports []PartReport
	for i := range task.Parts {
		part := &task.Parts[i]
		report := PartReport{Name: part.Name}
		times := stats.NewHistogram(clients[0].times.Offset, clients[0].times.Divider)
		for _, client := range clients {
			if client.part != part {
				continue
			}
			report.Connections++
			times.Transfer(client.times)
			for status, count := range client.statuses {
				if status == part.Status {
					report.Expected += count
				} else {
					report.Failed += count
				}
			}
		}
		report.DurationHistogram = &stats.HistogramData{}
		if times.Count > 0 {
			report.DurationHistogram = times.Export()
		}
		reports = append(reports, report)
	}
	return reports
}
