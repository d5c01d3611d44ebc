package project

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Selection says which scenarios run. When empty, all do. Each of its conditions must select something.
type Selection struct {
	// Paths are ids of scenarios or of folders: "client-tools/register", "client-tools", "client-tools/odd-ids[slash]".
	// A file's name, "scenarios/client-tools/register.yaml", is also accepted.
	Paths []string
	Tags  []string // scenarios with all of these tags
	Skip  []string // scenarios with any of these tags are left out
	Names []string // scenarios whose id or why contains all of these texts, ignoring case
}

// Select returns the selected scenarios, in the order of their files. The error is a *UsageError when the selection
// names something that does not exist, or selects nothing.
func (p *Project) Select(sel Selection) ([]*scenario.Scenario, error) {
	out, err := sel.Matching(p.Scenarios)
	if err == nil && len(out) == 0 {
		err = sel.EmptyError(p.Scenarios)
	}
	return out, err
}

// Matching returns the selected scenarios, of which there may be none. The error is a *UsageError when the selection
// names a path or a tag that no scenario has.
func (sel *Selection) Matching(all []*scenario.Scenario) ([]*scenario.Scenario, error) {
	if err := checkTags(all, append(slices.Clone(sel.Tags), sel.Skip...)); err != nil {
		return nil, err
	}
	for _, path := range sel.Paths {
		if !slices.ContainsFunc(all, func(s *scenario.Scenario) bool { return selectsScenario(s, path) }) {
			return nil, unknownPath(all, path)
		}
	}
	var out []*scenario.Scenario
	for _, s := range all {
		if sel.includes(s) {
			out = append(out, s)
		}
	}
	return out, nil
}

// EmptyError names the flag that leaves no scenario, in the order in which people narrow a selection.
func (sel *Selection) EmptyError(all []*scenario.Scenario) error {
	if len(all) == 0 {
		return &UsageError{"the project has no scenarios in files", "name their folder in lockstep.yaml: scenarios: scenarios; go test runs those in Go"}
	}
	left := Selection{Paths: sel.Paths}
	count := func() (n int) {
		for _, s := range all {
			if left.includes(s) {
				n++
			}
		}
		return n
	}
	filter := func(flag string, into *[]string, values []string) string {
		for _, value := range values {
			before := count()
			if *into = append(*into, value); count() == 0 {
				return fmt.Sprintf(": %s %q fits none of the %d that the other selectors leave", flag, value, before)
			}
		}
		return ""
	}
	why := cmp.Or(filter("--tag", &left.Tags, sel.Tags), filter("--skip-tag", &left.Skip, sel.Skip), filter("--name", &left.Names, sel.Names))
	return &UsageError{"no scenario is selected" + why, "use fewer selectors: a scenario must fit all paths, tags and names"}
}

// unknownPath suggests what a path that selects nothing could mean: an existing row, or a scenario with a similar name
// in any folder.
func unknownPath(all []*scenario.Scenario, path string) *UsageError {
	base, row, hasRow := strings.Cut(strings.TrimSuffix(path, "]"), "[")
	wanted := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(base), ".yaml"), ".yml")
	var rows, same, ids []string
	for _, s := range all {
		if id := s.Base(); len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
			if filepath.Base(id) == wanted {
				same = append(same, id)
			}
		}
		if name, ok := s.Row["name"].Constant(); ok && hasRow && selectsScenario(s, base) {
			rows = append(rows, name)
		}
	}
	e := &UsageError{fmt.Sprintf("no scenario or folder is called %q", path), fmt.Sprintf("name a scenario, a folder or a file, such as %q", ids[0])}
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

func checkTags(all []*scenario.Scenario, tags []string) error {
	var known []string
	for _, s := range all {
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

func (sel *Selection) includes(s *scenario.Scenario) bool {
	has := func(tag string) bool { return slices.Contains(s.Tags, tag) }
	if len(sel.Paths) > 0 && !slices.ContainsFunc(sel.Paths, func(path string) bool { return selectsScenario(s, path) }) {
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

// selectsScenario reports whether a path means the scenario: its id, that of its table, a folder above it, or its file.
// The file may have the folder of the scenarios and the extension, or not.
func selectsScenario(s *scenario.Scenario, path string) bool {
	path = filepath.Clean(path)
	base := s.Base()
	row := s.ID[len(base):] // with its brackets
	if strings.HasPrefix(s.File, strings.TrimSuffix(path, "/")+"/") || path == s.File || path == s.File+row || path+".yaml" == s.File {
		return true
	}
	path = strings.TrimPrefix(path, "/")
	return path == s.ID || path == base || path == base+".yaml" || strings.HasPrefix(base, path+"/")
}

func IDs(scenarios []*scenario.Scenario) []string {
	out := make([]string, len(scenarios))
	for i, s := range scenarios {
		out[i] = s.ID
	}
	return out
}

// IDs returns the ids of the selected scenarios.
func (p *Project) IDs(sel Selection) ([]string, error) {
	selected, err := p.Select(sel)
	return IDs(selected), err
}
