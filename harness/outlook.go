package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
)

// checkRequests checks a scenario, all of its rows, for requests that the run would refuse to send: those that break the
// contract without being marked malformed, and those that are marked and obey it.
func (p *Project) checkRequests(rows []*scenario.Scenario) scenario.Problems {
	var out scenario.Problems
	for _, s := range rows {
		o := p.outlook(s)
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

// obeys reports whether the contract has nothing against a request of a scenario, and cannot have anything against its body,
// for each that is marked malformed.
func (p *Project) obeys(s *scenario.Scenario) bool {
	o := p.outlook(s)
	obeys := true
	s.Walk(func(step *scenario.Step) {
		if r := step.Request(); r != nil && r.Malformed.IsSet() {
			against, u := o.objections(r)
			obeys = obeys && u != nil && len(against) == 0 && !u.decides("body", r)
		}
	})
	return obeys
}

func (p *Project) outlook(s *scenario.Scenario) *outlook {
	o := &outlook{doc: p.Contract, values: foresee(s)}
	for _, t := range p.Targets {
		for _, field := range t.Header {
			o.own = append(o.own, field.Name)
		}
	}
	return o
}

// An outlook is what can be told of requests before the run. Every value is known but those that are captured from
// answers, and the header fields that targets add; what depends on these is left to the run.
type outlook struct {
	doc    *contract.Document
	own    []string // names of header fields that targets add
	values values
}

// values are those that are known before the run.
type values map[string]json.RawMessage

func (v values) Lookup(name string) (json.RawMessage, bool) {
	raw, ok := v[name]
	return raw, ok
}

// someUnique looks like every value of unique.
const someUnique = `"uabcdefghijk"`

// longest is how long a text may be that is looked at before the run: megabytes would be felt.
const longest = 16 << 10

// foresee returns the values of a scenario.
func foresee(s *scenario.Scenario) values {
	v := values{"unique": json.RawMessage(someUnique)}
	add := func(name string, value scenario.Value) {
		if text, ok := value.Constant(); ok && len(text) > longest {
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

// mistake says what is wrong with a request; "" when nothing is, or nobody knows.
func (o *outlook) mistake(r *scenario.Request) (what, fix string) {
	marked := false
	if r.Malformed.IsSet() {
		raw, err := r.Malformed.Resolve(o.values)
		if marked = string(raw) == "true"; err != nil || !marked && string(raw) != "false" {
			return "", ""
		}
	} else if !o.doc.Takes(r.Method, r.Path.Probe()) {
		return "", "" // which is told elsewhere
	}
	against, u := o.objections(r)
	complete := u != nil && !u.path && !u.body && len(u.query)+len(u.header) == 0
	switch {
	case !marked && len(against) > 0:
		return "the request breaks the contract: " + strings.Join(against, "; "),
			"mend it; or if it is meant to, mark the step malformed: true"
	case marked && len(against) == 0 && complete:
		return "the request is marked malformed, but obeys the contract", "remove the mark"
	}
	return "", ""
}

// objections returns what the contract has for certain against a request, and what is not known of it; nil when that is
// everything.
func (o *outlook) objections(r *scenario.Request) (against []string, u *unknown) {
	sent := *r // without what is not known
	u = &unknown{header: slices.DeleteFunc(slices.Clone(o.own), r.Names)}
	if _, err := r.Path.Text(o.values, nil); err != nil {
		u.path = true
		sent.Path = scenario.Literal(r.Path.Probe())
	}
	sent.Query, u.query = o.known(r.Query)
	header, missing := o.known(r.Header)
	sent.Header, u.header = header, append(u.header, missing...)
	body, _, err := run.RequestBody(&r.Body, o.values)
	u.body = err != nil
	target, err := run.RequestTarget(&sent, o.values)
	if err != nil {
		return nil, nil
	}
	fields, err := run.RequestHeader(&sent, o.values, nil, "*/*")
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
func (o *outlook) known(all []scenario.Parameter) (known []scenario.Parameter, others []string) {
	for _, p := range all {
		if _, err := p.Value.Text(o.values, nil); err != nil {
			others = append(others, p.Name)
		} else {
			known = append(known, p)
		}
	}
	return known, others
}

// unknown is what nobody knows of a request before the run.
type unknown struct {
	path          bool
	query, header []string // names
	body          bool
}

// decides reports whether it depends on something unknown that the contract has something against a place.
func (u *unknown) decides(place string, sent *scenario.Request) bool {
	kind, name, _ := strings.Cut(place, " ")
	switch kind {
	case "path":
		return u.path
	case "query": // one that is missing may be in the path, or an object that is spread over several names
		given := slices.ContainsFunc(sent.Query, func(p scenario.Parameter) bool { return p.Name == name })
		return contains(u.query, name) || !given && (u.path || len(u.query) > 0)
	case "header":
		return contains(u.header, name)
	case "cookie":
		return contains(u.header, "Cookie")
	case "target":
		return u.path
	}
	return u.body || contains(u.header, "Content-Type") || contains(u.header, "Content-Encoding")
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
