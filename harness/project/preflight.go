package project

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// checkRequests checks all rows of a scenario for requests that the run would refuse to send: those that break the
// contract without being marked malformed, and those that are marked but obey it.
func checkRequests(p *Project, rows []*scenario.Scenario) scenario.Problems {
	var out scenario.Problems
	for _, s := range rows {
		o := newPreflight(p, s)
		s.Walk(func(step *scenario.Step) {
			r := step.Request()
			if r == nil {
				return
			}
			what, fix := o.mistake(r)
			if what == "" {
				return
			}
			if name, ok := s.Row["name"].Constant(); ok {
				what = fmt.Sprintf("in row %q, %s", name, what)
			}
			out = append(out, scenario.Problem{File: s.File, Line: r.Line, Column: r.Column, What: what, Fix: fix})
		})
	}
	return out
}

// obeysContract reports whether every request of a scenario that is marked malformed certainly obeys the contract.
func obeysContract(p *Project, s *scenario.Scenario) bool {
	if p.Contract.IsAbsent() {
		return false
	}
	o := newPreflight(p, s)
	obeys := true
	s.Walk(func(step *scenario.Step) {
		if r := step.Request(); r != nil && r.Malformed.IsSet() {
			against, u := o.objections(r)
			obeys = obeys && u != nil && len(against) == 0 && !u.decides("body", r)
		}
	})
	return obeys
}

func newPreflight(p *Project, s *scenario.Scenario) *preflight {
	o := &preflight{doc: p.Contract, values: knownValues(s)}
	for _, t := range p.Targets {
		for _, field := range t.Header {
			o.targetHeaders = append(o.targetHeaders, field.Name)
		}
	}
	return o
}

// A preflight checks requests before the run. It knows all values except those captured from responses, and header
// fields that targets add. What depends on these is checked in the run.
type preflight struct {
	doc           *contract.Document
	targetHeaders []string // names of header fields that targets add
	values        Values
}

// Values are the values that are known before the run, by name.
type Values map[string]json.RawMessage

// Lookup implements scenario.Env.
func (v Values) Lookup(name string) (json.RawMessage, bool) {
	raw, ok := v[name]
	return raw, ok
}

// sampleUnique looks like every value of unique.
const sampleUnique = `"uabcdefghijk"`

// maxForeseenText limits the texts that are checked before the run, because megabytes would slow down every start.
const maxForeseenText = 16 << 10

// knownValues returns the values of a scenario that are known before the run.
func knownValues(s *scenario.Scenario) Values {
	v := Values{"unique": json.RawMessage(sampleUnique)}
	add := func(name string, value scenario.Value) {
		if text, ok := value.Constant(); ok && len(text) > maxForeseenText {
			return
		}
		if raw, err := value.Resolve(v); err == nil {
			v[name] = raw
		}
	}
	for _, named := range s.Definitions() {
		add(named.Name, named.Value)
	}
	s.Walk(func(step *scenario.Step) {
		for _, c := range step.Captures() {
			delete(v, c.Name)
		}
	})
	return v
}

// mistake says what is wrong with a request. It returns "" when nothing is wrong, or when that depends on the run.
func (o *preflight) mistake(r *scenario.Request) (what, fix string) {
	marked := false
	if r.Malformed.IsSet() {
		raw, err := r.Malformed.Resolve(o.values)
		if marked = string(raw) == "true"; err != nil || !marked && string(raw) != "false" {
			return "", ""
		}
	} else if !o.doc.Accepts(r.Method, r.Path.Probe()) {
		return "", "" // checkScenario reports it
	}
	against, u := o.objections(r)
	complete := u != nil && !u.path && !u.body && len(u.query)+len(u.header) == 0
	switch {
	case !marked && len(against) > 0:
		return "the request breaks the contract: " + strings.Join(against, "; "),
			"correct it; or if this is intended, mark the step malformed: true"
	case marked && len(against) == 0 && complete:
		return "the request is marked malformed, but obeys the contract", "remove the mark"
	}
	return "", ""
}

// objections returns what certainly breaks the contract in a request, and which parts of the request are unknown. u is
// nil when everything is unknown.
func (o *preflight) objections(r *scenario.Request) (against []string, u *unknown) {
	sent := *r // the request without its unknown parts
	u = &unknown{header: slices.DeleteFunc(slices.Clone(o.targetHeaders), r.Names)}
	if _, err := r.Path.Text(o.values, nil); err != nil {
		u.path = true
		sent.Path = scenario.Literal(r.Path.Probe())
	}
	sent.Query, u.query = o.known(r.Query)
	header, missing := o.known(r.Header)
	sent.Header, u.header = header, append(u.header, missing...)
	body, _, err := r.Body.Fill(o.values)
	u.body = err != nil
	target, err := sent.Target(o.values)
	if err != nil {
		return nil, nil
	}
	fields, err := sent.Fields(o.values, nil, "*/*")
	if err != nil {
		return nil, nil
	}
	for _, v := range o.doc.CheckRequest(r.Method, target, fields, body) {
		if u.decides(v.Place, &sent) {
			continue
		}
		against = append(against, v.Place+": "+v.Text)
	}
	return against, u
}

// known returns the parameters whose values are known, and the names of the others.
func (o *preflight) known(all []scenario.Parameter) (known []scenario.Parameter, others []string) {
	for _, p := range all {
		if _, err := p.Value.Text(o.values, nil); err != nil {
			others = append(others, p.Name)
		} else {
			known = append(known, p)
		}
	}
	return known, others
}

// unknown lists the parts of a request that are known only in the run.
type unknown struct {
	path          bool
	query, header []string // names
	body          bool
}

// decides reports whether an objection to a place depends on something unknown.
func (u *unknown) decides(place string, sent *scenario.Request) bool {
	kind, name, _ := strings.Cut(place, " ")
	switch kind {
	case "path":
		return u.path
	case "query": // a missing parameter may be in the path, or belong to an object that is spread over several names
		given := slices.ContainsFunc(sent.Query, func(p scenario.Parameter) bool { return p.Name == name })
		return transcript.ContainsName(u.query, name) || !given && (u.path || len(u.query) > 0)
	case "header":
		return transcript.ContainsName(u.header, name)
	case "cookie":
		return transcript.ContainsName(u.header, "Cookie")
	case "target":
		return u.path
	}
	return u.body || transcript.ContainsName(u.header, "Content-Type") || transcript.ContainsName(u.header, "Content-Encoding")
}

// ContractLookup returns the run.Contract of the project's contract.
func (p *Project) ContractLookup() ContractLookup { return ContractLookup{p.Contract} }

// A ContractLookup implements run.Contract.
type ContractLookup struct{ doc *contract.Document }

func (c ContractLookup) Operation(method, target string) string {
	if op, ok := c.doc.Operation(method, target); ok {
		return op.String()
	}
	return ""
}

func (c ContractLookup) EventNamer(operation string) func(*transcript.Event) string {
	return c.doc.EventNamer(operation)
}

func (c ContractLookup) Objections(method, target string, h transcript.Header, body []byte) []scenario.Objection {
	return objections(c.doc.CheckRequest(method, target, h, body))
}

func (c ContractLookup) MessageObjections(operation string, ev *transcript.Event) []scenario.Objection {
	return objections(c.doc.CheckMessage(operation, ev))
}

func objections(found []contract.Violation) (out []scenario.Objection) {
	for _, v := range found {
		out = append(out, scenario.Objection{Place: v.Place, Text: v.Text, Value: contract.IsOfValue(v.Kind)})
	}
	return out
}
