package conn

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrStalled is the error of a write to a client that has stopped reading.
var ErrStalled = errors.New("the client has stopped reading")

// piece is how much a client must take within the write timeout to count as reading.
const piece = 64 << 10

// Write writes p. It fails with [ErrStalled] if the client takes too little of it for too long. It also fails at a
// deadline of SetWriteDeadline.
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

// extend renews the client's time. Setting a deadline costs a tenth of a small write. So the deadline is set an
// eighth later than necessary, and is not moved again until that is used up.
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
	_ = c.Conn.SetWriteDeadline(c.deadline) // fails only on a closed connection, and then the write reports it
}

// SetWriteDeadline sets a deadline that is not extended, and that also ends a blocked write. The zero time restores
// the write timeout.
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
