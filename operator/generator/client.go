package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fortio.org/fortio/periodic"
	"fortio.org/fortio/stats"
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
	// part is what it sends.
	part *Part
	// times of its requests, in a mix.
	times *stats.Histogram
	// request is what http.ReadResponse needs: an answer to HEAD has no body.
	request *http.Request
	// conn carries requests and answers; over TLS, it is not the socket itself.
	conn   net.Conn
	socket *net.TCPConn
	raw    syscall.RawConn
	reader *bufio.Reader
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

func newClient(task *Task, part *Part) *Client {
	line, _, _ := bytes.Cut(part.Request, []byte(" "))
	method := string(line)
	return &Client{
		task:     task,
		part:     part,
		times:    stats.NewHistogram(float64(task.OffsetNanoseconds)/1e9, task.ResolutionSeconds),
		request:  &http.Request{Method: method},
		reader:   bufio.NewReaderSize(nil, bufferBytes),
		statuses: map[int]int64{},
	}
}

// Run sends one request and reads its answer to the end. It returns whether the answer was complete
// and of the expected status; and the status, or the failure.
func (c *Client) Run(context.Context, periodic.ThreadID) (bool, string) {
	began := time.Now()
	status, bytes, err := c.ask()
	if len(c.task.Parts) > 0 {
		c.times.Record(time.Since(began).Seconds())
	}
	if err != nil {
		failure := failureOf(err, c.over)
		c.reset()
		c.statuses[noAnswer]++
		c.seen.Failures[failure]++
		return false, failure.String()
	}
	c.statuses[status]++
	if status != c.part.Status {
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
	c.conn, c.kept, c.over = conn, false, false
	c.socket = conn.(*net.TCPConn)
	if c.raw, err = c.socket.SyscallConn(); err != nil {
		return &connectError{err}
	}
	if err := c.shakeHands(deadline); err != nil {
		c.reset()
		return &connectError{err}
	}
	c.reader.Reset(c)
	c.seen.Connections++
	return nil
}

// shakeHands puts TLS between the socket and its user, if the service speaks it, as the kubelet does to
// probe a pod: whatever the certificate is. Each connection makes a whole handshake.
func (c *Client) shakeHands(deadline time.Time) error {
	if c.part.ServerName == nil {
		return nil
	}
	if err := c.socket.SetDeadline(deadline); err != nil {
		return err
	}
	conn := tls.Client(c.socket, &tls.Config{InsecureSkipVerify: true, ServerName: *c.part.ServerName})
	c.conn = conn
	return conn.Handshake()
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
// would try just after the request is sent, in vain. What comes early over TLS is mostly no answer, so
// there it is read afterwards.
func (c *Client) turn(bytes []byte) (read int, err error) {
	if c.part.ServerName != nil {
		if err := c.write(); err != nil {
			return 0, err
		}
		return c.conn.Read(bytes)
	}
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
	c.times.Reset()
	c.seen = Seen{}
}
