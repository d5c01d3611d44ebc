package clienttools

import "time"

// A RateLimit limits the executions of each client (CT 10.3).
type RateLimit struct {
	Calls  int // per window; 0 means no limit
	Window time.Duration
}

// DefaultRateLimit is the limit of CT 9.1.
var DefaultRateLimit = RateLimit{Calls: 100, Window: time.Minute}

// maxWindows is the maximum number of windows that are kept. A client whose window is dropped begins a new one.
const maxWindows = 20_000

// windows are the open windows of the clients, the oldest first. A window outlives its client's disconnect, because
// otherwise a client could reset it (decision S69).
type windows struct {
	limit RateLimit
	open  ordered[string, *window]
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
	for id, one := range w.open.all() {
		if now.Sub(one.began) < w.limit.Window {
			break
		}
		w.open.delete(id)
	}
	one, ok := w.open.get(clientID)
	if !ok {
		one = &window{began: now}
		w.open.set(clientID, one)
		w.open.shorten(maxWindows)
	}
	if one.calls >= w.limit.Calls {
		return false
	}
	one.calls++
	return true
}
