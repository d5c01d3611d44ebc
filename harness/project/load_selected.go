package project

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// LoadSelected is Load without the mistakes in scenarios that the paths of a selection do not name. Mistakes in other
// files count. It returns the selected scenarios; of fragments, which have paths as well, there are none.
func LoadSelected(file string, paths []string) (*Project, []*scenario.Scenario, error) {
	l, err := read(file)
	if err != nil {
		return nil, nil, err
	}
	selected, problems, err := l.selected(paths)
	if err != nil {
		return nil, nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	return l.p, selected, nil
}

// selected returns the scenarios at some paths, and the problems that concern them. A scenario that could not be read
// has the name of its file.
func (l *loader) selected(paths []string) ([]*scenario.Scenario, scenario.Problems, error) {
	read := map[string]bool{}
	for _, s := range l.p.Scenarios {
		read[s.File] = true
	}
	all := slices.Clone(l.p.Scenarios)
	files := l.p.scenarioFiles()
	for _, file := range files {
		if id, err := filepath.Rel(l.p.scenarioDir, file); err == nil && !read[file] {
			all = append(all, &scenario.Scenario{File: file, ID: strings.TrimSuffix(filepath.ToSlash(id), ".yaml")})
		}
	}
	if len(all) == 0 { // a problem says so
		return nil, l.reader.problems, nil
	}
	chosen, err := (&Selection{Paths: paths}).Matching(all)
	if err != nil {
		return nil, nil, err
	}
	var kept scenario.Problems
	for _, p := range l.reader.problems {
		if !slices.Contains(files, p.File) || slices.ContainsFunc(chosen, func(s *scenario.Scenario) bool { return s.IsMadeOf([]string{p.File}) }) {
			kept = append(kept, p)
		}
	}
	var selected []*scenario.Scenario
	for _, s := range chosen {
		switch {
		case read[s.File]:
			selected = append(selected, s)
		case !isFragment(s.File) && !slices.ContainsFunc(kept, func(p scenario.Problem) bool { return p.File == s.File }):
			return nil, l.reader.problems, nil // a fragment that it uses has a mistake, and it is not known which one
		}
	}
	return selected, kept, nil
}

func isFragment(file string) bool {
	data, err := regular.Read(file)
	if err != nil {
		return false
	}
	root, problems := yamldoc.Parse(file, data)
	return len(problems) == 0 && root.Get("fragment") != nil
}
