package contract

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The body of an error often says with a code of its own what went wrong, and its schema has all of them in an enum. Each
// is a row of its own for each status of each operation: that one operation was seen to say NOT_FOUND tells nothing of the
// others that share the schema.

// codeNames are what the property with the code is called.
var codeNames = []string{"code", "errorCode", "error_code"}

// deepestCode is how deep in a body a code is looked for.
const deepestCode = 3

// isError reports whether a response is declared for errors. A default is: it stands for what went wrong otherwise.
func (r *response) isError() bool { return r.code == "default" || r.code[0] == '4' || r.code[0] == '5' }

// codes returns the codes that the bodies of an error may have, and where.
func (r *response) codes() (list []PointCoverage, at [][]string) {
	if !r.isError() {
		return nil, nil
	}
	f := codeFinder{seen: map[*schema]bool{}}
	for _, m := range r.media {
		if m.schema != nil && m.typ.isJSON() {
			f.find(m.schema, nil)
		}
	}
	return f.list, f.at
}

// A codeFinder collects the enums of codes in a schema.
type codeFinder struct {
	list []PointCoverage
	at   [][]string
	seen map[*schema]bool // on the way
}

func (f *codeFinder) find(s *schema, path []string) {
	if len(path) > deepestCode || f.seen[s] { // it leads back to itself
		return
	}
	f.seen[s] = true
	defer delete(f.seen, s)
	if len(path) > 0 && slices.Contains(codeNames, path[len(path)-1]) {
		f.add(s, path)
		return
	}
	for _, p := range slices.Concat(s.parts, s.oneOf, s.anyOf) {
		if p != s {
			f.find(p, path)
		}
	}
	for _, name := range s.names {
		f.find(s.properties[name], append(slices.Clone(path), name))
	}
}

func (f *codeFinder) add(s *schema, path []string) {
	for _, e := range s.enum {
		if e.node.Kind != jsontree.String {
			continue
		}
		name := e.node.Text
		if !slices.ContainsFunc(f.list, func(p PointCoverage) bool { return p.Name == name }) {
			f.list = append(f.list, PointCoverage{Name: name})
		}
	}
	if s.enum != nil && !slices.ContainsFunc(f.at, func(other []string) bool { return slices.Equal(other, path) }) {
		f.at = append(f.at, path)
	}
}

// seeCodes marks the codes that a body has.
func seeCodes(list []PointCoverage, paths [][]string, body []byte) {
	if !slices.ContainsFunc(list, func(p PointCoverage) bool { return !p.Seen }) {
		return
	}
	n, _, err := jsontree.Parse(body)
	if err != nil {
		return
	}
	for _, path := range paths {
		code := at(n, path)
		for i := range list {
			if code != nil && code.Kind == jsontree.String && code.Text == list[i].Name {
				list[i].Seen = true
			}
		}
	}
}
