package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fortio.org/fortio/periodic"
	"golang.org/x/sys/unix"
)

// noAnswer stands for the status of a request without a complete answer.
const noAnswer = -1

// bufferBytes of a connection. A larger answer takes several reads.
const bufferBytes = 64 * 1024

// Client sends requests, one at a time, on a connection of its own.
//
// fortio's and Go's own clients are not used, because they hide what a service does wrong: the first
// closes connections that a service keeps and takes half an answer for a whole one, the second sends
// requests again silently, at several times the CPU time.
type Client struct {
	task *Task
	// request is what http.ReadResponse needs: an answer to HEAD has no body.
	request *http.Request
	conn    *net.TCPConn
	raw     syscall.RawConn
	reader  *bufio.Reader
	// kept reports whether the connection has carried an answer before.
	kept bool
	// due reports whether the request is sent by the next read.
	due bool
	// wrote is how many bytes of the request were written to the connection.
	wrote int
	// writing gets the end of a request that is written beside the reading; nil if none is.
	writing chan written
	// over reports whether nothing more can come on the connection.
	over     bool
	statuses map[int]int64
	seen     Seen
	// left are the connections that the service has yet to close.
	left sync.WaitGroup
	// excess counts those on which more came than the last answer.
	excess atomic.Int64
}

func newClient(task *Task) *Client {
	method, _, _ := strings.Cut(string(task.Request), " ")
	return &Client{
		task:     task,
		request:  &http.Request{Method: method},
		reader:   bufio.NewReaderSize(nil, bufferBytes),
		statuses: map[int]int64{},
	}
}

// Run sends one request and reads its answer to the end. It returns whether the answer was complete
// and of the expected status; and the status, or the failure.
func (c *Client) Run(context.Context, periodic.ThreadID) (bool, string) {
	status, bytes, err := c.ask()
	if err != nil {
		failure := failureOf(err, c.over)
		c.reset()
		c.statuses[noAnswer]++
		c.seen.Failures[failure]++
		return false, failure.String()
	}
	c.statuses[status]++
	if status != c.task.Status {
		return false, strconv.Itoa(status)
	}
	c.seen.answer(bytes)
	return true, strconv.Itoa(status)
}

// ask returns the status and the bytes of the answer's body.
func (c *Client) ask() (status int, bytes int64, err error) {
	deadline := time.Now().Add(time.Duration(c.task.TimeoutNanoseconds))
	for {
		if c.conn == nil {
			if err := c.connect(deadline); err != nil {
				return 0, 0, err
			}
		}
		status, bytes, err = c.exchange(deadline)
		if err == nil || !c.kept || !c.wasOver(err) {
			return status, bytes, err
		}
		// On a new connection, so no more than once.
		c.close()
		if c.wrote > 0 {
			c.seen.Resent++
		}
	}
}

func (c *Client) connect(deadline time.Time) error {
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.Dial("tcp", c.task.Address)
	if err != nil {
		return &connectError{err}
	}
	c.conn, c.kept, c.over = conn.(*net.TCPConn), false, false
	if c.raw, err = c.conn.SyscallConn(); err != nil {
		return &connectError{err}
	}
	c.reader.Reset(c)
	c.seen.Connections++
	return nil
}

func (c *Client) exchange(deadline time.Time) (status int, bytes int64, err error) {
	if err := c.conn.SetDeadline(deadline); err != nil {
		return 0, 0, err
	}
	c.due, c.wrote = true, 0
	if _, err := c.reader.Peek(1); err != nil {
		return 0, 0, &silence{err}
	}
	response, err := c.head()
	if err != nil {
		return 0, 0, err
	}
	bytes, err = io.Copy(io.Discard, response.Body)
	if err != nil {
		return 0, 0, err
	}
	if c.reader.Buffered() > 0 {
		return 0, 0, errExcess
	}
	c.kept = true
	if c.finishWriting() != nil {
		// It answered and takes no more of the request: the answer counts, the connection is over.
		c.reset()
		return response.StatusCode, bytes, nil
	}
	if response.Close {
		c.seen.Announced++
	}
	if response.Close || !c.task.KeepAlive {
		c.leave()
	}
	return response.StatusCode, bytes, nil
}

// Read reads from the connection. The first read for a request sends it.
func (c *Client) Read(bytes []byte) (read int, err error) {
	if c.due {
		c.due = false
		read, err = c.turn(bytes)
	} else {
		read, err = c.conn.Read(bytes)
	}
	c.over = err != nil
	return read, err
}

// turn sends the request and reads the beginning of its answer. It reads before it sends, too,
// because what comes by then belongs to no request. That takes no more system calls: Go's own Read
// would try just after the request is sent, in vain.
func (c *Client) turn(bytes []byte) (read int, err error) {
	isTurn := false
	waited := c.raw.Read(func(fd uintptr) bool {
		read, err = readNow(int(fd), bytes)
		switch {
		case err != unix.EAGAIN:
			return true
		case isTurn:
			return false
		}
		isTurn = true
		err = c.write()
		return err != nil
	})
	switch {
	case waited != nil:
		return 0, waited
	case err == nil && !isTurn:
		return 0, errExcess
	}
	return read, err
}

// readNow returns EAGAIN if there is nothing to read yet.
func readNow(fd int, bytes []byte) (int, error) {
	for {
		read, err := unix.Read(fd, bytes)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case read == 0:
			return 0, io.EOF
		}
		return read, nil
	}
}

// head reads the head of the answer, past those that only announce it (100 Continue).
func (c *Client) head() (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, c.request)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}

// wasOver reports whether the service had ended the connection before it took any of the request. A
// service may do so after any answer, and whoever uses it sends the request again.
func (c *Client) wasOver(err error) bool {
	c.stopWriting()
	// Its kernel reports up to where it has received: a request that it received was not answered.
	return failureOf(err, c.over) == Closed && (c.wrote == 0 || unacknowledged(c.raw) >= c.wrote)
}

// unacknowledged returns how many bytes the other side has not received, as far as it acknowledged.
func unacknowledged(raw syscall.RawConn) (bytes int) {
	_ = raw.Control(func(fd uintptr) { bytes, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	return bytes
}

// forget drops what was counted so far. The connection stays if it is kept.
func (c *Client) forget() {
	c.left.Wait()
	c.excess.Store(0)
	clear(c.statuses)
	c.seen = Seen{}
}
