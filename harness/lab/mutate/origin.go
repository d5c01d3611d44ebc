package mutate

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// An origin says where a value comes from.
type origin byte

const (
	unknown   origin = iota // the reference has nothing in its place
	fixed                   // both sides have it, apart from what is unique to each, or the scenario gives it to both
	generated               // the server generated it
	runTime                 // a time of this run
)

// originOf finds out where a value comes from, by what the reference has in its place. declared means that a rule calls
// it generated.
func (s *Subject) originOf(n, ref *jsontree.Node, declared bool, seen time.Time) origin {
	if n.Kind != jsontree.String && n.Kind != jsontree.Number {
		return fixed
	}
	if _, _, ok := parseTime(n.Text, seen); ok {
		return runTime
	}
	switch {
	case ref == nil || ref.Kind != n.Kind:
		return unknown
	case (s.equal(n, ref) || isGiven(s, n.Text)) && !s.equalByChance(n.Text, declared, seen):
		return fixed
	default:
		return generated
	}
}

// equal reports whether a value is the reference's, apart from what is unique to each side.
func (s *Subject) equal(n, ref *jsontree.Node) bool {
	return withoutOwn(n.Text, s.Candidate) == withoutOwn(ref.Text, s.Reference)
}

// isGiven reports whether a text is an id that lockstep has sent to both sides. No server made it, so it is the same in
// each run. Lists and events without an order can have it in another place than the reference.
func isGiven(s *Subject, id string) bool {
	if len(id) < shortestID || !isPlainID(id) {
		return false
	}
	given, known := s.given[id]
	if !known {
		if s.given == nil {
			s.given = map[string]bool{}
		}
		given = hasWord(sentBy(s.Candidate), id) && hasWord(sentBy(s.Reference), id)
		s.given[id] = given
	}
	return given
}

func hasWord(texts iter.Seq[string], word string) bool {
	for text := range texts {
		if nextWord(text, word, 0) >= 0 {
			return true
		}
	}
	return false
}

// sentBy ranges over what lockstep has sent to a side: requests, responses of upstreams, and events.
func sentBy(t *transcript.Transcript) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, st := range t.Steps {
			for _, x := range st.Exchanges {
				if !yield(x.Request.Target) || !yield(string(x.Request.Body.Bytes)) || !yieldFields(x.Request.Header, yield) {
					return
				}
			}
		}
		for _, st := range t.Upstream {
			for _, x := range st.Exchanges {
				if r := x.Response; r != nil && (!yield(string(r.Body.Bytes)) || !yieldFields(r.Header, yield)) {
					return
				}
			}
		}
		for _, st := range t.Streams {
			for _, ev := range st.Events {
				if ev.Sent && !yield(ev.Data) {
					return
				}
			}
		}
	}
}

func yieldFields(h transcript.Header, yield func(string) bool) bool {
	for _, f := range h {
		if !yield(f.Value) {
			return false
		}
	}
	return true
}

// equalByChance reports whether a value that is equal on both sides may still be generated. That is so in three cases:
// a rule calls it generated and nothing in it is unique to the side, or it contains an id of the project's shapes, or a
// time of the run.
func (s *Subject) equalByChance(text string, declared bool, seen time.Time) bool {
	if declared && (s.Candidate.Unique == "" || !strings.Contains(text, s.Candidate.Unique)) {
		return true
	}
	return len(s.Rules.ProjectIDs(text)) > 0 || endOfMillis(text, seen) > 0
}

// withoutOwn returns a text without what is unique to a side.
func withoutOwn(text string, side *transcript.Transcript) string {
	for _, own := range [...]string{side.Directory, side.Unique} {
		if own != "" {
			text = strings.ReplaceAll(text, own, "\x00")
		}
	}
	return text
}

// masked returns a value as JSON with a mark instead of what the server generated. Two values that differ only in that
// have the same result.
func (s *Subject) masked(n, ref *jsontree.Node, seen time.Time) string {
	var out strings.Builder
	s.writeMasked(&out, n, ref, seen)
	return out.String()
}

func (s *Subject) writeMasked(out *strings.Builder, n, ref *jsontree.Node, seen time.Time) {
	if n.Kind != jsontree.Object && n.Kind != jsontree.Array {
		_, _, isTime := parseTime(n.Text, seen)
		if isTime || ref == nil || ref.Kind != n.Kind || !s.equal(n, ref) {
			out.WriteString("‹generated›")
			return
		}
		out.WriteString(n.String())
		return
	}
	out.WriteString(n.Kind.String() + "(")
	for i, item := range n.Items {
		if n.Kind == jsontree.Object {
			out.WriteString(strconv.Quote(n.Names[i]) + ":")
		}
		s.writeMasked(out, item, childOf(ref, n, i), seen)
		out.WriteByte(',')
	}
	out.WriteByte(')')
}

// childOf returns what the reference has in the place of a child of a value: the member of that name, or the element at
// that index. It returns nil when it has none.
func childOf(ref, n *jsontree.Node, i int) *jsontree.Node {
	switch {
	case ref == nil || ref.Kind != n.Kind:
		return nil
	case n.Kind == jsontree.Object:
		return ref.Member(n.Names[i])
	case i < len(ref.Items):
		return ref.Items[i]
	default:
		return nil
	}
}

// sameShape reports whether two texts contain ids of the project's shapes and are equal apart from the generated parts.
func (s *Subject) sameShape(a, b string) bool {
	inA, inB := s.Rules.ProjectIDs(a), s.Rules.ProjectIDs(b)
	return len(inA) > 0 && len(inA) == len(inB) && withoutIDs(a, inA) == withoutIDs(b, inB)
}

// withoutIDs returns a text with a mark instead of the generated parts of its ids.
func withoutIDs(text string, ids []ident.ProjectID) string {
	var out strings.Builder
	at := 0
	for _, id := range ids {
		out.WriteString(text[at:id.From] + "\x00")
		at = id.To
	}
	return out.String() + text[at:]
}

// similar returns a text with another id of the same form. It differs in the part that the project's shapes call
// generated. Without such a shape, it differs in its last six letters and digits, or in the last three of a time in
// milliseconds.
func (s *Subject) similar(text string, seen time.Time, seed uint64) string {
	if ids := s.Rules.ProjectIDs(text); len(ids) > 0 {
		id := ids[len(ids)-1]
		return text[:id.From] + similarID(text[id.From:id.To], seed) + text[id.To:]
	}
	if end := endOfMillis(text, seen); end > 0 {
		return text[:end-3] + similarID(text[end-3:end], seed) + text[end:]
	}
	return similarID(text, seed)
}
