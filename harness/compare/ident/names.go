package ident

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// Ids are long, look alike, and are different in each run. So reports call an id by a name: a noun from the first place
// where it appeared, and a number.

// A Name is the name of two bound values: "‹session 2›".
type Name struct {
	Name                 string
	Reference, Candidate string // the two values
}

// A namer gives names to bound values.
type namer struct {
	vocabulary *Vocabulary
	partners   *partners
	names      map[boundKey]string // by the reference's value
	mentioned  map[boundKey]bool
}

func NewNamer(b *Bindings) *namer {
	n := &namer{vocabulary: &b.Vocabulary, partners: &b.partners, mentioned: map[boundKey]bool{}}
	n.names = n.allNames()
	return n
}

// allNames gives each pair of bound values a name, in the order in which they were bound.
func (n *namer) allNames() map[boundKey]string {
	out := make(map[boundKey]string, len(n.partners.order))
	numbers := map[string]int{}
	for _, key := range n.partners.order {
		if key.kind == tokSent {
			continue
		}
		base := n.nameOf(key)
		numbers[base]++
		out[key] = fmt.Sprintf("‹%s %d›", base, numbers[base])
	}
	return out
}

// nameOf returns the noun in a value's name. For an id with a prefix it is the prefix, and for an id of a project's
// shape it is the name of the shape. For any other value, it comes from the member where it first appeared.
func (n *namer) nameOf(key boundKey) string {
	switch {
	case key.kind >= tokProject:
		return n.vocabulary.Shapes.kindName(key.kind)
	case key.kind == tokPrefixed:
		return key.value[:prefixLen(key.value)-1]
	case key.kind == tokPort, key.kind == tokTemp, key.kind == tokTrace, key.kind == tokSpan:
		return key.kind.String()
	}
	for at := n.partners.of[0][key].where.node; at != nil; at = at.Up {
		if at.index[0] < 0 {
			if name := nounOf(at.Names[0]); name != "" {
				return name
			}
		}
	}
	return key.kind.String()
}

// nounOf derives a noun from the name of a member: "request" from requestID and request_id, "session" from sessions. It
// returns "" when the name does not say what the value identifies.
func nounOf(member string) string {
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
		if !Alnum(member[i]) && member[i] != '_' && member[i] != '-' || i == 0 && Digit(member[i]) {
			return ""
		}
	}
	return member
}

// Used returns the names of the values that were mentioned, in the order in which they were bound.
func (n *namer) Used() []Name {
	var out []Name
	for _, key := range n.partners.order {
		if n.mentioned[key] {
			out = append(out, Name{n.names[key], key.value, n.partners.of[0][key].value})
		}
	}
	return out
}

// key returns the named pair that a value of a side belongs to.
func (n *namer) key(side int, kind tokenKind, value string) (boundKey, bool) {
	if side == 1 {
		partner, met := n.partners.partner(1, kind, value)
		if !met {
			return boundKey{}, false
		}
		value = partner.value
	}
	key := boundKey{kind, value}
	_, named := n.names[key]
	return key, named
}

// Mention marks the named values in a text as mentioned.
func (n *namer) Mention(side int, text string) {
	for _, tok := range n.vocabulary.Scan(side, text) {
		if key, named := n.key(side, tok.Kind, text[tok.Start:tok.End]); named {
			n.mentioned[key] = true
		}
	}
}

// Confusion returns which known id the candidate has in place of which other one. ok is false unless the difference is
// about two ids and shows both.
func (n *namer) Confusion(d *diff.Difference) (why diff.Reason, ok bool) {
	if len(d.Args) == 0 {
		return why, false
	}
	x, ok := d.Args[len(d.Args)-1].(IDConflict)
	if !ok || !strings.Contains(d.Ref.Text, x.ref) || !strings.Contains(d.Cand.Text, x.cand) {
		return why, false
	}
	ref, cand := n.describe(0, x.kind, x.ref), n.describe(1, x.kind, x.cand)
	where := ""
	if partner, met := n.partners.partner(0, x.kind, x.ref); met {
		where = fmt.Sprintf("; the reference's was paired with the candidate's %q at %s", partner.value, partner.where)
	} else if partner, met := n.partners.partner(1, x.kind, x.cand); met {
		where = fmt.Sprintf("; the candidate's was paired with the reference's %q at %s", partner.value, partner.where)
	}
	return diff.Because(diff.IdentityBroken, diff.IDsConfused, cand, ref, where), true
}

// describe returns how reports write a value: ‹session 2› ("ses_9…").
func (n *namer) describe(side int, kind tokenKind, value string) string {
	key, named := n.key(side, kind, value)
	if !named {
		return fmt.Sprintf("another id (%q)", value)
	}
	n.mentioned[key] = true
	return fmt.Sprintf("%s (%q)", n.names[key], value)
}
