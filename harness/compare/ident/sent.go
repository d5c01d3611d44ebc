package ident

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// What a client sends is bound before it is answered: an id of its own that the candidate answers with another one is found
// where it first comes back, and not only where it comes back twice.

// A sentBinder binds what two requests that stand for each other have in the same places. That they differ otherwise is not
// reported: what is wrong with a captured value was reported where it was captured.
type sentBinder struct {
	*Bindings
	byRule bool // a rule lets an id look like anything, so that whole values are bound, too
	where  Location
}

// Headers binds what two requests have in fields of one name: request ids, idempotency keys, traces, cookies.
func (s sentBinder) Headers(ref, cand transcript.Header) {
	seen := map[string]int{} // fields of the reference, by their name
	for _, f := range ref {
		name := strings.ToLower(f.Name)
		if values := cand.Values(name); seen[name] < len(values) {
			s.field(f, values[seen[name]])
		}
		seen[name]++
	}
}

// field binds a field's value, and those of the cookies in it (RFC 6265 §4.2.1).
func (s sentBinder) field(ref transcript.Field, cand string) {
	s.Text(ref.Value, cand)
	rs, cs := []string{ref.Value}, []string{cand}
	if strings.EqualFold(ref.Name, "Cookie") {
		rs, cs = strings.Split(ref.Value, "; "), strings.Split(cand, "; ")
	}
	for i := range min(len(rs), len(cs)) {
		r, c := rs[i], cs[i]
		if name, value, ok := strings.Cut(r, "="); ok && len(rs) == len(cs) && strings.HasPrefix(c, name+"=") {
			r, c = value, c[len(name)+1:]
		}
		s.whole(r, c)
	}
}

// Text binds the ids of two texts, and reports whether they are equal up to renaming.
func (s sentBinder) Text(ref, cand string) bool {
	if ref == cand && !hasShape(ref, false) && !s.Mentions(0, ref) && !s.Mentions(1, cand) && len(s.Shapes.all) == 0 {
		return true
	}
	rt, ct := s.Scan(0, ref), s.Scan(1, cand)
	if !SameShape(ref, rt, cand, ct) {
		return false
	}
	for i, t := range rt {
		r, c := ref[t.Start:t.End], cand[ct[i].Start:ct[i].End]
		if t.Kind.IsTime() {
			if moments, why := MomentsOf(t.Kind, r, c); why == "" {
				s.noteTime(moments, r, c, Place{Where: s.where}) // all of them: seen long ago
			}
			continue
		}
		met := s.Met(t.Kind, r)
		if s.bindToken(t, r, c, s.where).None() && !met && t.Kind == tokTrace {
			s.remember(tokTrace, r, c) // as where a server sends it: see compareTokens
		}
	}
	return true
}

// Document binds the texts of two documents that are in the same places.
func (s sentBinder) Document(ref, cand *jsontree.Node) {
	if ref.Kind != cand.Kind || len(ref.Items) != len(cand.Items) {
		return
	}
	if ref.Kind == jsontree.String {
		s.Text(ref.Text, cand.Text)
		s.whole(ref.Text, cand.Text)
	}
	for i, item := range ref.Items {
		s.Document(item, cand.Items[i])
	}
}

// whole binds two values whatever they look like, if a rule makes ids of such values.
func (s sentBinder) whole(ref, cand string) {
	if s.byRule && canBeID(ref) && canBeID(cand) {
		_ = s.bind(tokSent, ref, cand, s.where)
	}
}

// canBeID reports whether a text that a client sends would hardly be made up by a server as well.
func canBeID(s string) bool {
	return len(s) >= MinKnown && strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' })
}

// NewSentBinder returns what binds what two requests have, in the path, in the header fields and in the body. byRule is whether a
// rule lets an id look like anything.
func NewSentBinder(b *Bindings, step string, byRule bool) sentBinder {
	return sentBinder{b, byRule, InStep(step, diff.At{Part: sentPlace})}
}
