package harness

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/redact"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A UsageError is a wish that cannot be granted: a target, a tag or a pattern that is not there. Nothing was started.
type UsageError struct {
	What string
	Fix  string
}

func (e *UsageError) Error() string {
	if e.Fix == "" {
		return e.What
	}
	return e.What + "\n\tfix: " + e.Fix
}

// choose returns the targets to run, the reference first, and whether there is no reference because there is only one.
//
// A wish is a target's name, or name=URL for a server that already runs: then the name may be a new one. A name twice
// is two servers of that kind. Without wishes, all targets of the project run.
func (p *Project) choose(wishes []string, reference string) (targets []Target, alone bool, err error) {
	if len(wishes) == 0 {
		for _, t := range p.Targets {
			wishes = append(wishes, t.Spec.Name)
		}
	}
	for _, wish := range wishes {
		t, err := p.target(wish)
		if err != nil {
			return nil, false, err
		}
		t.Spec.Name = p.unlike(t.Spec.Name, targets)
		targets = append(targets, t)
	}
	name := reference
	if name == "" {
		name = p.Reference
	}
	at := index(targets, name)
	if at < 0 && reference != "" {
		return nil, false, &UsageError{fmt.Sprintf("reference %q is not among the targets of this run", reference), problem.OneOf(reference, names(targets))}
	}
	if len(targets) == 1 {
		return targets, true, nil
	}
	at = max(at, 0) // without the project's reference, the first one stands in for it
	first := targets[at]
	targets = slices.Insert(slices.Delete(targets, at, at+1), 0, first)
	return targets, false, distinct(targets)
}

func (p *Project) target(wish string) (Target, error) {
	name, address, isURL := strings.Cut(wish, "=")
	known := index(p.Targets, name)
	if !isURL {
		if known < 0 {
			return Target{}, &UsageError{fmt.Sprintf("target %q is not in %s", name, p.File), problem.OneOf(name, names(p.Targets))}
		}
		return p.Targets[known], nil
	}
	t := Target{Spec: target.Spec{Name: name, URL: address, Ready: p.Targets[0].Spec.Ready}}
	if known >= 0 {
		t.Spec.Ready, t.Header = p.Targets[known].Spec.Ready, p.Targets[known].Header
	}
	switch err := t.Spec.Validate(); {
	case name == "":
		return Target{}, &UsageError{fmt.Sprintf("target %q has no name", wish), "write name=http://host:port"}
	case err != nil:
		return Target{}, &UsageError{fmt.Sprintf("target %s: %q is no address of a server", name, address), "write name=http://host:port"}
	}
	return t, nil
}

// unlike returns the name, or when it is taken the first of name-2, name-3 and so on that neither a target of the run
// nor another one of the project has.
func (p *Project) unlike(name string, taken []Target) string {
	if index(taken, name) < 0 {
		return name
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s-%d", name, n); index(taken, next) < 0 && index(p.Targets, next) < 0 {
			return next
		}
	}
}

// index returns where the target of that name is, -1 when there is none.
func index(targets []Target, name string) int {
	return slices.IndexFunc(targets, func(t Target) bool { return t.Spec.Name == name })
}

// startable reports the targets whose commands are not there, in lockstep.yaml, where they stand.
func (p *Project) startable(targets []Target, environ []string) error {
	var out scenario.Problems
	secrets := redact.NewReplacer(p.Secrets.values(environ))
	for _, t := range targets {
		if err := t.Spec.Find(environ); err != nil {
			out = append(out, scenario.Problem{
				File: p.File, Line: t.Line, Column: t.Column, What: secrets.Text(err.Error()),
				Fix: "build it or install it, or name another command",
			})
		}
	}
	return out.Sort().Err()
}

func names(targets []Target) []string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = t.Spec.Name
	}
	return out
}

// A Selection says which scenarios run. Empty, all do. What is given must select something.
type Selection struct {
	// Paths are ids of scenarios or of folders: "client-tools/register", "client-tools", "client-tools/odd-ids[slash]".
	// A file's name, "scenarios/client-tools/register.yaml", will do as well.
	Paths []string
	Tags  []string // scenarios with all of these tags
	Skip  []string // not those with any of these tags
	Names []string // scenarios whose id or why contains all of these texts, whatever their case
}

// Select returns the scenarios that a selection takes, in the order of their files. The error is a *UsageError when the
// selection asks for what is not there.
func (p *Project) Select(sel Selection) ([]*scenario.Scenario, error) { return p.pick(sel) }

// pick returns the selected scenarios, at least one.
func (p *Project) pick(sel Selection) ([]*scenario.Scenario, error) {
	out, err := p.fitting(sel)
	if err == nil && len(out) == 0 {
		err = p.nothing(sel)
	}
	return out, err
}

// fitting returns the selected scenarios, if any. A name that nothing has is a mistake.
func (p *Project) fitting(sel Selection) ([]*scenario.Scenario, error) {
	if err := p.checkTags(append(slices.Clone(sel.Tags), sel.Skip...)); err != nil {
		return nil, err
	}
	for _, path := range sel.Paths {
		if !slices.ContainsFunc(p.Scenarios, func(s *scenario.Scenario) bool { return under(s, path) }) {
			return nil, p.nowhere(path)
		}
	}
	var out []*scenario.Scenario
	for _, s := range p.Scenarios {
		if sel.takes(s) {
			out = append(out, s)
		}
	}
	return out, nil
}

// nothing names the flag that leaves no scenario, in the order in which people narrow a selection.
func (p *Project) nothing(sel Selection) error {
	left := Selection{Paths: sel.Paths}
	count := func() (n int) {
		for _, s := range p.Scenarios {
			if left.takes(s) {
				n++
			}
		}
		return n
	}
	filter := func(flag string, into *[]string, values []string) string {
		for _, value := range values {
			before := count()
			if *into = append(*into, value); count() == 0 {
				return fmt.Sprintf(": %s %q fits none of the %d that the rest selects", flag, value, before)
			}
		}
		return ""
	}
	why := cmp.Or(filter("--tag", &left.Tags, sel.Tags), filter("--skip-tag", &left.Skip, sel.Skip), filter("--name", &left.Names, sel.Names))
	return &UsageError{"no scenario is selected" + why, "ask for less at once: paths, tags and names must all fit"}
}

// nowhere says what could be meant by a path that selects nothing: a row that is there, or a scenario of almost that name,
// in whatever folder it is.
func (p *Project) nowhere(path string) *UsageError {
	base, row, hasRow := strings.Cut(strings.TrimSuffix(path, "]"), "[")
	wanted := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(base), ".yaml"), ".yml")
	var rows, same, ids []string
	for _, s := range p.Scenarios {
		if id := s.Base(); len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
			if filepath.Base(id) == wanted {
				same = append(same, id)
			}
		}
		if name, ok := s.Row["name"].Constant(); ok && hasRow && under(s, base) {
			rows = append(rows, name)
		}
	}
	e := &UsageError{fmt.Sprintf("no scenario at %q", path), fmt.Sprintf("name a scenario, a folder or a file, such as %q", ids[0])}
	if len(rows) > 0 {
		return &UsageError{fmt.Sprintf("%s has no row %q", base, row), problem.OneOf(row, rows)}
	}
	if near, ok := problem.Nearest(strings.TrimSuffix(base, ".yaml"), ids); ok {
		same = append(same[:0], near)
	}
	switch {
	case len(same) == 1:
		e.Fix = fmt.Sprintf("did you mean %q?", same[0])
	case len(same) > 1:
		e.Fix = "use one of: " + strings.Join(same, ", ")
	}
	return e
}

func (p *Project) checkTags(tags []string) error {
	var known []string
	for _, s := range p.Scenarios {
		known = append(known, s.Tags...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, tag := range tags {
		if !slices.Contains(known, tag) {
			return &UsageError{fmt.Sprintf("no scenario has the tag %q", tag), cmp.Or(problem.OneOf(tag, known), "leave it out: no scenario has tags")}
		}
	}
	return nil
}

func (sel Selection) takes(s *scenario.Scenario) bool {
	has := func(tag string) bool { return slices.Contains(s.Tags, tag) }
	if len(sel.Paths) > 0 && !slices.ContainsFunc(sel.Paths, func(path string) bool { return under(s, path) }) {
		return false
	}
	for _, tag := range sel.Tags {
		if !has(tag) {
			return false
		}
	}
	text := strings.ToLower(s.ID + "\n" + s.Why)
	for _, name := range sel.Names {
		if !strings.Contains(text, strings.ToLower(name)) {
			return false
		}
	}
	return !slices.ContainsFunc(sel.Skip, has)
}

// under reports whether a path means the scenario: its id, that of its table, a folder above it, or its file, with the
// folder of the scenarios or without, and with the extension or without.
func under(s *scenario.Scenario, path string) bool {
	path = filepath.Clean(path)
	base := s.Base()
	row := s.ID[len(base):] // with its brackets
	if strings.HasPrefix(s.File, strings.TrimSuffix(path, "/")+"/") || path == s.File || path == s.File+row || path+".yaml" == s.File {
		return true
	}
	path = strings.TrimPrefix(path, "/")
	return path == s.ID || path == base || path == base+".yaml" || strings.HasPrefix(base, path+"/")
}
