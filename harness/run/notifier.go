package run

import "sync"

// A notifier wakes all goroutines that wait for something to happen. The zero value is ready to use.
type notifier struct {
	mu      sync.Mutex
	waiting chan struct{} // closed by notify; nil while no goroutine waits
}

// next returns a channel that the next notify closes. Call it before you check the state, so that no change is missed.
func (n *notifier) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil {
		n.waiting = make(chan struct{})
	}
	return n.waiting
}

func (n *notifier) notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting != nil {
		close(n.waiting)
		n.waiting = nil
	}
}
