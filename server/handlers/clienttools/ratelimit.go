package clienttools

import (
	"strings"
	"time"
)

// A RateLimit limits the executions of each client (CT 10.3).
type RateLimit struct {
	Calls  int // per window; 0 means no limit
	Window time.Duration
}

// DefaultRateLimit is the limit of CT 9.1.
var DefaultRateLimit = RateLimit{Calls: 100, Window: time.Minute}

// maxWindows is the maximum number of windows that are kept. A client whose window is dropped begins a new one.
const maxWindows = 20_000

// windows are the open windows of the clients. A window outlives its client's disconnect, because otherwise a client
// could reset it (decision S69). They are few, large pieces of memory: small ones would remain among those of clients
// that have left, and keep the memory of these from the system.
type windows struct {
	limit RateLimit
	open  map[string]window
	order []string // the clients, the oldest window first
}

type window struct {
	began time.Time
	calls int
}

// take counts a call of a client, and returns false if the client has had too many.
func (w *windows) take(clientID string) bool {
	if w.limit.Calls == 0 {
		return true
	}
	now := time.Now()
	for len(w.order) > 0 && now.Sub(w.open[w.order[0]].began) >= w.limit.Window {
		w.drop()
	}
	one, ok := w.open[clientID]
	if !ok {
		if w.open == nil {
			w.open = make(map[string]window)
		}
		if len(w.order) == maxWindows {
			w.drop()
		}
		clientID = strings.Clone(clientID) // it may be a part of a long text
		w.order = append(w.order, clientID)
		one.began = now
	}
	if one.calls >= w.limit.Calls {
		return false
	}
	one.calls++
	w.open[clientID] = one
	return true
}

// drop drops the oldest window.
func (w *windows) drop() {
	delete(w.open, w.order[0])
	w.order[0] = ""
	w.order = w.order[1:]
	if len(w.order) == 0 {
		w.open, w.order = nil, nil // neither gets smaller by itself
	}
}
