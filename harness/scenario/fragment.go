package scenario

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// FragmentSchema is the JSON Schema of a fragment's file.
//
//go:embed fragment.schema.json
var FragmentSchema []byte

var fragmentSchema = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(FragmentSchema, Schema) })

// A fragment is a list of steps that several scenarios begin with, or have somewhere. It has been checked by itself.
type fragment struct {
	File
	parameters *yamldoc.Node
	steps      *yamldoc.Node
	captures   map[string]bool
}

// A library has the fragments below a folder. It reads each when a scenario first uses it, and does not change once all
// scenarios are read.
type library struct {
	root      string
	fragments map[string]*fragment // nil for a file that has mistakes, or is none
}

func newLibrary(root string) *library { return &library{root, map[string]*fragment{}} }

// get returns a fragment. It returns nil and true for one whose file has mistakes, which are reported with that file.
func (l *library) get(name string) (f *fragment, exists bool) {
	if l == nil {
		return nil, false
	}
	f, known := l.fragments[name]
	if known {
		return f, true
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, false
	}
	file := filepath.Join(l.root, filepath.FromSlash(name)+".yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, false
	}
	root, problems := yamldoc.Parse(file, data)
	if len(problems) == 0 && root.Get("fragment") == nil {
		return nil, false // a scenario
	}
	if len(problems) == 0 {
		f, _ = parseFragment(file, name, root, data)
	}
	l.fragments[name] = f
	return f, true
}

// names returns the names of all fragments, for a message.
func (l *library) names() (out []string) {
	if l == nil {
		return nil
	}
	_ = filepath.WalkDir(l.root, func(file string, _ os.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(file, ".yaml"); ok && err == nil {
			name, _ = filepath.Rel(l.root, name)
			if f, _ := l.get(filepath.ToSlash(name)); f != nil {
				out = append(out, filepath.ToSlash(name))
			}
		}
		return nil
	})
	return out
}

// parseFragment checks a fragment by itself: its shape, its syntax, and that it names only what it has.
func parseFragment(file, id string, root *yamldoc.Node, text []byte) (*fragment, Problems) {
	f := &fragment{File: File{file, text}, parameters: root.Get("parameters"), steps: root.Get("steps"), captures: map[string]bool{}}
	d := decoder{file: file, named: map[string]bool{}, given: map[string]bool{}}
	if name := root.Get("fragment"); name.Text != id {
		d.problem(name, fmt.Sprintf("the fragment is called %q", name.Text), fmt.Sprintf("call it %q, as its file is, or move the file", id))
	}
	s := newScope()
	for k := range f.parameters.Entries() {
		s.values[k.Text] = true
	}
	d.stepNames(f.steps, s, true) // whether its targets are its own is for the scenario to say
	d.unjoined(f.steps, taken(f.steps))
	for k := range f.parameters.Entries() {
		if !d.named[k.Text] {
			d.problem(k, fmt.Sprintf("no step uses the parameter %s", k.Text), fmt.Sprintf("write ${{ %s }} where its value belongs, or remove it", k.Text))
		}
	}
	if problems := fragmentSchema().Check(file, root); len(problems) > 0 {
		return nil, append(problems, d.problems...).Sort()
	}
	for k, p := range f.parameters.Entries() {
		if value := p.Get("default"); value != nil {
			d.typed(k.Text, p.Get("type").Str(), value)
		}
	}
	d.noUse(f.steps)
	if len(d.problems) == 0 {
		d.steps("", f.steps) // for the syntax of what is in them
	}
	if len(d.problems) > 0 {
		return nil, d.problems.Sort()
	}
	for name := range d.given {
		f.captures[name] = true
	}
	return f, nil
}

// noUse refuses fragments in fragments.
func (d *decoder) noUse(list *yamldoc.Node) {
	for _, n := range list.Elements() {
		if k, v := n.Entry("use"); v != nil {
			d.problem(k, "a fragment uses another one", "write the steps of "+v.Text+" here, or use it in the scenario")
		}
		for _, branch := range n.Get("parallel").Entries() {
			d.noUse(branch)
		}
	}
}

// typed checks the type of a value for a parameter. What is an expression may become anything.
func (d *decoder) typed(name, want string, value *yamldoc.Node) {
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
		d.problem(value, fmt.Sprintf("the parameter %s has type %s, and gets %s", name, want, value.Kind), "write a value of type "+want+", or change the type in the fragment")
	}
}

// unfold puts the steps of fragments in the place of the steps that use them, and rows in the place of those that stand for
// several. It takes nodes in any shape.
func (d *decoder) unfold(root *yamldoc.Node) *yamldoc.Node {
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

func (d *decoder) unfoldSteps(list *yamldoc.Node) *yamldoc.Node {
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

// use returns the steps of the fragment that a step names, with the values that it gives. They stand where that step does.
func (d *decoder) use(n *yamldoc.Node) []*yamldoc.Node {
	name := n.Get("use")
	f, exists := d.library.get(name.Text)
	if !exists {
		fix := problem.OneOf(name.Text, d.library.names())
		if fix == "" {
			fix = "write its file: docs/scenarios.md, Fragments"
		}
		d.problem(name, fmt.Sprintf("there is no fragment %q", name.Text), fix)
		return nil
	}
	if f == nil {
		d.broken = true
		return nil
	}
	if !slices.Contains(d.used, f) {
		d.used = append(d.used, f)
	}
	u := filling{at: name, values: map[string]*yamldoc.Node{}, renamed: map[string]string{}}
	for k, p := range f.parameters.Entries() {
		if value := p.Get("default"); value != nil {
			u.values[k.Text] = value
		}
	}
	d.arguments(n, f, u)
	for k, of := range n.Get("capture").Entries() {
		if !f.captures[of.Text] {
			d.problem(of, fmt.Sprintf("the fragment %s captures no %s", name.Text, of.Text), problem.OneOf(of.Text, slices.Collect(maps.Keys(f.captures))))
		}
		u.renamed[of.Text] = k.Text
	}
	var out []*yamldoc.Node
	for _, step := range f.steps.Items {
		out = append(out, u.fill(step))
	}
	return out
}

// arguments checks what a step gives to a fragment.
func (d *decoder) arguments(n *yamldoc.Node, f *fragment, u filling) {
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
		d.typed(k.Text, p.Get("type").Str(), value)
		u.values[k.Text] = value
	}
	for k := range f.parameters.Entries() {
		if u.values[k.Text] == nil {
			d.problem(u.at, fmt.Sprintf("the fragment %s needs the parameter %s", u.at.Text, k.Text), fmt.Sprintf("add with: {%s: …}", k.Text))
		}
	}
}

// A filling makes steps of those of a fragment.
type filling struct {
	at      *yamldoc.Node            // where they stand
	values  map[string]*yamldoc.Node // by parameter
	renamed map[string]string        // captures
}

func (u filling) fill(n *yamldoc.Node) *yamldoc.Node {
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
			case "http", "sse", "poll":
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

// escapeSegment is what becomes of a value in a path, also where an expression has it.
func escapeSegment(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// text puts values and names into a text with expressions.
func (u filling) text(s string, escape func(string) string) string {
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
			raw, _ := json.Marshal(value.Value()) // a tree of JSON values
			return escape(string(raw))
		case strings.Contains(value.Text, "${{"):
			return value.Text
		}
		return escape(value.Text)
	})
}
