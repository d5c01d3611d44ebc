package httpwire

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A server that sends a body behind the answer to HEAD, or behind a 204 or 304, often sends it apart from the head: by then the
// exchange is over, and the next client to use the connection would take it for its answer. So a connection remembers the exchange
// that it had last, and what follows it. After an answer that has no body by itself, no other exchange uses it until Late.

// afterHead is how long a body may take to follow a head that must have none.
const afterHead = 5 * time.Millisecond

// Late makes those exchanges fail that were complete, and after which more came on their connections. It waits for a moment where
// the last of them ended just now: at is the time since the moment from which offsets count.
func (c *Client) Late(ctx context.Context, at time.Duration, exchanges []*transcript.Exchange) {
	if fresh := c.pool.bodiless(exchanges) + afterHead - at; fresh > 0 {
		select {
		case <-time.After(min(fresh, afterHead)):
		case <-ctx.Done():
		}
	}
	for _, x := range exchanges {
		if came := c.pool.followed(x); came != nil && x.Failure == nil {
			f := asWireError(following(came)).Failure()
			x.Failure = &f
		}
	}
}

// bodiless returns when the last exchange without a body ended whose connection waits; long ago when there is none.
func (p *pool) bodiless(exchanges []*transcript.Exchange) time.Duration {
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

// followed returns what came after an exchange.
func (p *pool) followed(x *transcript.Exchange) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.idle, func(cn *conn) bool { return cn.last == x }); i >= 0 {
		cn := p.idle[i]
		if !p.look(cn) || cn.spent {
			cn.Close()
			p.idle = slices.Delete(p.idle, i, i+1)
		}
		cn.last, cn.held = nil, false
	}
	came := p.late[x]
	delete(p.late, x)
	return came
}

// mostLate bounds what is remembered of exchanges that nobody asks for.
const mostLate = 1000

// look reports whether a connection is alive, and remembers what came on it. A server may say 408 and close: "the server did not
// receive a complete request message within the time that it was prepared to wait" (RFC 9110 §15.5.9).
func (p *pool) look(cn *conn) bool {
	if cn.alive() {
		return true
	}
	if len(cn.came) > 0 && cn.last != nil && !bytes.HasPrefix(cn.came, []byte("HTTP/1.1 408")) && len(p.late) < mostLate {
		if p.late == nil {
			p.late = map[*transcript.Exchange][]byte{}
		}
		p.late[cn.last] = cn.came
	}
	return false
}
