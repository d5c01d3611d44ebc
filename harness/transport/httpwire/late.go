package httpwire

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Some servers wrongly send a body after the response to HEAD, or after a 204 or 304, often later than the head. The
// exchange is over then, and the next one on the connection would read the body as its response. So a connection
// remembers its last exchange and what follows it. After a response without a body, no other exchange uses the
// connection until Late.

// afterHead is how long Late waits for a body that must not follow.
const afterHead = 5 * time.Millisecond

// Late adds a Failure to complete exchanges if more was received on their connections after them. If the last of them
// ended just now, it waits a moment. The current time is given as the offset at.
func (c *Client) Late(ctx context.Context, at time.Duration, exchanges []*transcript.Exchange) {
	if c == nil { // of a target without HTTP
		return
	}
	if wait := c.pool.lastBodiless(exchanges) + afterHead - at; wait > 0 {
		select {
		case <-time.After(min(wait, afterHead)):
		case <-ctx.Done():
		}
	}
	for _, x := range exchanges {
		if extra := c.pool.takeLate(x); extra != nil && x.Failure == nil {
			f := asWireError(bytesFollow(extra)).Failure()
			x.Failure = &f
		}
	}
}

// lastBodiless returns when the last exchange without a body ended whose connection is in the pool. Without such an
// exchange, the result is long ago.
func (p *pool) lastBodiless(exchanges []*transcript.Exchange) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := -afterHead
	for _, cn := range p.idle {
		if x := cn.last; cn.held && slices.Contains(exchanges, x) {
			last = max(last, x.Done)
		}
	}
	return last
}

// takeLate returns what was received after an exchange, and forgets it.
func (p *pool) takeLate(x *transcript.Exchange) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.idle, func(cn *conn) bool { return cn.last == x }); i >= 0 {
		cn := p.idle[i]
		if !p.check(cn) || cn.noReuse {
			cn.Close()
			p.idle = slices.Delete(p.idle, i, i+1)
		}
		cn.last, cn.held = nil, false
	}
	extra := p.late[x]
	delete(p.late, x)
	return extra
}

// maxLate limits what is remembered of exchanges for which Late is not called.
const maxLate = 1000

// check reports whether a connection is alive, and remembers what was received on it. A server may send 408 and close:
// "the server did not receive a complete request message within the time that it was prepared to wait" (RFC 9110
// §15.5.9).
func (p *pool) check(cn *conn) bool {
	if cn.alive() {
		return true
	}
	if len(cn.unexpected) > 0 && cn.last != nil && !bytes.HasPrefix(cn.unexpected, []byte("HTTP/1.1 408")) && len(p.late) < maxLate {
		if p.late == nil {
			p.late = map[*transcript.Exchange][]byte{}
		}
		p.late[cn.last] = cn.unexpected
	}
	return false
}
