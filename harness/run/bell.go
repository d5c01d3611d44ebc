package run

import "sync"

// A bell tells everybody who waits that something has happened. The zero bell is ready.
type bell struct {
	mu   sync.Mutex
	rung chan struct{} // closed when it is; nil when nobody waits
}

// next returns what is closed when the bell rings the next time. To miss nothing, it is asked for before looking.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}
