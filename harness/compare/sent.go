package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// What a client sends is bound before it is answered: an id of its own that the candidate answers with another one is found
// where it first comes back, and not only where it comes back twice.

// mostSent is how many bytes of a request are looked through.
const mostSent = 64 << 10

// sent binds what two requests that stand for each other have in the same places. That they differ otherwise is nobody's
// difference: what is wrong with a captured value was told where it was captured.
func (c *comparison) sent(step string, ref, cand *transcript.Exchange) {
	where := location{what: "step " + step + " request"}
	c.b.sentTexts(ref.Request.Target, cand.Request.Target, where)
	refHost, _ := ref.Request.Header.Get("Host") // a port of its own is where the client has found a server
	candHost, _ := cand.Request.Header.Get("Host")
	c.b.sentTexts(refHost, candHost, where)
	r, o := ref.Request.Body.Bytes, cand.Request.Body.Bytes
	if len(r) == 0 || max(len(r), len(o)) > mostSent {
		return
	}
	c.b.sentTexts(string(r), string(o), where)
	if !c.b.bindsByRule(c.rules.volatile(step)) {
		return
	}
	root, _, err := c.docs.Parse(r)
	other, _, oerr := c.docs.Parse(o)
	if err == nil && oerr == nil {
		c.b.sentValues(root, other, where)
	}
}

// sentTexts binds the ids of two texts that are equal up to renaming.
func (b *bindings) sentTexts(ref, cand string, where location) {
	rt := b.scan(0, ref)
	if len(rt) == 0 {
		return
	}
	ct := b.scan(1, cand)
	if !sameShape(ref, rt, cand, ct) {
		return
	}
	for i, t := range rt {
		if !t.kind.isTime() {
			_ = b.bindToken(t, ref[t.start:t.end], cand[ct[i].start:ct[i].end], where)
		}
	}
}

func (b *bindings) bindsByRule(rules []Volatile) bool {
	for i := range rules {
		if rules[i].Kind == ID {
			return true
		}
	}
	return false
}

// sentValues binds the whole texts of two documents, for rules that let an id look like anything.
func (b *bindings) sentValues(ref, cand *jsontree.Node, where location) {
	if ref.Kind != cand.Kind || len(ref.Items) != len(cand.Items) {
		return
	}
	if ref.Kind == jsontree.String && canBeID(ref.Text) && canBeID(cand.Text) {
		_ = b.bind(tokSent, ref.Text, cand.Text, where)
	}
	for i, item := range ref.Items {
		b.sentValues(item, cand.Items[i], where)
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
