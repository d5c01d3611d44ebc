// Package explain shows scenarios as they will run: with their rows, variables, defaults, limits, rules and waivers.
package explain

import (
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Scenario is a scenario as it will run. It is written as JSON for programs, and as YAML for people.
type Scenario struct{ document *jsontree.Node }

// MarshalJSON writes the members in a readable order.
func (s Scenario) MarshalJSON() ([]byte, error) { return []byte(s.document.String()), nil }

// YAML returns the scenario as a YAML document.
func (s Scenario) YAML() string {
	const columns = 110
	return yamldoc.Block(s.document, 0, columns)
}

// Scenarios returns the selected scenarios as they will run: with rows and variables filled in, every default, the
// targets, the limits, the rules that apply, and the waivers. Captures and unique stay expressions, because only a run
// knows them. The values of header fields that targets add are left out, because they may be secret.
func Scenarios(p *project.Project, sel project.Selection, targets []string, reference string, today time.Time) ([]Scenario, error) {
	chosen, alone, err := p.ChooseTargets(targets, reference)
	if err != nil {
		return nil, err
	}
	scenarios, err := p.Select(sel)
	if err != nil {
		return nil, err
	}
	out := make([]Scenario, len(scenarios))
	for i, s := range scenarios {
		e := explainer{p: p, s: s, values: known(s), wires: map[string]transcript.Wire{}}
		o := e.head()
		e.targets(o, chosen, alone)
		e.limits(o)
		e.story(o)
		e.rules(o)
		e.waivers(o, today)
		out[i] = Scenario{o.node()}
	}
	return out, nil
}

// known returns the values of a scenario that are known before the run: its row and its variables. Unknown values in
// variables stay expressions.
func known(s *scenario.Scenario) project.Values {
	v := project.Values{}
	add := func(name string, value scenario.Value) {
		if raw, err := value.Resolve(scenario.Partly{Known: v}); err == nil {
			v[name] = raw
		}
	}
	for _, named := range s.Definitions() {
		add(named.Name, named.Value)
	}
	return v
}

type explainer struct {
	p      *project.Project
	s      *scenario.Scenario
	values project.Values
	wires  map[string]transcript.Wire // what the streams of the steps so far run on
}

// head writes what the scenario is.
func (e *explainer) head() *object {
	s := e.s
	o := &object{}
	o.text("scenario", s.ID)
	o.text("file", scenario.Place{File: s.File, Line: s.Line, Column: 1}.String())
	o.text("why", s.Why)
	o.text("source", s.Source)
	o.add("tags", jsontree.NewTexts(s.Tags))
	if len(s.Needs) > 0 {
		needs := make([]string, len(s.Needs))
		for i, n := range s.Needs {
			needs[i] = n.Name
		}
		o.add("needs", jsontree.NewTexts(needs))
	}
	if s.Fresh {
		o.text("isolate", "fresh")
	} else {
		o.text("isolate", "shared")
	}
	o.settings("env", s.Setup.Env)
	o.settings("files", s.Setup.Files)
	return o
}

// settings writes what the scenario's own targets start with.
func (o *object) settings(key string, list []scenario.Setting) {
	if len(list) == 0 {
		return
	}
	of := &object{}
	for _, v := range list {
		of.text(v.Name, v.Text)
	}
	o.add(key, of.node())
}

func (e *explainer) targets(o *object, chosen []project.Target, alone bool) {
	list := &jsontree.Node{Kind: jsontree.Array}
	for i, t := range chosen {
		of := &object{}
		of.text("name", t.Spec.Name)
		switch {
		case alone:
			of.text("role", "alone, against the contract")
		case i == 0:
			of.text("role", "reference")
		default:
			of.text("role", "candidate")
		}
		if t.Spec.URL != "" {
			of.text("url", t.Spec.URL)
		} else {
			of.add(t.Kind(), jsontree.NewTexts(t.Spec.Command))
			of.text("dir", t.Spec.Dir)
		}
		var sent []string
		for _, field := range t.Header {
			sent = append(sent, field.Name)
		}
		if len(sent) > 0 {
			of.add("adds_headers", jsontree.NewTexts(sent))
		}
		list.Items = append(list.Items, of.node())
	}
	o.add("targets", list)
}

// limits writes the limits of the scenario.
func (e *explainer) limits(o *object) {
	of, l := &object{}, e.p.Limits
	if e.s.Limit > 0 {
		l.Scenario = e.s.Limit
	}
	of.text("scenario", l.Scenario.String())
	of.text("step", l.Step.String())
	of.text("settle", l.Settle.String())
	of.number("body", l.Body)
	of.number("events", int64(l.Events))
	o.add("limits", of.node())
}

// waivers writes the waivers about the scenario, and whether they have expired.
func (e *explainer) waivers(o *object, today time.Time) {
	list := &jsontree.Node{Kind: jsontree.Array}
	for i := range e.p.Waivers {
		w := &e.p.Waivers[i]
		if !w.Covers(e.s.ID) {
			continue
		}
		of := &object{}
		of.text("id", w.ID)
		of.text("from", scenario.Place{File: w.File, Line: w.Line, Column: 1}.String())
		of.text("at", w.At)
		of.text("kind", w.Kind)
		of.text("fingerprint", w.Fingerprint)
		of.text("class", w.Class)
		of.text("reason", w.Reason)
		of.text("owner", w.Owner)
		of.text("expires", w.Expires.Format(time.DateOnly))
		if !today.Before(w.Expires) {
			of.add("expired", &jsontree.Node{Kind: jsontree.Boolean, Text: "true"})
		}
		if len(w.When.Targets) > 0 {
			of.add("only_for_targets", jsontree.NewTexts(w.When.Targets))
		}
		list.Items = append(list.Items, of.node())
	}
	o.add("waivers", list)
}

// An object is a JSON object that is being built.
type object jsontree.Node

func (o *object) add(name string, value *jsontree.Node) {
	o.Names, o.Items = append(o.Names, name), append(o.Items, value)
}

func (o *object) text(name, value string) { o.add(name, jsontree.NewText(value)) }

func (o *object) number(name string, value int64) { o.add(name, tree(value)) }

// raw adds JSON, in which long texts are cut.
func (o *object) raw(name string, value json.RawMessage) {
	if n, _, err := jsontree.Parse(value); err == nil {
		o.add(name, truncate(n))
	}
}

func (o *object) node() *jsontree.Node {
	o.Kind = jsontree.Object
	return (*jsontree.Node)(o)
}

// tree returns a value as a JSON tree.
func tree(v any) *jsontree.Node {
	data, err := json.Marshal(v)
	if err != nil {
		panic("harness: a value that is no JSON: " + err.Error())
	}
	n, _, err := jsontree.Parse(data)
	if err != nil {
		panic("harness: JSON that is none: " + err.Error())
	}
	return n
}
