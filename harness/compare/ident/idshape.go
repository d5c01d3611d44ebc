package ident

import (
	"regexp"
	"slices"
)

// An IDShape is a shape of ids that a project defines. It takes precedence over all other shapes.
type IDShape struct {
	Name string // ids of one name are bound to ids of that name only
	Rule string // the name of the rule in Result: "lockstep.yaml:12:7"

	pattern *regexp.Regexp
	group   int // the generated group: 0 for the whole match
}

// NewIDShape compiles an RE2 expression. A match must consist of whole words: no letter or digit directly precedes or
// follows it. If the expression has a group, only the group is generated, and the rest is compared.
func NewIDShape(name, pattern, rule string) (IDShape, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return IDShape{}, err
	}
	re.Longest()
	return IDShape{Name: name, Rule: rule, pattern: re, group: min(1, re.NumSubexp())}, nil
}

// A shapeMatch is one match of an IDShape in a text.
type shapeMatch struct {
	start, end int // of the whole match
	token      token
}

// next returns the first id at or after a position.
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

// wordEdge reports whether a word begins or ends at a position. A percent-encoded byte is not part of a word.
func wordEdge(s string, at int) bool {
	return at == 0 || at == len(s) || !Alnum(s[at-1]) || !Alnum(s[at]) || at >= 3 && escaped(s[at-3:])
}

// projectShapes has the shapes of a project, and the token kind of each.
type projectShapes struct {
	all   []IDShape
	kinds []tokenKind // of each shape
}

func newProjectShapes(shapes []IDShape) projectShapes {
	out := projectShapes{all: shapes}
	for i := range shapes {
		first := slices.IndexFunc(shapes, func(s IDShape) bool { return s.Name == shapes[i].Name })
		out.kinds = append(out.kinds, tokProject+tokenKind(first))
	}
	return out
}

// next returns the first id of any shape at or after a position. If several begin there, it returns the longest.
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

// found reports whether a text contains an id of any shape.
func (o *projectShapes) found(text string) bool {
	return slices.ContainsFunc(o.all, func(s IDShape) bool {
		_, found := s.next(text, 0)
		return found
	})
}

// MayHold reports whether data may contain an id of a shape. escaped says that data may have escapes, which can hide an
// id.
func (o *projectShapes) MayHold(data []byte, escaped bool) bool {
	return slices.ContainsFunc(o.all, func(s IDShape) bool { return escaped || s.pattern.Match(data) })
}

// timeAround returns the end of a time that contains the match, for example as its year; 0 when there is none. Digits
// that are a whole text may be an id, even if they look like a time.
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

// kindName is the name of a kind in texts that leave out values.
func (o *projectShapes) kindName(k tokenKind) string {
	if k >= tokProject {
		return o.all[k-tokProject].Name
	}
	return k.String()
}

// A ProjectID is an id in a text that has one of the project's own shapes.
type ProjectID struct {
	Start, End int // of the whole match
	From, To   int // of the generated part
}

// ProjectIDs returns the ids in a text that have one of the project's own shapes.
func ProjectIDs(ids []IDShape, text string) []ProjectID {
	if len(ids) == 0 {
		return nil
	}
	var out []ProjectID
	shapes := newProjectShapes(ids)
	for at := 0; ; {
		found, _, ok := shapes.next(text, at)
		if !ok {
			return out
		}
		if end := timeAround(text, at, found); end > 0 {
			at = end
			continue
		}
		out = append(out, ProjectID{found.start, found.end, found.token.Start, found.token.End})
		at = found.end
	}
}
