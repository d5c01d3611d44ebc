package coverage

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// The body of an error often has a code that says what went wrong, and its schema lists all codes in an enum. Each code
// has its own row for each status of each operation. If one operation was seen to return NOT_FOUND, that shows nothing
// about other operations that share the schema.

// codeNames are the usual names of the property with the code.
var codeNames = []string{"code", "errorCode", "error_code"}

// maxCodeDepth limits how deep in a body a code is searched for.
const maxCodeDepth = 3

// isError reports whether a response is declared for errors. A default counts, because it covers all other errors.
func isError(r *spec.Response) bool {
	return r.Code == "default" || r.Code[0] == '4' || r.Code[0] == '5'
}

// codesOf returns the codes that the bodies of an error can have, and their places.
func codesOf(r *spec.Response) (list []Point, at [][]string) {
	if !isError(r) {
		return nil, nil
	}
	f := codeFinder{seen: map[*schema.Schema]bool{}}
	for _, m := range r.Media {
		if m.Schema != nil && m.Type.IsJSON() {
			f.find(m.Schema, nil)
		}
	}
	return f.list, f.at
}

// A codeFinder collects the enums of codes in a schema.
type codeFinder struct {
	list []Point
	at   [][]string
	seen map[*schema.Schema]bool // schemas on the path to the current one
}

func (f *codeFinder) find(s *schema.Schema, path []string) {
	if len(path) > maxCodeDepth || f.seen[s] { // the schema leads back to itself
		return
	}
	f.seen[s] = true
	defer delete(f.seen, s)
	if len(path) > 0 && slices.Contains(codeNames, path[len(path)-1]) {
		f.add(s, path)
		return
	}
	for _, p := range slices.Concat(s.Parts, s.OneOf, s.AnyOf) {
		if p != s {
			f.find(p, path)
		}
	}
	for _, name := range s.Names {
		f.find(s.Properties[name], append(slices.Clone(path), name))
	}
}

func (f *codeFinder) add(s *schema.Schema, path []string) {
	for _, e := range s.Enum {
		if e.Node.Kind != jsontree.String {
			continue
		}
		name := e.Node.Text
		if !slices.ContainsFunc(f.list, func(p Point) bool { return p.Name == name }) {
			f.list = append(f.list, Point{Name: name})
		}
	}
	if s.Enum != nil && !slices.ContainsFunc(f.at, func(other []string) bool { return slices.Equal(other, path) }) {
		f.at = append(f.at, path)
	}
}

// markCodes marks the codes that a body has.
func markCodes(list []Point, paths [][]string, body []byte) {
	if !slices.ContainsFunc(list, func(p Point) bool { return !p.Seen }) {
		return
	}
	n, _, err := jsontree.Parse(body)
	if err != nil {
		return
	}
	for _, path := range paths {
		code := spec.ValueAt(n, path)
		for i := range list {
			if code != nil && code.Kind == jsontree.String && code.Text == list[i].Name {
				list[i].Seen = true
			}
		}
	}
}
