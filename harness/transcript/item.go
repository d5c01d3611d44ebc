package transcript

import "unicode/utf8"

// A Tally counts what came on streams.
type Tally struct {
	Events   int `json:"events"`             // of event streams, without heartbeats
	Messages int `json:"messages,omitempty"` // of sockets, with control frames
	Lines    int `json:"lines,omitempty"`    // of programs, with their exits
}

// Count counts an event.
func (t *Tally) Count(ev *Event) {
	switch ev.Item.Noun() {
	case "event":
		t.Events++
	case "message":
		t.Messages++
	default:
		t.Lines++
	}
}

// Add adds the counts of another tally.
func (t *Tally) Add(other Tally) {
	t.Events += other.Events
	t.Messages += other.Messages
	t.Lines += other.Lines
}

// Sum returns how much there is of all kinds.
func (t Tally) Sum() int { return t.Events + t.Messages + t.Lines }

// Noun is what reports call what comes on a wire.
func (w Wire) Noun() string {
	switch w {
	case WireSocket:
		return ItemText.Noun()
	case WireProgram:
		return ItemLine.Noun()
	default:
		return Item("").Noun()
	}
}

// Noun is what reports call an item.
func (i Item) Noun() string {
	switch i {
	case "":
		return "event"
	case ItemText, ItemBinary, ItemPing, ItemPong, ItemClose, ItemBytes:
		return "message"
	case ItemStderr:
		return "error line"
	default:
		return "line"
	}
}

// Binary reports whether the data of a message or a line are bytes and not text.
func (ev *Event) Binary() bool {
	return ev.Item == ItemBinary || ev.Item != "" && !utf8.ValidString(ev.Data)
}
