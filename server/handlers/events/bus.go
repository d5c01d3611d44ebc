// Package events delivers events to open streams (CT 3.6, 6).
//
//   - An event is published in a directory. The streams of that directory get it. The streams of all directories get it
//     wrapped with the directory (CT 5.3). Frames for one client go only to its streams (CT 5.1).
//   - Every stream gets its events in the order of publication, which is the same for all.
//   - Publishing never blocks. Each stream has a bounded queue. A stream with a full queue is ended, because no event may
//     be left out (CT 8.3, decision S16).
//   - An event is encoded once, and only if somebody listens. All queues share its bytes.
package events

import (
	"cmp"
	"errors"
	"sync"

	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// ErrSlowReader is the reason for ending a stream whose reader is too slow. A [Bus] passes it to the stream's drop
// function.
var ErrSlowReader = errors.New("the reader does not keep up: its queue is full")

// Options limit the queue of each stream (decision S16).
type Options struct {
	MaxEvents int // 65,536 if 0
	MaxBytes  int // 16 MiB if 0
}

func (o *Options) withDefaults() Options {
	var filled Options
	if o != nil {
		filled = *o
	}
	filled.MaxEvents = cmp.Or(filled.MaxEvents, 65536)
	filled.MaxBytes = cmp.Or(filled.MaxBytes, 16<<20)
	return filled
}

// A Bus delivers events to open streams. Its methods are safe for concurrent use, and only Shutdown blocks.
type Bus struct {
	limits Options

	mu     sync.Mutex
	groups map[Audience][]*Subscription // no group is empty
	opened uint64                       // how many subscriptions there have ever been
	open   [len(kinds)]int              // how many are open, by kind
	over   [len(kinds)]chan struct{}    // set when a kind was ended, closed when none of it is open
}

// NewBus returns a bus without streams. Nil options mean the defaults.
func NewBus(opts *Options) *Bus {
	return &Bus{limits: opts.withDefaults(), groups: make(map[Audience][]*Subscription)}
}

// Publish sends an event to the streams of the directory, and to those of all directories. It must be one of the
// contract's bus events.
func (b *Bus) Publish(directory string, event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publish(directory, event)
}

func (b *Bus) publish(directory string, event any) {
	local, global := b.groups[InDirectory(directory)], b.groups[Everywhere()]
	if len(local)+len(global) == 0 {
		return
	}
	data := jsonwire.Marshal(event)
	if len(local) > 0 {
		b.hand(local, sse.Data(data))
	}
	if len(global) > 0 {
		b.hand(global, sse.Data(wrap(directory, data)))
	}
}

// Send sends a frame to the streams of an audience. It calls makeFrame only if there are any.
func (b *Bus) Send(to Audience, makeFrame func() []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if group := b.groups[to]; len(group) > 0 {
		b.hand(group, makeFrame())
	}
}

func (b *Bus) hand(group []*Subscription, frame []byte) {
	for _, s := range group {
		s.Push(frame)
	}
}

// Subscribe starts a subscription, which gets everything that is published for its audience from now on. If its queue
// overflows, drop is called once with [ErrSlowReader], on the goroutine that publishes. It must not block, and must
// not use the bus or the subscription.
//
// The caller must close the subscription. After Shutdown, a new subscription has already ended.
func (b *Bus) Subscribe(to Audience, drop func(error)) *Subscription {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &Subscription{Queue: sse.NewQueue(), bus: b, to: to, drop: drop}
	if b.over[to.kind] != nil {
		s.late = true
		s.End()
		return s
	}
	b.opened++
	b.open[to.kind]++
	s.opened = b.opened
	s.place = len(b.groups[to])
	b.groups[to] = append(b.groups[to], s)
	return s
}

// remove removes a subscription from the bus.
func (b *Bus) remove(s *Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	group := b.groups[s.to]
	last := len(group) - 1
	group[s.place] = group[last]
	group[s.place].place = s.place
	group[last] = nil
	if last == 0 {
		delete(b.groups, s.to)
	} else {
		b.groups[s.to] = group[:last]
	}
	b.open[s.to.kind]--
	if over := b.over[s.to.kind]; over != nil && b.open[s.to.kind] == 0 {
		close(over)
	}
}

// wrap adds the directory to an event (CT 5.3).
func wrap(directory string, event jsonwire.Text) jsonwire.Text {
	return jsonwire.Object([]string{"directory", "payload"}, []jsonwire.Text{jsonwire.AppendQuoted(nil, directory), event})
}
