package compare

import (
	"fmt"
	"mime"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// exchange compares a pair of responses. at has their indexes in the step of each side.
func (c *comparison) exchange(step *transcript.Step, at [2]int, ref, cand *transcript.Exchange) {
	if ref.Response == nil || cand.Response == nil || ref.Failure != nil || cand.Failure != nil {
		if code := c.unlikeGivenUp(step, ref, cand); code != "" {
			c.add(diff.Difference{
				Reason: diff.Because(diff.StatusDiffers, code), Step: step.ID, Exchange: at[0], Exchanges: at, Events: [2]int{-1, -1},
				At: diff.At{Part: "status"}, Ref: diff.Show(outcome(ref)), Cand: diff.Show(outcome(cand)),
			})
			return
		}
		c.notCompared("an exchange that failed", 1) // reported as unmet
		return
	}
	c.result.Exchanges++
	report := func(d diff.Difference) {
		d.Step, d.Exchange, d.Exchanges, d.Events = step.ID, at[0], at, [2]int{-1, -1}
		c.add(d)
	}
	r, o := ref.Response, cand.Response
	if r.Status != o.Status {
		report(diff.Difference{
			Reason: diff.Because(diff.StatusDiffers, diff.StatusesDiffer), At: diff.At{Part: "status"},
			Ref: diff.Show(strconv.Itoa(r.Status)), Cand: diff.Show(strconv.Itoa(o.Status)),
		})
	}
	h := fields{c}
	h.interim(step, ref, cand, report)
	// The body is compared before the header fields, although its differences are reported after theirs. If an id is
	// wrong in one of them, the body has more places that show which id is right.
	var inBody []diff.Difference
	h.bindBoundaries(r.Header, o.Header, ident.InStep(step.ID, diff.At{Part: "header Content-Type"}))
	c.body(step, ref, cand, func(d diff.Difference) { inBody = appendSome(inBody, d) })
	names := withCoding(h.headers(step.ID), r.Header, o.Header)
	h.unnamed(names, r.Header, o.Header)
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
		h.header(step, name, r.Header, o.Header, c.seen(ref.Head, cand.Head), report)
	}
	h.trailers(step, ref, cand, report)
	for _, d := range inBody {
		report(d)
	}
}

// trailers compares the fields after two bodies, even if no rule names them: a server does not send trailers by
// accident.
func (h fields) trailers(step *transcript.Step, ref, cand *transcript.Exchange, report func(diff.Difference)) {
	r, o := ref.Response.Trailer, cand.Response.Trailer
	if len(r)+len(o) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, f := range slices.Concat(r, o) {
		name := textproto.CanonicalMIMEHeaderKey(f.Name)
		if seen[name] {
			continue
		}
		seen[name] = true
		h.header(step, name, r, o, h.seen(ref.Done, cand.Done), func(d diff.Difference) {
			d.At.Part = "trailer " + name
			report(d)
		})
	}
}

// headerApplied marks the rules for a header field that has appeared as applied: those for all steps, and those for
// this one.
func (h fields) headerApplied(name, step string) {
	anywhere := h.seenHeaders[name]
	if anywhere == "" {
		anywhere = HeaderApplied(name, "")
		ident.Put(&h.seenHeaders, name, anywhere)
		h.IDs.Applied[anywhere] = true
	}
	if len(h.rules.Steps[step].Headers) > 0 { // else it is not needed
		h.IDs.Applied[anywhere+step] = true
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
	if own := counterpart(c.sides[side].Steps, 0, step.ID); own == nil || over.Done >= own.At {
		return ""
	}
	return code
}

// canceled reports whether lockstep gave up an exchange.
func canceled(x *transcript.Exchange) bool { return x.Failure != nil && !broke(x) }

// broke reports whether the server broke the exchange. One that lockstep gave up does not count: how it would have
// ended is unknown.
func broke(x *transcript.Exchange) bool {
	return x.Failure != nil && x.Failure.Kind != transcript.FailCanceled
}

func outcome(x *transcript.Exchange) string {
	switch {
	case canceled(x):
		return "no answer until its client hung up"
	case x.Failure != nil:
		return x.Failure.Text
	case x.Response != nil:
		return strconv.Itoa(x.Response.Status)
	default:
		return diff.Absent
	}
}

// operationOf returns the method and the path of a request, without the query.
func operationOf(x *transcript.Exchange) string {
	target, _, _ := strings.Cut(x.Request.Target, "?")
	return x.Request.Method + " " + target
}

func bodyKind(x *transcript.Exchange) string {
	if x.Stream != "" {
		return "an event stream"
	}
	return "a body"
}

// headers returns the names of the header fields to compare in a step, each once.
func (h fields) headers(step string) []string {
	own := h.rules.Steps[step].Headers
	if len(own) == 0 {
		return h.rules.Headers
	}
	names := slices.Clone(h.rules.Headers)
	for _, name := range own {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			names = append(names, name)
		}
	}
	return names
}

func (h fields) header(step *transcript.Step, name string, ref, cand transcript.Header, seen [2]time.Time, report func(diff.Difference)) {
	rv, cv := inOrder(name, ref.Values(name)), inOrder(name, cand.Values(name))
	at := diff.At{Part: "header " + name}
	place := ident.Place{Where: ident.InStep(step.ID, at), Seen: seen}
	var why diff.Reason
	switch {
	case len(rv) > 0 && len(cv) == 0:
		why = diff.Because(diff.HeaderMissing, diff.CandidateLacksHeader)
	case len(rv) == 0 && len(cv) > 0:
		why = diff.Because(diff.HeaderExtra, diff.ReferenceLacksHeader)
	case len(rv) != len(cv):
		why = diff.Because(diff.HeaderValue, diff.HeaderCounts)
	default:
		for i := range rv {
			if found := h.headerValue(name, rv[i], cv[i], place, report); !found.None() {
				why = found
			}
		}
	}
	if !why.None() {
		report(diff.Difference{Reason: why, At: at, Ref: showValues(rv), Cand: showValues(cv)})
	}
}

// headerValue compares two values of a header field. It reports differences in their encoded contents, and returns all
// others.
func (h fields) headerValue(name, ref, cand string, p ident.Place, report func(diff.Difference)) diff.Reason {
	why := h.IDs.Texts(ref, cand, p)
	switch {
	case why.Kind != diff.ValueDiffers:
	case why.Code != diff.TextsDiffer:
		why.Kind = diff.HeaderValue
	case sameField(h.IDs, name, ref, cand, p) || h.Encoded(p, ref, cand, report):
		return diff.Reason{}
	default:
		return diff.Because(diff.HeaderValue, diff.ValuesDiffer)
	}
	return why
}

func showValues(values []string) diff.Excerpt {
	switch len(values) {
	case 0:
		return diff.ShowSome("")
	case 1:
		return diff.Show(strconv.Quote(values[0]))
	default:
		return diff.Show(fmt.Sprintf("%q", values))
	}
}

// body compares two bodies by their contents: see bodyContent.
func (c *comparison) body(step *transcript.Step, ref, cand *transcript.Exchange, report func(diff.Difference)) {
	at := diff.At{Part: "body"}
	if ref.Stream != "" || cand.Stream != "" {
		if ref.Stream != cand.Stream {
			report(diff.Difference{
				Reason: diff.Because(diff.BodyDiffers, diff.OneIsStream), At: at, Ref: diff.Show(bodyKind(ref)), Cand: diff.Show(bodyKind(cand)),
			})
		}
		return // events are compared stream by stream
	}
	if brokenArchive(ref) != "" || brokenArchive(cand) != "" { // reported as unmet
		c.notCompared("an archive that cannot be read", 1)
		return
	}
	if c.skipUnreadable(unreadableResponse(ref), unreadableResponse(cand)) {
		return
	}
	sides := bodyContents(ref.Response, cand.Response)
	if sides[0].NotJSON != sides[1].NotJSON && (fields{c}).comparesType(step.ID) {
		// The different types are reported already. They do not make the bodies different.
		sides[0].NotJSON, sides[1].NotJSON = "", ""
	}
	rules := c.rules.volatile(step.ID)
	if succeeded(ref) != succeeded(cand) && !c.Comparable(sides, rules) {
		// An error and a success have nothing in common that could be compared member by member.
		report(jsondiff.WholeDiffers(diff.Because(diff.BodyDiffers, diff.BodiesOfOtherOutcome), at, sides, c.ContentsDigest(sides, rules)))
		return
	}
	c.Content(ident.Place{Where: ident.InStep(step.ID, at), Seen: c.seen(ref.Done, cand.Done), Timeline: timelineOf(step), Of: [2]string{operationOf(ref), operationOf(cand)}}, rules, sides, report)
	c.entryOrder(sides, report)
	c.lastLine(sides, ref.Response, cand.Response, report)
}

func bodyContent(r *transcript.Response) jsondiff.Content {
	if isJSON(r.Header) {
		return jsondiff.Content{Data: r.Body.Bytes}
	}
	if doc, err := archiveIn(r); doc != nil && err == nil {
		return jsondiff.Content{Data: doc.JSON, Entries: doc.Names}
	}
	if list, ok := archive.Lines(r.Header.ContentType(), r.Body.Bytes); ok {
		return jsondiff.Content{Data: list, Lines: true}
	}
	return textContent(r)
}

func succeeded(x *transcript.Exchange) bool { return x.Response.Status/100 == 2 }

func (h fields) comparesType(step string) bool {
	return slices.ContainsFunc(h.headers(step), func(name string) bool { return strings.EqualFold(name, "Content-Type") })
}

// isJSON reports whether a message declares its body as JSON.
func isJSON(h transcript.Header) bool {
	value, _ := h.Get("Content-Type")
	if value == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(value)
	return err == nil && isJSONType(media)
}

// timelineOf returns the timeline of a step's responses; "" when they have no order.
func timelineOf(step *transcript.Step) string {
	if step.Burst {
		return ""
	}
	branch := step.ID[:strings.LastIndexByte(step.ID, '.')+1]
	return "answers " + branch
}

// bindSent binds what two requests have in the same places, before their responses are compared. So if the candidate
// responds with an id other than the client's own, that is found at its first appearance.
func (c *comparison) bindSent(step string, ref, cand *transcript.Exchange) {
	byRule := slices.ContainsFunc(c.rules.volatile(step), func(r jsondiff.Volatile) bool { return r.Kind == jsondiff.ID })
	s := ident.NewSentBinder(c.IDs, step, byRule)
	s.Text(ref.Request.Target, cand.Request.Target)
	s.Headers(ref.Request.Header, cand.Request.Header)
	r, o := ref.Request.Body.Bytes, cand.Request.Body.Bytes
	if len(r) == 0 || s.Text(string(r), string(o)) && !byRule {
		return
	}
	root, _, err := c.Docs.Parse(r)
	other, _, oerr := c.Docs.Parse(o)
	if err == nil && oerr == nil {
		s.Document(root, other)
	}
}
