package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A scope is what a step can refer to.
type scope struct {
	values  map[string]bool // variables, captures, columns, unique
	streams map[string]bool
	calls   map[string]bool // started requests
	ended   map[string]end  // streams and started requests that an earlier step has ended
	uses    nameUses
}

// An end is the step that ended a stream or a started request.
type end struct {
	key  string // join, close, drop
	line int
}

// newScope returns the scope of the first step in a scenario without a table and variables.
func newScope() scope {
	return scope{map[string]bool{"unique": true, "directory": true, "lockstep": true}, map[string]bool{}, map[string]bool{}, map[string]end{}, nameUses{}}
}

func (s scope) clone() scope {
	return scope{maps.Clone(s.values), maps.Clone(s.streams), maps.Clone(s.calls), maps.Clone(s.ended), s.uses}
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
	maps.Copy(s.ended, other.ended)
}

// A nameChecker checks the names that a file defines and uses.
type nameChecker struct {
	values *valueDecoder
	// named are the names that occur in expressions. given are the names that get a value in the file.
	named, given map[string]bool
}

// checkNames checks that every name is defined before the scenario uses it. It works on nodes, because they have a line
// and column. The nodes may have any shape, because it also runs when the schema has found mistakes.
func (d *nameChecker) checkNames(root *yamldoc.Node) {
	s := d.checkHead(root)
	d.checkSteps(root.Get("steps"), s, root.Get("isolate").Str() == "fresh")
	d.checkAsked(root.Get("steps"), ruleNames(root.Get("stubs")))
	d.checkJoined(root.Get("steps"), finishedNames(root.Get("steps")))
	opened := wires{}
	opened.collect(root.Get("steps"))
	d.checkWires(root.Get("steps"), opened)
	for _, n := range root.Get("teardown").Elements() {
		d.checkUses(n, s)
	}
	d.stubCaptures(root.Get("stubs"), s)
	d.checkUses(root.Get("stubs"), s) // stubs respond during the steps, with all values that are captured by then
}

// checkHead checks what comes before the steps, and returns the scope of the first step.
func (d *nameChecker) checkHead(root *yamldoc.Node) scope {
	s := newScope()
	known := map[string]bool{"lockstep": true} // known before the targets run
	for k := range root.Get("repeat").Entries() {
		d.checkNotUnique(k, "repeat")
		known[k.Text], s.values[k.Text], d.given[k.Text] = true, true, true
	}
	d.checkUses(root.Get("table"), s)
	for _, row := range root.Get("table").Elements() {
		for _, k := range row.Keys {
			known["row."+k.Text], s.values["row."+k.Text] = true, true
		}
	}
	d.checkSetup(root, known)
	for k, v := range root.Get("vars").Entries() {
		d.checkUses(v, s)
		d.checkNotUnique(k, "vars")
		s.values[k.Text], d.given[k.Text] = true, true
	}
	return s
}

// checkNotUnique reports a value that would replace the token. lockstep uses the token to assign requests to a
// scenario.
func (d *nameChecker) checkNotUnique(k *yamldoc.Node, key string) {
	if k.Text == "unique" {
		d.values.problem(k, key+" unique: this name is reserved for the value that lockstep generates for each target", "choose another name")
	}
}

// usesBuiltin reports whether the scenario uses a value that lockstep defines, and does not redefine its name.
func (d *nameChecker) usesBuiltin(name string) bool { return d.named[name] && !d.given[name] }

// finishedNames returns the names of all requests and streams that a step joins or closes.
func finishedNames(list *yamldoc.Node) map[string]bool {
	names := map[string]bool{}
	for _, n := range list.Elements() {
		names[n.Get("join").Str()] = true
		names[n.Get("close").Str()] = true
		for _, branch := range n.Get("parallel").Entries() {
			maps.Copy(names, finishedNames(branch))
		}
	}
	return names
}

// checkJoined reports started requests whose responses are never read.
func (d *nameChecker) checkJoined(list *yamldoc.Node, taken map[string]bool) {
	for _, n := range list.Elements() {
		if start := n.Get("start"); start != nil && !taken[start.Text] {
			d.values.problem(start, fmt.Sprintf("start %s: no step joins or closes it", start.Text), "add a step that joins or closes it")
		}
		for _, branch := range n.Get("parallel").Entries() {
			d.checkJoined(branch, taken)
		}
	}
}

func (d *nameChecker) checkSteps(list *yamldoc.Node, s scope, fresh bool) {
	for _, n := range list.Elements() {
		if p := n.Get("parallel"); p != nil {
			d.checkParallel(p, s, fresh)
			continue
		}
		if n.Get("size") != nil { // only a body with a size has a filler
			d.checkUses(n, s.with(Filler))
		} else {
			d.checkUses(n, s)
		}
		d.checkHandles(n, s)
		for _, key := range [...]string{"stop", "kill", "restart"} {
			if k, of := n.Entry(key); of != nil && !fresh {
				d.values.problem(k, key+" needs targets of its own, but this scenario shares them", "add isolate: fresh to the scenario")
			}
		}
		for k := range n.Get("capture").Entries() {
			d.checkNotUnique(k, "capture")
			s.values[k.Text], d.given[k.Text] = true, true
			s.uses.note(captures, k, k.Text)
		}
	}
}

// checkUses checks the expressions in a node.
func (d *nameChecker) checkUses(n *yamldoc.Node, s scope) {
	check := func(n *yamldoc.Node) {
		t, err := parseTemplate(n.Text)
		if err != nil {
			return // reported where the text is decoded
		}
		for _, name := range t.Names() {
			d.named[name] = true
			if s.values[name] {
				s.uses.note(uses, n, name)
			} else if !strings.HasPrefix(name, StubPrefix) { // only the project knows which stubs exist
				d.values.problem(n, fmt.Sprintf("${{ %s }} is not defined here", name), problem.OneOf(name, slices.Collect(maps.Keys(s.values))))
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
		d.checkUses(item, s)
	}
}

// checkHandles checks the names of streams and started requests, and records those that a step defines.
func (d *nameChecker) checkHandles(n *yamldoc.Node, s scope) {
	define := func(key string, names map[string]bool) {
		k := n.Get(key)
		if k == nil {
			return
		}
		if s.streams[k.Text] || s.calls[k.Text] {
			d.values.problem(k, fmt.Sprintf("%s %s: the name is already used", key, k.Text), "give it another name")
		}
		names[k.Text] = true
		s.uses.note(defines, k, k.Text)
	}
	refer := func(key, what string, names ...map[string]bool) *yamldoc.Node {
		k := n.Get(key)
		if k == nil {
			return nil
		}
		var all []string
		for _, m := range names {
			if m[k.Text] {
				d.checkOpen(key, k, s)
				return k
			}
			all = slices.AppendSeq(all, maps.Keys(m))
		}
		fix := problem.OneOf(k.Text, all)
		if fix == "" {
			fix = "open or start it in an earlier step"
		}
		d.values.problem(k, fmt.Sprintf("%s %s: no such %s", key, k.Text, what), fix)
		return nil
	}
	finish := func(key, what string, names ...map[string]bool) {
		if k := refer(key, what, names...); k != nil {
			s.ended[k.Text] = end{key, k.Line}
			s.uses.note(ends, k, k.Text)
		}
	}
	define("open", s.streams)
	define("start", s.calls)
	refer("await", "stream", s.streams)
	refer("never", "stream", s.streams)
	refer("half-close", "stream", s.streams)
	refer("send", "socket or program", s.streams)
	refer("signal", "program", s.streams)
	finish("join", "started request", s.calls)
	finish("close", "stream or started request", s.streams, s.calls)
	finish("drop", "stream", s.streams)
}

// checkOpen reports a step that uses a stream or a started request after an earlier step has ended it.
func (d *nameChecker) checkOpen(key string, k *yamldoc.Node, s scope) {
	if by, ok := s.ended[k.Text]; ok {
		d.values.problem(k, fmt.Sprintf("%s %s: %s %s in line %d already ended it", key, k.Text, by.key, k.Text, by.line), "move this step before that one, or leave it out")
	}
}

// checkAsked checks the names of the rules for which steps wait.
func (d *nameChecker) checkAsked(list *yamldoc.Node, rules []string) {
	for _, n := range list.Elements() {
		if asked := n.Get("asked"); asked != nil && !slices.Contains(rules, asked.Text) {
			d.values.problem(asked, fmt.Sprintf("no rule under stubs is called %q", asked.Text), problem.OneOf(asked.Text, rules))
		}
		for _, branch := range n.Get("parallel").Entries() {
			d.checkAsked(branch, rules)
		}
	}
}

// ruleNames returns the ids of all stub rules.
func ruleNames(stubs *yamldoc.Node) []string {
	var out []string
	for k, v := range stubs.Entries() {
		for i, item := range v.Elements() {
			out = append(out, UpstreamID(k.Text, cmp.Or(item.Get("name").Str(), strconv.Itoa(i+1))))
		}
	}
	return out
}

// checkSetup checks what the targets of a scenario are started with: the scenario must have its own targets, and may
// use only the row's columns, repeated texts, and names of the target.
func (d *nameChecker) checkSetup(root *yamldoc.Node, named map[string]bool) {
	s := scope{values: maps.Clone(named), uses: nameUses{}}
	for _, name := range targetNames {
		s.values[name] = true
	}
	for _, key := range [...]string{"env", "files"} {
		k, n := root.Entry(key)
		if n == nil {
			continue
		}
		if root.Get("isolate").Str() != "fresh" {
			d.values.problem(k, key+" needs targets of its own, but this scenario shares them", "add isolate: fresh to the scenario")
		}
		d.checkUses(n, s)
	}
}
