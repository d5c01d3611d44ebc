// Package compare decides whether two transcripts of one scenario mean the same.
//
// Everything is compared unless a rule says otherwise, in this order:
//
//  1. Generated values, such as ids and tokens, are not ignored. When two of them first appear in the same place, they
//     are bound to each other. From then on, each may only appear together with the other one. Times must be near the
//     moment they were seen.
//  2. Exchanges are compared step by step: the status, the header fields that rules name, and the body, as JSON if it is
//     JSON.
//  3. Events are compared stream by stream. Heartbeats are taken out, the pieces of a text are joined where a rule says
//     so, the sequences are aligned, and each pair is compared. A lost, doubled, moved or renamed event is one difference.
//  4. Requests that the targets sent to their upstreams are compared like responses, for each rule of a stub.
//
// What a target alone has failed to do is not a difference, but an Unmet demand of that target: a request failed, or an
// event never came. AllUnmet finds these. The exchanges in question are not compared.
//
// The package is pure: it reads two transcripts and rules, and changes nothing.
package compare

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Transcripts compares what the candidate did with what the reference did.
//
// docs are parsed documents that other parts of a judgement use as well; nil for none.
func Transcripts(docs *jsontree.Documents, ref, cand *transcript.Transcript, rules *Rules) Result {
	ids := ident.New(ref, cand, rules.IDs...)
	found := &findings{result: Result{Applied: ids.Applied}, masker: NewMasker(rules, ref, cand), bound: ids}
	c := newComparison(jsondiff.New(docs, ids, found.refuse), found, runs{[2]*transcript.Transcript{ref, cand}}, rules)
	c.steps(0)
	c.streams()
	c.upstream()
	found.reportRest()
	found.nameIDs()
	found.result.Unnamed, found.result.Assumed = c.fields.differing, ids.Assumed()
	return found.result
}

// A comparison walks through two transcripts.
type comparison struct {
	json      *jsondiff.Comparer
	fields    *fields
	found     *findings
	runs      runs
	rules     *Rules
	lookahead bool // it only looks at what follows a burst, to tell the responses of the burst apart
}

func newComparison(json *jsondiff.Comparer, found *findings, runs runs, rules *Rules) *comparison {
	return &comparison{json: json, fields: &fields{json: json, rules: rules, runs: runs}, found: found, runs: runs, rules: rules}
}

// ahead returns a comparison that only finds out which ids belong together. Its results are discarded.
func (c *comparison) ahead() *comparison {
	ids := c.json.IDs.Clone()
	ahead := newComparison(c.json.With(ids), &findings{bound: ids}, c.runs, c.rules)
	ahead.lookahead = true
	return ahead
}

// steps compares the steps that both sides have, in order, beginning with the given index in the reference's steps.
func (c *comparison) steps(first int) {
	for i := first; i < len(c.runs.sides[0].Steps); i++ {
		ref := &c.runs.sides[0].Steps[i]
		other := cmp.Or(counterpart(c.runs.sides[1].Steps, i, ref.ID), &transcript.Step{Skipped: "it has no such step"})
		exchanges := max(len(ref.Exchanges), len(other.Exchanges))
		switch {
		case ref.Skipped != "" || other.Skipped != "":
			c.found.notCompared("not done by both targets", exchanges)
		case ref.Fault != "" || other.Fault != "": // that is lockstep's fault, and no difference between the targets
			c.found.notCompared("lockstep could not do it", exchanges)
		case ref.Uncompared:
			c.found.notCompared("the scenario says so", len(ref.Exchanges))
		default:
			c.step(i, ref, other)
		}
	}
}

// counterpart returns the step with an id; nil when there is none. It is usually the i-th.
func counterpart(steps []transcript.Step, i int, id string) *transcript.Step {
	if i >= len(steps) || steps[i].ID != id {
		i = slices.IndexFunc(steps, func(s transcript.Step) bool { return s.ID == id })
	}
	if i < 0 {
		return nil
	}
	return &steps[i]
}

func (c *comparison) step(number int, ref, cand *transcript.Step) {
	c.processEnd(ref, cand)
	rx, cx := ref.Exchanges, cand.Exchanges
	switch {
	case ref.Burst && c.lookahead: // it cannot help to pair the burst before it
		return
	case ref.Burst:
		rx, cx = c.pairBurst(number, ref, cand)
	}
	if len(rx) != len(cx) {
		c.found.add(diff.Difference{
			Reason: diff.Because(diff.CountDiffers, diff.CountsOfAnswers), Step: ref.ID, Exchange: -1, At: diff.At{Part: "answers"},
			Ref: diff.Show(strconv.Itoa(len(rx))), Cand: diff.Show(strconv.Itoa(len(cx))),
		})
	}
	n := min(len(rx), len(cx))
	for i := range n {
		at := [2]int{i, i}
		if !ref.Burst { // in a burst, nothing shows which request is which
			c.bindSent(ref.ID, rx[i], cx[i])
		} else {
			at = [2]int{slices.Index(ref.Exchanges, rx[i]), slices.Index(cand.Exchanges, cx[i])}
		}
		c.exchange(ref, at, rx[i], cx[i])
	}
	c.found.notCompared("no counterpart", max(len(rx), len(cx))-n)
}

// processEnd compares the ends of two processes that a step was meant to end. If one did not end as it should, that is
// an Unmet demand.
func (c *comparison) processEnd(ref, cand *transcript.Step) {
	r, o := ref.Process, cand.Process
	if r == nil || o == nil || r.Status == o.Status || unended(ref) || unended(cand) {
		return
	}
	c.found.add(diff.Difference{
		Reason: diff.Because(diff.ExitDiffers, diff.ExitsDiffer), Step: ref.ID, Exchange: -1, Events: [2]int{-1, -1}, At: diff.At{Part: "exit"},
		Ref: diff.Show(r.Status), Cand: diff.Show(o.Status),
	})
}

// streams compares the streams that both sides have, in the order in which the reference opened them.
func (c *comparison) streams() {
	cand := map[string]*transcript.Stream{}
	for _, s := range c.runs.sides[1].Streams {
		cand[s.Name] = s
	}
	for _, ref := range c.runs.sides[0].Streams {
		other := cand[ref.Name]
		if ref.Stub { // it is compared with its request: see upstream
			continue
		}
		if other == nil {
			c.found.notCompared("not opened by both targets", len(ref.Events))
			continue
		}
		if unreadableStream(c.runs.sides[0], ref)+unreadableStream(c.runs.sides[1], other) != "" {
			c.found.notCompared("an event stream in a coding that cannot be read", 1)
			continue
		}
		c.stream(ref, other, c.rules.volatile(ref.Step), c.found.add)
	}
}

// stream compares two recordings of a stream.
func (c *comparison) stream(ref, cand *transcript.Stream, volatile []jsondiff.Volatile, report func(diff.Difference)) {
	key := c.rules.streamKey(ref.Name, ref.Operation)
	c.json.IDs.Applied[streamdiff.Applied(key)] = true
	both := streamdiff.Recordings{
		IDs: c.json.IDs, Data: &eventData{c.json, volatile, c.rules.Streams[key].JSONRPC}, Sides: [2]*transcript.Stream{ref, cand}, Runs: c.runs.sides,
		Rules: c.rules.Streams[key], RuleKey: key, Killed: c.runs.killed, Report: report, NotCompared: c.found.notCompared,
	}
	c.found.result.Add(both.Compare())
}

// runs are the transcripts of both sides.
type runs struct{ sides [2]*transcript.Transcript }

// seen returns when something was seen on each side, given the offsets.
func (r runs) seen(ref, cand time.Duration) [2]time.Time {
	return [2]time.Time{r.sides[0].Started.Add(ref), r.sides[1].Started.Add(cand)}
}

// killed reports whether a step had killed a side's process by a time, and no step had restarted it. Both sides were at
// the same step then.
func (r runs) killed(side int, at time.Duration) bool {
	return slices.ContainsFunc(outages(r.sides[side]), func(o *outage) bool { return o.killed && at >= o.from && at <= o.to })
}
