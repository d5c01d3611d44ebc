package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/baseline"
	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/harness/waiver"
	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// waiversFile is where the waivers stand, or would.
func (l *loader) waiversFile(root *yamldoc.Node) string {
	if name := root.Get("waivers").Str(); name != "" {
		return filepath.Clean(l.path(name))
	}
	return filepath.Join(l.path(root.Get("scenarios").Str()), "waivers.yaml")
}

// waivers reads the waivers, when all that they speak of is there. n is where lockstep.yaml names their file; nil when it
// does not, and none has to be there.
func (l *loader) waivers(n *yamldoc.Node) {
	data, err := regular.Read(l.p.WaiversFile)
	switch {
	case err == nil:
	case n.Str() != "":
		l.problem(n, err.Error(), "name the file with the waivers, relative to this file")
		return
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR): // which is told where it is read
		return
	default:
		l.problems = append(l.problems, scenario.Problem{File: l.p.WaiversFile, What: err.Error()})
		return
	}
	waivers, problems := waiver.Parse(l.p.WaiversFile, data, l.world())
	l.p.Waivers = waivers
	l.problems = append(l.problems, problems...)
}

// baseline reads the baseline, when lockstep.yaml names one. That it is not there is told by a run: the command that makes
// it reads the project first.
func (l *loader) baseline(n *yamldoc.Node) {
	if n.Str() == "" {
		return
	}
	l.p.BaselineFile = l.path(n.Text)
	data, err := regular.Read(l.p.BaselineFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.p.noBaseline = scenario.Problems{{
			File: l.p.File, Line: n.Line, Column: n.Column, What: err.Error(), Fix: "make it with lockstep baseline update --accept-new",
		}}
	case err != nil:
		l.problem(n, err.Error(), "name the baseline, relative to this file")
	default:
		known, problems := baseline.Parse(l.p.BaselineFile, data)
		l.p.Baseline = known
		l.problems = append(l.problems, problems...)
	}
}

// UseBaseline takes a file as the baseline, instead of the project's. The error is scenario.Problems when the file has
// mistakes.
func (p *Project) UseBaseline(file string) error {
	data, err := regular.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &UsageError{file + ": no such file", "make the first one with lockstep baseline update --accept-new"}
	}
	if err != nil {
		return err
	}
	known, problems := baseline.Parse(file, data)
	p.BaselineFile, p.Baseline, p.noBaseline = file, known, nil
	return problems.Err()
}

// world is what waivers may speak of.
func (l *loader) world() *waiver.World {
	w := &waiver.World{More: l.unread || len(l.p.Scenarios) == 0}
	if l.shaped {
		w.Targets = names(l.p.Targets)
	}
	for _, k := range compare.Kinds() {
		w.Kinds = append(w.Kinds, string(k))
	}
	for _, k := range compare.ShortfallKinds() {
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

// acceptance is what a run accepts.
func (p *Project) acceptance(opts *Options, started time.Time) *verdict.Acceptance {
	today := opts.Today
	if today.IsZero() {
		today = started
	}
	return &verdict.Acceptance{Waivers: p.Waivers, Baseline: p.Baseline, Today: today, Environ: opts.Environ}
}

// partial reports whether a run leaves out targets of the project, or takes another one as right.
func (p *Project) partial(targets []Target, alone bool) bool {
	if alone || targets[0].Spec.Name != p.Reference {
		return true
	}
	for _, t := range p.Targets {
		if index(targets, t.Spec.Name) < 0 {
			return true
		}
	}
	return false
}

// targetsOf returns the targets of a run file, by name.
func targetsOf(h *transcript.RunHeader) []Target {
	out := make([]Target, len(h.Targets))
	for i, t := range h.Targets {
		out[i].Spec.Name = t.Name
	}
	return out
}

func (p *Project) ids() []string { return idsOf(p.Scenarios) }

// IDs returns the ids of the scenarios that a selection takes.
func (p *Project) IDs(sel Selection) ([]string, error) {
	picked, err := p.pick(sel)
	return idsOf(picked), err
}

func idsOf(scenarios []*scenario.Scenario) []string {
	out := make([]string, len(scenarios))
	for i, s := range scenarios {
		out[i] = s.ID
	}
	return out
}

// staleText says of a waiver that it is not needed any more.
func staleText(w *verdict.WaiverUse) string {
	return fmt.Sprintf("%s:%d: waiver %s is stale: what it accepts does not occur any more; remove it", w.File, w.Line, w.ID)
}
