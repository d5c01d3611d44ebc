package scenario

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Each reads every scenario in a folder: all files that end in .yaml, in the order of their paths. Each row of a table
// is a scenario. It calls f with the scenarios of one file after the other. When files have mistakes, the error is
// Problems with all mistakes of all files. Files named in except are not scenarios.
func Each(root string, f func(rows []*Scenario), except ...string) error {
	var problems Problems
	l := newLibrary(root)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		if slices.Contains(except, file) {
			return nil
		}
		if ext := path.Ext(name); ext != ".yaml" {
			problems = append(problems, misnamed(file, ext)...)
			return nil
		}
		data, err := regular.Read(file)
		if err != nil {
			return err
		}
		scenarios, mistakes := l.parse(file, strings.TrimSuffix(name, ".yaml"), data)
		if len(scenarios) > 0 {
			f(scenarios)
		}
		problems = append(problems, mistakes...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read scenarios: %w", err)
	}
	return problems.Sort().Err()
}

// misnamed reports a file that looks like a scenario, but whose name keeps it from running.
func misnamed(file, ext string) Problems {
	if !strings.EqualFold(ext, ".yml") && !strings.EqualFold(ext, ".yaml") {
		return nil
	}
	name := strings.TrimSuffix(filepath.Base(file), ext) + ".yaml"
	return Problems{{File: file, What: fmt.Sprintf("a file that ends in %s is not read as a scenario", ext), Fix: "rename it to " + name}}
}

// Parse reads one file without fragments. Its scenario must be called id. It returns one scenario, one for each row of
// its table, or the problems. If all problems are about undefined names, it returns both, so that the scenarios can
// still be checked against the contract.
func Parse(file, id string, data []byte) ([]*Scenario, Problems) {
	return (*library)(nil).parse(file, id, data)
}

// parse is Parse with fragments. A file with a fragment has no scenario.
func (l *library) parse(file, id string, data []byte) ([]*Scenario, Problems) {
	written, problems := yamldoc.Parse(file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if written.Get("fragment") != nil {
		_, problems := parseFragment(file, id, written, data)
		return nil, problems
	}
	d := newDecoder(file, l)
	root := d.unfolder.unfold(written)
	if d.unfolder.incomplete || len(d.values.problems) > 0 { // it is unknown what the fragments define
		return nil, append(d.values.problems, compiled().Check(file, written)...).Sort()
	}
	d.names.checkNames(root)
	if name := root.Get("scenario"); name.Str() != id && name.Str() != "" {
		d.values.problem(name, fmt.Sprintf("the scenario is called %q", name.Text), fmt.Sprintf("call it %q like its file, or move the file", id))
	}
	problems = compiled().Check(file, written)
	if len(problems) == 0 && len(d.values.problems) == 0 {
		problems = compiled().Check(file, root)
	}
	if len(problems) > 0 {
		return nil, append(problems, d.values.problems...).Sort()
	}
	of := len(d.values.problems) // the problems so far are about names, and do not affect the rest
	s := d.scenario(root, data)
	out := d.expand(s, root, d.rows(root.Get("table")))
	if len(d.values.problems) > of {
		return nil, d.values.problems.Sort()
	}
	return out, d.values.problems.Sort()
}

// expand makes one scenario of each row.
func (d *decoder) expand(s *Scenario, root *yamldoc.Node, rows []map[string]Value) []*Scenario {
	texts := s.Script().Texts
	if len(rows) == 0 {
		s.Setup = d.setup(root, texts, nil)
		return []*Scenario{s}
	}
	table := root.Get("table")
	out := make([]*Scenario, len(rows))
	seen := map[string]bool{}
	for i, row := range rows {
		name := row["name"].text()
		if seen[name] {
			d.values.problem(table.Items[i].Get("name"), fmt.Sprintf("two rows are called %q", name), "give each row its own name")
		}
		seen[name] = true
		of := *s
		of.ID = s.ID + "[" + name + "]"
		of.Row, of.Setup = row, d.setup(root, texts, row)
		of.Line, of.Column, of.Generated = table.Items[i].Line, table.Items[i].Column, d.unfolder.generated[table.Items[i]]
		out[i] = &of
	}
	return out
}

// DecodeRules turns a node that matches the schema's `compare` into the rules of a project.
func DecodeRules(file string, n *yamldoc.Node) (Rules, Problems) {
	d := newDecoder(file, nil)
	rules := d.rules.all(n)
	for _, n := range d.rules.since {
		d.values.problem(n, fmt.Sprintf("stable since step %s, but a project has no steps", n.Text), "write true, or move the rule to the scenario")
	}
	return rules, d.values.problems
}
