package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Draft is a scenario that grows: a program adds its steps one by one. Each step has the keys of a step in a file, and
// is checked and decoded in the same way. Its place is the line of the program that added it.
type Draft struct {
	Scenario *Scenario

	decoder *decoder
	head    *yamldoc.Node // the keys of the file, without steps
	steps   *yamldoc.Node // those that were added
	script  *Script
	scope   scope
	wires   wires
}

// notInDrafts are the keys that a draft cannot have, with what replaces them.
var notInDrafts = []struct{ key, fix string }{
	{"scenario", "remove it: the scenario is called like the test"},
	{"steps", "call a method of the client for each step"},
	{"teardown", "use defer"},
	{"table", "use a loop of subtests"},
}

// NewDraft returns a scenario without steps. keys are those of a scenario's file. When source is missing, it is the
// place.
func NewDraft(at Place, id string, keys map[string]any) (*Draft, Problems) {
	for _, no := range notInDrafts {
		if _, has := keys[no.key]; has {
			return nil, Problems{{File: at.File, Line: at.Line, What: fmt.Sprintf("a scenario in code has no key %q", no.key), Fix: no.fix}}
		}
	}
	whole := map[string]any{"source": at.File + ":" + strconv.Itoa(at.Line)}
	maps.Copy(whole, keys)
	whole["scenario"], whole["steps"] = id, []any{}
	root, problems := node(at, whole)
	if len(problems) > 0 {
		return nil, problems
	}
	d := &Draft{
		decoder: newDecoder(at.File, nil), head: root, wires: wires{}, steps: &yamldoc.Node{Kind: yamldoc.List, Line: at.Line},
	}
	d.scope = d.decoder.names.checkHead(root)
	valid, _ := node(at, map[string]any{"kill": "target"})
	if problems := append(d.check(valid), d.problems()...); len(problems) > 0 {
		return nil, problems
	}
	d.decoder.names.checkUses(root.Get("stubs"), d.scope) // to see what they use; End checks the names
	d.decoder.values.problems = nil
	d.Scenario = d.decoder.head(root, nil)
	d.script = d.decoder.script(root)
	d.Scenario.StepRules = d.script.rules()
	d.Scenario.Setup = d.decoder.setup(root, d.script.Texts, nil)
	d.Scenario.source = &source{root: func() *yamldoc.Node { return root }, decode: func() *Script { return d.script }}
	return d, d.problems()
}

// Step adds a step, unless it has a mistake.
func (d *Draft) Step(line int, keys map[string]any) (*Step, Problems) {
	n, problems := node(Place{File: d.Scenario.File, Line: line}, keys)
	if len(problems) > 0 {
		return nil, problems
	}
	if problems = d.check(n); len(problems) > 0 {
		return nil, problems
	}
	if use := n.Get("use"); use != nil {
		return nil, Problems{{File: d.Scenario.File, Line: line, What: "a scenario in code uses no fragments", Fix: "write a function with these steps"}}
	}
	list := &yamldoc.Node{Kind: yamldoc.List, Line: line, Items: []*yamldoc.Node{n}}
	names := d.decoder.names
	names.checkSteps(list, d.scope, d.Scenario.Fresh)
	names.checkAsked(list, ruleNames(d.head.Get("stubs")))
	d.wires.collect(list)
	names.checkWires(list, d.wires)
	d.checkBuiltin(n, "directory", d.Scenario.Directory)
	d.checkBuiltin(n, "lockstep", d.Scenario.Lockstep)
	id := strconv.Itoa(len(d.script.Steps) + 1)
	do := d.decoder.step.action(id, n)
	if problems := d.problems(); len(problems) > 0 {
		return nil, problems
	}
	d.steps.Items = append(d.steps.Items, n)
	d.script.Steps = append(d.script.Steps, Step{ID: id, Line: line, Text: stepText(n, do), Do: do})
	added := &d.script.Steps[len(d.script.Steps)-1]
	d.Scenario.StepRules = append(d.Scenario.StepRules, (&Script{Steps: []Step{*added}}).rules()...)
	return added, nil
}

// Capture prepares the capture of a value after its step. Its name gets a number if another value has it.
func (d *Draft) Capture(line int, of Capture) (Capture, Problems) {
	if of.Header == "" {
		d.decoder.values.path(&yamldoc.Node{Kind: yamldoc.String, Text: of.Path, Line: line})
	}
	base := of.Name
	for n := 2; d.scope.values[of.Name]; n++ {
		of.Name = base + "_" + strconv.Itoa(n)
	}
	d.scope.values[of.Name] = true
	return of, d.problems()
}

// End checks what depends on all steps.
func (d *Draft) End() Problems {
	names := d.decoder.names
	names.checkJoined(d.steps, finishedNames(d.steps))
	names.checkUses(d.head.Get("stubs"), d.scope)
	d.decoder.rules.sinceSteps(d.script)
	return d.problems()
}

// check checks the shape of a step, and of what comes before the steps.
func (d *Draft) check(step *yamldoc.Node) Problems {
	whole := *d.head
	whole.Items = slices.Clone(whole.Items)
	whole.Items[slices.IndexFunc(whole.Keys, func(k *yamldoc.Node) bool { return k.Text == "steps" })] =
		&yamldoc.Node{Kind: yamldoc.List, Line: step.Line, Items: []*yamldoc.Node{step}}
	return withoutColumns(compiled().Check(d.decoder.values.file, &whole))
}

// checkBuiltin reports a step that uses something which the targets must be started with.
func (d *Draft) checkBuiltin(step *yamldoc.Node, name string, prepared bool) {
	if !prepared && d.decoder.names.usesBuiltin(name) {
		d.decoder.values.problem(step, fmt.Sprintf("${{ %s }} is used in a step, but not before the steps", name),
			fmt.Sprintf(`give it a name before the steps: "vars": {"my_%s": "${{ %s }}"}`, name, name))
	}
}

// problems returns the problems since the last call.
func (d *Draft) problems() Problems {
	values := d.decoder.values
	problems := values.problems
	values.problems = nil
	return withoutColumns(problems)
}

// withoutColumns removes the columns, which are not those of the program.
func withoutColumns(problems Problems) Problems {
	for i := range problems {
		problems[i].Column = 0
	}
	return problems.Sort()
}

// node returns keys as a file would have them, all in one line.
func node(at Place, keys map[string]any) (*yamldoc.Node, Problems) {
	text, err := json.Marshal(keys)
	if err != nil {
		return nil, Problems{{File: at.File, Line: at.Line, What: err.Error(), Fix: "write only values that encoding/json can encode"}}
	}
	n, problems := yamldoc.Parse(at.File, text)
	for i := range problems {
		problems[i].Line = at.Line
	}
	if len(problems) > 0 {
		return nil, withoutColumns(problems)
	}
	setLine(n, at.Line)
	return n, nil
}

func setLine(n *yamldoc.Node, line int) {
	n.Line = line
	for _, list := range [][]*yamldoc.Node{n.Keys, n.Items} {
		for _, item := range list {
			setLine(item, line)
		}
	}
}
