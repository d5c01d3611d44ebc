package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What targets ask their upstreams is compared like answers, the other way round: here the requests are the targets', and
// the answers the script's. Requests stand for each other by the rule of the script that has answered them, and by their
// number there, since which of two rules is asked first is often chance.

// upstream compares what was asked of the stubs.
func (c *comparison) upstream() {
	cand := map[string]*transcript.Step{}
	for i := range c.sides[1].Upstream {
		cand[c.sides[1].Upstream[i].ID] = &c.sides[1].Upstream[i]
	}
	none := &transcript.Step{}
	for i := range c.sides[0].Upstream {
		ref := &c.sides[0].Upstream[i]
		other := cand[ref.ID]
		delete(cand, ref.ID)
		c.asked(ref, cmp.Or(other, none))
	}
	for i := range c.sides[1].Upstream { // the rest, in their order
		if s := &c.sides[1].Upstream[i]; cand[s.ID] != nil {
			c.asked(&transcript.Step{ID: s.ID, Text: s.Text, Line: s.Line}, s)
		}
	}
}

// asked compares the requests that one rule has answered.
func (c *comparison) asked(ref, cand *transcript.Step) {
	rx, cx := ref.Exchanges, c.awaited(ref.Exchanges, cand.Exchanges)
	most := max(len(rx), len(cx))
	switch {
	case isUnexpected(ref) || isUnexpected(cand): // each is a shortfall
		c.notCompared("an upstream request that nothing answers", most)
		return
	case ref.Fault != "" || cand.Fault != "":
		c.notCompared("lockstep could not do it", most)
		return
	}
	if len(rx) != len(cx) && ref.Unmet == nil && cand.Unmet == nil {
		c.add(Difference{
			Kind: CountDiffers, Step: ref.ID, Exchange: -1, Events: [2]int{-1, -1}, Place: "requests",
			Reference: strconv.Itoa(len(rx)), Candidate: strconv.Itoa(len(cx)), Text: "the numbers of requests differ",
		})
	}
	if ref.Unordered || cand.Unordered {
		rx, cx = c.unordered(c.rules.OfQuestions(ref), rx, cx)
	}
	for i := range min(len(rx), len(cx)) {
		at := "request"
		if most > 1 {
			at += " " + strconv.Itoa(i+1)
		}
		c.question(ref, at, [2]int{slices.Index(ref.Exchanges, rx[i]), slices.Index(cand.Exchanges, cx[i])}, rx[i], cx[i])
	}
	c.notCompared("no counterpart", most-min(len(rx), len(cx)))
}

// unexpectedKind is what a request that no rule answers leaves behind.
const unexpectedKind = "unexpected"

func isUnexpected(s *transcript.Step) bool { return s.Unmet != nil && s.Unmet.Kind == unexpectedKind }

// question compares two requests. at is what the place begins with: "request 2", and of are their indexes on each side.
func (c *comparison) question(step *transcript.Step, at string, of [2]int, ref, cand *transcript.Exchange) {
	if broke(ref) || broke(cand) { // in the middle of the request: Shortfalls has it
		c.notCompared("an exchange that failed", 1)
		return
	}
	c.result.Exchanges++
	report := func(d Difference) {
		d.Step, d.Exchange, d.Exchanges, d.Events = step.ID, of[0], of, [2]int{-1, -1}
		d.Place = at + " " + d.Place
		c.add(d)
	}
	seen := c.seen(ref.Sent, cand.Sent)
	c.line(step, &ref.Request, &cand.Request, place{where: location{where(step, at), nil}, seen: seen}, report)
	sides := bodyContents(asAnswer(&ref.Request), asAnswer(&cand.Request))
	stub, _, _ := strings.Cut(step.ID, ".")
	names := withCoding(c.rules.QuestionHeaders(stub, step.ID), ref.Request.Header, cand.Request.Header)
	if sides[0].otherwise != sides[1].otherwise && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, "Content-Type") }) {
		sides[0].otherwise, sides[1].otherwise = "", "" // that the types differ is told by the header field
	}
	var inBody []Difference // behind the header fields, and looked at before: see exchange
	rules := c.rules.OfQuestions(step)
	p := place{where: location{where(step, at+" body"), nil}, seen: seen, line: lineOfQuestions(step), of: [2]string{asked(ref), asked(cand)}}
	c.boundaries(ref.Request.Header, cand.Request.Header, location{what: where(step, at+" header Content-Type")})
	if !c.unread(unreadQuestion(ref), unreadQuestion(cand)) {
		c.content("body", "body", p, rules, sides, func(d Difference) { inBody = appendSome(inBody, d) })
	}
	c.unnamedOf(stub, names, ref.Request.Header, cand.Request.Header)
	for _, name := range names {
		if ref.Request.Header.Has(name) || cand.Request.Header.Has(name) {
			c.b.applied[StubHeaderApplied(stub, name)] = true
			if len(c.rules.Steps[step.ID].Headers) > 0 {
				c.b.applied[HeaderApplied(name, step.ID)] = true
			}
		}
		c.header(step, name, ref.Request.Header, cand.Request.Header, seen, report)
	}
	for _, d := range inBody {
		report(d)
	}
	if ref.Hangs && cand.Hangs && (ref.Failure == nil) != (cand.Failure == nil) && !c.letGoBehind(ref, cand) {
		report(Difference{
			Kind: HangUp, Place: "end", At: both("end"), Reference: patience(ref), Candidate: patience(cand),
			Text: "one lets go of its upstream, the other does not",
		})
	}
}

func patience(x *transcript.Exchange) string {
	if x.Failure != nil {
		return "it hung up"
	}
	return "it waited on"
}

// lineOfQuestions is what the times in requests to one rule of a stub belong to; "" when these are in no order.
func lineOfQuestions(step *transcript.Step) string {
	if step.Unordered {
		return ""
	}
	return "questions " + step.ID
}

// line compares the method, and the path with its query.
func (c *comparison) line(step *transcript.Step, ref, cand *transcript.Request, p place, report func(Difference)) {
	if ref.Method != cand.Method {
		report(Difference{
			Kind: ValueDiffers, Place: "method", At: both("method"), Reference: ref.Method, Candidate: cand.Method, Text: "the methods differ",
		})
	}
	if kind, why := c.b.texts(ref.Target, cand.Target, p); kind != "" {
		report(Difference{
			Kind: kind, Place: "path", At: both("path"), Reference: show(strconv.Quote(ref.Target)), Candidate: show(strconv.Quote(cand.Target)), Text: why,
		})
	}
}

// OfQuestions returns the rules for values of the bodies that one rule of a stub has answered, or that were sent to an MCP
// server by one method, the narrowest first.
func (r *Rules) OfQuestions(step *transcript.Step) []Volatile {
	upstream, method, _ := strings.Cut(step.ID, ".")
	if step.ToMCP() {
		return slices.Concat(r.MCP[upstream+" "+method], r.MCP[method], r.Volatile)
	}
	return slices.Concat(r.Steps[step.ID].Volatile, r.Stubs[upstream].Volatile, r.Volatile)
}

func questionContent(r *transcript.Request) content { return bodyContent(asAnswer(r)) }

// asAnswer returns the message of a request as that of an answer.
func asAnswer(r *transcript.Request) *transcript.Response {
	return &transcript.Response{Header: r.Header, Body: r.Body}
}

// usualQuestion are the header fields of requests to stubs that are compared when no rule names any: what the body is, and
// with which key the upstream is asked.
var usualQuestion = []string{"Content-Type", "Authorization", "X-Api-Key"}

// QuestionHeaders returns the names of the header fields of requests to a stub that are compared, each once. step is the id of
// what one of its rules has answered.
func (r *Rules) QuestionHeaders(stub, step string) []string {
	names := usualQuestion
	if own := r.Stubs[stub].Headers; own != nil {
		names = own
	}
	names = slices.Clone(names)
	for _, name := range r.Steps[step].Headers {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// StubHeaderApplied is what Result.Applied calls a header field of requests to a stub.
func StubHeaderApplied(stub, name string) string {
	return "stub " + stub + " header " + strings.ToLower(name)
}

// unordered puts requests of which the order does not count in an order: those first that are equal with the ids that have
// been bound, and then those that are equal but for their ids.
func (c *comparison) unordered(rules []Volatile, ref, cand []*transcript.Exchange) (rx, cx []*transcript.Exchange) {
	by := func(b *bindings) telling {
		return func(side int, x *transcript.Exchange) string {
			line := x.Request.Method + " " + b.skeleton(side, x.Request.Target)
			return line + "\n" + c.outlineBy(b, side, questionContent(&x.Request), rules)
		}
	}
	return matched(ref, cand, by(c.b), by(c.b.named()))
}

// upstreamShortfalls returns what a target has asked a stub that it must not ask, or has not asked that it must.
func upstreamShortfalls(s *transcript.Step, d *diagnosis) []Shortfall {
	var out []Shortfall
	for i, x := range s.Exchanges {
		at := "request " + strconv.Itoa(i+1)
		switch f := x.Failure; {
		case f != nil && f.Kind != transcript.FailCanceled && !d.follows(f, x.Done) && !d.outOfService(f, begun(x), x.Done):
			out = append(out, Shortfall{
				Kind: ExchangeFailed, Step: s.ID, Exchange: i, Event: -1, Place: at, Want: "a complete request", Got: f.Text,
				Text: "the request to the upstream broke",
			})
		case f == nil && x.Request.Body.Undecoded(x.Request.Header) && !isUnexpected(s):
			if _, why := x.Request.Body.Opaque(x.Request.Header, false); why != "" {
				f := miscoded(x.Request.Header, why)
				f.Step, f.Exchange, f.Event, f.Place = s.ID, i, -1, at+" body"
				out = append(out, f)
			}
		case f == nil && isUnexpected(s):
			_, got := cut("", show(x.Request.Method+" "+x.Request.Target+" "+string(x.Request.Body.Bytes)))
			out = append(out, Shortfall{
				Kind: UpstreamUnexpected, Step: s.ID, Exchange: i, Event: -1, Place: at, Want: s.Unmet.What, Got: strings.TrimSpace(got),
				Text: "the upstream was asked what nothing answers: " + cmp.Or(x.Unanswered, s.Unmet.Why),
			})
		}
	}
	awaited := slices.ContainsFunc(d.t.Steps, func(o transcript.Step) bool { // which has told it
		return o.Unmet != nil && o.Unmet.Kind == "asked" && o.Text == "asked "+s.ID
	})
	if s.Unmet != nil && !isUnexpected(s) && !awaited && d.t.Exit == nil && d.t.Aborted == "" {
		out = append(out, Shortfall{
			Kind: UpstreamMissing, Step: s.ID, Exchange: -1, Event: -1, Place: "requests", Want: s.Unmet.What, Got: s.Unmet.Why,
			Text: "the upstream was not asked what it should be",
		})
	}
	return out
}
