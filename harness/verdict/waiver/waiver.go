// Package waiver reads and writes waivers.yaml: known findings that are accepted for a while.
//
// It reports all mistakes of the file at once, each with its place and a fix. Package verdict decides what a waiver
// accepts.
package waiver

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Schema is the JSON Schema of waivers.yaml.
//
//go:embed waivers.schema.json
var Schema []byte

var compiled = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(Schema) })

// A World has the names that waivers may use.
type World struct {
	Scenarios []Scenario
	Targets   []string // nil when they are unknown
	Kinds     []string // of findings
	// More means that there are further scenarios with mistakes. Then the scenarios in waivers are not checked.
	More bool
}

// A Scenario is one that a waiver may cover.
type Scenario struct {
	ID    string
	Table string   // the id without its row
	Steps []string // the texts of its steps
}

// Parse reads the waivers of a file, in its order, and checks their names against the world. A file with only comments
// has no waivers.
func Parse(file string, data []byte, world *World) ([]Waiver, problem.Problems) {
	if blank(data) {
		return nil, nil
	}
	root, problems := yamldoc.Parse(file, data)
	if len(problems) == 0 {
		problems = compiled().Check(file, root)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	d := decoder{file: file, world: world, ids: map[string]int{}}
	for _, n := range root.Elements() {
		d.waiver(n)
	}
	return d.waivers, d.problems.Sort()
}

// blank reports whether a file has nothing but comments.
func blank(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// A decoder turns nodes into waivers. The schema has checked their shape.
type decoder struct {
	file     string
	world    *World
	ids      map[string]int // the line of each
	waivers  []Waiver
	problems problem.Problems
}

func (d *decoder) problem(n *yamldoc.Node, what, fix string) {
	d.problems = append(d.problems, problem.Problem{File: d.file, Line: n.Line, Column: n.Column, What: what, Fix: fix})
}

func (d *decoder) waiver(n *yamldoc.Node) {
	difference := n.Get("difference")
	w := Waiver{
		ID: n.Get("id").Text, Scenario: n.Get("scenario").Text, At: n.Get("at").Text,
		Kind: difference.Get("kind").Text, Fingerprint: difference.Get("fingerprint").Text,
		Class: n.Get("class").Text, Reason: n.Get("reason").Text, Owner: n.Get("owner").Text, Link: n.Get("link").Str(),
		File: d.file, Line: n.Get("id").Line,
	}
	if line, taken := d.ids[w.ID]; taken {
		d.problem(n.Get("id"), fmt.Sprintf("two waivers are called %s, the first in line %d", w.ID, line), "give each its own id: "+Next(d.waivers))
	} else {
		d.ids[w.ID] = w.Line
	}
	var err error
	if w.Expires, err = time.Parse(time.DateOnly, n.Get("expires").Text); err != nil {
		d.problem(n.Get("expires"), fmt.Sprintf("%q is not a date", n.Get("expires").Text), "write a date such as 2027-03-01")
	}
	if kind := difference.Get("kind"); !slices.Contains(d.world.Kinds, w.Kind) {
		d.problem(kind, fmt.Sprintf("there is no kind %q", w.Kind), nearest(w.Kind, d.world.Kinds, "write the kind that the report shows in brackets"))
	}
	d.when(n.Get("when"), &w)
	if !d.world.More {
		d.place(n, &w)
	}
	for i := range d.waivers {
		if o := &d.waivers[i]; o.Scenario == w.Scenario && o.At == w.At && o.Kind == w.Kind && o.Fingerprint == w.Fingerprint && same(o, &w) {
			d.problem(n.Get("id"), fmt.Sprintf("%s accepts the same as %s in line %d", w.ID, o.ID, o.Line), "remove one of them")
		}
	}
	d.waivers = append(d.waivers, w)
}

// same reports whether two waivers have the same condition.
func same(a, b *Waiver) bool { return fmt.Sprint(a.When) == fmt.Sprint(b.When) }

func (d *decoder) when(n *yamldoc.Node, w *Waiver) {
	for _, t := range n.Get("targets").Elements() {
		if d.world.Targets != nil && !slices.Contains(d.world.Targets, t.Text) {
			d.problem(t, fmt.Sprintf("there is no target %q", t.Text), problem.OneOf(t.Text, d.world.Targets))
		}
		w.When.Targets = append(w.When.Targets, t.Text)
	}
	for name, value := range n.Get("env").Entries() {
		if w.When.Env == nil {
			w.When.Env = map[string]string{}
		}
		w.When.Env[name.Text] = value.Text
	}
}

// codeID matches the names of Go tests.
var codeID = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)([^a-z]|$)`)

// IsCode reports whether an id, or a pattern of ids, is that of scenarios in Go, which only exist while their tests run.
func IsCode(id string) bool { return codeID.MatchString(id) }

// place checks that the scenario exists, and has the step.
func (d *decoder) place(n *yamldoc.Node, w *Waiver) {
	var ids, steps []string
	covered := false
	for i := range d.world.Scenarios {
		s := &d.world.Scenarios[i]
		ids = append(ids, s.ID, s.Table)
		if w.Covers(s.ID) {
			covered = true
			steps = append(steps, s.Steps...)
		}
	}
	if !covered && IsCode(w.Scenario) {
		return // only its test knows the steps
	}
	if !covered {
		d.problem(n.Get("scenario"), fmt.Sprintf("there is no scenario %q", w.Scenario), nearest(w.Scenario, ids, "name a scenario, one row of its table, or a pattern with *"))
		return
	}
	step, ok := stepOf(w.At, steps)
	if !ok {
		d.problem(n.Get("at"), fmt.Sprintf("no step of %s is called %q", w.Scenario, step), nearest(step, steps, "begin with the step as in the scenario, then a colon and the place; lockstep waive writes it"))
	}
}

// nearest suggests the word that was probably meant, or otherwise what to do.
func nearest(word string, words []string, otherwise string) string {
	if fix := problem.DidYouMean(word, words); fix != "" {
		return fix
	}
	return otherwise
}

// Append adds the text of waivers to a file, and creates the file if necessary. The existing text is not changed. It
// writes nothing if the result would not be valid YAML.
func Append(file, text string) error {
	data, err := regular.Read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	data = append(data, text...)
	if _, problems := yamldoc.Parse(file, data); len(problems) > 0 {
		return fmt.Errorf("%s: cannot append to it: it is not a list whose items begin with -", file)
	}
	return os.WriteFile(file, data, 0o644)
}
