// Package match decides whether what came is what a scenario asked for.
//
// A scenario asks in two places: to tell one event from the others while it waits, and to make a demand on an answer.
// Both are data (transcript.Pattern, transcript.Expect) in which expressions have already been replaced. What does not
// hold is returned as Mismatches, each with its place and both sides, never as a bare no.
package match

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/archive"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Mismatch is a demand that does not hold.
type Mismatch struct {
	Place string // "status", "header Content-Type", "body", "body $.tools[0].id"
	Want  string // for a person
	Got   string
}

// A Matcher matches with documents that others read as well. The zero Matcher reads each by itself.
type Matcher struct{ Documents *jsontree.Documents }

// Exchange is Matcher.Exchange of the zero Matcher.
func Exchange(e *transcript.Expect, x *transcript.Exchange) []Mismatch {
	return Matcher{}.Exchange(e, x)
}

// Burst is Matcher.Burst of the zero Matcher.
func Burst(e *transcript.Expect, xs []*transcript.Exchange) []Mismatch {
	return Matcher{}.Burst(e, xs)
}

// JSON is Matcher.JSON of the zero Matcher.
func JSON(p *transcript.JSONPattern, at string, doc []byte) []Mismatch {
	return Matcher{}.JSON(p, at, doc)
}

// Event reports whether the event is the one meant.
func Event(p *transcript.Pattern, ev *transcript.Event) bool {
	if ev.Comment {
		return false
	}
	if p.Event != nil && *p.Event != ev.Name || p.Data != nil && *p.Data != ev.Data {
		return false
	}
	return p.JSON == nil || len(JSON(p.JSON, "", []byte(ev.Data))) == 0
}

// Exchange returns the demands that an exchange does not meet. A demand on an answer that did not come is not met,
// whatever it is: there is no header without a field then, and no body that is empty.
func (m Matcher) Exchange(e *transcript.Expect, x *transcript.Exchange) []Mismatch {
	r := x.Response
	if r == nil {
		return unanswered(e, x)
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
	if e.Count != nil { // of a single request
		out = append(out, Count(e.Count, []*transcript.Exchange{x})...)
	}
	if len(e.OneOf) > 0 {
		out = append(out, oneOf(e.OneOf, func(e *transcript.Expect) []Mismatch { return m.Exchange(e, x) })...)
	}
	return out
}

// unanswered is the one mismatch of an exchange without an answer; none when nothing is demanded.
func unanswered(e *transcript.Expect, x *transcript.Exchange) []Mismatch {
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

// header compares a field with what is wanted. One that came in several lines is their values joined by commas
// (RFC 9110 §5.2): a second line that says the contrary must not go unseen.
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

// oneOf returns nothing when an alternative holds. When all of them fail in the same one place, that is what is wrong,
// with everything that would have been right; else it is what is wrong with the nearest.
func oneOf(alternatives []transcript.Expect, meets func(*transcript.Expect) []Mismatch) []Mismatch {
	var (
		nearest []Mismatch
		wants   []string
		alike   = true
	)
	for i := range alternatives {
		got := meets(&alternatives[i])
		if len(got) == 0 {
			return nil
		}
		if i == 0 || len(got) < len(nearest) {
			nearest = got
		}
		alike = alike && len(got) == 1 && got[0].Place == nearest[0].Place
		wants = append(wants, got[0].Want)
	}
	if alike {
		nearest[0].Want = either(wants)
		return nearest
	}
	for i := range nearest {
		nearest[i].Want += " (the nearest of " + strconv.Itoa(len(alternatives)) + " alternatives)"
	}
	return nearest
}

// either joins what would do; a teardown takes a hundred statuses.
func either(wants []string) string {
	const most = 4
	wants = slices.Compact(wants)
	if n := len(wants) - most; n > 0 {
		return strings.Join(wants[:most], ", ") + fmt.Sprintf(" or one of %d others", n)
	}
	return strings.Join(wants, " or ")
}

// Burst returns the demands that the answers to a burst do not meet. A count is about all of them, so are alternatives:
// one has to hold for the burst as a whole. Everything else is demanded of each answer, and told of one that does not meet it.
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

// nearest returns what is wrong with one of the answers to a burst, if anything is: with the one that is nearest to what is
// demanded. Which came first is chance.
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

// Count returns the demands on a burst that do not hold: how many answers have which status. Statuses that are not
// named may not come.
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

// JSON returns the demands that a document does not meet. at is how the places are called: "body" gives "body $.id".
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

// query returns what a JSONPath selects. Paths are checked when scenarios are read; one that is not valid all the same,
// in a run file from elsewhere, selects nothing.
func query(value any, path string) jsonpath.NodeList {
	p, err := jsonpath.Parse(path)
	if err != nil {
		return nil
	}
	return p.Select(value)
}

// Pointer returns the JSON Pointer of the one value that a JSONPath selects; "" when it does not select one.
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

// finds reports whether the one string that was selected matches. What holds for paths holds for the expression.
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
	return encode(got[0]), true
}

func place(at, path string) string { return strings.TrimSpace(at + " " + path) }

func (m Matcher) equal(want json.RawMessage, got *jsontree.Node) bool {
	w, _, err := m.Documents.Parse(want)
	return err == nil && jsontree.Equal(w, got, jsontree.EqualNumbers)
}

func (m Matcher) equalValue(want json.RawMessage, got any) bool {
	node, _, err := jsontree.Parse(encode(got))
	return err == nil && m.equal(want, node)
}

// encode writes a value that came from JSON. It is shown to people, and captured to be sent again, so it has none of
// the escapes that make JSON fit for HTML.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("match: a value that was read from JSON cannot be written as JSON: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func show(got jsonpath.NodeList) string {
	switch len(got) {
	case 0:
		return "nothing"
	case 1:
		return excerpt(encode(got[0]))
	default:
		return fmt.Sprintf("%d values", len(got))
	}
}

func excerpt(b []byte) string {
	const most = 500
	if len(b) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(b[:most]), "\ufffd"), len(b))
	}
	return string(b)
}
