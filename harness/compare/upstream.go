package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What targets request from upstreams is compared like responses, but the other way round: the requests come from the
// targets, and the responses from the script. Requests correspond by the rule of the script that answered them, and by
// their number there. Which of two rules is asked first is often chance.

// upstream compares the requests that both targets have sent to stubs.
type upstream struct{ c *comparison }

func (c *comparison) upstream() {
	cand := map[string]*transcript.Step{}
	for i := range c.runs.sides[1].Upstream {
		cand[c.runs.sides[1].Upstream[i].ID] = &c.runs.sides[1].Upstream[i]
	}
	none := &transcript.Step{}
	for i := range c.runs.sides[0].Upstream {
		ref := &c.runs.sides[0].Upstream[i]
		other := cand[ref.ID]
		delete(cand, ref.ID)
		upstream{c}.upstreamRule(ref, cmp.Or(other, none))
	}
	for i := range c.runs.sides[1].Upstream { // the rules that only the candidate used, in their order
		if s := &c.runs.sides[1].Upstream[i]; cand[s.ID] != nil {
			upstream{c}.upstreamRule(&transcript.Step{ID: s.ID, Text: s.Text, Line: s.Line}, s)
		}
	}
}

// upstreamRule compares the requests that one rule answered.
func (u upstream) upstreamRule(ref, cand *transcript.Step) {
	rx, cx := ref.Exchanges, u.withoutLate(ref.Exchanges, cand.Exchanges)
	most := max(len(rx), len(cx))
	switch {
	case isUnexpected(ref) || isUnexpected(cand): // each is an unmet demand
		u.c.found.notCompared("an upstream request that nothing answers", most)
		return
	case ref.Fault != "" || cand.Fault != "":
		u.c.found.notCompared("lockstep could not do it", most)
		return
	}
	if len(rx) != len(cx) && !lacksRequests(ref) && !lacksRequests(cand) {
		u.c.found.add(diff.Difference{
			Reason: diff.Because(diff.CountDiffers, diff.CountsOfRequests), Step: ref.ID, Exchange: -1, Events: [2]int{-1, -1}, At: diff.At{Part: "requests"},
			Ref: diff.Show(strconv.Itoa(len(rx))), Cand: diff.Show(strconv.Itoa(len(cx))),
		})
	}
	if ref.Unordered || cand.Unordered {
		rx, cx = u.pairUnordered(u.c.rules.UpstreamVolatile(ref), rx, cx)
	}
	for i := range min(len(rx), len(cx)) {
		at := "request"
		if most > 1 {
			at += " " + strconv.Itoa(i+1)
		}
		u.upstreamRequest(ref, at, [2]int{slices.Index(ref.Exchanges, rx[i]), slices.Index(cand.Exchanges, cx[i])}, rx[i], cx[i])
	}
	u.c.found.notCompared("no counterpart", most-min(len(rx), len(cx)))
}

// lacksRequests reports whether a rule got too few requests, which is an unmet demand.
func lacksRequests(s *transcript.Step) bool { return s.Unmet != nil && s.Unmet.Kind == "upstream" }

// upstreamRequest compares two requests. at begins their places, as in "request 2", and of has their indexes on each
// side.
func (u upstream) upstreamRequest(step *transcript.Step, at string, of [2]int, ref, cand *transcript.Exchange) {
	if broke(ref) || broke(cand) { // in the middle of the request: reported as unmet
		u.c.found.notCompared("an exchange that failed", 1)
		return
	}
	u.c.found.result.Exchanges++
	report := func(d diff.Difference) {
		d.Step, d.Exchange, d.Exchanges, d.Events = step.ID, of[0], of, [2]int{-1, -1}
		d.At.Message = at
		u.c.found.add(d)
	}
	seen := u.c.runs.seen(ref.Sent, cand.Sent)
	u.requestLine(step, &ref.Request, &cand.Request, ident.Place{Where: ident.InStep(step.ID, diff.At{Message: at}), Seen: seen}, report)
	sides := bodyContents(asResponse(&ref.Request), asResponse(&cand.Request))
	stub, _, _ := strings.Cut(step.ID, ".")
	names := withCoding(u.c.rules.UpstreamHeaders(stub, step.ID), ref.Request.Header, cand.Request.Header)
	if ref.Stream != "" && cand.Stream != "" {
		names = transcript.AddNames(names, "Sec-WebSocket-Protocol")
	}
	if sides[0].NotJSON != sides[1].NotJSON && transcript.ContainsName(names, "Content-Type") {
		sides[0].NotJSON, sides[1].NotJSON = "", "" // the header field already shows the different types
	}
	var inBody []diff.Difference // reported after the header fields, but compared before them: see exchange
	rules := u.c.rules.UpstreamVolatile(step)
	p := ident.Place{Where: ident.InStep(step.ID, diff.At{Message: at, Part: "body"}), Seen: seen, Timeline: upstreamTimeline(step), Of: [2]string{operationOf(ref), operationOf(cand)}}
	u.c.fields.bindBoundaries(ref.Request.Header, cand.Request.Header, ident.InStep(step.ID, diff.At{Message: at, Part: "header Content-Type"}))
	if !u.c.skipUnreadable(unreadableRequest(ref), unreadableRequest(cand)) {
		u.c.json.Content(p, rules, sides, func(d diff.Difference) { inBody = append(inBody, d) })
	}
	u.c.fields.unnamed(stub, names, ref.Request.Header, cand.Request.Header)
	for _, name := range names {
		if ref.Request.Header.Has(name) || cand.Request.Header.Has(name) {
			u.c.json.IDs.Applied[StubHeaderApplied(stub, name)] = true
			if len(u.c.rules.Steps[step.ID].Headers) > 0 {
				u.c.json.IDs.Applied[HeaderApplied(name, step.ID)] = true
			}
		}
		u.c.fields.header(step, name, ref.Request.Header, cand.Request.Header, seen, report)
	}
	for _, d := range inBody {
		report(d)
	}
	if ref.Hangs && cand.Hangs && (ref.Failure == nil) != (cand.Failure == nil) && !u.lateHangUp(ref, cand) {
		const hungUp, waited = "it hung up", "it waited on"
		report(diff.Difference{
			Reason: diff.Because(diff.HangUp, diff.OneHangsUp), At: diff.At{Part: "end"}, Ref: showIf(ref.Failure != nil, hungUp, waited), Cand: showIf(cand.Failure != nil, hungUp, waited),
		})
	}
	u.socket(ref, cand, rules)
}

// socket compares what the targets sent on a socket of a stub.
func (u upstream) socket(ref, cand *transcript.Exchange, rules []jsondiff.Volatile) {
	both := [2]*transcript.Stream{}
	for side, x := range [...]*transcript.Exchange{ref, cand} {
		for _, s := range u.c.runs.sides[side].Streams {
			if s.Stub && s.Name == x.Stream {
				both[side] = s
			}
		}
	}
	if both[0] != nil && both[1] != nil { // a handshake that was not accepted is an unmet demand
		u.c.stream(both[0], both[1], rules, u.c.found.add)
	}
}

// upstreamTimeline returns the timeline of the requests to one rule of a stub; "" when they have no order.
func upstreamTimeline(step *transcript.Step) string {
	if step.Unordered {
		return ""
	}
	return "questions " + step.ID
}

// requestLine compares the method, and the path with its query.
func (u upstream) requestLine(step *transcript.Step, ref, cand *transcript.Request, p ident.Place, report func(diff.Difference)) {
	if ref.Method != cand.Method {
		report(diff.Difference{
			Reason: diff.Because(diff.ValueDiffers, diff.MethodsDiffer), At: diff.At{Part: "method"}, Ref: diff.Excerpt{Text: ref.Method}, Cand: diff.Excerpt{Text: cand.Method},
		})
	}
	if why := u.c.json.IDs.Texts(ref.Target, cand.Target, p); !why.None() {
		report(diff.Difference{
			Reason: why, At: diff.At{Part: "path"}, Ref: diff.Show(strconv.Quote(ref.Target)), Cand: diff.Show(strconv.Quote(cand.Target)),
		})
	}
}

// pairUnordered pairs requests that may come in any order: first those that are equal including their bound ids, and
// then those that are equal apart from ids.
func (u upstream) pairUnordered(rules []jsondiff.Volatile, ref, cand []*transcript.Exchange) (rx, cx []*transcript.Exchange) {
	by := func(bare ident.Skeletons) describer {
		return func(side int, x *transcript.Exchange) string {
			line := x.Request.Method + " " + bare.Of(side, x.Request.Target)
			return line + "\n" + u.c.json.OutlineBy(bare, side, requestContent(&x.Request), rules)
		}
	}
	return matchBy(ref, cand, by(u.c.json.IDs.Skeletons()), by(u.c.json.IDs.NamedSkeletons()))
}

// withoutLate drops requests to an upstream that the recorded reference lacks, if they may have come too late for the
// recording.
func (u upstream) withoutLate(ref, cand []*transcript.Exchange) []*transcript.Exchange {
	more := len(cand) - len(ref)
	if !u.c.runs.sides[0].Recorded || more <= 0 {
		return cand
	}
	acted, ended := lastAction(u.c.runs.sides[1])
	kept := slices.Clone(cand)
	for i := len(cand) - 1; i >= 0 && more > 0; i-- { // the last ones first
		from := ended
		if isNotification(&cand[i].Request) {
			from = acted
		}
		if cand[i].Sent >= from {
			kept = slices.Delete(kept, i, i+1)
			more--
		}
	}
	u.c.found.notCompared(streamdiff.NotAwaited, len(cand)-len(kept))
	return kept
}

// lateHangUp reports whether a candidate hung up on an upstream after the last step. The recorded reference may have
// done so too late for the recording.
func (u upstream) lateHangUp(ref, cand *transcript.Exchange) bool {
	if _, ended := lastAction(u.c.runs.sides[1]); !u.c.runs.sides[0].Recorded || ref.Failure != nil || cand.Done < ended {
		return false
	}
	u.c.found.notCompared(streamdiff.NotAwaited, 1)
	return true
}

// isNotification reports whether a message to an MCP server is a notification (JSON-RPC 2.0 §4.1). It gets no response,
// so no response of the target can wait for it.
func isNotification(r *transcript.Request) bool {
	return r.Method == transcript.MCP && strings.HasPrefix(r.Target, "notifications/")
}

// lastAction returns when the client last did something to the target, and when the last step ended. Both ignore the
// teardown.
func lastAction(t *transcript.Transcript) (acted, ended time.Duration) {
	for i := range t.Steps {
		st := &t.Steps[i]
		if strings.HasPrefix(st.ID, "teardown.") {
			break
		}
		ended = max(ended, st.At+st.Took)
		switch st.Kind {
		case "await", "never", "asked": // these only watch
		default:
			acted = max(acted, st.At)
		}
	}
	return acted, ended
}
