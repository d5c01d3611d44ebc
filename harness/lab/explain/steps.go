package explain

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// story writes what the scenario does: its row, its variables, its steps.
func (e *explainer) story(o *object) {
	if raw, ok := e.values["row.name"]; ok {
		of := &object{}
		of.raw("name", raw)
		for _, name := range slices.Sorted(maps.Keys(e.s.Row)) { // the columns have no order
			if name != "name" {
				of.raw(name, e.values["row."+name])
			}
		}
		o.add("row", of.node())
	}
	script := e.s.Script()
	if vars := slices.Concat(script.Texts, script.Vars); len(vars) > 0 {
		of := &object{}
		for _, v := range vars {
			of.raw(v.Name, e.values[v.Name])
		}
		o.add("vars", of.node())
	}
	if stubs := e.s.WrittenStubs(); stubs != nil {
		o.raw("stubs", scenario.Expand(stubs, e.values))
	}
	steps, teardown := e.s.Written()
	o.add("steps", e.steps(script.Steps, steps))
	if len(teardown) > 0 {
		o.add("teardown", e.steps(script.Teardown, teardown))
	}
}

func (e *explainer) steps(steps []scenario.Step, sources []*yamldoc.Node) *jsontree.Node {
	list := &jsontree.Node{Kind: jsontree.Array}
	for i := range steps {
		list.Items = append(list.Items, e.step(&steps[i], sources[i]))
	}
	return list
}

// step returns a step as in its file, followed by its defaults.
func (e *explainer) step(step *scenario.Step, source *yamldoc.Node) *jsontree.Node {
	o := &object{}
	o.text("step", step.ID)
	o.number("line", int64(step.Line))
	for k, n := range source.Entries() {
		if parallel, ok := step.Do.(*scenario.Parallel); ok && k.Text == step.Kind() {
			o.add(k.Text, e.branches(parallel, n))
			continue
		}
		if k.Text != "compare" || step.Kind() == "poll" { // e.rules adds the rules
			o.raw(k.Text, scenario.Expand(n, e.values))
		}
	}
	if open, ok := step.Do.(*scenario.Open); ok {
		e.wires[open.Name] = open.Wire
	}
	if sends := e.sends(step); sends != nil {
		o.add("sends", sends)
	}
	e.defaults(o, step)
	return o.node()
}

func (e *explainer) branches(p *scenario.Parallel, n *yamldoc.Node) *jsontree.Node {
	o := &object{}
	for _, b := range p.Branches {
		o.add(b.Name, e.steps(b.Steps, n.Get(b.Name).Elements()))
	}
	return o.node()
}

// defaults writes the defaults of a step.
func (e *explainer) defaults(o *object, step *scenario.Step) {
	limit := e.p.Limits.Step
	of := &object{}
	say := func(name, value string) {
		if !slices.Contains(o.Names, name) {
			of.text(name, value)
		}
	}
	switch do := step.Do.(type) {
	case *scenario.HTTP, *scenario.Join, *scenario.Send:
		say("within", limit.String())
	case *scenario.Open:
		if do.Wire != transcript.WireProgram { // it needs no answer
			say("within", limit.String())
		}
	case *scenario.Hangup:
		if do.How == scenario.Close && e.wires[do.Name] == transcript.WireSocket {
			say("code", fmt.Sprint(do.Code))
			say("within", e.p.Limits.Settle.String())
		}
	case *scenario.Stop:
		say("within", limit.String())
		say("exit", fmt.Sprint(do.Exit))
	case *scenario.Restart:
		say("within", "stop and ready.within of the target")
	case *scenario.Await:
		say("within", limit.String())
		if !do.End {
			say("times", fmt.Sprint(do.Times))
		}
	case *scenario.Asked:
		say("within", limit.String())
		say("times", fmt.Sprint(do.Times))
	case *scenario.Poll:
		say("within", limit.String())
		say("every", between(do.Pause, do.MaxPause))
		say("compare", string(do.Compare))
	}
	if len(of.Names) > 0 {
		o.add("by_default", of.node())
	}
}

func between(from, to time.Duration) string {
	if from == to {
		return from.String()
	}
	return from.String() + ".." + to.String()
}

// maxShown limits how much of a text is shown, because scenarios may have texts of megabytes.
const maxShown = 400

// truncate returns a value in which long texts are cut and followed by their length.
func truncate(n *jsontree.Node) *jsontree.Node {
	if n.Kind == jsontree.String && len(n.Text) > maxShown {
		n.Text = strings.ToValidUTF8(n.Text[:maxShown], "") + fmt.Sprintf("… [%d bytes]", len(n.Text))
	}
	for _, item := range n.Items {
		truncate(item)
	}
	return n
}

// rules writes the rules that apply, and where each is written: rules of steps, of the scenario, of the project.
func (e *explainer) rules(o *object) {
	list := &jsontree.Node{Kind: jsontree.Array}
	seen := map[string]bool{}
	add := func(level string, r scenario.Rules) {
		for _, rule := range rulesOf(r) {
			if level != "project" || !seen[rule.name] { // a scenario's rules for a stream replace those of the project
				of := &object{}
				of.text("rule", rule.name)
				of.text("of", level)
				of.text("from", rule.from)
				if rule.says != nil {
					of.add("says", rule.says)
				}
				list.Items = append(list.Items, of.node())
			}
			seen[rule.name] = seen[rule.name] || rule.replaces
		}
	}
	for _, r := range e.s.StepRules {
		add("step "+r.Step, r.Rules)
	}
	add("scenario", e.s.Compare)
	add("project", e.p.Rules)
	o.add("rules", list)
}

// An explainedRule is a rule as explain shows it.
type explainedRule struct {
	name, from string
	says       *jsontree.Node // nil when the name says everything
	replaces   bool           // it replaces the project's rule of the same name
}

func rulesOf(r scenario.Rules) (out []explainedRule) {
	for i, name := range r.Headers {
		from := "by default"
		if i < len(r.HeaderAt) {
			from = r.HeaderAt[i].String()
		}
		out = append(out, explainedRule{name: "header " + name, from: from})
	}
	for _, v := range r.Volatile {
		place := scenario.Place{File: v.File, Line: v.Line, Column: v.Column}
		out = append(out, explainedRule{name: v.Name(), from: place.String(), says: ruleFields(v)})
	}
	for _, s := range r.IDs {
		out = append(out, explainedRule{name: "id " + s.Name, from: s.Place.String(), says: ruleFields(s)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Streams)) {
		rule := r.Streams[name]
		place := scenario.Place{File: rule.File, Line: rule.Line, Column: rule.Column}
		out = append(out, explainedRule{name: "stream " + name, from: place.String(), says: ruleFields(rule), replaces: true})
	}
	return out
}

// ruleFields returns the fields of a rule that are set, except for those that say where it is written.
func ruleFields(rule any) *jsontree.Node { return reflected(reflect.ValueOf(rule)) }

func reflected(v reflect.Value) *jsontree.Node {
	switch v.Kind() {
	case reflect.Pointer:
		return reflected(v.Elem())
	case reflect.Slice:
		list := &jsontree.Node{Kind: jsontree.Array}
		for i := range v.Len() {
			list.Items = append(list.Items, reflected(v.Index(i)))
		}
		return list
	case reflect.Struct:
		o := &object{}
		for i := range v.NumField() {
			name, field := v.Type().Field(i).Name, v.Field(i)
			if !field.IsZero() && !slices.Contains(positionFields, name) {
				o.add(snake(name), reflected(field))
			}
		}
		return o.node()
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return tree(d.String())
	}
	return tree(v.Interface())
}

// positionFields are the fields of rules that say where something is written, or the name of the rule.
var positionFields = []string{"File", "Line", "Column", "Place", "Name", "At", "OrderAt", "AnchorsAt", "OptionalAt"}

// snake turns a Go name into the name of a JSON member.
func snake(name string) string {
	var b strings.Builder
	capital := true // the previous character is, or there is none
	for _, c := range name {
		was := capital
		if capital = c >= 'A' && c <= 'Z'; capital && !was {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}
