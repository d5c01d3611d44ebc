package ident

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

// A shapeMatch is where a text has an id of a shape.
type shapeMatch struct {
	start, end int // of all that the pattern describes
	token      token
}

// next returns the first id at or after a place.
func (s *IDShape) next(text string, at int) (shapeMatch, bool) {
	for at < len(text) {
		m := s.pattern.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return shapeMatch{}, false
		}
		found := shapeMatch{start: at + m[0], end: at + m[1]}
		if made := m[2*s.group : 2*s.group+2]; made[0] < made[1] && wordEdge(text, found.start) && wordEdge(text, found.end) {
			found.token = token{Start: at + made[0], End: at + made[1]}
			return found, true
		}
		at = found.start + 1
	}
	return shapeMatch{}, false
}

// wordEdge reports whether a word begins or ends at a place. A percent-encoded byte is no part of one.
func wordEdge(s string, at int) bool {
	return at == 0 || at == len(s) || !Alnum(s[at-1]) || !Alnum(s[at]) || at >= 3 && escaped(s[at-3:])
}

// projectShapes are the shapes of a project, and what each is called.
type projectShapes struct {
	all   []IDShape
	kinds []tokenKind // of each shape
}

func newProjectShapes(shapes []IDShape) projectShapes {
	out := projectShapes{all: shapes}
	for i := range shapes {
		first := i
		for k := range i {
			if shapes[k].Name == shapes[i].Name {
				first = k
				break
			}
		}
		out.kinds = append(out.kinds, tokProject+tokenKind(first))
	}
	return out
}

// next returns the first id of any shape at or after a place; of several at one place the longest.
func (o *projectShapes) next(text string, at int) (found shapeMatch, rule string, ok bool) {
	for i := range o.all {
		s, here := o.all[i].next(text, at)
		if !here || ok && (s.start > found.start || s.start == found.start && s.end <= found.end) {
			continue
		}
		s.token.Kind = o.kinds[i]
		found, rule, ok = s, o.all[i].Rule, true
	}
	return found, rule, ok
}

// found reports whether an id of any shape stands in a text.
func (o *projectShapes) found(text string) bool {
	return slices.ContainsFunc(o.all, func(s IDShape) bool {
		_, found := s.next(text, 0)
		return found
	})
}

// MayHold reports whether a text may hold an id of a shape, although it may be written with escapes.
func (o *projectShapes) MayHold(data []byte, escaped bool) bool {
	for i := range o.all {
		if escaped || o.all[i].pattern.Match(data) {
			return true
		}
	}
	return false
}

// Scan returns the tokens of a text of a side: ids of a project's own shapes, and between them everything else.
func (v *vocabulary) Scan(side int, s string) []token {
	known := v.knownIn(side, s)
	if len(v.Shapes.all) == 0 {
		return Scan(s, known)
	}
	var out []token
	for at := 0; ; {
		found, rule, ok := v.Shapes.next(s, at)
		if !ok {
			return scanRange(out, s, at, len(s), known)
		}
		if end := timeAround(s, at, found); end > 0 {
			out = scanRange(out, s, at, end, known)
			at = end
			continue
		}
		v.Applied[rule] = true
		out = append(scanRange(out, s, at, found.start, known), found.token)
		at = found.end
	}
}

// timeAround returns the end of a time that an id of a shape is a part of, such as its year; 0 when it is none. Digits that
// are all of a text may be an id, even if they look like a moment.
func timeAround(text string, from int, s shapeMatch) int {
	for _, t := range scanShapes(nil, text, from, len(text)) {
		if t.Start > s.start {
			break
		}
		if t.Kind.isDateTime() && s.end <= t.End && s.end-s.start < t.End-t.Start {
			return t.End
		}
	}
	return 0
}

// ProjectNumbers reports whether two numbers are ids of one of the project's shapes.
func (v *vocabulary) ProjectNumbers(ref, cand string) bool {
	if len(v.Shapes.all) == 0 {
		return false
	}
	r, c := v.Scan(0, ref), v.Scan(1, cand)
	return len(r) == 1 && len(c) == 1 && r[0].Kind >= tokProject && SameShape(ref, r, cand, c)
}

// kindName is what a kind is called where its values are left out.
func (v *vocabulary) kindName(k tokenKind) string {
	if k >= tokProject {
		return v.Shapes.all[k-tokProject].Name
	}
	return k.String()
}
