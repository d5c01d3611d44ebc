package project

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict/baseline"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// waiversFile returns the path of the waivers, which need not exist.
func (l *loader) waiversFile(root *yamldoc.Node) string {
	if name := root.Get("waivers").Str(); name != "" {
		return filepath.Clean(l.reader.path(name))
	}
	return filepath.Join(l.reader.path(root.Get("scenarios").Str()), "waivers.yaml")
}

// waivers reads the waivers, after everything that they can name. n names their file in lockstep.yaml. If n is nil, the
// file may be missing.
func (l *loader) waivers(n *yamldoc.Node) {
	data, err := regular.Read(l.p.WaiversFile)
	switch {
	case err == nil:
	case n.Str() != "":
		l.reader.problem(n, err.Error(), "name the file with the waivers, relative to this file")
		return
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR): // a missing folder is reported where the folder is read
		return
	default:
		l.reader.problems = append(l.reader.problems, scenario.Problem{File: l.p.WaiversFile, What: err.Error()})
		return
	}
	waivers, problems := waiver.Parse(l.p.WaiversFile, data, l.waiverTerms())
	l.p.Waivers = waivers
	l.reader.problems = append(l.reader.problems, problems...)
}

// waiverTerms returns the names that waivers may use.
func (l *loader) waiverTerms() *waiver.World {
	w := &waiver.World{More: l.brokenScenarios || len(l.p.Scenarios) == 0}
	if l.schemaOK {
		w.Targets = TargetNames(l.p.Targets)
	}
	for _, k := range diff.Kinds() {
		w.Kinds = append(w.Kinds, string(k))
	}
	for _, k := range compare.UnmetKinds() {
		w.Kinds = append(w.Kinds, string(k))
	}
	for _, k := range contract.Kinds() {
		w.Kinds = append(w.Kinds, string(k.Kind))
	}
	for _, s := range l.p.Scenarios {
		of := waiver.Scenario{ID: s.ID, Table: s.Base()}
		s.Walk(func(step *scenario.Step) { of.Steps = append(of.Steps, step.Text) })
		of.Steps = append(of.Steps, l.p.upstreamSteps(s)...)
		w.Scenarios = append(w.Scenarios, of)
	}
	return w
}

// CheckBaseline returns an error when lockstep.yaml names a baseline that does not exist.
func (p *Project) CheckBaseline() error { return p.missingBaseline.Err() }

// UseBaseline replaces the project's baseline by that of a file. The error is scenario.Problems when the file has
// mistakes.
func (p *Project) UseBaseline(file string) error {
	data, err := regular.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &UsageError{file + ": no such file", "create it with lockstep baseline update --accept-new"}
	}
	if err != nil {
		return err
	}
	known, problems := baseline.Parse(file, data)
	p.BaselineFile, p.Baseline, p.missingBaseline = file, known, nil
	return problems.Err()
}

// baseline reads the baseline, if lockstep.yaml names one. Only a run reports that it is missing, because the command
// that writes the first one loads the project, too.
func (l *loader) baseline(n *yamldoc.Node) {
	if n.Str() == "" {
		return
	}
	l.p.BaselineFile = l.reader.path(n.Text)
	data, err := regular.Read(l.p.BaselineFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.p.missingBaseline = scenario.Problems{{
			File: l.p.File, Line: n.Line, Column: n.Column, What: err.Error(), Fix: "create it with lockstep baseline update --accept-new",
		}}
	case err != nil:
		l.reader.problem(n, err.Error(), "name the baseline, relative to this file")
	default:
		known, problems := baseline.Parse(l.p.BaselineFile, data)
		l.p.Baseline = known
		l.reader.problems = append(l.reader.problems, problems...)
	}
}
