package main

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"
)

// Failure is why a request has no complete answer, or not only that.
type Failure int

const (
	// NoPort: the generator has no local port left for another connection.
	NoPort Failure = iota
	// NotConnected: no connection could be opened, or its TLS handshake failed.
	NotConnected
	// TimedOut: the answer was not complete in time.
	TimedOut
	// Closed: the connection was closed without a byte of the answer.
	Closed
	// Cut: the answer is shorter than announced.
	Cut
	// Excess: more came on the connection than the answer announced.
	Excess
	// Malformed: what came is not HTTP/1.
	Malformed
	failureKinds
)

var failureNames = [failureKinds]string{
	"noPort", "notConnected", "timedOut", "closed", "cut", "excess", "malformed",
}

func (f Failure) String() string { return failureNames[f] }

// Failures counts requests by what went wrong.
type Failures [failureKinds]int64

// MarshalJSON names all of them, so that a reader can check whether it handles all of them.
func (f Failures) MarshalJSON() ([]byte, error) {
	named := map[string]int64{}
	for failure, count := range f {
		named[Failure(failure).String()] = count
	}
	return json.Marshal(named)
}

// connectError: there is no connection.
type connectError struct{ cause error }

func (c *connectError) Error() string { return c.cause.Error() }
func (c *connectError) Unwrap() error { return c.cause }

// silence: not a byte of an answer came.
type silence struct{ cause error }

func (s *silence) Error() string { return s.cause.Error() }
func (s *silence) Unwrap() error { return s.cause }

var errExcess = errors.New("more came than the answer")

// failureOf names an error; over reports whether it came with the end of the connection.
func failureOf(err error, over bool) Failure {
	var connect *connectError
	var silent *silence
	switch {
	case errors.As(err, &connect) && errors.Is(err, syscall.EADDRNOTAVAIL):
		return NoPort
	case errors.As(err, &connect):
		return NotConnected
	case errors.Is(err, os.ErrDeadlineExceeded):
		return TimedOut
	case errors.Is(err, errExcess):
		return Excess
	case errors.As(err, &silent):
		return Closed
	case over:
		return Cut
	default:
		return Malformed
	}
}
