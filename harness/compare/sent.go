package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// What a client sends is bound before it is answered: an id of its own that the candidate answers with another one is found
// where it first comes back, and not only where it comes back twice.

// sent binds what two requests that stand for each other have in the same places: in the path, in the header fields and in
// the body. That they differ otherwise is nobody's difference: what is wrong with a captured value was told where it was
// captured.
func (c *comparison) sent(step string, ref, cand *transcript.Exchange) {
	where := location{what: "step " + step + " request"}
	byRule := c.b.bindsByRule(c.rules.volatile(step))
	c.b.sentTexts(ref.Request.Target, cand.Request.Target, where)
	c.b.sentHeaders(ref.Request.Header, cand.Request.Header, byRule, where)
	r, o := ref.Request.Body.Bytes, cand.Request.Body.Bytes
	if len(r) == 0 || c.b.sentTexts(string(r), string(o), where) && !byRule {
		return
	}
	root, _, err := c.docs.Parse(r)
	other, _, oerr := c.docs.Parse(o)
	if err == nil && oerr == nil {
		c.b.sentValues(root, other, byRule, where)
	}
}

// sentHeaders binds what two requests have in fields of one name: request ids, idempotency keys, traces, cookies.
func (b *bindings) sentHeaders(ref, cand transcript.Header, byRule bool, where location) {
	for i, f := range ref {
		nth := 0 // of the fields of this name
		for _, g := range ref[:i] {
			if g.Is(f.Name) {
				nth++
			}
		}
		for _, g := range cand {
			if !g.Is(f.Name) {
				continue
			}
			if nth--; nth < 0 {
				b.sentField(f, g.Value, byRule, where)
				break
			}
		}
	}
}

// sentField binds a field's value, and those of the cookies in it (RFC 6265 §4.2.1).
func (b *bindings) sentField(ref transcript.Field, cand string, byRule bool, where location) {
	b.sentTexts(ref.Value, cand, where)
	if !byRule {
		return
	}
	rs, cs := []string{ref.Value}, []string{cand}
	if strings.EqualFold(ref.Name, "Cookie") {
		rs, cs = strings.Split(ref.Value, "; "), strings.Split(cand, "; ")
	}
	for i := range min(len(rs), len(cs)) {
		r, c := rs[i], cs[i]
		if name, value, ok := strings.Cut(r, "="); ok && len(rs) == len(cs) && strings.HasPrefix(c, name+"=") {
			r, c = value, c[len(name)+1:]
		}
		b.sentWhole(r, c, where)
	}
}

// sentTexts binds the ids of two texts, and reports whether they are equal up to renaming.
func (b *bindings) sentTexts(ref, cand string, where location) bool {
	if ref == cand && !hasShape(ref, false) && !b.mentions(0, ref) && !b.mentions(1, cand) && len(b.own.shapes) == 0 {
		return true
	}
	rt, ct := b.scan(0, ref), b.scan(1, cand)
	if !sameShape(ref, rt, cand, ct) {
		return false
	}
	for i, t := range rt {
		r, c := ref[t.start:t.end], cand[ct[i].start:ct[i].end]
		if t.kind.isTime() {
			if moments, why := momentsOf(t.kind, r, c); why == "" {
				b.noteTime(moments, r, c, place{where: where}) // all of them: seen long ago
			}
			continue
		}
		met := b.met(t.kind, r)
		if b.bindToken(t, r, c, where) == "" && !met && t.kind == tokTrace {
			b.remember(tokTrace, r, c) // as where a server sends it: see alike
		}
	}
	return true
}

func (b *bindings) bindsByRule(rules []Volatile) bool {
	for i := range rules {
		if rules[i].Kind == ID {
			return true
		}
	}
	return false
}

// sentValues binds the texts of two documents that stand in the same places: the ids in them, and, for rules that let an
// id look like anything, the whole of each.
func (b *bindings) sentValues(ref, cand *jsontree.Node, byRule bool, where location) {
	if ref.Kind != cand.Kind || len(ref.Items) != len(cand.Items) {
		return
	}
	if ref.Kind == jsontree.String {
		b.sentTexts(ref.Text, cand.Text, where)
		if byRule {
			b.sentWhole(ref.Text, cand.Text, where)
		}
	}
	for i, item := range ref.Items {
		b.sentValues(item, cand.Items[i], byRule, where)
	}
}

func (b *bindings) sentWhole(ref, cand string, where location) {
	if canBeID(ref) && canBeID(cand) {
		_ = b.bind(tokSent, ref, cand, where)
	}
}

// canBeID reports whether a text that a client sends would hardly be made up by a server as well.
func canBeID(s string) bool {
	return len(s) >= minKnown && strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' })
}

// misplaced says which of two values, bound by a rule, is known as another thing: by its shape, or because the client has
// sent it; "" when neither is.
func (b *bindings) misplaced(ref, cand string) string {
	if min(len(ref), len(cand)) < minKnown {
		return ""
	}
	for kind := tokSent; kind < tokPort; kind++ {
		if why := b.apart(kind, ref, cand); why != "" {
			return why
		}
	}
	for _, kind := range b.own.kinds {
		if why := b.apart(kind, ref, cand); why != "" {
			return why
		}
	}
	return ""
}
