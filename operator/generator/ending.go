package main

import (
	"io"
	"time"
)

// patience is how long a service may take to close a connection that ends with an answer.
const patience = 100 * time.Millisecond

// Bounds of how long an unrequested answer is waited for at the end of a run.
const (
	shortestRest = 10 * time.Millisecond
	longestRest  = time.Second
)

func (c *Client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// reset ends a connection on which something went wrong. It keeps no port.
func (c *Client) reset() {
	c.stopWriting()
	if c.conn != nil {
		_ = c.socket.SetLinger(0)
		// TLS has no last word here: it could wait for a service that reads no more.
		_ = c.socket.Close()
		c.conn = nil
	}
}

// leave gives up a connection that ends with an answer. The side that closes first keeps the port
// for a minute, and a client has some 28,000 of them. So the service gets time to close first, which
// the next request does not wait for, and then the connection is reset.
func (c *Client) leave() {
	conn, socket := c.conn, c.socket
	c.conn = nil
	c.left.Go(func() {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		extra, err := conn.Read(make([]byte, 1))
		if extra > 0 {
			c.excess.Add(1)
		}
		if err == io.EOF && conn != socket {
			// TLS has ended, and the connection below it mostly ends next.
			_, err = socket.Read(make([]byte, 1))
		}
		if err != io.EOF {
			_ = socket.SetLinger(0)
		}
		_ = conn.Close()
	})
}

// finish closes the connection after the last request, and counts what came on it and on those that
// were left without having been requested.
//
// If a service sends two answers to one request, the second may be taken for the answer to the next
// request, and so on: then it is the answer to the last request that nobody waits for. It takes
// about as long as others.
func (c *Client) finish(slowest time.Duration) {
	c.left.Wait()
	for range c.excess.Load() + c.unrequested(slowest) {
		c.seen.Failures[Excess]++
		if c.statuses[c.part.Status] > 0 {
			c.statuses[c.part.Status]--
			c.statuses[noAnswer]++
		}
	}
	c.close()
}

// unrequested counts the answers that still come.
func (c *Client) unrequested(slowest time.Duration) (count int64) {
	end := time.Now().Add(longestRest)
	wait := min(max(slowest, shortestRest), longestRest)
	for c.conn != nil && time.Now().Before(end) {
		_ = c.conn.SetReadDeadline(time.Now().Add(wait))
		if _, err := c.reader.Peek(1); err != nil {
			break
		}
		count++
		response, err := c.head()
		if err != nil {
			break
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			break
		}
	}
	return count
}
