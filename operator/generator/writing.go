package main

import "time"

// atOnceBytes is the size of the largest request that is written before its answer is read: the
// kernels keep as much for a service that answers while it still reads. Beyond that, both sides could
// wait for the other to read.
const atOnceBytes = 64 * 1024

// written is how the writing of a request ended.
type written struct {
	bytes int
	err   error
}

// write sends the request: a small one at once, a large one beside the reading of its answer.
func (c *Client) write() (err error) {
	if len(c.task.Request) <= atOnceBytes {
		c.wrote, err = c.conn.Write(c.task.Request)
		return err
	}
	conn, done := c.conn, make(chan written, 1)
	go func() {
		bytes, err := conn.Write(c.task.Request)
		done <- written{bytes, err}
	}()
	c.writing = done
	return nil
}

// finishWriting waits until all of the request is written, or its deadline.
func (c *Client) finishWriting() error {
	if c.writing == nil {
		return nil
	}
	end := <-c.writing
	c.writing, c.wrote = nil, end.bytes
	return end.err
}

// stopWriting ends what is still written of a request whose answer failed.
func (c *Client) stopWriting() {
	if c.writing != nil {
		_ = c.conn.SetWriteDeadline(time.Now())
		_ = c.finishWriting()
	}
}
