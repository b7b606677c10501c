package main

import (
	"errors"
	"os"
)

// Failure is why a request has no complete answer, as one word.
type Failure string

const (
	// NotConnected: no connection could be opened.
	NotConnected Failure = "notConnected"
	// TimedOut: the answer was not complete in time.
	TimedOut Failure = "timedOut"
	// Closed: the connection was closed without a byte of the answer.
	Closed Failure = "closed"
	// Cut: the answer is shorter than announced.
	Cut Failure = "cut"
	// Excess: more came on the connection than the answer before announced.
	Excess Failure = "excess"
	// Malformed: what came is not HTTP/1.
	Malformed Failure = "malformed"
)

// connectError: there is no connection.
type connectError struct{ error }

// silence: not a byte of an answer came.
type silence struct{ cause error }

func (s *silence) Error() string { return s.cause.Error() }
func (s *silence) Unwrap() error { return s.cause }

var errExcess = errors.New("there are bytes after the end of the answer before")

// failureOf names an error; over says whether it came with the end of the connection.
func failureOf(err error, over bool) Failure {
	var connect *connectError
	var silent *silence
	switch {
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
