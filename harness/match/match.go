// Package match decides whether responses and events are what a scenario expects.
//
// A scenario selects the event that it waits for, and makes demands on a response. Both are data (transcript.Pattern,
// transcript.Expect) with the values filled in. Unmet demands are returned as Mismatches.
package match

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Mismatch is an unmet demand.
type Mismatch struct {
	Place string // "status", "header Content-Type", "body", "body $.tools[0].id"
	Want  string // in words
	Got   string
}

// A Matcher reuses documents that are already parsed. The zero Matcher parses all of them itself.
type Matcher struct{ Documents *jsontree.Documents }

// Exchange is Matcher.Exchange of the zero Matcher.
func Exchange(e *transcript.Expect, x *transcript.Exchange) []Mismatch {
	return Matcher{}.Exchange(e, x)
}

// JSON is Matcher.JSON of the zero Matcher.
func JSON(p *transcript.JSONPattern, at string, doc []byte) []Mismatch {
	return Matcher{}.JSON(p, at, doc)
}

// Event reports whether an event matches a pattern. A comment never matches, nor does what lockstep has sent.
func Event(p *transcript.Pattern, ev *transcript.Event) bool {
	if ev.Comment || ev.Sent {
		return false
	}
	if p.Event != nil && *p.Event != ev.Name || p.Data != nil && *p.Data != ev.Data {
		return false
	}
	return p.JSON == nil || len(JSON(p.JSON, "", []byte(ev.Data))) == 0
}

// Exchange returns the demands that an exchange does not meet. Without a response, no demand is met, not even that a
// header field is absent.
func (m Matcher) Exchange(e *transcript.Expect, x *transcript.Exchange) []Mismatch {
	r := x.Response
	if r == nil {
		return noResponse(e, x)
	}
	var out []Mismatch
	if e.Status != 0 && e.Status != r.Status {
		out = append(out, Mismatch{"status", strconv.Itoa(e.Status), strconv.Itoa(r.Status)})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Header)) {
		out = append(out, header(name, e.Header[name], r.Header)...)
	}
	if e.Body != nil && *e.Body != string(r.Body.Bytes) {
		out = append(out, Mismatch{"body", strconv.Quote(*e.Body), strconv.Quote(string(r.Body.Bytes))})
	}
	if e.JSON != nil {
		out = append(out, m.JSON(e.JSON, "body", archive.Content(r.Header.ContentType(), r.Body.Bytes))...)
	}
	if e.Count != nil { // a burst of one
		out = append(out, Count(e.Count, []*transcript.Exchange{x})...)
	}
	if len(e.OneOf) > 0 {
		out = append(out, oneOf(e.OneOf, func(e *transcript.Expect) []Mismatch { return m.Exchange(e, x) })...)
	}
	return out
}

// noResponse returns the mismatch of an exchange without a response. Without a demand, there is none.
func noResponse(e *transcript.Expect, x *transcript.Exchange) []Mismatch {
	got := "no answer"
	if x.Failure != nil {
		got += ": " + x.Failure.Text
	}
	switch {
	case e.Status != 0:
		return []Mismatch{{"status", strconv.Itoa(e.Status), got}}
	case len(e.Header)+len(e.Count)+len(e.OneOf) > 0 || e.Body != nil || e.JSON != nil:
		return []Mismatch{{"answer", "an answer", got}}
	default:
		return nil
	}
}

// header compares a field with the wanted value. It joins the values of several lines by commas (RFC 9110 §5.2), so
// that a second line is compared too.
func header(name string, want *string, h transcript.Header) []Mismatch {
	values := h.Values(name)
	got, there := strings.Join(values, ", "), len(values) > 0
	switch {
	case want == nil && there:
		return []Mismatch{{"header " + name, "no such field", strconv.Quote(got)}}
	case want != nil && !there:
		return []Mismatch{{"header " + name, strconv.Quote(*want), "no such field"}}
	case want != nil && got != *want:
		return []Mismatch{{"header " + name, strconv.Quote(*want), strconv.Quote(got)}}
	}
	return nil
}

// oneOf returns nothing when an alternative matches. If all of them fail in the same single place, it returns that
// place with all wanted values, and otherwise the mismatches of the nearest alternative.
func oneOf(alternatives []transcript.Expect, meets func(*transcript.Expect) []Mismatch) []Mismatch {
	var (
		nearest   []Mismatch
		wants     []string
		samePlace = true
	)
	for i := range alternatives {
		got := meets(&alternatives[i])
		if len(got) == 0 {
			return nil
		}
		if i == 0 || len(got) < len(nearest) {
			nearest = got
		}
		samePlace = samePlace && len(got) == 1 && got[0].Place == nearest[0].Place
		wants = append(wants, got[0].Want)
	}
	if samePlace {
		nearest[0].Want = either(wants)
		return nearest
	}
	for i := range nearest {
		nearest[i].Want += " (the nearest of " + strconv.Itoa(len(alternatives)) + " alternatives)"
	}
	return nearest
}

// either joins a few alternatives and counts the others, because a teardown allows a hundred statuses.
func either(wants []string) string {
	const maxShown = 4
	wants = slices.Compact(wants)
	if n := len(wants) - maxShown; n > 0 {
		return strings.Join(wants[:maxShown], ", ") + fmt.Sprintf(" or one of %d others", n)
	}
	return strings.Join(wants, " or ")
}

// Burst returns the demands that the responses to a burst do not meet. A count and alternatives apply to the burst as a
// whole. Every other demand applies to each response, and is reported for one response that does not meet it.
func (m Matcher) Burst(e *transcript.Expect, xs []*transcript.Exchange) []Mismatch {
	var out []Mismatch
	if e.Count != nil {
		out = Count(e.Count, xs)
	}
	each := *e
	each.Count, each.OneOf = nil, nil
	out = append(out, m.nearest(&each, xs)...)
	if len(e.OneOf) > 0 {
		out = append(out, oneOf(e.OneOf, func(e *transcript.Expect) []Mismatch { return m.Burst(e, xs) })...)
	}
	return out
}

// nearest returns the mismatches of the response with the fewest, among those that have any. The result does not depend
// on the order of the responses, because that is chance.
func (m Matcher) nearest(e *transcript.Expect, xs []*transcript.Exchange) (out []Mismatch) {
	said := ""
	for _, x := range xs {
		missed := m.Exchange(e, x)
		if len(missed) == 0 || out != nil && cmp.Or(cmp.Compare(len(missed), len(out)), cmp.Compare(fmt.Sprint(missed), said)) >= 0 {
			continue
		}
		out, said = missed, fmt.Sprint(missed)
	}
	for k := range out {
		out[k].Place = fmt.Sprintf("one of %d answers, %s", len(xs), out[k].Place)
	}
	return out
}

// Count compares how many responses of a burst have each status. A status that is not named must not occur.
func Count(want map[int]int, xs []*transcript.Exchange) []Mismatch {
	got := map[int]int{}
	for _, x := range xs {
		if x.Response != nil {
			got[x.Response.Status]++
		} else {
			got[0]++
		}
	}
	for status := range want {
		got[status] += 0
	}
	var out []Mismatch
	for _, status := range slices.Sorted(maps.Keys(got)) {
		if want[status] == got[status] {
			continue
		}
		name := strconv.Itoa(status)
		if status == 0 {
			name = "no answer"
		}
		out = append(out, Mismatch{"count of " + name, strconv.Itoa(want[status]), strconv.Itoa(got[status])})
	}
	return out
}

// JSON returns the demands that a document does not meet. Their places begin with at, the name of the document: "body"
// gives "body $.id".
func (m Matcher) JSON(p *transcript.JSONPattern, at string, doc []byte) []Mismatch {
	root, _, err := m.Documents.Parse(doc)
	if err != nil {
		got := err.Error()
		if len(doc) > 0 {
			got = excerpt(doc) + ": " + got
		}
		return []Mismatch{{place(at, ""), "JSON", got}}
	}
	var out []Mismatch
	if p.Whole != nil && !m.equal(p.Whole, root) {
		out = append(out, Mismatch{place(at, ""), string(p.Whole), excerpt(doc)})
	}
	if len(p.At)+len(p.Matches)+len(p.Absent) == 0 {
		return out
	}
	value := root.Value()
	for _, path := range slices.Sorted(maps.Keys(p.At)) {
		if got := query(value, path); len(got) != 1 || !m.equalValue(p.At[path], got[0]) {
			out = append(out, Mismatch{place(at, path), string(p.At[path]), show(got)})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.Matches)) {
		if got := query(value, path); !finds(p.Matches[path], got) {
			out = append(out, Mismatch{place(at, path), "a string that matches " + p.Matches[path], show(got)})
		}
	}
	for _, path := range p.Absent {
		if got := query(value, path); len(got) > 0 {
			out = append(out, Mismatch{place(at, path), "nothing", show(got)})
		}
	}
	return out
}

// query returns the values at a JSONPath. Paths are checked when scenarios are read. An invalid path can only come from
// an edited run file, and selects nothing.
func query(value any, path string) jsonpath.NodeList {
	p, err := jsonpath.Parse(path)
	if err != nil {
		return nil
	}
	return p.Select(value)
}

// Pointer returns the JSON Pointer of the one value that a JSONPath selects; "" unless it selects exactly one.
func Pointer(doc []byte, path string) string {
	root, _, err := jsontree.Parse(doc)
	p, wrong := jsonpath.Parse(path)
	if err != nil || wrong != nil {
		return ""
	}
	if found := p.SelectLocated(root.Value()); len(found) == 1 {
		return found[0].Path.Pointer()
	}
	return ""
}

// finds reports whether exactly one value is selected, and is a string that matches. An invalid expression matches
// nothing.
func finds(pattern string, got jsonpath.NodeList) bool {
	if len(got) != 1 {
		return false
	}
	text, ok := got[0].(string)
	re, err := regexp.Compile(pattern)
	return ok && err == nil && re.MatchString(text)
}

// Select returns the one value at a JSONPath as JSON, and whether there is exactly one.
func Select(doc []byte, path string) (json.RawMessage, bool) {
	root, _, err := jsontree.Parse(doc)
	if err != nil {
		return nil, false
	}
	got := query(root.Value(), path)
	if len(got) != 1 {
		return nil, false
	}
	return plainjson.Encode(got[0]), true
}

func place(at, path string) string { return strings.TrimSpace(at + " " + path) }

func (m Matcher) equal(want json.RawMessage, got *jsontree.Node) bool {
	w, _, err := m.Documents.Parse(want)
	return err == nil && jsontree.Equal(w, got, jsontree.EqualNumbers)
}

func (m Matcher) equalValue(want json.RawMessage, got any) bool {
	node, _, err := jsontree.Parse(plainjson.Encode(got))
	return err == nil && m.equal(want, node)
}

func show(got jsonpath.NodeList) string {
	switch len(got) {
	case 0:
		return "nothing"
	case 1:
		return excerpt(plainjson.Encode(got[0]))
	default:
		return fmt.Sprintf("%d values", len(got))
	}
}

func excerpt(b []byte) string {
	const maxExcerpt = 500
	if len(b) > maxExcerpt {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(b[:maxExcerpt]), "\ufffd"), len(b))
	}
	return string(b)
}
