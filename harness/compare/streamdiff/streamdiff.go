// Package streamdiff compares the two recordings of one event stream.
//
// Heartbeats are taken out, the pieces of a text are joined where a rule says so, and the rest is split into sequences
// that keep their order. The sequences are aligned, and each pair of events is compared. An event that is lost, doubled,
// moved or renamed is one difference.
package streamdiff

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Compare reports the differences between the two recordings, and counts the pairs of events that it compared.
func (r *Recordings) Compare() transcript.Tally {
	s := streams{Recordings: r, sequences: sequences{Recordings: r, pieces: r.Rules.Pieces()}}
	if r.Rules.Gap != nil {
		s.triggers = [2][]trigger{triggers(r.Runs[0]), triggers(r.Runs[1])}
	}
	s.compare()
	return s.compared
}

// streams compares two recordings of one stream.
type streams struct {
	*Recordings
	sequences sequences
	triggers  [2][]trigger
	compared  transcript.Tally // pairs of events
}

func (s *streams) compare() {
	s.bindSent()
	seq := &s.sequences
	items := [2][]item{seq.items(0), seq.items(1)}
	r, o := s.Sides[0], s.Sides[1]
	if r.Ended != o.Ended && r.Ended != transcript.EndedBroken && o.Ended != transcript.EndedBroken && !s.maybeLate(len(o.Events)) {
		s.report(diff.Difference{
			Reason: diff.Because(diff.StreamEnd, diff.EndedByOthers), Events: [2]int{-1, -1}, At: diff.At{Part: "end"},
			Ref: diff.Show(endText(r, items[0])), Cand: diff.Show(endText(o, items[1])),
			Fingerprint: diff.Digest(nameOfLast(items[0]), nameOfLast(items[1]), string(r.Ended), string(o.Ended)),
		})
	}
	beats := beats{s.Recordings, seq}
	beats.openingBeat()
	beats.compareBeats()
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
	s.NotCompared("pieces of texts, which are compared as a whole", max(seq.joined[0], seq.joined[1]))
}

// bindSent binds what the client has sent on both sides, before what the servers have sent is compared. So if the
// candidate answers with an id other than the client's own, that is found at its first appearance. An id that a server
// has sent before is not bound here, because it may be the wrong one: it is compared where the server has sent it.
func (s *streams) bindSent() {
	labels := s.Rules.Labels(s.Sides[0])
	next := [2]int{}
	known := [2]map[string]bool{{}, {}}
	received := func(ref, cand string) bool { return known[0][ref] || known[1][cand] }
	for {
		ref, cand := s.nextSent(0, &next[0], known[0]), s.nextSent(1, &next[1], known[1])
		if ref == nil || cand == nil {
			return
		}
		at := diff.At{Message: fmt.Sprintf("%s (%s)", labels[next[0]-1], ref.Label()), Part: "data"}
		s.Data.BindSent(ident.InStream(s.Sides[0], at), ref, cand, received)
	}
}

// nextSent returns the next event that the client has sent on a side; nil when there is none. It collects the generated
// values of the received events before that.
func (s *streams) nextSent(side int, next *int, known map[string]bool) *transcript.Event {
	events := s.Sides[side].Events
	i := slices.IndexFunc(events[*next:], func(ev transcript.Event) bool { return ev.Sent })
	if i < 0 {
		return nil
	}
	for _, ev := range events[*next : *next+i] {
		for _, t := range s.IDs.Vocabulary.Scan(side, ev.Data) {
			known[ev.Data[t.Start:t.End]] = true
		}
	}
	*next += i + 1
	return &events[*next-1]
}

// paired pairs the events of two sequences, and finds out why the others have no counterpart.
func (s *streams) paired(sides [2][]item) []pair {
	return pairByName(s.withoutConsequences(s.withoutOptional(explainGaps(align(sides[0], sides[1])))))
}

func endText(s *transcript.Stream, items []item) string {
	if len(items) == 0 {
		return fmt.Sprintf("ended by the %s, before any event", s.Ender())
	}
	return fmt.Sprintf("ended by the %s, after %s", s.Ender(), eventPlace(&items[len(items)-1]))
}

// withoutOptional drops optional events that one side lacks. If the other side has the event at another place or with
// other data, it is reported.
func (s *streams) withoutOptional(pairs []pair) []pair {
	if len(s.Rules.Optional) == 0 {
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
		if !slices.Contains(s.Rules.Optional, it.name) || alone[other][it.name] {
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
	s.NotCompared("events that are optional, which one side has not", dropped)
	return out
}

// pair compares two aligned events, or reports one without a counterpart.
func (s *streams) pair(p pair, barriers []pair) {
	if p.ref != nil && p.cand != nil {
		s.compared.Count(p.ref.event)
		eventPair{s.Recordings, p}.compare()
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
		s.compared.Count(p.cand.event)
		eventPair{s.Recordings, pair{ref: p.moved, cand: p.cand}}.compare()
	}
}

// alone describes an event without a counterpart. across names the anchor that a moved one has passed.
func alone(p pair, across string) diff.Difference {
	d := diff.Difference{Events: [2]int{-1, -1}, Ref: diff.ShowSome(""), Cand: diff.ShowSome("")}
	d.Fingerprint = diff.Digest(keyOf(p.ref), keyOf(p.cand), keyOf(p.moved))
	if p.alone == diff.EventMissing {
		d.At, d.Events[0], d.Ref = atEvent(p.ref), p.ref.index, ShowEvent(p.ref.event)
		d.Reason = diff.Because(p.alone, diff.CandidateLacksEvent, p.ref.name)
		return d
	}
	d.At, d.Events[1], d.Cand = atEvent(p.cand), p.cand.index, ShowEvent(p.cand.event)
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

// Recordings are one event stream as both sides sent it, with what says how to compare them.
type Recordings struct {
	IDs     *ident.Bindings
	Data    Data // with these bindings
	Sides   [2]*transcript.Stream
	Runs    [2]*transcript.Transcript // that the streams belong to
	Rules   Rules
	RuleKey string // the key of the rules in Result
	// Killed reports whether the scenario had killed a side's process by a moment of its run, and not restarted it.
	Killed func(side int, at time.Duration) bool
	// Report takes the differences, in the order in which they are found.
	Report func(diff.Difference)
	// NotCompared counts events that were not compared, by reason.
	NotCompared func(reason string, n int)
}

// Data compares the data of events, with the help of bindings.
type Data interface {
	// BindSent binds the generated values that two corresponding sent events have in the same places, without those that
	// were received before.
	BindSent(where ident.Location, ref, cand *transcript.Event, received func(ref, cand string) bool)
	// Compare reports the differences between the data of two corresponding events.
	Compare(at ident.Place, ref, cand *transcript.Event, report func(diff.Difference))
	// Encoded compares the contents of two texts that are not part of the data, such as ids of events. It reports false
	// when the texts contain nothing to compare.
	Encoded(at ident.Place, ref, cand string, report func(diff.Difference)) bool
	// Outline describes an event's data. Data that can be equal apart from generated values has the same outline, which
	// tells bound ids apart if the skeletons do.
	Outline(skeletons ident.Skeletons, side int, ev *transcript.Event) string
	// Digest is a digest of the data of two events without generated values.
	Digest(ref, cand *transcript.Event) string
	// Defects returns the defects of an event's data, if it looks like JSON.
	Defects(ev *transcript.Event) []jsontree.Defect
	// Parse reads an event's data as JSON, whatever it looks like, and ignores its defects.
	Parse(ev *transcript.Event) (*jsontree.Node, error)
	// With returns the same with other bindings, for comparing ahead.
	With(ids *ident.Bindings) Data
}

// report completes a difference with the place of the stream.
func (r *Recordings) report(d diff.Difference) {
	d.Step, d.Stream, d.Exchange = r.Sides[0].Step, r.Sides[0].Name, -1
	r.Report(d)
}
