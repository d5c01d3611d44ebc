package compare

import (
	"fmt"
	"slices"
	"strings"
)

// Ids are long, alike, and others in each run. Where one has to be spoken of it has a name: what the first place that it
// stood in calls it, and a number.

// A Name is what two bound values are called: "‹session 2›".
type Name struct {
	Name                 string
	Reference, Candidate string // the values; the reference's first
}

// A confusion is two values that do not belong together.
type confusion struct {
	kind      tokenKind
	ref, cand string
}

// confused keeps which values a sentence is about.
func (b *bindings) confused(text string, kind tokenKind, ref, cand string) string {
	put(&b.said, text, append(b.said[text], confusion{kind, ref, cand}))
	return text
}

// confusionOf returns which values a difference is about.
func (b *bindings) confusionOf(d *Difference) (confusion, bool) {
	for _, x := range b.said[d.Text] {
		if strings.Contains(d.Reference, x.ref) && strings.Contains(d.Candidate, x.cand) {
			return x, true
		}
	}
	return confusion{}, false
}

// allNames gives every pair of bound values its name, in the order in which they met. Ids behind a prefix are called by it,
// those of a project's shape by its name, and all others by the member that held them first.
func (b *bindings) allNames() map[boundKey]string {
	out := make(map[boundKey]string, len(b.order))
	numbers := map[string]int{}
	for _, key := range b.order {
		if key.kind == tokSent {
			continue
		}
		base := b.called(key)
		numbers[base]++
		out[key] = fmt.Sprintf("‹%s %d›", base, numbers[base])
	}
	return out
}

// called returns what a value of the reference is called.
func (b *bindings) called(key boundKey) string {
	switch {
	case key.kind >= tokOwn:
		return b.kindName(key.kind)
	case key.kind == tokPrefixed:
		return key.value[:prefixLen(key.value)-1]
	case key.kind == tokPort, key.kind == tokTemp, key.kind == tokTrace, key.kind == tokSpan:
		return key.kind.String()
	}
	for at := b.forward[key].where.at; at != nil; at = at.up {
		if at.index[0] < 0 {
			if name := thing(at.names[0]); name != "" {
				return name
			}
		}
	}
	return key.kind.String()
}

// thing returns what a member is about: the request of requestID and request_id, the session of sessions; "" when its name
// does not say.
func thing(member string) string {
	for _, end := range [...]string{"ID", "Id", "_id", "-id", "_ID"} {
		if short, ok := strings.CutSuffix(member, end); ok {
			member = short
			break
		}
	}
	switch short, plural := strings.CutSuffix(member, "s"); {
	case strings.HasSuffix(member, "ies"):
		member = strings.TrimSuffix(member, "ies") + "y"
	case plural && !strings.HasSuffix(short, "s"):
		member = short
	}
	const longest = 24
	if len(member) > longest || slices.Contains([]string{"id", "uuid", "data", "item", "value", "propertie", "property"}, member) {
		return ""
	}
	for i := range len(member) {
		if !alnum(member[i]) && member[i] != '_' && member[i] != '-' || i == 0 && digit(member[i]) {
			return ""
		}
	}
	return member
}

// tell puts names into what is said of confused ids, and lists those that differences speak of.
func (c *comparison) tell() {
	if len(c.result.Differences) == 0 || len(c.b.order)+len(c.b.said) == 0 {
		return
	}
	t := teller{b: c.b, names: c.b.allNames(), used: map[boundKey]bool{}}
	for i := range c.result.Differences {
		d := &c.result.Differences[i]
		if x, ok := c.b.confusionOf(d); ok {
			if text := t.confusion(x); c.veil.Over(text) == text {
				d.Text = text
			}
		}
		t.mention(0, d.Reference)
		t.mention(1, d.Candidate)
	}
	for _, key := range c.b.order {
		ref, cand := key.value, c.b.forward[key].value
		if t.used[key] && c.veil.Over(ref+"\n"+cand) == ref+"\n"+cand { // a secret has no name
			c.result.Names = append(c.result.Names, Name{t.names[key], ref, cand})
		}
	}
}

type teller struct {
	b     *bindings
	names map[boundKey]string // by the reference's value
	used  map[boundKey]bool
}

// key finds the pair that a value of a side belongs to.
func (t *teller) key(side int, kind tokenKind, value string) (boundKey, bool) {
	if side == 1 {
		partner, met := t.b.backward[boundKey{kind, value}]
		if !met {
			return boundKey{}, false
		}
		value = partner.value
	}
	key := boundKey{kind, value}
	_, named := t.names[key]
	return key, named
}

// mention notes which values stand in a text.
func (t *teller) mention(side int, text string) {
	for _, tok := range t.b.scan(side, text) {
		if key, named := t.key(side, tok.kind, text[tok.start:tok.end]); named {
			t.used[key] = true
		}
	}
}

// confusion says which of two known things stands in the place of the other.
func (t *teller) confusion(x confusion) string {
	ref, cand := t.thing(0, x.kind, x.ref), t.thing(1, x.kind, x.cand)
	where := ""
	if partner, met := t.b.forward[boundKey{x.kind, x.ref}]; met {
		where = fmt.Sprintf("; the reference's stood beside the candidate's %q at %s", partner.value, partner.where)
	} else if partner, met := t.b.backward[boundKey{x.kind, x.cand}]; met {
		where = fmt.Sprintf("; the candidate's stood beside the reference's %q at %s", partner.value, partner.where)
	}
	return fmt.Sprintf("the candidate has %s where the reference has %s%s", cand, ref, where)
}

// thing returns how a value is spoken of: ‹session 2› ("ses_9…").
func (t *teller) thing(side int, kind tokenKind, value string) string {
	key, named := t.key(side, kind, value)
	if !named {
		return fmt.Sprintf("another id (%q)", value)
	}
	t.used[key] = true
	return fmt.Sprintf("%s (%q)", t.names[key], value)
}
