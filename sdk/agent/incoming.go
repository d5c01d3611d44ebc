package agentsdk

import (
	"context"
	"sync"
	"sync/atomic"
)

// An incoming is a request of the CLI that is not answered yet.
type incoming struct {
	id        string
	call      string // of tools/call: the server and the id of the MCP request
	ctx       context.Context
	cancel    context.CancelFunc
	withdrawn atomic.Bool // no response may be sent
	start     func()      // begins to answer it; must not block
	cancelled func()      // set by start: what a cancellation by the CLI changes; must not block
}

// An inbox has the requests of the CLI that are in progress. While it is paused, it holds the tool calls and questions
// that arrive.
type inbox struct {
	ctx  context.Context // of all handlers and callbacks
	stop context.CancelFunc

	idle   chan func() // what idle goroutines wait for
	idlers atomic.Int32

	mu     sync.Mutex
	byID   map[string]*incoming
	byCall map[string]*incoming
	paused bool
	held   []*incoming
}

func newInbox() *inbox {
	b := &inbox{byID: map[string]*incoming{}, byCall: map[string]*incoming{}, idle: make(chan func())}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// maxIdle is how many goroutines stay when they have nothing to do.
const maxIdle = 32

// run runs a function on a goroutine of its own. One that has run another before is preferred: a new one spends a third of
// the time of a short call on the growth of its stack.
func (b *inbox) run(f func()) {
	select {
	case b.idle <- f:
	default:
		go b.work(f)
	}
}

func (b *inbox) work(f func()) {
	for f != nil {
		f()
		f = nil
		if b.idlers.Add(1) <= maxIdle {
			select {
			case f = <-b.idle:
			case <-b.ctx.Done():
			}
		}
		b.idlers.Add(-1)
	}
}

// add begins a request, or holds it if the session is paused and it may be held. A request whose id is in progress is
// ignored.
func (b *inbox) add(in *incoming, mayHold bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID[in.id] != nil {
		return
	}
	in.ctx, in.cancel = context.WithCancel(b.ctx)
	b.byID[in.id] = in
	if in.call != "" {
		b.byCall[in.call] = in
	}
	if b.paused && mayHold {
		b.held = append(b.held, in)
		return
	}
	in.start()
}

func (b *inbox) has(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byID[id] != nil
}

func (b *inbox) remove(in *incoming) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(in)
}

func (b *inbox) forget(in *incoming) {
	in.cancel()
	delete(b.byID, in.id)
	if b.byCall[in.call] == in {
		delete(b.byCall, in.call)
	}
}

// cancel ends the context of a request that the CLI has withdrawn.
func (b *inbox) cancel(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if in := b.byID[id]; in != nil {
		in.cancel()
		if in.cancelled != nil && in.call == "" { // a tool call goes on until it is answered
			in.cancelled()
		}
	}
}

// cancelCall ends the context of a tool call, which must not be answered any more.
func (b *inbox) cancelCall(call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if in := b.byCall[call]; in != nil {
		in.withdrawn.Store(true)
		in.cancel()
		if in.cancelled != nil {
			in.cancelled()
		}
	}
}

// pause holds what arrives from now on. first runs at that moment, and can refuse.
func (b *inbox) pause(first func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := first(); err != nil {
		return err
	}
	b.paused = true
	return nil
}

// resume runs first, and then begins what was held, in the order of its arrival, unless it was withdrawn.
func (b *inbox) resume(first func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := first(); err != nil {
		return err
	}
	held := b.held
	b.paused, b.held = false, nil
	for _, in := range held {
		if in.ctx.Err() != nil {
			b.forget(in)
			continue
		}
		in.start()
	}
	return nil
}

// drop forgets what is held, because its turn has ended.
func (b *inbox) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, in := range b.held {
		b.forget(in)
	}
	b.held = nil
}

// A settler runs what follows a response as soon as it is written: it ends a tool call or a permission request. A fast CLI
// may answer before the goroutine that wrote the response goes on. So the reader settles the responses that are being
// written before it reads a line, and events keep the order of the wire.
type settler struct {
	mu   sync.Mutex
	open []*ending
	n    atomic.Int32 // of open
}

type ending struct{ after func() }

// write calls write, and then after, unless the reader has done so. after must not block.
func (s *settler) write(write func() error, after func()) error {
	e := &ending{after: after}
	s.mu.Lock()
	s.open = append(s.open, e)
	s.n.Add(1)
	s.mu.Unlock()
	err := write()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.open {
		if other == e {
			s.open = append(s.open[:i], s.open[i+1:]...)
			e.after()
			s.n.Add(-1)
			break
		}
	}
	return err
}

// settle ends all responses that are being written.
func (s *settler) settle() {
	if s.n.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.open {
		e.after()
		s.n.Add(-1)
	}
	s.open = nil
}
