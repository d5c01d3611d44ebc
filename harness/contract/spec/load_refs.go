package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// unresolved lists every reference of a document that leads nowhere. The loader stops at the first one.
func unresolved(src *source) (ps problem.Problems) {
	known := map[string]bool{}
	for section, components := range src.read().Root.Get("components").Entries() {
		for name := range components.Entries() {
			known[jsontree.AppendName("#/components/"+section.Text, name.Text)] = true
		}
	}
	seen := map[string]bool{}
	for _, ref := range keywords(nil, src.read().Root, false, "$ref", yamldoc.String) {
		component := strings.HasPrefix(ref.Text, "#/components/") && strings.Count(ref.Text, "/") == 3
		if seen[ref.Text] || strings.HasPrefix(ref.Text, "#") && (!component || known[ref.Text]) {
			continue
		}
		seen[ref.Text] = true
		p := problem.Problem{Line: ref.Line, Column: ref.Column}
		if component {
			p.What = fmt.Sprintf("$ref points to %q, which does not exist", ref.Text)
			p.Fix = problem.DidYouMean(ref.Text, slices.Sorted(maps.Keys(known)))
		} else {
			p.What = fmt.Sprintf("$ref points to another file, %q", ref.Text)
			p.Fix = "put what it refers to into this document; a bundler does it: npx @redocly/cli bundle openapi.yaml -o whole.yaml"
		}
		ps = append(ps, p)
	}
	return ps
}

// keywords appends the values of a keyword that are of one kind, except for those in extensions and in values of the API.
// Its own keys are names if the document's author chose them: those of properties and of components.
func keywords(list []*yamldoc.Node, n *yamldoc.Node, names bool, key string, kind yamldoc.Kind) []*yamldoc.Node {
	for k, v := range n.Entries() {
		switch {
		case names:
			list = keywords(list, v, false, key, kind)
		case k.Text == key && v.Kind == kind:
			list = append(list, v)
		case k.Text == "components":
			for _, section := range v.Items {
				list = keywords(list, section, true, key, kind)
			}
		case slices.Contains([]string{"example", "default", "enum", "value"}, k.Text) || strings.HasPrefix(k.Text, "x-"):
		default:
			list = keywords(list, v, k.Text == "properties", key, kind)
		}
	}
	for _, item := range n.Elements() {
		list = keywords(list, item, false, key, kind)
	}
	return list
}
