package faux

import (
	"slices"
	"time"
)

// A Fault is one way to be wrong, and what a judge must say of it.
type Fault struct {
	ID  string
	Doc string // what the server does, one sentence
	// In is the scenario it shows in; in all others nothing may be said.
	In string
	// Says is what a judge must say when the candidate has the fault, no less and no more.
	Says []Finding
	// Turned is what it must say when the reference has it. Nil: the same with the sides changed.
	Turned []Finding
	// Clock marks faults that show beyond doubt only where nothing else takes time: on a faked clock.
	Clock bool

	// Reason is why a scenario cannot be judged, and Log a line among the last of the process; both empty for most.
	// ‹name› and ‹port› stand for those of the target, ‹time› for how long it had.
	Reason, Log string

	answer func(*answer)                                                 // changes an answer before it is written
	event  func(*stream, event)                                          // sends an event in the server's stead
	late   func(n int, due time.Duration) (at time.Duration, never bool) // moves the n-th ping
	ping   string                                                        // the data of a ping; "" for what it should be
	start  func(*Process) bool                                           // runs before it listens; false ends it
	end    func(*Process) int                                            // runs when it is asked to end
}

// A Finding is what a judge says, in the words of its reports. Generated values are called by their kind: ‹id›, ‹time›.
type Finding struct {
	Class string
	Kind  string
	Step  string
	Place string
	// Reference and Candidate are the two values of a difference, and what was wanted and what came of a shortfall.
	// Violations have none.
	Reference, Candidate string
	Blame                string
}

// The words of findings.
const (
	difference = "difference"
	violation  = "violation"
	shortfall  = "shortfall"

	candidate = "candidate"
	reference = "reference"
	silent    = "contract silent" // both are inside it
)

// theLamp is how a report begins to show the item that stories read.
const theLamp = `{"createdAt":"‹time›","id":"‹id›","name":"lamp","self":"/items/‹id›","serial":‹serial›,"shelf":"s-‹u…`

// Faults lists every fault in the order of this documentation: what is said, how it is written, what is told on streams,
// what happens on the wire.
func Faults() []*Fault {
	return slices.Concat(valueFaults, headFaults, textFaults, codingFaults, eventFaults, beatFaults, wireFaults)
}

// about returns a hook that changes the answers of an operation that are about the item which stories call lamp. Other
// scenarios have no lamp.
func about(operation string, change func(*answer)) func(*answer) {
	return func(a *answer) {
		if a.operation == operation && a.item == "lamp" {
			change(a)
		}
	}
}

// instead returns a hook that writes the answer of an operation about the lamp by hand.
func instead(operation string, write func(w *wire, head, body []byte)) func(*answer) {
	return about(operation, func(a *answer) { a.write = write })
}

// on returns a hook that sends certain events by hand, and leaves the others alone.
func on(name, item string, tell func(*stream, event)) func(*stream, event) {
	return func(s *stream, ev event) {
		if ev.name == name && ev.item == item {
			tell(s, ev)
			return
		}
		s.send(ev)
	}
}
