package chat

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

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
	// Clock marks faults that show reliably only on a fake clock, or in a scenario that needs one.
	Clock bool
	// Halves marks faults that show only on connections with a half-close.
	Halves bool

	open func(*handshake)       // changes a handshake before it is written
	tell func(*member, message) // sends a message instead of the server
}

// A Finding is what a judge reports.
type Finding faux.Finding

// These words appear in findings.
const (
	difference = "difference"
	violation  = "violation"
	shortfall  = "shortfall"

	candidate = "candidate"
	reference = "reference"
	silent    = "contract silent" // both sides conform to the contract
)

// broken is the finding about the only socket of a scenario, which broke.
func broken(how string) Finding {
	return Finding{shortfall, "stream-broken", "1", "stream ann: end", "to end after a close frame", how, candidate}
}

// Faults lists the faults.
func Faults() []*Fault {
	return slices.Concat(handshakeFaults, messageFaults, valueFaults, frameFaults, controlFaults, closeFaults)
}

// named returns a hook that changes the handshake of the member with a name. Only one scenario has that member.
func named(name string, change func(*handshake)) func(*handshake) {
	return func(h *handshake) {
		if h.name == name {
			change(h)
		}
	}
}

// on returns a hook that handles one message, and sends all others normally.
func on(kind, about string, tell func(*member, message)) func(*member, message) {
	return func(m *member, msg message) {
		if msg.kind == kind && msg.about == about {
			tell(m, msg)
			return
		}
		m.send(msg)
	}
}

// lamp returns a hook for the message "lamp", which one member gets in talk/story.
func lamp(tell func(*member, message)) func(*member, message) { return on("said", "lamp", tell) }

// value returns a hook that changes the members of that message.
func value(change func(object)) func(*member, message) {
	return lamp(func(m *member, msg message) {
		change(msg.value)
		m.send(msg)
	})
}

// desk returns a hook for the only message that is sent in frames/story.
func desk(tell func(*member, message)) func(*member, message) { return on("sent", "desk", tell) }

// instead returns a hook that sends bytes instead of that message.
func instead(b []byte) func(*member, message) {
	return desk(func(m *member, _ message) { m.raw(b) })
}

// cut returns a hook that sends bytes instead of that message, and closes the connection.
func cut(b []byte) func(*member, message) {
	return desk(func(m *member, _ message) {
		m.raw(b)
		m.put(outgoing{end: true})
	})
}
