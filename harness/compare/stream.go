package compare

import (
	"fmt"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
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
		s := streams{
			comparison: c, rule: c.rules.stream(ref.Name, ref.Operation), volatile: c.rules.volatile(ref.Step),
			sides: [2]*transcript.Stream{ref, other},
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
}

// An item is an event that takes part in the sequence.
type item struct {
	index int // in the stream
	event *transcript.Event
	name  string
	// key is equal for events that can be equal up to renaming.
	key string
}

func (s *streams) compare() {
	ref, cand := s.items(0), s.items(1)
	for _, group := range s.groups(ref, cand) {
		pairs := align(group[0], group[1])
		for _, p := range explainGaps(pairs) {
			s.pair(p)
		}
	}
	r, o := s.sides[0], s.sides[1]
	if r.Ended != o.Ended && r.Ended != transcript.EndedBroken && o.Ended != transcript.EndedBroken {
		s.report(Difference{
			Kind: StreamEnd, Events: [2]int{-1, -1}, Place: "end",
			Reference: endText(r), Candidate: endText(o), Text: "the streams were ended by different sides",
		})
	}
}

func endText(s *transcript.Stream) string { return fmt.Sprintf("ended by the %s", s.Ended) }

func (s *streams) report(d Difference) {
	d.Step, d.Stream, d.Exchange = s.sides[0].Step, s.sides[0].Name, -1
	s.add(d)
}

// items returns the events of a side without its heartbeats.
func (s *streams) items(side int) []item {
	var out []item
	beats := 0
	for i := range s.sides[side].Events {
		ev := &s.sides[side].Events[i]
		if s.rule.Heartbeat.beats(ev) {
			beats++
			continue
		}
		out = append(out, item{i, ev, eventName(ev), s.key(side, ev)})
	}
	if side == 0 {
		s.notCompared("heartbeats, which are checked for their cadence", beats)
	}
	return out
}

// beats reports whether an event is a heartbeat.
func (h *Heartbeat) beats(ev *transcript.Event) bool {
	switch {
	case h == nil:
		return false
	case h.Event == "":
		return ev.Comment
	default:
		return !ev.Comment && ev.Name == h.Event
	}
}

func eventName(ev *transcript.Event) string {
	switch {
	case ev.Comment:
		return "a comment"
	case ev.Undispatched:
		return "an event without data"
	default:
		return ev.Name
	}
}

// key describes an event without its generated values.
func (s *streams) key(side int, ev *transcript.Event) string {
	data := ev.Data
	if rules := s.volatile; len(rules) > 0 {
		if root, _, err := jsontree.Parse([]byte(data)); err == nil {
			data = blank(root, "", pointers(rules, []byte(data), root)).String()
		}
	}
	// The name often stands in the data too. It has a cost of its own, so it is no part of the key.
	return strings.ReplaceAll(s.b.skeleton(side, data), quoted(ev.Name), quoted("‹name›"))
}

// blank returns the tree with the values at volatile places replaced by their kinds.
func blank(n *jsontree.Node, ptr string, volatile map[string]VolatileKind) *jsontree.Node {
	if len(volatile) == 0 {
		return n
	}
	if kind, ok := volatile[ptr]; ok && scalar(n) {
		return &jsontree.Node{Kind: n.Kind, Text: "‹" + string(kind) + "›"}
	}
	out := &jsontree.Node{Kind: n.Kind, Text: n.Text, Names: n.Names}
	for i, child := range n.Items {
		at := jsontree.AppendIndex(ptr, i)
		if n.Kind == jsontree.Object {
			at = jsontree.AppendName(ptr, n.Names[i])
		}
		out.Items = append(out.Items, blank(child, at, volatile))
	}
	return out
}

// groups returns the sequences to align: one pair of all events, or one for each value of the path that order is kept
// within.
func (s *streams) groups(ref, cand []item) [][2][]item {
	if s.rule.OrderWithin == "" {
		return [][2][]item{{ref, cand}}
	}
	path, err := jsonpath.Parse(s.rule.OrderWithin)
	if err != nil { // checked where rules are read
		return [][2][]item{{ref, cand}}
	}
	index := map[string]int{}
	var out [][2][]item
	for side, items := range [2][]item{ref, cand} {
		for _, it := range items {
			key := s.correlation(side, it.event, path)
			i, ok := index[key]
			if !ok {
				i = len(out)
				index[key] = i
				out = append(out, [2][]item{})
			}
			out[i][side] = append(out[i][side], it)
		}
	}
	return out
}

// correlation returns the value of an event that its order binds within, in the words of the reference.
func (s *streams) correlation(side int, ev *transcript.Event, path *jsonpath.Path) string {
	root, _, err := jsontree.Parse([]byte(ev.Data))
	if err != nil {
		return ""
	}
	found := path.Select(root.Value())
	if len(found) != 1 {
		return ""
	}
	value := fmt.Sprint(found[0])
	if side == 1 {
		if partner, ok := s.b.backward[boundKey{tokKnown, value}]; ok {
			value = partner.value
		}
	}
	return s.b.skeleton(side, value)
}

// pair compares two aligned events, or reports the one that is alone.
func (s *streams) pair(p pair) {
	if p.ref != nil && p.cand != nil {
		s.result.Events++
		s.events(p)
		return
	}
	s.report(alone(p))
}

// alone describes an event that has no partner.
func alone(p pair) Difference {
	d := Difference{Kind: p.gap, Events: [2]int{-1, -1}, Reference: absent, Candidate: absent}
	if p.gap == EventMissing {
		d.Place, d.Events[0], d.Reference = eventPlace(p.ref), p.ref.index, showEvent(p.ref.event)
		d.Text = "the candidate does not send " + p.ref.name
		return d
	}
	d.Place, d.Events[1], d.Candidate = eventPlace(p.cand), p.cand.index, showEvent(p.cand.event)
	switch p.gap {
	case EventMoved:
		d.Events[0] = p.moved.index
		d.Reference = fmt.Sprintf("event %d: %s", p.moved.index+1, showEvent(p.moved.event))
		d.Candidate = fmt.Sprintf("event %d: %s", p.cand.index+1, showEvent(p.cand.event))
		d.Text = p.cand.name + " comes at another place in the sequence"
	case EventDoubled:
		d.Text = "the candidate sends " + p.cand.name + " once more"
	default:
		d.Text = "the reference does not send this " + p.cand.name
	}
	return d
}

func eventPlace(it *item) string { return fmt.Sprintf("event %d (%s)", it.index+1, it.name) }

func showEvent(ev *transcript.Event) string { return show(eventName(ev) + " " + ev.Data) }

// events compares two events that stand for each other.
func (s *streams) events(p pair) {
	ref, cand := p.ref.event, p.cand.event
	at := eventPlace(p.ref)
	report := func(d Difference) {
		d.Events = [2]int{p.ref.index, p.cand.index}
		s.report(d)
	}
	renamed := p.ref.name != p.cand.name
	if renamed {
		report(Difference{Kind: EventName, Place: at, Reference: p.ref.name, Candidate: p.cand.name, Text: "the events have different names"})
	} else if rt, ct := eventType(ref), eventType(cand); rt != ct {
		report(Difference{Kind: EventName, Place: at + " event field", Reference: rt, Candidate: ct, Text: "the event fields differ"})
	}
	seen := s.seen(ref.At, cand.At)
	pl := place{fmt.Sprintf("stream %s %s data", s.sides[0].Name, at), seen}
	s.content(at+" data", pl, s.volatile, [2]content{eventContent(ref), eventContent(cand)}, func(d Difference) {
		if renamed && d.Reference == quoted(p.ref.name) && d.Candidate == quoted(p.cand.name) {
			return // the name stands in the data, and has been reported
		}
		report(d)
	})
	if kind, why := s.b.texts(ref.ID, cand.ID, place{at + " id", seen}); kind != "" {
		report(Difference{Kind: kind, Place: at + " id", Reference: ref.ID, Candidate: cand.ID, Text: why})
	}
	if ref.Retry != cand.Retry {
		report(Difference{Kind: ValueDiffers, Place: at + " retry", Reference: ref.Retry, Candidate: cand.Retry, Text: "the reconnection times differ"})
	}
	if s.rule.Exact && ref.Framing != cand.Framing && !renamed {
		report(Difference{
			Kind: EventFraming, Place: at + " framing",
			Reference: fmt.Sprintf("%q", ref.Framing), Candidate: fmt.Sprintf("%q", cand.Framing), Text: "the events are written differently",
		})
	}
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
	return content{[]byte(ev.Data), data != "" && (data[0] == '{' || data[0] == '[')}
}
