package agentsdk

import (
	"context"
	"sync"
)

// A serial runs functions one after the other, in the order in which they were posted. Its goroutine lives only while
// there is something to run, so nothing has to be closed. post never blocks and never runs the function itself.
type serial struct {
	mu      sync.Mutex
	queue   []func()
	running bool
}

func (s *serial) post(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, f)
	if !s.running {
		s.running = true
		go s.run()
	}
}

func (s *serial) run() {
	for {
		s.mu.Lock()
		batch := s.queue
		s.queue = nil
		s.running = len(batch) > 0
		s.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, f := range batch {
			f()
		}
	}
}

// A mailbox is an unbounded queue of messages between the reader, which must never block, and a consumer. It may end
// several times: each end is read once, after the messages that came before it.
type mailbox struct {
	mu    sync.Mutex
	items []delivery
	came  chan struct{} // has one element if something came since the consumer last looked
}

// A delivery is a message, or an end with the error that explains it.
type delivery struct {
	message Message
	err     error
}

func newMailbox() *mailbox { return &mailbox{came: make(chan struct{}, 1)} }

func (m *mailbox) put(d delivery) {
	m.mu.Lock()
	m.items = append(m.items, d)
	m.mu.Unlock()
	m.wake()
}

func (m *mailbox) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.items = nil
}

func (m *mailbox) wake() {
	select {
	case m.came <- struct{}{}:
	default:
	}
}

// take returns the next delivery. If there is none, it calls over, and returns false if the session is over.
func (m *mailbox) take(ctx context.Context, over func() bool) (delivery, bool, error) {
	for {
		m.mu.Lock()
		if len(m.items) > 0 {
			d := m.items[0]
			m.items[0] = delivery{}
			m.items = m.items[1:]
			m.mu.Unlock()
			return d, true, nil
		}
		m.mu.Unlock()
		if over() {
			return delivery{}, false, nil
		}
		select {
		case <-m.came:
		case <-ctx.Done():
			return delivery{}, false, ctx.Err()
		}
	}
}
