package ident

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// What a client sends is bound before the response is compared. So if the candidate responds with an id other than the
// client's own, that is found at its first appearance, and not only when it comes back again.

// A SentBinder binds the values that two corresponding requests have in the same places. It does not report other
// differences between the requests: a wrong captured value was reported where it was captured.
type SentBinder struct {
	ids    *Bindings
	byRule bool // a rule allows ids of any form, so whole values are bound, too
	where  Location
	// received, if set, reports whether the server has sent one of two values before. Then they are bound where it did.
	received func(ref, cand string) bool
}

// Headers binds the values of fields with the same name: request ids, idempotency keys, traces, cookies.
func (s SentBinder) Headers(ref, cand transcript.Header) {
	seen := map[string]int{} // the number of the reference's fields so far, by their name
	for _, f := range ref {
		name := strings.ToLower(f.Name)
		if values := cand.Values(name); seen[name] < len(values) {
			s.field(f, values[seen[name]])
		}
		seen[name]++
	}
}

// field binds the value of a field, and the values of the cookies in it (RFC 6265 §4.2.1).
func (s SentBinder) field(ref transcript.Field, cand string) {
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

// Text binds the ids of two texts, and reports whether the texts are equal apart from generated values.
func (s SentBinder) Text(ref, cand string) bool {
	v := &s.ids.Vocabulary
	if ref == cand && !hasShape(ref) && !v.Mentions(0, ref) && !v.Mentions(1, cand) && len(v.Shapes.all) == 0 {
		return true
	}
	rt, ct := v.Scan(0, ref), v.Scan(1, cand)
	if !SameShape(ref, rt, cand, ct) {
		return false
	}
	for i, t := range rt {
		r, c := ref[t.Start:t.End], cand[ct[i].Start:ct[i].End]
		if s.received != nil && s.received(r, c) {
			continue
		}
		if t.Kind.IsTime() {
			if moments, why := MomentsOf(t.Kind, r, c); why == "" {
				s.ids.Times.note(moments, r, c, Place{Where: s.where}) // Place has no Seen, so all times count as far away
			}
			continue
		}
		_ = s.ids.bindToken(t, r, c, s.where)
	}
	return true
}

// Document binds the texts that two documents have in the same places.
func (s SentBinder) Document(ref, cand *jsontree.Node) {
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

// whole binds two values of any form, if a rule allows such ids.
func (s SentBinder) whole(ref, cand string) {
	if s.byRule && canBeID(ref) && canBeID(cand) && (s.received == nil || !s.received(ref, cand)) {
		_ = s.ids.partners.bind(tokSent, ref, cand, s.where)
	}
}

// canBeID reports whether a text is so special that a server is unlikely to generate it by chance as well.
func canBeID(s string) bool {
	return len(s) >= MinKnown && strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' })
}

// NewSentBinder returns a binder for what is sent at a place. byRule is whether a rule allows ids of any form.
func NewSentBinder(b *Bindings, where Location, byRule bool) SentBinder {
	return SentBinder{ids: b, byRule: byRule, where: where}
}

// Except returns a binder that leaves out the values that the server has sent before.
func (s SentBinder) Except(received func(ref, cand string) bool) SentBinder {
	s.received = received
	return s
}

// InRequest returns the location of all parts of a step's request.
func InRequest(step string) Location { return InStep(step, diff.At{Part: sentPlace}) }
