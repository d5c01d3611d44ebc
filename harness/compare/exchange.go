package compare

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// exchange compares a pair of responses. at has their indexes in the step of each side.
func (c *comparison) exchange(step *transcript.Step, at [2]int, ref, cand *transcript.Exchange) {
	if ref.Response == nil || cand.Response == nil || ref.Failure != nil || cand.Failure != nil {
		if code := c.unlikeGivenUp(step, ref, cand); code != "" {
			c.found.add(diff.Difference{
				Reason: diff.Because(diff.StatusDiffers, code), Step: step.ID, Exchange: at[0], Exchanges: at, Events: [2]int{-1, -1},
				At: diff.At{Part: "status"}, Ref: diff.Show(outcome(ref)), Cand: diff.Show(outcome(cand)),
			})
			return
		}
		c.found.notCompared("an exchange that failed", 1) // reported as unmet
		return
	}
	c.found.result.Exchanges++
	report := func(d diff.Difference) {
		d.Step, d.Exchange, d.Exchanges, d.Events = step.ID, at[0], at, [2]int{-1, -1}
		c.found.add(d)
	}
	r, o := ref.Response, cand.Response
	if r.Status != o.Status {
		report(diff.Difference{
			Reason: diff.Because(diff.StatusDiffers, diff.StatusesDiffer), At: diff.At{Part: "status"},
			Ref: diff.Show(strconv.Itoa(r.Status)), Cand: diff.Show(strconv.Itoa(o.Status)),
		})
	}
	h := c.fields
	h.interim(step, ref, cand, report)
	// The body is compared before the header fields, although its differences are reported after theirs. If an id is
	// wrong in one of them, the body has more places that show which id is right.
	var inBody []diff.Difference
	h.bindBoundaries(r.Header, o.Header, ident.InStep(step.ID, diff.At{Part: "header Content-Type"}))
	c.body(step, ref, cand, func(d diff.Difference) { inBody = append(inBody, d) })
	names := withCoding(h.headers(step.ID), r.Header, o.Header)
	h.unnamed("", names, r.Header, o.Header)
	for _, name := range names {
		if r.Header.Has(name) || o.Header.Has(name) {
			h.headerApplied(name, step.ID)
		}
		if isLength(name) && lengthExplained(r, o) || isCoding(name) && unrequestedCodings(ref)+unrequestedCodings(cand) != "" { // the latter is reported as unmet
			continue
		}
		if h.checksumExplained(step.ID, name, r, o, len(inBody) == 0) {
			continue
		}
		h.header(step, name, r.Header, o.Header, c.runs.seen(ref.Head, cand.Head), report)
	}
	h.trailers(step, ref, cand, report)
	for _, d := range inBody {
		report(d)
	}
}

// unlikeGivenUp compares the outcomes of a request that the scenario gives up, and returns how they differ; "" when
// they do not. One target may have answered or broken it long before, while the other has left it open. In a branch of
// a parallel step, that may be chance, because the targets do not wait for each other there.
func (c *comparison) unlikeGivenUp(step *transcript.Step, ref, cand *transcript.Exchange) diff.Code {
	switch {
	case !givenUp(step) || canceled(ref) == canceled(cand) && broke(ref) == broke(cand):
		return ""
	case broke(ref) && cand.Failure == nil, broke(cand) && ref.Failure == nil:
		return diff.OneAnswersOneBreaks
	case strings.Contains(step.ID, "."):
		return ""
	}
	over, side, code := ref, 0, diff.OneAnswers
	if canceled(ref) {
		over, side = cand, 1
	}
	if broke(over) {
		code = diff.OneBreaks
	}
	if own := counterpart(c.runs.sides[side].Steps, 0, step.ID); own == nil || over.Done >= own.At {
		return ""
	}
	return code
}

// bindSent binds what two requests have in the same places, before their responses are compared. So if the candidate
// responds with an id other than the client's own, that is found at its first appearance.
func (c *comparison) bindSent(step string, ref, cand *transcript.Exchange) {
	byRule := jsondiff.AllowsIDs(c.rules.volatile(step))
	s := ident.NewSentBinder(c.json.IDs, ident.InRequest(step), byRule)
	s.Text(ref.Request.Target, cand.Request.Target)
	s.Headers(ref.Request.Header, cand.Request.Header)
	c.json.BindSent(s, byRule, ref.Request.Body.Bytes, cand.Request.Body.Bytes)
}
