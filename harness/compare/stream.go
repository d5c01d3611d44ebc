package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
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
		if unreadableStream(c.sides[0], ref)+unreadableStream(c.sides[1], other) != "" {
			c.notCompared("an event stream in a coding that cannot be read", 1)
			continue
		}
		c.IDs.Applied[StreamApplied(c.rules.streamKey(ref.Name, ref.Operation))] = true
		s := streams{
			Comparer: c.Comparer, findings: c.findings, runs: c.runs, sides: [2]*transcript.Stream{ref, other},
			ruleKey: c.rules.streamKey(ref.Name, ref.Operation), rule: c.rules.stream(ref.Name, ref.Operation), volatile: c.rules.volatile(ref.Step),
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
	*jsondiff.Comparer
	*findings
	runs     runs
	ruleKey  string // the key of the rules in Result
	rule     Stream
	volatile []jsondiff.Volatile
	sides    [2]*transcript.Stream
	pieces   Pieces
	joined   [2]int // how many pieces of texts were joined
	triggers [2][]trigger
}

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

func (s *streams) compare() {
	seq := sequences{s}
	items := [2][]item{seq.items(0), seq.items(1)}
	r, o := s.sides[0], s.sides[1]
	if r.Ended != o.Ended && r.Ended != transcript.EndedBroken && o.Ended != transcript.EndedBroken && !s.maybeLate(len(o.Events)) {
		s.report(diff.Difference{
			Reason: diff.Because(diff.StreamEnd, diff.EndedByOthers), Events: [2]int{-1, -1}, At: diff.At{Part: "end"},
			Ref: diff.Show(endText(r, items[0])), Cand: diff.Show(endText(o, items[1])),
			Fingerprint: diff.Digest(nameOfLast(items[0]), nameOfLast(items[1]), string(r.Ended), string(o.Ended)),
		})
	}
	beats{s}.openingBeat()
	beats{s}.compareBeats()
	s.capFlood(&items)
	anchors, others := seq.anchored(items)
	groups := seq.groups(others, anchors)
	for _, g := range groups {
		for _, items := range g {
			markRepeats(items)
		}
	}
	seq.prebind(append(groups, anchors))
	fixed := s.paired(anchors)
	barriers := barriers(fixed, groups)
	var free []pair
	for _, g := range groups {
		free = append(free, s.paired(g)...)
	}
	s.displaced(barriers, free)
	for _, p := range s.pairAcrossGroups(slices.Concat(fixed, free)) {
		s.pair(p, barriers)
	}
	s.notCompared("pieces of texts, which are compared as a whole", max(s.joined[0], s.joined[1]))
}

// paired pairs the events of two sequences, and finds out why the others have no counterpart.
func (s *streams) paired(sides [2][]item) []pair {
	return pairByName(s.withoutConsequences(s.withoutOptional(explainGaps(align(sides[0], sides[1])))))
}

func endText(s *transcript.Stream, items []item) string {
	if len(items) == 0 {
		return fmt.Sprintf("ended by the %s, before any event", s.Ended)
	}
	return fmt.Sprintf("ended by the %s, after %s", s.Ended, eventPlace(&items[len(items)-1]))
}

func (s *streams) report(d diff.Difference) {
	d.Step, d.Stream, d.Exchange = s.sides[0].Step, s.sides[0].Name, -1
	s.add(d)
}

// items returns the events of a side without its heartbeats.
func (s sequences) items(side int) []item {
	var out []item
	beats := 0
	labels := s.rule.Heartbeat.labels(s.sides[side])
	for i := range s.sides[side].Events {
		ev := &s.sides[side].Events[i]
		if s.rule.Heartbeat.is(ev) {
			beats++
			continue
		}
		it := item{index: i, label: labels[i], event: ev, name: s.IDs.Skeleton(side, eventName(ev))}
		it.key, it.outline = s.keys(side, ev)
		out = append(out, it)
	}
	if side == 0 {
		s.notCompared("heartbeats, which are checked for their cadence", beats)
	}
	if h := s.rule.Heartbeat; h != nil && h.Every > 0 {
		_, excused := cadence(s.runs.sides[side], s.sides[side], h)
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

// keys returns two descriptions of an event: with the names of the ids that have partners, and without any names.
func (s sequences) keys(side int, ev *transcript.Event) (key, outline string) {
	outline = s.key(s.IDs, side, ev)
	if !strings.Contains(outline, "‹") { // there are no generated values
		return outline, outline
	}
	return s.key(s.IDs.Named(), side, ev), outline
}

// key describes an event without its generated values. With bindings from Named, it tells ids apart.
func (s sequences) key(b *ident.Bindings, side int, ev *transcript.Event) string {
	key := s.OutlineBy(b, side, eventContent(ev), s.volatile)
	// The data often contains the event's name, too. A different name has a cost of its own, so the key leaves it out.
	return strings.ReplaceAll(key, jsondiff.Quoted(ev.Name), jsondiff.Quoted("‹name›"))
}

// withoutOptional drops optional events that one side lacks. If the other side has the event at another place or with
// other data, it is reported.
func (s *streams) withoutOptional(pairs []pair) []pair {
	if len(s.rule.Optional) == 0 {
		return pairs
	}
	alone := [2]map[string]bool{{}, {}} // the names of events that only one side has at that place
	for _, p := range pairs {
		switch p.alone {
		case diff.EventMissing:
			alone[0][p.ref.name] = true
		case diff.EventExtra:
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
		switch p.alone {
		case diff.EventMissing:
			return optional(p.ref, 1)
		case diff.EventExtra, diff.EventDoubled:
			return optional(p.cand, 0)
		}
		return false
	})
	s.notCompared("events that are optional, which one side has not", dropped)
	return out
}

// pair compares two aligned events, or reports one without a counterpart.
func (s *streams) pair(p pair, barriers []pair) {
	if p.ref != nil && p.cand != nil {
		s.result.Events++
		s.events(p)
		s.gap(p)
		return
	}
	if (p.alone == diff.EventExtra || p.alone == diff.EventDoubled) && s.maybeLate(p.cand.index) {
		return
	}
	across := ""
	if p.moved != nil {
		if from, to := straddled(p.moved, p.cand); from < to {
			across = ", across " + barriers[from].ref.name
		}
	}
	s.report(alone(p, across))
	if p.moved != nil { // the place is reported, and the contents are compared as always
		s.result.Events++
		s.events(pair{ref: p.moved, cand: p.cand})
	}
}

// alone describes an event without a counterpart. across names the anchor that a moved one has passed.
func alone(p pair, across string) diff.Difference {
	d := diff.Difference{Events: [2]int{-1, -1}, Ref: diff.ShowSome(""), Cand: diff.ShowSome("")}
	d.Fingerprint = diff.Digest(keyOf(p.ref), keyOf(p.cand), keyOf(p.moved))
	if p.alone == diff.EventMissing {
		d.At, d.Events[0], d.Ref = atEvent(p.ref), p.ref.index, showEvent(p.ref.event)
		d.Reason = diff.Because(p.alone, diff.CandidateLacksEvent, p.ref.name)
		return d
	}
	d.At, d.Events[1], d.Cand = atEvent(p.cand), p.cand.index, showEvent(p.cand.event)
	switch p.alone {
	case diff.EventMoved:
		d.Events[0], d.Ref, d.Cand = p.moved.index, showLabelled(p.moved), showLabelled(p.cand)
		d.Reason = diff.Because(p.alone, diff.ElsewhereInOrder, p.cand.name, across)
	case diff.EventDoubled:
		d.Reason = diff.Because(p.alone, diff.SentOnceMore, p.cand.name)
	default:
		d.Reason = diff.Because(p.alone, diff.ReferenceLacksEvent, p.cand.name)
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

func showEvent(ev *transcript.Event) diff.Excerpt { return diff.Show(eventName(ev) + " " + ev.Data) }

// showLabelled shows a moved event with its label.
func showLabelled(it *item) diff.Excerpt {
	return diff.Show(it.label + ": " + showEvent(it.event).Text)
}

// events compares two corresponding events.
func (s *streams) events(p pair) {
	ref, cand := p.ref.event, p.cand.event
	at := func(part string) diff.At {
		return diff.At{Message: eventPlace(p.ref), Part: part, Contract: "event " + part}
	}
	report := func(d diff.Difference) {
		d.Events = [2]int{p.ref.index, p.cand.index}
		s.report(d)
	}
	seen := s.runs.seen(ref.At, cand.At)
	renamed := s.names(at(""), diff.EventNames, eventName(ref), eventName(cand), seen, report)
	if !renamed {
		s.names(at("event field"), diff.EventFields, eventType(ref), eventType(cand), seen, report)
	}
	stream := "stream " + s.sides[0].Name
	pl := ident.Place{Where: ident.InStream(s.sides[0], at("data")), Seen: seen, Timeline: stream, Of: [2]string{stream, stream}}
	if ref.Undispatched != cand.Undispatched {
		d := withoutData(at("data"), ref, cand)
		d.Fingerprint = s.ContentsDigest([2]jsondiff.Content{eventContent(ref), eventContent(cand)}, s.volatile)
		report(d)
		return
	}
	s.Content(pl, s.volatile, [2]jsondiff.Content{eventContent(ref), eventContent(cand)}, func(d diff.Difference) {
		if renamed && d.Ref.Text == jsondiff.Quoted(eventName(ref)) && d.Cand.Text == jsondiff.Quoted(eventName(cand)) {
			return // the data contains the name, which is reported already
		}
		report(d)
	})
	pl = ident.Place{Where: ident.InStream(s.sides[0], at("id")), Seen: seen}
	if why := s.IDs.Texts(ref.ID, cand.ID, pl); !why.None() && !(why.Code == diff.TextsDiffer && s.Encoded(pl, ref.ID, cand.ID, report)) {
		report(diff.Difference{Reason: why, At: at("id"), Ref: diff.ShowSome(ref.ID), Cand: diff.ShowSome(cand.ID)})
	}
	if ref.Retry != cand.Retry {
		report(diff.Difference{Reason: diff.Because(diff.ValueDiffers, diff.RetriesDiffer), At: at("retry"), Ref: diff.ShowSome(ref.Retry), Cand: diff.ShowSome(cand.Retry)})
	}
	if s.rule.Exact && ref.Framing != cand.Framing && !renamed {
		report(diff.Difference{
			Reason: diff.Because(diff.EventFraming, diff.EventNotation), At: at("framing"),
			Ref: diff.Show(strconv.Quote(ref.Framing)), Cand: diff.Show(strconv.Quote(cand.Framing)),
		})
	}
}

// names compares two names of events, which may contain ids, and returns whether they differ.
func (s *streams) names(at diff.At, otherwise diff.Code, ref, cand string, seen [2]time.Time, report func(diff.Difference)) (differ bool) {
	at.Contract = "event name"
	why := s.IDs.Texts(ref, cand, ident.Place{Where: ident.InStream(s.sides[0], diff.At{Message: at.Message, Part: at.Contract}), Seen: seen})
	if why.None() {
		return false
	}
	if why.Code == diff.TextsDiffer {
		why = diff.Because(diff.EventName, otherwise)
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

// eventType is the type a browser gives an event: "message" when the field is missing (WHATWG HTML 9.2.6).
func eventType(ev *transcript.Event) string {
	if ev.Type == "" {
		return "message"
	}
	return ev.Type
}

// eventContent is an event's data, as JSON if it looks like an object or a list.
func eventContent(ev *transcript.Event) jsondiff.Content {
	data := strings.TrimSpace(ev.Data)
	if data != "" && (data[0] == '{' || data[0] == '[') {
		return jsondiff.Content{Data: []byte(ev.Data)}
	}
	return jsondiff.Content{Data: []byte(ev.Data), NotJSON: "it is neither an object nor a list"}
}
