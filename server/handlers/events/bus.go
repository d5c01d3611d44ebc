// Package events tells open streams what happens on the server (CT 3.6, 6).
//
//   - An event is published in a directory. The streams of that directory get it, and, wrapped with the directory, the
//     streams of all directories (CT 5.3). What the streams of one client get is sent to them alone (CT 5.1).
//   - Every stream gets its events in the order in which they were published, and that order is the same for all.
//   - Publishing never waits. Each stream has a bounded queue; a stream whose queue is full is ended, because leaving out
//     an event is not allowed (CT 8.3, decision S16).
//   - An event is encoded once, and not at all if nobody listens. All queues share its bytes.
package events

import (
	"cmp"
	"errors"
	"sync"

	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// ErrSlowReader is why a stream is ended whose reader does not keep up; a [Bus] hands it to the stream's drop function.
var ErrSlowReader = errors.New("the reader does not keep up: its queue is full")

// Options bound the queue of each stream (decision S16).
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

// A Bus hands events to the streams that are open. Its methods may be called from any goroutine and never block, but
// for Shutdown.
type Bus struct {
	limits Options

	mu     sync.Mutex
	groups map[Audience][]*Subscription // no group is empty
	opened uint64                       // how many subscriptions there have been
	open   [len(kinds)]int              // how many there are, by kind
	over   [len(kinds)]chan struct{}    // set when a kind was ended, closed when none of it is open
}

// NewBus returns a bus without streams. Nil options mean the defaults.
func NewBus(opts *Options) *Bus {
	return &Bus{limits: opts.withDefaults(), groups: make(map[Audience][]*Subscription)}
}

// Publish tells the directory's streams, and those of all directories, what happened there. The event is one of the bus
// events of the contract.
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

// Send gives a frame to the streams of an audience. It is made only if there are any.
func (b *Bus) Send(to Audience, makeFrame func() []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if group := b.groups[to]; len(group) > 0 {
		b.hand(group, makeFrame())
	}
}

func (b *Bus) hand(group []*Subscription, frame []byte) {
	for _, s := range group {
		s.push(frame, b.limits)
	}
}

// Subscribe begins a subscription: the stream gets everything that is published for its audience from now on. If its
// queue overflows, drop is called once, with [ErrSlowReader], from the goroutine that publishes; it must neither block nor
// use the bus or the subscription.
//
// The subscription must be closed. After Shutdown it is over from the start.
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

// remove ends the subscription's part in the bus.
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

// wrap labels an event with its directory (CT 5.3).
func wrap(directory string, event jsonwire.Text) jsonwire.Text {
	return jsonwire.Object([]string{"directory", "payload"}, []jsonwire.Text{jsonwire.AppendQuoted(nil, directory), event})
}
