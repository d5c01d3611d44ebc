package httpwire

import (
	"crypto/tls"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A pool holds connections that wait for their next exchange.
type pool struct {
	maxAge time.Duration

	mu     sync.Mutex
	idle   []*conn // the one that has waited longest is first
	late   map[*transcript.Exchange][]byte
	closed bool
}

// maxIdle limits the pool after a burst.
const maxIdle = 128

// get returns a connection that is alive, or nil.
func (p *pool) get() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire(time.Now())
	for i, cn := range slices.Backward(p.idle) {
		if cn.held {
			continue
		}
		p.idle = slices.Delete(p.idle, i, i+1)
		if p.check(cn) {
			cn.reused = true
			return cn
		}
		cn.abort()
	}
	return nil
}

// put adds a connection whose exchange is complete.
func (p *pool) put(cn *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.maxAge < 0 || cn.alive == nil {
		cn.Close()
		return
	}
	cn.since = time.Now()
	p.expire(cn.since)
	if len(p.idle) == maxIdle {
		p.drop(1)
	}
	p.idle = append(p.idle, cn)
}

// expire closes the connections that have waited too long. Only get and put call it, so unused connections may stay
// open until close.
func (p *pool) expire(now time.Time) {
	n := 0
	for n < len(p.idle) && now.Sub(p.idle[n].since) > p.maxAge {
		n++
	}
	p.drop(n)
}

// drop closes the n connections that have waited longest.
func (p *pool) drop(n int) {
	for _, cn := range p.idle[:n] {
		p.check(cn)
		cn.Close()
	}
	p.idle = append(p.idle[:0], p.idle[n:]...)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.drop(len(p.idle))
}

// livenessTLS returns a check for a TLS connection. below is the check of the connection below TLS, and may be nil. TLS
// may have read ahead, so the check also reads from TLS; with a deadline in the past, that does not wait.
func livenessTLS(secure *tls.Conn, below func() bool, unexpected *[]byte) func() bool {
	if below == nil {
		return nil
	}
	return func() bool {
		if !below() || secure.SetReadDeadline(past) != nil {
			return false
		}
		some := make([]byte, maxExcerpt+1)
		n, err := secure.Read(some)
		*unexpected = some[:n]
		return errors.Is(err, os.ErrDeadlineExceeded) && secure.SetReadDeadline(time.Time{}) == nil
	}
}
