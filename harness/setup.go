package harness

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
)

// setUp has the servers of a fleet start with what a scenario says, over what the project does.
func (f *fleet) setUp(s scenario.Setup) {
	for i := range f.berths {
		spec := &f.berths[i].spec.Spec
		spec.Over, spec.Files = map[string]string{}, slices.Clone(spec.Files)
		for _, v := range s.Env {
			spec.Over[v.Name] = v.Text
		}
		for _, v := range s.Files {
			spec.Files = slices.DeleteFunc(spec.Files, func(file target.File) bool { return file.Path == v.Name })
			spec.Files = append(spec.Files, target.File{Path: v.Name, Data: []byte(v.Text), Text: true})
		}
	}
}

// checkSetup checks that the paths of files which a scenario gives its targets are below their directories. What the texts
// name is checked with the rest of the scenario.
func (p *Project) checkSetup(s *scenario.Scenario) (out scenario.Problems) {
	for _, v := range s.Setup.Files {
		if err := (target.File{Path: v.Name}).CheckPath(); err != nil {
			out = append(out, scenario.Problem{
				File: s.File, Line: v.Line, Column: v.Column,
				What: err.Error(), Fix: "write a path below the directory, with slashes and without ..",
			})
		}
	}
	return out
}
