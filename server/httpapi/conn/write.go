package conn

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrStalled is why a write fails whose client has stopped reading.
var ErrStalled = errors.New("the client has stopped reading")

// piece is how much a client has to take in the write timeout to count as one that reads.
const piece = 64 << 10

// Write writes p. It fails with [ErrStalled] if the client takes too little of it for too long, and like any write when a
// deadline is set by SetWriteDeadline.
func (c *Conn) Write(p []byte) (n int, err error) {
	for {
		c.extend()
		m, err := c.Conn.Write(p[n:min(n+piece, len(p))])
		n += m
		if err != nil {
			return n, c.explain(err)
		}
		if n >= len(p) {
			return n, nil
		}
	}
}

// extend gives the client its time anew. Setting a deadline costs a tenth of a small write, so it is set a little further
// away than it has to be, and not again until that is used up.
func (c *Conn) extend() {
	if c.writeTimeout == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.given || c.deadline.Sub(now) >= c.writeTimeout {
		return
	}
	c.deadline = now.Add(c.writeTimeout + c.writeTimeout/8)
	_ = c.Conn.SetWriteDeadline(c.deadline) // on a connection that is closed, and the write will say so
}

// SetWriteDeadline sets a deadline that is not extended. It also ends a write that is blocked. The zero time gives
// clients their time again.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.given = !t.IsZero()
	c.deadline = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *Conn) explain(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.given || !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: nothing was taken for %s: %w", ErrStalled, c.writeTimeout, err)
}
