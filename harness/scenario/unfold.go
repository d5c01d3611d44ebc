package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// An unfolder replaces steps that use a fragment by the steps of the fragment, and rows that stand for several by those
// rows.
type unfolder struct {
	*valueDecoder
	library    *library
	used       []*fragment
	incomplete bool                   // a fragment has mistakes
	generated  map[*yamldoc.Node]bool // the rows that are not in the file
}

// checkNoUse rejects fragments that use fragments.
func (d *unfolder) checkNoUse(list *yamldoc.Node) {
	for _, n := range list.Elements() {
		if k, v := n.Entry("use"); v != nil {
			d.problem(k, "a fragment cannot use another fragment", "write the steps of "+v.Text+" here, or use it in the scenario")
		}
		for _, branch := range n.Get("parallel").Entries() {
			d.checkNoUse(branch)
		}
	}
}

// checkType checks the type of a value for a parameter. An expression can have any type.
func (d *unfolder) checkType(name, want string, value *yamldoc.Node) {
	if t, err := parseTemplate(value.Text); value.Kind == yamldoc.String && err == nil && len(t.Names()) > 0 {
		return
	}
	got := map[yamldoc.Kind]string{
		yamldoc.Null: "null", yamldoc.Bool: "boolean", yamldoc.Number: "number", yamldoc.String: "string", yamldoc.List: "array", yamldoc.Map: "object",
	}[value.Kind]
	if want == "integer" && got == "number" && !strings.ContainsAny(value.Text, ".eE") {
		got = want
	}
	if want != "" && got != want {
		d.problem(value, fmt.Sprintf("the parameter %s has type %s, but its value is %s", name, want, value.Kind), "write a value of type "+want+", or change the type in the fragment")
	}
}

// unfold replaces steps that use fragments, and rows that stand for several. It accepts nodes in any shape.
func (d *unfolder) unfold(root *yamldoc.Node) *yamldoc.Node {
	if root.Kind != yamldoc.Map {
		return root
	}
	out := *root
	out.Items = slices.Clone(root.Items)
	for i, k := range root.Keys {
		switch k.Text {
		case "steps":
			out.Items[i] = d.unfoldSteps(out.Items[i])
		case "table":
			out.Items[i] = d.unfoldRows(out.Items[i])
		}
	}
	return &out
}

func (d *unfolder) unfoldSteps(list *yamldoc.Node) *yamldoc.Node {
	if list.Kind != yamldoc.List {
		return list
	}
	out := *list
	out.Items = nil
	for _, n := range list.Items {
		if p := n.Get("parallel"); p != nil && p.Kind == yamldoc.Map {
			branches, step := *p, *n
			branches.Items = nil
			for _, branch := range p.Items {
				branches.Items = append(branches.Items, d.unfoldSteps(branch))
			}
			step.Items = slices.Clone(n.Items)
			step.Items[slices.Index(n.Items, p)] = &branches
			n = &step
		}
		if n.Get("use") == nil {
			out.Items = append(out.Items, n)
		} else {
			out.Items = append(out.Items, d.use(n)...)
		}
	}
	return &out
}

// use returns the steps of the fragment that a step uses, with the step's arguments filled in.
func (d *unfolder) use(n *yamldoc.Node) []*yamldoc.Node {
	name := n.Get("use")
	f, exists := d.library.get(name.Text)
	if !exists {
		fix := problem.OneOf(name.Text, d.library.names())
		if fix == "" {
			fix = "create its file: docs/scenarios.md, Fragments"
		}
		d.problem(name, fmt.Sprintf("there is no fragment %q", name.Text), fix)
		return nil
	}
	if f == nil {
		d.incomplete = true
		return nil
	}
	if !slices.Contains(d.used, f) {
		d.used = append(d.used, f)
	}
	u := substitution{at: name, values: map[string]*yamldoc.Node{}, renamed: map[string]string{}}
	for k, p := range f.parameters.Entries() {
		if value := p.Get("default"); value != nil {
			u.values[k.Text] = value
		}
	}
	d.readArguments(n, f, u)
	for k, of := range n.Get("capture").Entries() {
		if !f.captures[of.Text] {
			d.problem(of, fmt.Sprintf("the fragment %s does not capture %s", name.Text, of.Text), problem.OneOf(of.Text, slices.Collect(maps.Keys(f.captures))))
		}
		u.renamed[of.Text] = k.Text
	}
	var out []*yamldoc.Node
	for _, step := range f.steps.Items {
		out = append(out, u.fill(step))
	}
	return out
}

// readArguments checks the arguments of a fragment.
func (d *unfolder) readArguments(n *yamldoc.Node, f *fragment, u substitution) {
	for k, value := range n.Get("with").Entries() {
		p := f.parameters.Get(k.Text)
		if p == nil {
			var names []string
			for k := range f.parameters.Entries() {
				names = append(names, k.Text)
			}
			d.problem(k, fmt.Sprintf("the fragment %s has no parameter %s", u.at.Text, k.Text), problem.OneOf(k.Text, names))
			continue
		}
		d.checkType(k.Text, p.Get("type").Str(), value)
		u.values[k.Text] = value
	}
	for k := range f.parameters.Entries() {
		if u.values[k.Text] == nil {
			d.problem(u.at, fmt.Sprintf("the fragment %s needs the parameter %s", u.at.Text, k.Text), fmt.Sprintf("add with: {%s: …}", k.Text))
		}
	}
}

// A substitution turns steps of a fragment into steps of a scenario.
type substitution struct {
	at      *yamldoc.Node            // the step that uses the fragment
	values  map[string]*yamldoc.Node // by parameter
	renamed map[string]string        // captures
}

func (u substitution) fill(n *yamldoc.Node) *yamldoc.Node {
	out := *n
	out.Line, out.Column = u.at.Line, u.at.Column
	if n.Kind == yamldoc.String {
		if t, err := parseTemplate(n.Text); err == nil {
			if name, ok := t.single(); ok && u.values[name] != nil {
				return u.values[name]
			}
		}
		out.Text = u.text(n.Text, func(s string) string { return s })
	}
	out.Keys, out.Items = nil, nil
	for i, item := range n.Items {
		filled := u.fill(item)
		if n.Kind == yamldoc.Map {
			key := u.fill(n.Keys[i])
			switch key.Text {
			case "http", "sse", "poll", "socket":
				filled.Text = u.text(item.Text, escapeSegment)
			case "capture":
				for _, k := range filled.Keys {
					if as, ok := u.renamed[k.Text]; ok {
						k.Text = as
					}
				}
			}
			out.Keys = append(out.Keys, key)
		}
		out.Items = append(out.Items, filled)
	}
	return &out
}

// escapeSegment escapes a value in a path, as is done for the value of an expression.
func escapeSegment(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// text inserts values and new names into a text with expressions.
func (u substitution) text(s string, escape func(string) string) string {
	return expression.ReplaceAllStringFunc(s, func(written string) string {
		if strings.HasPrefix(written, "$$") {
			return written
		}
		name := expression.FindStringSubmatch(written)[1]
		if as, ok := u.renamed[name]; ok {
			return "${{ " + as + " }}"
		}
		value := u.values[name]
		switch {
		case value == nil:
			return written
		case value.Kind != yamldoc.String:
			raw, _ := json.Marshal(value.Value()) // the value is a tree of JSON values
			return escape(string(raw))
		case strings.Contains(value.Text, "${{"):
			return value.Text
		}
		return escape(value.Text)
	})
}
