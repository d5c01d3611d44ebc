// Package compare decides whether two transcripts of one scenario mean the same.
//
// Everything is compared unless a rule says otherwise, in this order:
//
//  1. Values that the servers make up (ids, tokens) are not ignored: two that stand in the same place when they first
//     appear are bound to each other, and from then on must always stand together, wherever they show up. Times must lie
//     near the moment they were seen.
//  2. Step by step, the exchanges: status, the header fields that the rules name, the body; JSON as JSON.
//  3. Stream by stream, the events: heartbeats are taken out, the pieces of a text are put together where a rule says so,
//     the sequences are aligned, and each pair is compared. One event that is lost, doubled, moved or renamed is one
//     difference.
//  4. Rule by rule of the stubs, the requests that the targets have sent to their upstreams, as if they were answers.
//
// What did not work out on one target by itself (a request that failed, an event that never came) is no difference but
// an Unmet demand of that target, and is found by AllUnmet; the exchanges concerned are not compared.
//
// The package is pure: it reads two transcripts and rules, and changes nothing.
package compare

import (
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Result is what came of comparing two transcripts.
type Result struct {
	Differences []diff.Difference
	// Exchanges and Events count the pairs that were compared.
	Exchanges, Events int
	// NotCompared counts what was there and was not compared, by reason.
	NotCompared map[string]int
	// Unnamed counts the answers in which header fields differ that no rule names, by field.
	Unnamed map[string]int
	// Applied are the rules that selected something: Volatile.Rule, HeaderApplied, StreamApplied, OrderApplied,
	// AnchorApplied, CollapseApplied.
	Applied map[string]bool
	// Refused are rules that are broader than what they are to silence, each once.
	Refused []jsondiff.Refusal
	// Names are what the ids are called that differences speak of, in the order in which they came.
	Names []ident.Name
	// Beside are the values that were let stand for each other without a rule.
	Assumed []ident.Assumed
}

// Transcripts compares what the candidate did with what the reference did.
func Transcripts(ref, cand *transcript.Transcript, rules *Rules) Result {
	return TranscriptsWith(nil, ref, cand, rules)
}

// TranscriptsWith is Transcripts with documents that the rest of a judgement reads as well.
func TranscriptsWith(docs *jsontree.Documents, ref, cand *transcript.Transcript, rules *Rules) Result {
	ids := ident.New(ref, cand, rules.IDs...)
	found := &findings{result: Result{Applied: ids.Applied}, masker: NewMasker(rules, ref, cand), bound: ids}
	c := &comparison{
		Comparer: jsondiff.New(docs, ids, found.refuse), findings: found, runs: runs{[2]*transcript.Transcript{ref, cand}}, rules: rules,
	}
	c.steps(0)
	c.streams()
	c.upstream()
	found.reportRest()
	found.nameIDs()
	found.result.Assumed = ids.Assumed()
	return found.result
}

// A comparison goes through two transcripts.
type comparison struct {
	*jsondiff.Comparer
	*findings
	runs
	rules       *Rules
	seenHeaders map[string]string // HeaderApplied of the header fields that have come, in any step
	lookahead   bool              // what comes behind a burst is looked at, to tell its answers apart
}

// ahead returns a comparison that finds out what belongs together, and keeps nothing.
func (c *comparison) ahead() *comparison {
	ids := c.IDs.Clone()
	return &comparison{Comparer: c.Comparer.With(ids), findings: &findings{bound: ids}, runs: c.runs, rules: c.rules, lookahead: true}
}

// runs are the transcripts of both sides.
type runs struct{ sides [2]*transcript.Transcript }

// steps compares the steps that both sides have, in order, from the first of the reference's.
func (c *comparison) steps(first int) {
	for i := first; i < len(c.sides[0].Steps); i++ {
		ref := &c.sides[0].Steps[i]
		other := counterpart(c.sides[1].Steps, i, ref.ID)
		switch {
		case other == nil || ref.Skipped != "" || other.Skipped != "":
			c.notCompared("not done by both targets", max(len(ref.Exchanges), exchangesOf(other)))
		case ref.Fault != "" || other.Fault != "": // ours, and nobody's difference
			c.notCompared("lockstep could not do it", max(len(ref.Exchanges), exchangesOf(other)))
		case ref.Uncompared:
			c.notCompared("the scenario says so", len(ref.Exchanges))
		default:
			c.step(i, ref, other)
		}
	}
}

// counterpart returns the step of an id, which is the i-th as a rule; nil when there is none.
func counterpart(steps []transcript.Step, i int, id string) *transcript.Step {
	if i >= len(steps) || steps[i].ID != id {
		i = slices.IndexFunc(steps, func(s transcript.Step) bool { return s.ID == id })
	}
	if i < 0 {
		return nil
	}
	return &steps[i]
}

func exchangesOf(s *transcript.Step) int {
	if s == nil {
		return 0
	}
	return len(s.Exchanges)
}

func (c *comparison) step(number int, ref, cand *transcript.Step) {
	c.processEnd(ref, cand)
	rx, cx := ref.Exchanges, cand.Exchanges
	switch {
	case ref.Burst && c.lookahead: // it is what is to be told of
		return
	case ref.Burst:
		rx, cx = c.pairBurst(number, ref, cand)
	}
	if len(rx) != len(cx) {
		c.add(diff.Difference{
			Reason: diff.Because(diff.CountDiffers, diff.CountsOfAnswers), Step: ref.ID, Exchange: -1, At: diff.At{Part: "answers"},
			Ref: diff.Show(strconv.Itoa(len(rx))), Cand: diff.Show(strconv.Itoa(len(cx))),
		})
	}
	n := min(len(rx), len(cx))
	for i := range n {
		at := [2]int{i, i}
		if !ref.Burst { // of a burst nobody knows which request is which
			c.bindSent(ref.ID, rx[i], cx[i])
		} else {
			at = [2]int{slices.Index(ref.Exchanges, rx[i]), slices.Index(cand.Exchanges, cx[i])}
		}
		c.exchange(ref, at, rx[i], cx[i])
	}
	c.notCompared("no counterpart", max(len(rx), len(cx))-n)
}

// seen returns when a thing at an offset was seen on each side.
func (r runs) seen(ref, cand time.Duration) [2]time.Time {
	return [2]time.Time{r.sides[0].Started.Add(ref), r.sides[1].Started.Add(cand)}
}
