package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"weak"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A decoder turns the nodes of one file into scenarios. The schema has checked the shape of the nodes before.
type decoder struct {
	values   *valueDecoder
	rules    *ruleDecoder
	names    nameChecker
	unfolder unfolder
	step     stepDecoder
	stub     stubDecoder
}

func newDecoder(file string, l *library) *decoder {
	values := &valueDecoder{file: file}
	messages, rules := &messageDecoder{values}, &ruleDecoder{valueDecoder: values}
	return &decoder{
		values, rules, nameChecker{values, map[string]bool{}, map[string]bool{}}, unfolder{valueDecoder: values, library: l},
		stepDecoder{values, messages, rules}, stubDecoder{values, messages, rules},
	}
}

// scenario decodes the file's one scenario, without its rows.
func (d *decoder) scenario(root *yamldoc.Node, text []byte) *Scenario {
	s := d.head(root, text)
	script := d.script(root)
	d.rules.sinceSteps(script)
	for _, f := range d.unfolder.used {
		s.Fragments = append(s.Fragments, f.File)
	}
	s.StepRules, s.source = script.rules(), newSource(script, d.values.file, text, d.unfolder.library)
	return s
}

// head decodes a scenario without its script.
func (d *decoder) head(root *yamldoc.Node, text []byte) *Scenario {
	s := &Scenario{
		ID:     root.Get("scenario").Str(),
		Why:    root.Get("why").Str(),
		Source: root.Get("source").Str(),
		Tags:   texts(root.Get("tags")),
		Fresh:  root.Get("isolate").Str() == "fresh",

		Directory: d.names.usesBuiltin("directory"),
		Lockstep:  d.names.usesBuiltin("lockstep"),
		Limit:     d.values.duration(root.Get("limit")),
		Compare:   d.rules.all(root.Get("compare")),
		File:      d.values.file,
		Line:      root.Line,
		Column:    root.Column,
		Text:      text,
	}
	for _, n := range root.Get("needs").Elements() {
		s.Needs = append(s.Needs, Need{n.Text, n.Line, n.Column})
	}
	return s
}

func (d *decoder) script(root *yamldoc.Node) *Script {
	s := &Script{
		Texts: d.repeated(root.Get("repeat")),
		Vars:  d.vars(root.Get("vars")),
		Stubs: d.stub.stubs(root.Get("stubs")),
		Steps: d.step.steps("", root.Get("steps")),
	}
	for i, n := range root.Get("teardown").Elements() {
		s.Teardown = append(s.Teardown, d.step.teardown(i, n))
	}
	return s
}

func (d *decoder) repeated(repeat *yamldoc.Node) []Var {
	var out []Var
	for k, v := range repeat.Entries() {
		text := strings.Repeat(v.Get("text").Str(), d.values.number(v.Get("times")))
		out = append(out, Var{k.Text, Value{kind: yamldoc.String, set: true, str: Literal(text)}})
	}
	return out
}

func (d *decoder) vars(vars *yamldoc.Node) []Var {
	var out []Var
	for k, v := range vars.Entries() {
		out = append(out, Var{k.Text, d.values.value(v)})
	}
	return out
}

// rows decodes the table: one map from column to value for each row.
func (d *decoder) rows(n *yamldoc.Node) []map[string]Value {
	var out []map[string]Value
	for _, item := range n.Elements() {
		row := map[string]Value{}
		for k, v := range item.Entries() {
			row[k.Text] = d.values.value(v)
		}
		if len(out) > 0 {
			d.sameColumns(item, row, out[0])
		}
		out = append(out, row)
	}
	return out
}

func (d *decoder) sameColumns(n *yamldoc.Node, row, first map[string]Value) {
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if _, ok := row[name]; !ok {
			d.values.problem(n, fmt.Sprintf("row %q has no column %q", row["name"].text(), name), "give every row the same columns")
		}
	}
	for _, k := range n.Keys {
		if _, ok := first[k.Text]; !ok {
			d.values.problem(k, fmt.Sprintf("column %q is not in the first row", k.Text), problem.OneOf(k.Text, slices.Collect(maps.Keys(first))))
		}
	}
}

// newSource returns the source of a script that was decoded without mistakes. It keeps no nodes of the file.
func newSource(decoded *Script, file string, text []byte, l *library) *source {
	unfold := func() (*decoder, *yamldoc.Node) {
		root, problems := yamldoc.Parse(file, text)
		if len(problems) > 0 {
			panic(fmt.Sprintf("scenario: %s was read without mistakes, and now: %v", file, problems))
		}
		d := newDecoder(file, l)
		return d, d.unfolder.unfold(root)
	}
	return &source{
		decoded: weak.Make(decoded),
		root:    func() *yamldoc.Node { _, root := unfold(); return root },
		decode:  func() *Script { d, root := unfold(); return d.script(root) },
	}
}
