package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
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
// requests again without a word, at several times the CPU time.
type Client struct {
	task *Task
	// asked is what http.ReadResponse needs to know: an answer to HEAD has no body.
	asked  *http.Request
	conn   *net.TCPConn
	reader *bufio.Reader
	// kept says whether the connection has carried an answer before.
	kept bool
	// over says whether nothing more can come on the connection.
	over     bool
	statuses map[int]int64
	seen     Seen
}

func newClient(task *Task) *Client {
	method, _, _ := strings.Cut(string(task.Request), " ")
	return &Client{
		task:     task,
		asked:    &http.Request{Method: method},
		reader:   bufio.NewReaderSize(nil, bufferBytes),
		statuses: map[int]int64{},
	}
}

// Run sends one request and reads its answer to the end. It returns whether the answer was complete
// and of the expected status; and the status, or the failure.
func (c *Client) Run(context.Context, periodic.ThreadID) (bool, string) {
	status, bytes, err := c.ask()
	if err != nil {
		c.close()
		failure := failureOf(err, c.over)
		c.statuses[noAnswer]++
		c.seen.fail(failure)
		return false, string(failure)
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
		c.seen.Resent++
	}
}

func (c *Client) connect(deadline time.Time) error {
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.Dial("tcp", c.task.Address)
	if err != nil {
		return &connectError{err}
	}
	c.conn, c.kept, c.over = conn.(*net.TCPConn), false, false
	c.reader.Reset(c)
	c.seen.Connections++
	return nil
}

// Read reads from the connection.
func (c *Client) Read(bytes []byte) (int, error) {
	read, err := c.conn.Read(bytes)
	c.over = err != nil
	return read, err
}

func (c *Client) exchange(deadline time.Time) (status int, bytes int64, err error) {
	if c.reader.Buffered() > 0 {
		return 0, 0, errExcess
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return 0, 0, err
	}
	if _, err := c.conn.Write(c.task.Request); err != nil {
		return 0, 0, &silence{err}
	}
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
	c.kept = true
	if response.Close {
		c.seen.Announced++
	}
	if response.Close || !c.task.KeepAlive {
		c.close()
	}
	return response.StatusCode, bytes, nil
}

// head reads the head of the answer, past those that only announce it (100 Continue).
func (c *Client) head() (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, c.asked)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}

// wasOver says whether the service had ended the connection before it took the request. A service
// may do so after any answer, and whoever uses it sends the request again.
func (c *Client) wasOver(err error) bool {
	var silent *silence
	if !errors.As(err, &silent) {
		return false
	}
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return true
	}
	// Its end says up to where it has received: a request that it received was not answered.
	return errors.Is(err, io.EOF) && unacknowledged(c.conn) > 0
}

// unacknowledged returns how many bytes the other side has not received, as far as it said.
func unacknowledged(conn *net.TCPConn) (bytes int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { bytes, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	return bytes
}

func (c *Client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// forget drops what was counted so far. The connection stays.
func (c *Client) forget() {
	clear(c.statuses)
	c.seen = Seen{}
}
