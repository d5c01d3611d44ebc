package compare

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/archive"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// exchange compares one pair of answers. at are their indexes in the step of each side.
func (c *comparison) exchange(step *transcript.Step, at [2]int, ref, cand *transcript.Exchange) {
	if ref.Response == nil || cand.Response == nil || ref.Failure != nil || cand.Failure != nil {
		if text := c.unlikeGivenUp(step, ref, cand); text != "" {
			c.add(Difference{
				Kind: StatusDiffers, Step: step.ID, Exchange: at[0], Exchanges: at, Events: [2]int{-1, -1}, Place: "status", At: both("status"),
				Reference: outcome(ref), Candidate: outcome(cand), Text: text,
			})
			return
		}
		c.notCompared("an exchange that failed", 1) // Shortfalls has the failure
		return
	}
	c.result.Exchanges++
	report := func(d Difference) {
		d.Step, d.Exchange, d.Exchanges, d.Events = step.ID, at[0], at, [2]int{-1, -1}
		c.add(d)
	}
	r, o := ref.Response, cand.Response
	if r.Status != o.Status {
		report(Difference{
			Kind: StatusDiffers, Place: "status", At: both("status"),
			Reference: strconv.Itoa(r.Status), Candidate: strconv.Itoa(o.Status), Text: "the statuses differ",
		})
	}
	c.interim(step, ref, cand, report)
	// The body is looked at before the header fields, although it is reported behind them: where an id stands wrong in
	// one of them, the body has the more places to tell which is right.
	var inBody []Difference
	c.boundaries(r.Header, o.Header, location{what: "step " + step.ID + " header Content-Type"})
	c.body(step, ref, cand, func(d Difference) { inBody = appendSome(inBody, d) })
	names := withCoding(c.headers(step.ID), r.Header, o.Header)
	c.unnamed(names, r.Header, o.Header)
	for _, name := range names {
		if r.Header.Has(name) || o.Header.Has(name) {
			c.headerApplied(name, step.ID)
		}
		if isLength(name) && lengthExplained(r, o) || isCoding(name) && unasked(ref)+unasked(cand) != "" { // the latter, Shortfalls has
			continue
		}
		if c.checksumExplained(step.ID, name, r, o, len(inBody) == 0) {
			continue
		}
		c.header(step, name, r.Header, o.Header, c.seen(ref.Head, cand.Head), report)
	}
	c.trailers(step, ref, cand, report)
	for _, d := range inBody {
		report(d)
	}
}

// trailers compares the fields behind two bodies, whatever rules name: a server that sends any means them.
func (c *comparison) trailers(step *transcript.Step, ref, cand *transcript.Exchange, report func(Difference)) {
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
		c.header(step, name, r, o, c.seen(ref.Done, cand.Done), func(d Difference) {
			d.Place, d.At = "trailer "+name, both("trailer "+name)
			report(d)
		})
	}
}

// appendSome appends with room for more: where there is one difference there often are some.
func appendSome(all []Difference, d Difference) []Difference {
	if all == nil {
		all = make([]Difference, 0, 6)
	}
	return append(all, d)
}

// headerApplied notes that a header field has come that rules name: those for all steps, or those for one.
func (c *comparison) headerApplied(name, step string) {
	anywhere := c.came[name]
	if anywhere == "" {
		anywhere = HeaderApplied(name, "")
		put(&c.came, name, anywhere)
		c.b.applied[anywhere] = true
	}
	if len(c.rules.Steps[step].Headers) > 0 { // else nobody asks
		c.b.applied[anywhere+step] = true
	}
}

// both is a place that both sides have.
func both(at string) [2]string { return [2]string{at, at} }

// unlikeGivenUp says how a request that the scenario gives up came to different ends; "" when it did not. One target may have
// answered or broken it long before, and the other have left it open. Within a branch of a parallel step that may be chance,
// since there the targets do not wait for each other.
func (c *comparison) unlikeGivenUp(step *transcript.Step, ref, cand *transcript.Exchange) string {
	switch {
	case !givenUp(step) || canceled(ref) == canceled(cand) && broke(ref) == broke(cand):
		return ""
	case broke(ref) && cand.Failure == nil, broke(cand) && ref.Failure == nil:
		return "one answers, the other lets go of its client"
	case strings.Contains(step.ID, "."):
		return ""
	}
	over, side, text := ref, 0, "one answers, the other does not"
	if canceled(ref) {
		over, side = cand, 1
	}
	if broke(over) {
		text = "one lets go of its client, the other does not"
	}
	if own := counterpart(c.sides[side].Steps, 0, step.ID); own == nil || over.Done >= own.At {
		return ""
	}
	return text
}

// canceled reports whether our side gave an exchange up.
func canceled(x *transcript.Exchange) bool { return x.Failure != nil && !broke(x) }

// broke reports whether the server broke the exchange. One that our side canceled may have been about to.
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
		return absent
	}
}

// asked is what an exchange asked for, without a query.
func asked(x *transcript.Exchange) string {
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
func (c *comparison) headers(step string) []string {
	own := c.rules.Steps[step].Headers
	if len(own) == 0 {
		return c.rules.Headers
	}
	names := slices.Clone(c.rules.Headers)
	for _, name := range own {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			names = append(names, name)
		}
	}
	return names
}

func (c *comparison) header(step *transcript.Step, name string, ref, cand transcript.Header, seen [2]time.Time, report func(Difference)) {
	rv, cv := inOrder(name, ref.Values(name)), inOrder(name, cand.Values(name))
	place := place{where: location{what: "step " + step.ID + " header " + name}, seen: seen}
	var d Difference
	switch {
	case len(rv) > 0 && len(cv) == 0:
		d.Kind, d.Text = HeaderMissing, "the candidate lacks the header field"
	case len(rv) == 0 && len(cv) > 0:
		d.Kind, d.Text = HeaderExtra, "the reference has no such header field"
	case len(rv) != len(cv):
		d.Kind, d.Text = HeaderValue, "the field stands a different number of times"
	default:
		for i := range rv {
			kind, why := c.b.texts(rv[i], cv[i], place)
			switch {
			case kind == "":
			case kind != ValueDiffers:
				d.Kind, d.Text = kind, why
			case why == textsDiffer && c.b.sameField(name, rv[i], cv[i], place):
			case why == textsDiffer && c.encoded("header "+name, place, rv[i], cv[i], func(found Difference) {
				found.At = both("header " + name)
				report(found)
			}):
			case why == textsDiffer:
				d.Kind, d.Text = HeaderValue, "the values differ"
			default:
				d.Kind, d.Text = HeaderValue, why
			}
		}
	}
	if d.Kind == "" {
		return
	}
	d.Place, d.At = "header "+name, both("header "+name)
	d.Reference, d.Candidate = showValues(rv), showValues(cv)
	report(d)
}

func showValues(values []string) string {
	switch len(values) {
	case 0:
		return absent
	case 1:
		return show(strconv.Quote(values[0]))
	default:
		return show(fmt.Sprintf("%q", values))
	}
}

// body compares two bodies: as JSON where both say they are JSON, else as text.
func (c *comparison) body(step *transcript.Step, ref, cand *transcript.Exchange, report func(Difference)) {
	if ref.Stream != "" || cand.Stream != "" {
		if ref.Stream != cand.Stream {
			report(Difference{
				Kind: BodyDiffers, Place: "body", At: both("body"), Reference: bodyKind(ref), Candidate: bodyKind(cand),
				Text: "one answer is an event stream, the other is not",
			})
		}
		return // events are compared stream by stream
	}
	if brokenArchive(ref) != "" || brokenArchive(cand) != "" { // Shortfalls has it
		c.notCompared("an archive that cannot be read", 1)
		return
	}
	if c.unread(unreadAnswer(ref), unreadAnswer(cand)) {
		return
	}
	sides := bodyContents(ref.Response, cand.Response)
	if sides[0].otherwise != sides[1].otherwise && c.comparesType(step.ID) {
		// That the types differ is reported already. It does not make the bodies differ as well.
		sides[0].otherwise, sides[1].otherwise = "", ""
	}
	rules := c.rules.volatile(step.ID)
	if succeeded(ref) != succeeded(cand) && !c.alike(sides, rules) {
		// An error and what should have been there have nothing in common that could be compared member by member.
		report(Difference{
			Kind: BodyDiffers, Place: "body", At: both("body"), Reference: showText(string(sides[0].data)), Candidate: showText(string(sides[1].data)),
			Text:        "the bodies differ, as one of the statuses tells of a success and the other does not",
			Fingerprint: c.contents(sides, rules),
		})
		return
	}
	c.content("body", "body", place{where: location{where(step, "body"), nil}, seen: c.seen(ref.Done, cand.Done), line: lineOf(step), of: [2]string{asked(ref), asked(cand)}}, rules, sides, report)
	c.entryOrder(sides, report)
	c.lastLine(sides, ref.Response, cand.Response, report)
}

// content is a text that may be JSON: a body, or an event's data.
type content struct {
	data      []byte
	otherwise string   // why it is not read as JSON; "" when it is
	entries   []string // of an archive, which data is the document of
	lines     bool     // data is the list of what the lines of the body hold
}

// asWritten reports whether what a content holds stands in it as it is, without escapes.
func (c content) asWritten() bool { return c.otherwise != "" || bytes.IndexByte(c.data, '\\') < 0 }

func bodyContent(r *transcript.Response) content {
	if isJSON(r.Header) {
		return content{data: r.Body.Bytes}
	}
	if doc, err := archiveIn(r); doc != nil && err == nil {
		return content{data: doc.JSON, entries: doc.Names}
	}
	if list, ok := archive.Lines(r.Header.ContentType(), r.Body.Bytes); ok {
		return content{data: list, lines: true}
	}
	return textContent(r)
}

func succeeded(x *transcript.Exchange) bool { return x.Response.Status/100 == 2 }

// contents stands for two contents without their generated values.
func (c *comparison) contents(sides [2]content, rules []Volatile) string {
	var bare [2]string
	for side, s := range sides {
		if _, err := c.parse(s); err != nil {
			s.data = []byte(masked(string(s.data), rules))
		}
		bare[side] = c.outlineOf(side, s, rules)
	}
	return digest(bare[:]...)
}

// outlineOf describes a content in such a way that two which can be equal up to renaming have the same outline.
func (c *comparison) outlineOf(side int, s content, rules []Volatile) string {
	return c.outlineBy(c.b, side, s, rules)
}

// outlineBy is outlineOf with the names that bindings give to ids.
func (c *comparison) outlineBy(b *bindings, side int, s content, rules []Volatile) string {
	if root, err := c.parse(s); err == nil {
		return b.outline(side, root, "", b.pointers(rules, s.data, root))
	}
	return b.skeleton(side, string(s.data))
}

// alike reports whether two contents can be equal up to renaming.
func (c *comparison) alike(sides [2]content, rules []Volatile) bool {
	var outlines [2]string
	for side, s := range sides {
		outlines[side] = c.outlineOf(side, s, rules)
	}
	return outlines[0] == outlines[1]
}

func (c *comparison) comparesType(step string) bool {
	return slices.ContainsFunc(c.headers(step), func(name string) bool { return strings.EqualFold(name, "Content-Type") })
}

// content compares two contents. Equal bytes are only looked through for ids to bind, and taken apart when one of these
// is out of place. at is the place for a person, part what the contract calls it: "body", "event data".
func (c *comparison) content(at, part string, p place, rules []Volatile, sides [2]content, report func(Difference)) {
	ref, cand := sides[0], sides[1]
	if bytes.Equal(ref.data, cand.data) && !c.b.concerned(rules, ref.data) {
		if !c.b.anyMadeUp(ref) {
			return
		}
		if ref.asWritten() {
			if kind, _ := c.b.texts(string(ref.data), string(cand.data), p); kind == "" {
				return
			}
		}
	}
	some := firstOf{report: report}
	defer some.close()
	rt, rdefects, rerr := c.open(ref, rules)
	ct, cdefects, cerr := c.open(cand, rules)
	switch {
	case rerr == nil && cerr == nil:
		same, told := true, []string(nil) // what was told of, by the candidate's pointers
		d := documents{b: c.b, place: p, name: at, full: some.full, report: func(d Difference) {
			same = false
			if len(rules) > 0 { // else nobody asks
				told = append(told, d.At[1])
			}
			if d.At[0] == d.At[1] {
				d.At = both(part + d.At[0])
			} else {
				d.At[0], d.At[1] = part+d.At[0], part+d.At[1]
			}
			some.add(d)
		}, refuse: c.refuse}
		d.whole[0].text, d.whole[1].text = ref.data, cand.data
		d.volatile[0], d.volatile[1] = c.b.pointers(rules, ref.data, rt), c.b.pointers(rules, cand.data, ct)
		d.json(rt, ct)
		d.stability([2]*jsontree.Node{rt, ct}, told)
		if why := c.defective(rdefects, cdefects); same && why != "" { // else the values tell of it
			report(Difference{
				Kind: BodyNotJSON, Place: at, At: both(part), Reference: showText(string(ref.data)), Candidate: showText(string(cand.data)),
				Text: why, Fingerprint: digest(why),
			})
		}
	case (rerr == nil) != (cerr == nil):
		report(Difference{
			Kind: BodyNotJSON, Place: at, At: both(part), Reference: showText(string(ref.data)), Candidate: showText(string(cand.data)),
			Text: oneSided(rerr, cerr), Fingerprint: c.contents(sides, rules),
		})
	default:
		kind, why := c.b.texts(string(ref.data), string(cand.data), p)
		if kind == "" || why == textsDiffer && c.encoded(at, p, string(ref.data), string(cand.data), func(found Difference) {
			found.At = both(part)
			some.add(found)
		}) {
			return
		}
		if kind == ValueDiffers {
			kind = BodyDiffers
		}
		some.add(Difference{Kind: kind, Place: at, At: both(part), Reference: showText(string(ref.data)), Candidate: showText(string(cand.data)), Text: why, Fingerprint: c.contents(sides, rules)})
	}
}

func oneSided(ref, cand error) string {
	if cand != nil {
		return "the candidate's is not JSON: " + cand.Error()
	}
	return "the reference's is not JSON: " + ref.Error()
}

// concerned reports whether a rule may speak of a document that says more than that two values may differ, or that has not
// applied yet.
func (b *bindings) concerned(rules []Volatile, doc []byte) bool {
	return slices.ContainsFunc(rules, func(r Volatile) bool {
		return (r.Kind != Text && r.Kind != Number && !r.Kind.ComparesNumbers() || !b.applied[r.Rule]) && r.mayMean(doc)
	})
}

// mayMean reports whether a rule may speak of a document: the name its path ends in, if any, is in it.
func (r Volatile) mayMean(doc []byte) bool {
	name := lastName(r.At)
	return name == "" || bytes.Contains(doc, []byte(name))
}

// parse reads a content as JSON, whatever is defective in it.
func parse(s content) (*jsontree.Node, error) {
	root, _, err := s.read(nil)
	return root, err
}

func (c *comparison) parse(s content) (*jsontree.Node, error) {
	root, _, err := s.read(c.docs)
	return root, err
}

// volume is the size from which it pays to make sums of a document before it is made a tree.
const volume = 2 << 10

// open reads a content as read does, but makes a tree of those parts only that are looked at. Where a project's own shapes
// of ids may stand, all of them are.
func (c *comparison) open(s content, rules []Volatile) (*jsontree.Node, []jsontree.Defect, error) {
	if s.otherwise == "" && len(s.data) >= volume && !c.docs.Has(s.data) && !c.b.own.mayHold(s) && !slices.ContainsFunc(rules, func(r Volatile) bool { return r.mayMean(s.data) }) {
		if root, ok := jsontree.Summarize(s.data, bare); ok {
			return root, nil, nil
		}
	}
	return s.read(c.docs)
}

func (s content) read(docs *jsontree.Documents) (*jsontree.Node, []jsontree.Defect, error) {
	if s.otherwise != "" {
		return nil, nil, errors.New(s.otherwise)
	}
	return docs.Parse(s.data)
}

// defective tells of the first defect that only one of two documents has: some readers refuse it, and the others do not
// see it in the values.
func (c *comparison) defective(ref, cand []jsontree.Defect) string {
	if d, ok := c.alone(0, ref, cand); ok {
		return "the reference's JSON has a defect, and the candidate's has not: " + d.Text
	}
	if d, ok := c.alone(1, cand, ref); ok {
		return "the candidate's JSON has a defect, and the reference's has not: " + d.Text
	}
	return ""
}

func (c *comparison) alone(side int, defects, others []jsontree.Defect) (jsontree.Defect, bool) {
	for _, d := range defects {
		if !slices.ContainsFunc(others, func(o jsontree.Defect) bool {
			return o.Kind == d.Kind && c.b.skeleton(side, d.Pointer) == c.b.skeleton(1-side, o.Pointer) &&
				(d.Kind != jsontree.TrailingText || c.b.skeleton(side, d.Text) == c.b.skeleton(1-side, o.Text))
		}) {
			return d, true
		}
	}
	return jsontree.Defect{}, false
}

// isJSON reports whether a message says that its body is JSON.
func isJSON(h transcript.Header) bool {
	value, _ := h.Get("Content-Type")
	if value == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(value)
	return err == nil && isJSONType(media)
}
