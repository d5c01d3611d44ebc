package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// streams compares the streams that both sides have, in the order in which the reference opened them.
func (c *comparison) streams() {
	cand := map[string]*transcript.Stream{}
	for _, s := range c.sides[1].Streams {
		cand[s.Name] = s
	}
	for _, ref := range c.sides[0].Streams {
		other := cand[ref.Name]
		if other == nil {
			c.notCompared("not opened by both targets", len(ref.Events))
			continue
		}
		if unreadStream(c.sides[0], ref)+unreadStream(c.sides[1], other) != "" {
			c.notCompared("an event stream in a coding that cannot be read", 1)
			continue
		}
		c.b.applied[StreamApplied(c.rules.streamKey(ref.Name, ref.Operation))] = true
		s := streams{
			comparison: c, rule: c.rules.stream(ref.Name, ref.Operation), volatile: c.rules.volatile(ref.Step),
			sides: [2]*transcript.Stream{ref, other},
		}
		s.pieces = s.rule.Pieces()
		if s.rule.Gap != nil {
			s.triggers = [2][]trigger{triggers(c.sides[0]), triggers(c.sides[1])}
		}
		s.compare()
	}
}

// streams compares two recordings of one stream.
type streams struct {
	*comparison
	rule     Stream
	volatile []Volatile
	sides    [2]*transcript.Stream
	pieces   Pieces
	joined   [2]int // pieces of texts that are compared as a whole
	triggers [2][]trigger
}

// An item is an event that takes part in the sequence.
type item struct {
	index int    // in the stream
	label string // what reports call it: "event 3"
	event *transcript.Event
	name  string // without its generated values
	// key is equal for events that can be equal up to renaming, as far as ids have partners already. outline is the key
	// without any id.
	key, outline string
	// again says that the event before it in its sequence is the same.
	again bool
	// behind is how many of the anchors that both sides have came before it.
	behind int
}

func (s *streams) compare() {
	items := [2][]item{s.items(0), s.items(1)}
	r, o := s.sides[0], s.sides[1]
	if r.Ended != o.Ended && r.Ended != transcript.EndedBroken && o.Ended != transcript.EndedBroken && !s.byChance(len(o.Events)) {
		s.report(Difference{
			Kind: StreamEnd, Events: [2]int{-1, -1}, Place: "end",
			Reference: endText(r, items[0]), Candidate: endText(o, items[1]), Text: "the streams were ended by different sides",
			Fingerprint: digest(nameOfLast(items[0]), nameOfLast(items[1]), string(r.Ended), string(o.Ended)),
		})
	}
	s.sameOpening()
	s.sameBeats()
	s.stem(&items)
	anchors, others := s.anchored(items)
	groups := s.groups(others, anchors)
	for _, g := range groups {
		for _, items := range g {
			markRepeats(items)
		}
	}
	s.foresee(append(groups, anchors))
	fixed := s.paired(anchors)
	barriers := barriers(fixed, groups)
	var free []pair
	for _, g := range groups {
		free = append(free, s.paired(g)...)
	}
	s.displaced(barriers, free)
	for _, p := range s.strangers(slices.Concat(fixed, free)) {
		s.pair(p, barriers)
	}
	s.notCompared("pieces of texts, which are compared as a whole", max(s.joined[0], s.joined[1]))
}

// paired pairs the events of two sequences, and says of those that are alone what became of them.
func (s *streams) paired(sides [2][]item) []pair {
	return pairStrays(s.withoutConsequences(s.withoutOptional(explainGaps(align(sides[0], sides[1])))))
}

func endText(s *transcript.Stream, items []item) string {
	if len(items) == 0 {
		return fmt.Sprintf("ended by the %s, before any event", s.Ended)
	}
	return fmt.Sprintf("ended by the %s, after %s", s.Ended, eventPlace(&items[len(items)-1]))
}

func (s *streams) report(d Difference) {
	d.Step, d.Stream, d.Exchange = s.sides[0].Step, s.sides[0].Name, -1
	s.add(d)
}

// items returns the events of a side without its heartbeats.
func (s *streams) items(side int) []item {
	var out []item
	beats := 0
	labels := s.rule.Heartbeat.labels(s.sides[side])
	for i := range s.sides[side].Events {
		ev := &s.sides[side].Events[i]
		if s.rule.Heartbeat.beats(ev) {
			beats++
			continue
		}
		it := item{index: i, label: labels[i], event: ev, name: s.b.skeleton(side, eventName(ev))}
		it.key, it.outline = s.keys(side, ev)
		out = append(out, it)
	}
	if side == 0 {
		s.notCompared("heartbeats, which are checked for their cadence", beats)
	}
	if h := s.rule.Heartbeat; h != nil && h.Every > 0 {
		_, excused := cadence(s.comparison.sides[side], s.sides[side], h)
		s.notCompared(excusedBeats, excused)
	}
	return out
}

func eventName(ev *transcript.Event) string {
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

// keys describe an event with the names of those ids that have partners, and without any.
func (s *streams) keys(side int, ev *transcript.Event) (key, outline string) {
	outline = s.key(s.b, side, ev)
	if !strings.Contains(outline, "‹") { // nothing is made up
		return outline, outline
	}
	return s.key(s.b.named(), side, ev), outline
}

// key describes an event without its generated values, or with the names that bindings give them.
func (s *streams) key(b *bindings, side int, ev *transcript.Event) string {
	key := ""
	if root, err := s.parse(eventContent(ev)); err == nil {
		key = b.outline(side, root, "", b.pointers(s.volatile, []byte(ev.Data), root))
	} else {
		key = b.skeleton(side, ev.Data)
	}
	// The name often stands in the data too. It has a cost of its own, so it is no part of the key.
	return strings.ReplaceAll(key, quoted(ev.Name), quoted("‹name›"))
}

// withoutOptional leaves out the events that may be absent on one side, where they are. Of one that the other side has
// too, at another place or with other data, it is told.
func (s *streams) withoutOptional(pairs []pair) []pair {
	if len(s.rule.Optional) == 0 {
		return pairs
	}
	alone := [2]map[string]bool{{}, {}} // names of events that only one side has, at that place
	for _, p := range pairs {
		switch p.gap {
		case EventMissing:
			alone[0][p.ref.name] = true
		case EventExtra:
			alone[1][p.cand.name] = true
		}
	}
	dropped := 0
	optional := func(it *item, other int) bool {
		if !slices.Contains(s.rule.Optional, it.name) || alone[other][it.name] {
			return false
		}
		dropped++
		return true
	}
	out := slices.DeleteFunc(pairs, func(p pair) bool {
		switch p.gap {
		case EventMissing:
			return optional(p.ref, 1)
		case EventExtra, EventDoubled:
			return optional(p.cand, 0)
		}
		return false
	})
	s.notCompared("events that are optional, which one side has not", dropped)
	return out
}

// pair compares two aligned events, or reports the one that is alone.
func (s *streams) pair(p pair, barriers []pair) {
	if p.ref != nil && p.cand != nil {
		s.result.Events++
		s.events(p)
		s.gap(p)
		return
	}
	if (p.gap == EventExtra || p.gap == EventDoubled) && s.byChance(p.cand.index) {
		return
	}
	d := alone(p)
	if p.moved != nil {
		if from, to := straddled(p.moved, p.cand); from < to {
			d.Text += ", across " + barriers[from].ref.name
		}
	}
	s.report(d)
	if p.moved != nil { // where it came is told; what it says is compared all the same
		s.result.Events++
		s.events(pair{ref: p.moved, cand: p.cand})
	}
}

// alone describes an event that has no partner.
func alone(p pair) Difference {
	d := Difference{Kind: p.gap, Events: [2]int{-1, -1}, At: both("event"), Reference: absent, Candidate: absent}
	d.Fingerprint = digest(keyOf(p.ref), keyOf(p.cand), keyOf(p.moved))
	if p.gap == EventMissing {
		d.Place, d.Events[0], d.Reference = eventPlace(p.ref), p.ref.index, showEvent(p.ref.event)
		d.Text = "the candidate does not send this: " + p.ref.name
		return d
	}
	d.Place, d.Events[1], d.Candidate = eventPlace(p.cand), p.cand.index, showEvent(p.cand.event)
	switch p.gap {
	case EventMoved:
		d.Events[0] = p.moved.index
		d.Reference = fmt.Sprintf("%s: %s", p.moved.label, showEvent(p.moved.event))
		d.Candidate = fmt.Sprintf("%s: %s", p.cand.label, showEvent(p.cand.event))
		d.Text = p.cand.name + " comes at another place in the sequence"
	case EventDoubled:
		d.Text = "the candidate sends " + p.cand.name + " once more"
	default:
		d.Text = "the reference does not send this: " + p.cand.name
	}
	return d
}

// keyOf describes an event without its generated values; "" when there is none.
func keyOf(it *item) string {
	if it == nil {
		return ""
	}
	return it.name + " " + it.outline
}

// nameOfLast is the name of the last event.
func nameOfLast(items []item) string {
	if len(items) == 0 {
		return ""
	}
	return items[len(items)-1].name
}

func eventPlace(it *item) string { return fmt.Sprintf("%s (%s)", it.label, it.name) }

func showEvent(ev *transcript.Event) string { return show(eventName(ev) + " " + ev.Data) }

// events compares two events that stand for each other.
func (s *streams) events(p pair) {
	ref, cand := p.ref.event, p.cand.event
	at := eventPlace(p.ref)
	report := func(d Difference) {
		d.Events = [2]int{p.ref.index, p.cand.index}
		s.report(d)
	}
	seen := s.seen(ref.At, cand.At)
	renamed := s.names(at, "", "the events have different names", eventName(ref), eventName(cand), seen, report)
	if !renamed {
		s.names(at, " event field", "the event fields differ", eventType(ref), eventType(cand), seen, report)
	}
	pl := place{where: location{fmt.Sprintf("stream %s %s data", s.sides[0].Name, at), nil}, seen: seen, line: "stream " + s.sides[0].Name, of: both("stream " + s.sides[0].Name)}
	if ref.Undispatched != cand.Undispatched {
		d := withoutData(at, ref, cand)
		d.Fingerprint = s.comparison.contents([2]content{eventContent(ref), eventContent(cand)}, s.volatile)
		report(d)
		return
	}
	s.content(at+" data", "event data", pl, s.volatile, [2]content{eventContent(ref), eventContent(cand)}, func(d Difference) {
		if renamed && d.Reference == quoted(eventName(ref)) && d.Candidate == quoted(eventName(cand)) {
			return // the name stands in the data, and has been reported
		}
		report(d)
	})
	pl = place{where: location{fmt.Sprintf("stream %s %s id", s.sides[0].Name, at), nil}, seen: seen}
	if kind, why := s.b.texts(ref.ID, cand.ID, pl); kind != "" && !(why == textsDiffer && s.encoded(at+" id", pl, ref.ID, cand.ID, func(found Difference) {
		found.At = both("event id")
		report(found)
	})) {
		report(Difference{Kind: kind, Place: at + " id", At: both("event id"), Reference: showText(ref.ID), Candidate: showText(cand.ID), Text: why})
	}
	if ref.Retry != cand.Retry {
		report(Difference{Kind: ValueDiffers, Place: at + " retry", At: both("event retry"), Reference: showText(ref.Retry), Candidate: showText(cand.Retry), Text: "the reconnection times differ"})
	}
	if s.rule.Exact && ref.Framing != cand.Framing && !renamed {
		report(Difference{
			Kind: EventFraming, Place: at + " framing", At: both("event framing"),
			Reference: fmt.Sprintf("%q", ref.Framing), Candidate: fmt.Sprintf("%q", cand.Framing), Text: "the events are written differently",
		})
	}
}

// names compares two names of events, and reports whether they differ. There can be ids in them.
func (s *streams) names(at, field, otherwise, ref, cand string, seen [2]time.Time, report func(Difference)) (differ bool) {
	p := place{where: location{what: fmt.Sprintf("stream %s %s event name", s.sides[0].Name, at)}, seen: seen}
	kind, why := s.b.texts(ref, cand, p)
	if kind == "" {
		return false
	}
	if kind == ValueDiffers && why == textsDiffer {
		kind, why = EventName, otherwise
	}
	report(Difference{Kind: kind, Place: at + field, At: both("event name"), Reference: ref, Candidate: cand, Text: why})
	return true
}

// withoutData tells of two events of which only one has a data field: no client is told of the other (WHATWG HTML
// 9.2.6).
func withoutData(at string, ref, cand *transcript.Event) Difference {
	d := Difference{Kind: FieldMissing, Place: at + " data", At: both("event data"), Reference: show(ref.Data), Candidate: absent, Text: "the candidate's event has no data, so that no client is told of it"}
	if ref.Undispatched {
		d.Kind, d.Reference, d.Candidate = FieldExtra, absent, show(cand.Data)
		d.Text = "the reference's event has no data, so that no client is told of it"
	}
	return d
}

func quoted(name string) string { return `"` + name + `"` }

// eventType is the type a browser gives an event: "message" when the field is missing (WHATWG HTML 9.2.6).
func eventType(ev *transcript.Event) string {
	if ev.Type == "" {
		return "message"
	}
	return ev.Type
}

// eventContent is an event's data, as JSON when it looks like a document.
func eventContent(ev *transcript.Event) content {
	data := strings.TrimSpace(ev.Data)
	if data != "" && (data[0] == '{' || data[0] == '[') {
		return content{data: []byte(ev.Data)}
	}
	return content{data: []byte(ev.Data), otherwise: "it is neither an object nor a list"}
}
