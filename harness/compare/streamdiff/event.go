package streamdiff

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An item is an event in a sequence, so it is not a heartbeat.
type item struct {
	index int    // in the stream
	label string // its name in reports: "event 3"
	event *transcript.Event
	name  string // without its generated values
	// key is the same for events that can be equal apart from generated values. It tells ids apart that have partners.
	// outline is the key without any ids.
	key, outline string
	// again says that its predecessor in the sequence is equal.
	again bool
	// behind is how many of the anchors that both sides have precede it.
	behind int
}

// keyOf describes an event without its generated values; "" when there is none.
func keyOf(it *item) string {
	if it == nil {
		return ""
	}
	return it.name + " " + it.outline
}

// nameOfLast returns the name of the last event; "" when there is none.
func nameOfLast(items []item) string {
	if len(items) == 0 {
		return ""
	}
	return items[len(items)-1].name
}

func eventPlace(it *item) string { return fmt.Sprintf("%s (%s)", it.label, it.name) }

// atEvent returns the place of a whole event.
func atEvent(it *item) diff.At { return diff.At{Message: eventPlace(it), Contract: "event"} }

func ShowEvent(ev *transcript.Event) diff.Excerpt { return diff.Show(EventName(ev) + " " + ev.Data) }

// showLabelled shows a moved event with its label.
func showLabelled(it *item) diff.Excerpt {
	return diff.Show(it.label + ": " + ShowEvent(it.event).Text)
}

// EventName returns the name of an event in reports.
func EventName(ev *transcript.Event) string {
	switch {
	case ev.Comment:
		return "a comment"
	case ev.Undispatched && ev.Type == "":
		return "a block without data"
	case ev.Undispatched:
		return ev.Type
	default:
		return ev.Name
	}
}

// eventType is the type a browser gives an event: "message" when the field is missing (WHATWG HTML 9.2.6).
func eventType(ev *transcript.Event) string {
	if ev.Type == "" {
		return "message"
	}
	return ev.Type
}

// eventContent is an event's data, as JSON if it looks like an object or a list.
func EventContent(ev *transcript.Event) jsondiff.Content {
	data := strings.TrimSpace(ev.Data)
	if data != "" && (data[0] == '{' || data[0] == '[') {
		return jsondiff.Content{Data: []byte(ev.Data)}
	}
	return jsondiff.Content{Data: []byte(ev.Data), NotJSON: "it is neither an object nor a list"}
}
