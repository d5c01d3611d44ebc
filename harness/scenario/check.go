package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// path checks a JSONPath's syntax (RFC 9535) and returns it.
func (d *decoder) path(n *yamldoc.Node) string {
	if _, err := jsonpath.Parse(n.Text); err != nil {
		d.problem(n, fmt.Sprintf("%q is no JSONPath: %v", n.Text, err), "write one as RFC 9535 has it, such as $.tools[0].id")
	}
	return n.Text
}

// regexp checks a regular expression's syntax, expressions in it replaced by a word.
func (d *decoder) regexp(n *yamldoc.Node) Template {
	t := d.template(n)
	if _, err := regexp.Compile(t.Probe()); err != nil {
		d.problem(n, fmt.Sprintf("%q is no regular expression: %v", n.Text, err), "write one as RE2 has it")
	}
	return t
}

// anyEnv gives every name a value, for checks of what surrounds it.
type anyEnv struct{}

func (anyEnv) Lookup(string) (json.RawMessage, bool) { return json.RawMessage(`"x"`), true }

// A scope is what a step can refer to.
type scope struct {
	values  map[string]bool // variables, captures, columns, unique
	streams map[string]bool
	calls   map[string]bool // started requests
	over    map[string]end  // streams and started requests that nothing more can be done with
	doings  doings
}

// An end is the step that ended a stream or a started request.
type end struct {
	key  string // join, close, drop
	line int
}

// newScope returns that of the first step of a scenario without a table and variables.
func newScope() scope {
	return scope{map[string]bool{"unique": true, "directory": true, "lockstep": true}, map[string]bool{}, map[string]bool{}, map[string]end{}, doings{}}
}

func (s scope) clone() scope {
	return scope{maps.Clone(s.values), maps.Clone(s.streams), maps.Clone(s.calls), maps.Clone(s.over), s.doings}
}

// with returns a scope with one more value.
func (s scope) with(name string) scope {
	s.values = maps.Clone(s.values)
	s.values[name] = true
	return s
}

func (s scope) add(other scope) {
	maps.Copy(s.values, other.values)
	maps.Copy(s.streams, other.streams)
	maps.Copy(s.calls, other.calls)
	maps.Copy(s.over, other.over)
}

// names checks that every name a scenario uses is defined before it is used. It works on the nodes, which know their
// places, and takes them in any shape: it runs whether or not the schema is content.
func (d *decoder) names(root *yamldoc.Node) {
	s := newScope()
	d.named, d.given = map[string]bool{}, map[string]bool{}
	known := map[string]bool{"lockstep": true} // before the targets are up
	for k := range root.Get("repeat").Entries() {
		d.ownName(k, "repeat")
		known[k.Text], s.values[k.Text], d.given[k.Text] = true, true, true
	}
	d.uses(root.Get("table"), s)
	for _, row := range root.Get("table").Elements() {
		for _, k := range row.Keys {
			known["row."+k.Text], s.values["row."+k.Text] = true, true
		}
	}
	d.checkSetup(root, known)
	for k, v := range root.Get("vars").Entries() {
		d.uses(v, s)
		d.ownName(k, "vars")
		s.values[k.Text], d.given[k.Text] = true, true
	}
	d.stepNames(root.Get("steps"), s, root.Get("isolate").Str() == "fresh")
	d.askedNames(root.Get("steps"), ruleNames(root.Get("stubs")))
	d.unjoined(root.Get("steps"), taken(root.Get("steps")))
	for _, n := range root.Get("teardown").Elements() {
		d.uses(n, s)
	}
	d.uses(root.Get("stubs"), s) // which answer while the steps are done, with whatever they have captured by then
}

// ownName reports a value that would take the place of the token by which requests and what is made of them are recognised.
func (d *decoder) ownName(k *yamldoc.Node, key string) {
	if k.Text == "unique" {
		d.problem(k, key+" unique: each target has a value of its own under this name, which lockstep draws", "choose another name")
	}
}

// speaksOf reports whether the scenario names what lockstep gives, and does not give the name to something else.
func (d *decoder) speaksOf(name string) bool { return d.named[name] && !d.given[name] }

// taken returns the names of all requests and streams that some step joins or closes.
func taken(list *yamldoc.Node) map[string]bool {
	names := map[string]bool{}
	for _, n := range list.Elements() {
		names[n.Get("join").Str()] = true
		names[n.Get("close").Str()] = true
		for _, branch := range n.Get("parallel").Entries() {
			maps.Copy(names, taken(branch))
		}
	}
	return names
}

// unjoined reports started requests whose answers nobody looks at.
func (d *decoder) unjoined(list *yamldoc.Node, taken map[string]bool) {
	for _, n := range list.Elements() {
		if start := n.Get("start"); start != nil && !taken[start.Text] {
			d.problem(start, fmt.Sprintf("start %s: nothing joins or closes it", start.Text), "add a step that joins or closes it")
		}
		for _, branch := range n.Get("parallel").Entries() {
			d.unjoined(branch, taken)
		}
	}
}

func (d *decoder) stepNames(list *yamldoc.Node, s scope, fresh bool) {
	for _, n := range list.Elements() {
		if p := n.Get("parallel"); p != nil {
			d.parallelNames(p, s, fresh)
			continue
		}
		if n.Get("size") != nil { // only there is something to fill
			d.uses(n, s.with(Filler))
		} else {
			d.uses(n, s)
		}
		d.handles(n, s)
		for _, key := range [...]string{"stop", "kill", "restart"} {
			if k, of := n.Entry(key); of != nil && !fresh {
				d.problem(k, key+" in a scenario that shares its targets", "add isolate: fresh to the scenario")
			}
		}
		for k := range n.Get("capture").Entries() {
			d.ownName(k, "capture")
			s.values[k.Text], d.given[k.Text] = true, true
			s.doings.note(captures, k, k.Text)
		}
	}
}

// uses checks the expressions below a node.
func (d *decoder) uses(n *yamldoc.Node, s scope) {
	check := func(n *yamldoc.Node) {
		t, err := parseTemplate(n.Text)
		if err != nil {
			return // reported where the text is decoded
		}
		for _, name := range t.Names() {
			d.named[name] = true
			if s.values[name] {
				s.doings.note(uses, n, name)
			} else if !strings.HasPrefix(name, StubPrefix) { // which stubs there are, the project knows
				d.problem(n, fmt.Sprintf("${{ %s }} is not defined here", name), problem.OneOf(name, slices.Collect(maps.Keys(s.values))))
			}
		}
	}
	if n == nil {
		return
	}
	if n.Kind == yamldoc.String {
		check(n)
	}
	for _, k := range n.Keys {
		check(k)
	}
	for _, item := range n.Items {
		d.uses(item, s)
	}
}

// handles checks the names of streams and started requests, and notes those that a step defines.
func (d *decoder) handles(n *yamldoc.Node, s scope) {
	define := func(key string, names map[string]bool) {
		k := n.Get(key)
		if k == nil {
			return
		}
		if s.streams[k.Text] || s.calls[k.Text] {
			d.problem(k, fmt.Sprintf("%s %s: the name is taken", key, k.Text), "give it a name of its own")
		}
		names[k.Text] = true
		s.doings.note(defines, k, k.Text)
	}
	refer := func(key, what string, names ...map[string]bool) *yamldoc.Node {
		k := n.Get(key)
		if k == nil {
			return nil
		}
		var all []string
		for _, m := range names {
			if m[k.Text] {
				d.notOver(key, k, s)
				return k
			}
			all = slices.AppendSeq(all, maps.Keys(m))
		}
		fix := problem.OneOf(k.Text, all)
		if fix == "" {
			fix = "open or start it in an earlier step"
		}
		d.problem(k, fmt.Sprintf("%s %s: no such %s", key, k.Text, what), fix)
		return nil
	}
	finish := func(key, what string, names ...map[string]bool) {
		if k := refer(key, what, names...); k != nil {
			s.over[k.Text] = end{key, k.Line}
			s.doings.note(ends, k, k.Text)
		}
	}
	define("open", s.streams)
	define("start", s.calls)
	refer("await", "stream", s.streams)
	refer("never", "stream", s.streams)
	refer("half-close", "stream", s.streams)
	finish("join", "started request", s.calls)
	finish("close", "stream or started request", s.streams, s.calls)
	finish("drop", "stream", s.streams)
}

// notOver reports a step that wants something of a stream, or of a started request, that an earlier step has ended.
func (d *decoder) notOver(key string, k *yamldoc.Node, s scope) {
	if by, ok := s.over[k.Text]; ok {
		d.problem(k, fmt.Sprintf("%s %s: %s %s in line %d has ended it", key, k.Text, by.key, k.Text, by.line), "put this step before that one, or leave it out")
	}
}
