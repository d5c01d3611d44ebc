package compare

import (
	"regexp"
	"slices"
)

// An IDShape is how the ids of a project look that have a shape of their own. It is looked for before all other shapes.
type IDShape struct {
	Name string // ids of one name are bound to ids of that name only
	Rule string // what the rule is called in Result: "lockstep.yaml:12:7"

	pattern *regexp.Regexp
	group   int // of the part that is made up: 0 for all of it
}

// NewIDShape makes one of an RE2 expression. It holds for whole words: no letter or digit goes on before or behind it. With
// a group, the group is what is made up, and the rest is compared.
func NewIDShape(name, pattern, rule string) (IDShape, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return IDShape{}, err
	}
	re.Longest()
	return IDShape{Name: name, Rule: rule, pattern: re, group: min(1, re.NumSubexp())}, nil
}

// A sighting is where a text has an id of a shape.
type sighting struct {
	start, end int // of all that the pattern describes
	token      token
}

// next returns the first id at or after a place.
func (s *IDShape) next(text string, at int) (sighting, bool) {
	for at < len(text) {
		m := s.pattern.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return sighting{}, false
		}
		found := sighting{start: at + m[0], end: at + m[1]}
		if made := m[2*s.group : 2*s.group+2]; made[0] < made[1] && wordEdge(text, found.start) && wordEdge(text, found.end) {
			found.token = token{start: at + made[0], end: at + made[1]}
			return found, true
		}
		at = found.start + 1
	}
	return sighting{}, false
}

// wordEdge reports whether a word begins or ends at a place. A percent-encoded byte is no part of one.
func wordEdge(s string, at int) bool {
	return at == 0 || at == len(s) || !alnum(s[at-1]) || !alnum(s[at]) || at >= 3 && escaped(s[at-3:])
}

// tokOwn is the kind of the first shape that a project has of its own; those of one name are of one kind.
const tokOwn tokenKind = 64

// own are the shapes of a project, and what each is called.
type own struct {
	shapes []IDShape
	kinds  []tokenKind // of each shape
}

func newOwn(shapes []IDShape) own {
	out := own{shapes: shapes}
	for i := range shapes {
		first := i
		for k := range i {
			if shapes[k].Name == shapes[i].Name {
				first = k
				break
			}
		}
		out.kinds = append(out.kinds, tokOwn+tokenKind(first))
	}
	return out
}

// next returns the first id of any shape at or after a place; of several at one place the longest.
func (o *own) next(text string, at int) (found sighting, rule string, ok bool) {
	for i := range o.shapes {
		s, here := o.shapes[i].next(text, at)
		if !here || ok && (s.start > found.start || s.start == found.start && s.end <= found.end) {
			continue
		}
		s.token.kind = o.kinds[i]
		found, rule, ok = s, o.shapes[i].Rule, true
	}
	return found, rule, ok
}

// stands reports whether an id of any shape stands in a text.
func (o *own) stands(text string) bool {
	return slices.ContainsFunc(o.shapes, func(s IDShape) bool {
		_, found := s.next(text, 0)
		return found
	})
}

// mayHold reports whether a text may hold an id of a shape, although it may be written with escapes.
func (o *own) mayHold(c content) bool {
	for i := range o.shapes {
		if !c.asWritten() || o.shapes[i].pattern.Match(c.data) {
			return true
		}
	}
	return false
}

// scan returns the tokens of a text of a side: ids of a project's own shapes, and between them everything else.
func (b *bindings) scan(side int, s string) []token {
	known := b.standing(side, s)
	if len(b.own.shapes) == 0 {
		return scan(s, known)
	}
	var out []token
	for at := 0; ; {
		found, rule, ok := b.own.next(s, at)
		if !ok {
			return scanRange(out, s, at, len(s), known)
		}
		if end := timeAround(s, at, found); end > 0 {
			out = scanRange(out, s, at, end, known)
			at = end
			continue
		}
		b.applied[rule] = true
		out = append(scanRange(out, s, at, found.start, known), found.token)
		at = found.end
	}
}

// timeAround returns the end of a time that an id of a shape is a part of, such as its year; 0 when it is none. Digits that
// are all of a text may be an id, even if they look like a moment.
func timeAround(text string, from int, s sighting) int {
	for _, t := range scanShapes(nil, text, from, len(text)) {
		if t.start > s.start {
			break
		}
		if t.kind.written() && s.end <= t.end && s.end-s.start < t.end-t.start {
			return t.end
		}
	}
	return 0
}

// ownNumbers reports whether two numbers are ids of one of the project's shapes.
func (b *bindings) ownNumbers(ref, cand string) bool {
	if len(b.own.shapes) == 0 {
		return false
	}
	r, c := b.scan(0, ref), b.scan(1, cand)
	return len(r) == 1 && len(c) == 1 && r[0].kind >= tokOwn && sameShape(ref, r, cand, c)
}

// kindName is what a kind is called where its values are left out.
func (b *bindings) kindName(k tokenKind) string {
	if k >= tokOwn {
		return b.own.shapes[k-tokOwn].Name
	}
	return k.String()
}
