package faux

import "time"

// A Fault is one way to be wrong, with the findings that a judge must report about it.
type Fault struct {
	ID  string
	Doc string // what the server does, in one sentence
	// In is the scenario that shows the fault. In all others a judge must report nothing.
	In string
	// Says lists exactly the findings that a judge must report when the candidate has the fault.
	Says []Finding
	// Turned lists them for a reference that has the fault. Nil means the same findings with the sides swapped.
	Turned []Finding
	// Clock marks faults that depend on time, and show reliably only on a fake clock, where nothing else takes time.
	Clock bool

	// Reason says why a scenario cannot be judged. Log is one of the last lines that the process logged. Most faults
	// have neither. ‹name› and ‹port› stand for those of the target, ‹time› for how long it had.
	Reason, Log string

	answer func(*answer)                                                 // changes an answer before it is written
	event  func(*stream, event)                                          // sends an event instead of the server
	late   func(n int, due time.Duration) (at time.Duration, never bool) // changes when the n-th ping is sent
	ping   string                                                        // the data of a ping; "" for the correct data
	start  func(*Process) bool                                           // runs before the process listens; false ends the process
	end    func(*Process) int                                            // runs at the request to end; returns the exit status
}

// A Finding is what a judge reports, in the words of its reports. Generated values are replaced by their kind: ‹id›,
// ‹time›.
type Finding struct {
	Class string
	Kind  string
	Step  string
	Place string
	// Reference and Candidate are the two values of a difference. For a shortfall they are the expected and the actual
	// value. Violations have neither.
	Reference, Candidate string
	Blame                string
}

// These words appear in findings.
const (
	difference = "difference"
	violation  = "violation"
	shortfall  = "shortfall"

	candidate = "candidate"
	reference = "reference"
	silent    = "contract silent" // both sides conform to the contract
	outside   = "not in the contract"
)

// broken is the finding about an exchange that failed.
func broken(step, place, how string) Finding {
	return Finding{shortfall, "exchange-failed", step, place, "a complete answer", how, candidate}
}

// streamBroken is the finding about an event stream that failed.
func streamBroken(how string) Finding {
	return Finding{shortfall, "stream-broken", "1", "stream feed: end", "to end between two events", how, candidate}
}

// theLamp is how a report abbreviates the item that the scenarios read.
const theLamp = `{"createdAt":"‹time›","id":"‹id›","name":"lamp","self":"/items/‹id›","serial":‹serial›,"shelf":"s-‹u…`

// about returns a hook that changes the answers of an operation about the item called lamp. Only the story scenarios
// have one.
func about(operation string, change func(*answer)) func(*answer) {
	return func(a *answer) {
		if a.operation == operation && a.item == "lamp" {
			change(a)
		}
	}
}

// instead returns a hook that writes by hand the answer of an operation about the lamp.
func instead(operation string, write func(w *wire, head, body []byte)) func(*answer) {
	return about(operation, func(a *answer) { a.write = write })
}

// on returns a hook that handles one kind of event about one item, and sends all others normally.
func on(name, item string, tell func(*stream, event)) func(*stream, event) {
	return func(s *stream, ev event) {
		if ev.name == name && ev.item == item {
			tell(s, ev)
			return
		}
		s.send(ev)
	}
}
