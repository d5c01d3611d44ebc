package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Result is a run and its judgement.
type Result struct {
	verdict.Run
	Started time.Time
	Took    time.Duration
	Seed    uint64
	Jobs    int
	Alone   bool // there was one target, and nothing to compare it with
	// Versions are those of the targets, by name, as far as they are known.
	Versions map[string]string
	Code     bool // the scenarios are code, and there may be others that did not run
	// Latency is by operation. Evidence, by scenario, is what reports show for findings.
	Latency  []report.Latency
	Evidence map[string]*report.Evidence
	Steps    map[string][]report.StepLine
}

// Document returns the run as reports show it.
func (r *Result) Document(p *project.Project) *report.Document {
	return &report.Document{
		Version: Version, Started: r.Started, Millis: r.Took.Milliseconds(), Seed: r.Seed, Jobs: r.Jobs, Alone: r.Alone, Versions: r.Versions,
		Project: p.File, Contract: p.ContractFile, Run: r.Run,
		Latency: r.Latency, Evidence: r.Evidence, Steps: r.Steps, Selection: r.Code || len(r.Scenarios) < len(p.Scenarios),
		TargetFlags: targetFlags(p, r.Totals.Targets, r.Partial),
		Sums:        &report.Sums{Contract: p.Sums.Contract, Scenarios: p.Sums.Scenarios, Rules: p.Sums.Rules},
	}
}

// targetFlags returns the flags that choose the targets of a run again, the reference first. It returns nil for those of
// the project, and for servers that were named by their URL. A second server of a kind, such as go-2, is requested by the
// name of the first.
func targetFlags(p *project.Project, ran []verdict.Target, partial bool) (flags []string) {
	for i, t := range ran {
		name := t.Name
		if project.IndexTarget(p.Targets, name) < 0 {
			first := slices.IndexFunc(ran[:i], func(t verdict.Target) bool { return strings.HasPrefix(name, t.Name+"-") })
			if first < 0 {
				return nil
			}
			name, partial = ran[first].Name, true
		}
		flags = append(flags, "--target", name)
	}
	switch {
	case !partial:
		return nil
	case len(ran) > 1 && ran[0].Name != p.Reference && slices.ContainsFunc(ran, func(t verdict.Target) bool { return t.Name == p.Reference }):
		flags = append(flags, "--reference", ran[0].Name)
	}
	return flags
}

// shardOf says which part of a selection a run has. It returns nil when the run has all of it.
func shardOf(s project.Shard, selected int) *verdict.Shard {
	if s == (project.Shard{}) {
		return nil
	}
	return &verdict.Shard{Index: s.Index, Of: s.Of, Selected: selected}
}

// isPartial reports whether a run leaves out targets of the project or has another reference than the project.
func isPartial(p *project.Project, names []string, alone bool) bool {
	return alone || names[0] != p.Reference || slices.ContainsFunc(p.Targets, func(t project.Target) bool { return !slices.Contains(names, t.Spec.Name) })
}
