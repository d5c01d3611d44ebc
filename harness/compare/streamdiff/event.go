package streamdiff

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
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

func eventPlace(it *item) string { return Place(it.label, it.name) }

// Place returns the place of an event with a label and a name: "event 3 (ping)". A name that only repeats the label is
// left out: "line 2".
func Place(label, name string) string {
	if diff.Unnumbered(label) == name {
		return label
	}
	return label + " (" + name + ")"
}

// atEvent returns the place of a whole event.
func atEvent(it *item) diff.At { return diff.At{Message: eventPlace(it), Contract: "event"} }

func ShowEvent(ev *transcript.Event) diff.Excerpt {
	return diff.Show(strings.TrimSpace(ev.Label() + " " + ReadableData(ev)))
}

// ReadableData returns the data of an event. Bytes that are not text are escaped, because two different ones would look
// alike; other characters stay, so that a secret among them is recognised.
func ReadableData(ev *transcript.Event) string {
	if ev.Binary() {
		return strconv.Quote(ev.Data)
	}
	return ev.Data
}

// showLabelled shows a moved event with its label.
func showLabelled(it *item) diff.Excerpt {
	return diff.Show(it.label + ": " + ShowEvent(it.event).Text)
}

// eventType is the type a browser gives an event: "message" when the field is missing (WHATWG HTML 9.2.6). On other
// wires it is the item.
func eventType(ev *transcript.Event) string {
	if ev.Item != "" {
		return string(ev.Item)
	}
	if ev.Type == "" {
		return "message"
	}
	return ev.Type
}

// items returns the events of a side without its heartbeats.
func (s *sequences) items(side int) []item {
	var out []item
	beats := 0
	labels := s.Rules.Labels(s.Sides[side])
	for i := range s.Sides[side].Events {
		ev := &s.Sides[side].Events[i]
		if s.Rules.Heartbeat.Is(ev) {
			beats++
			continue
		}
		if s.Rules.Outside(ev) {
			continue
		}
		it := item{index: i, label: labels[i], event: ev, name: s.IDs.Skeletons().Of(side, ev.Label())}
		it.key, it.outline = s.keys(side, ev)
		out = append(out, it)
	}
	if side == 0 {
		s.NotCompared("heartbeats, which are checked for their cadence", beats)
	}
	if h := s.Rules.Heartbeat; h != nil && h.Every > 0 {
		_, excused := Cadence(s.Runs[side], s.Sides[side], h)
		s.NotCompared(ExcusedBeats, excused)
	}
	return out
}

// keys returns two descriptions of an event: with the names of the ids that have partners, and without any names.
func (s *sequences) keys(side int, ev *transcript.Event) (key, outline string) {
	outline = s.key(s.IDs.Skeletons(), side, ev)
	if !strings.Contains(outline, "‹") { // there are no generated values
		return outline, outline
	}
	return s.key(s.IDs.NamedSkeletons(), side, ev), outline
}

// key describes an event without its generated values. It tells ids apart if the skeletons do.
func (s *sequences) key(skeletons ident.Skeletons, side int, ev *transcript.Event) string {
	key := s.Data.Outline(skeletons, side, ev)
	// The data often contains the event's name, too. A different name has a cost of its own, so the key leaves it out.
	return strings.ReplaceAll(key, diff.Quoted(ev.Name), diff.Quoted("‹name›"))
}

// An eventPair compares two corresponding events.
type eventPair struct {
	*Recordings
	pair
}

// compare compares two corresponding events.
func (s eventPair) compare() {
	ref, cand := s.ref.event, s.cand.event
	at := func(part string) diff.At {
		return diff.At{Message: eventPlace(s.ref), Part: part, Contract: "event " + part}
	}
	report := func(d diff.Difference) {
		d.Events = [2]int{s.ref.index, s.cand.index}
		s.report(d)
	}
	seen := [2]time.Time{s.Runs[0].Started.Add(ref.At), s.Runs[1].Started.Add(cand.At)}
	renamed := s.names(at(""), diff.EventNames, ref.Label(), cand.Label(), seen, report)
	if !renamed {
		part, code := "event field", diff.EventFields
		if ref.Item != "" {
			part, code = "kind", diff.MessageKinds
		}
		s.names(at(part), code, eventType(ref), eventType(cand), seen, report)
	}
	stream := "stream " + s.Sides[0].Name
	pl := ident.Place{Where: ident.InStream(s.Sides[0], at("data")), Seen: seen, Timeline: stream, Of: [2]string{stream, stream}}
	if ref.Undispatched != cand.Undispatched {
		d := withoutData(at("data"), ref, cand)
		d.Fingerprint = s.Data.Digest(ref, cand)
		report(d)
		return
	}
	s.Data.Compare(pl, ref, cand, func(d diff.Difference) {
		if renamed && d.Ref.Text == diff.Quoted(ref.Label()) && d.Cand.Text == diff.Quoted(cand.Label()) {
			return // the data contains the name, which is reported already
		}
		report(d)
	})
	pl = ident.Place{Where: ident.InStream(s.Sides[0], at("id")), Seen: seen}
	if why := s.IDs.Texts(ref.ID, cand.ID, pl); !why.None() && !(why.Code == diff.TextsDiffer && s.Data.Encoded(pl, ref.ID, cand.ID, report)) {
		report(diff.Difference{Reason: why, At: at("id"), Ref: diff.ShowSome(ref.ID), Cand: diff.ShowSome(cand.ID)})
	}
	if ref.Retry != cand.Retry {
		report(diff.Difference{Reason: diff.Because(diff.ValueDiffers, diff.RetriesDiffer), At: at("retry"), Ref: diff.ShowSome(ref.Retry), Cand: diff.ShowSome(cand.Retry)})
	}
	if s.Rules.Exact && !sameFraming(ref, cand) && !renamed {
		report(diff.Difference{
			Reason: diff.Because(diff.EventFraming, diff.EventNotation, ref.Item.Noun()), At: at("framing"),
			Ref: diff.Show(strconv.Quote(ref.Framing)), Cand: diff.Show(strconv.Quote(cand.Framing)),
		})
	}
}

// sameFraming reports whether two events are written in the same way. The frames of a message have the sizes of their
// payloads; if the data has another length, that is no other way of writing.
func sameFraming(ref, cand *transcript.Event) bool {
	if ref.Framing == cand.Framing {
		return true
	}
	unsized := func(framing string) string { return strings.Trim(ident.WithoutNumbers(framing), " ") }
	return ref.Item != "" && len(ref.Data) != len(cand.Data) && unsized(ref.Framing) == unsized(cand.Framing)
}

// names compares two names of events, which may contain ids, and returns whether they differ.
func (s eventPair) names(at diff.At, otherwise diff.Code, ref, cand string, seen [2]time.Time, report func(diff.Difference)) (differ bool) {
	at.Contract = "event name"
	why := s.IDs.Texts(ref, cand, ident.Place{Where: ident.InStream(s.Sides[0], diff.At{Message: at.Message, Part: at.Contract}), Seen: seen})
	if why.None() {
		return false
	}
	if why.Code == diff.TextsDiffer {
		why = diff.Because(diff.EventName, otherwise, s.ref.event.Item.Noun())
	}
	report(diff.Difference{Reason: why, At: at, Ref: diff.Excerpt{Text: ref}, Cand: diff.Excerpt{Text: cand}})
	return true
}

// withoutData describes two events of which only one has data. Clients do not receive the other one
// (WHATWG HTML 9.2.6).
func withoutData(at diff.At, ref, cand *transcript.Event) diff.Difference {
	if ref.Undispatched {
		return diff.Difference{Reason: diff.Because(diff.FieldExtra, diff.EventWithoutData, diff.Side(0)), At: at, Ref: diff.ShowSome(""), Cand: diff.Show(cand.Data)}
	}
	return diff.Difference{Reason: diff.Because(diff.FieldMissing, diff.EventWithoutData, diff.Side(1)), At: at, Ref: diff.Show(ref.Data), Cand: diff.ShowSome("")}
}
