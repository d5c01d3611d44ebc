package engine

import (
	"slices"
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
	Code    bool // the scenarios are code, and there may be others that did not run
	// Latency is by operation. Evidence, by scenario, is what reports show for findings.
	Latency  []report.Latency
	Evidence map[string]*report.Evidence
	Steps    map[string][]report.StepLine
}

// Document returns the run as reports show it.
func (r *Result) Document(p *project.Project) *report.Document {
	return &report.Document{
		Version: Version, Started: r.Started, Millis: r.Took.Milliseconds(), Seed: r.Seed, Jobs: r.Jobs, Alone: r.Alone,
		Project: p.File, Contract: p.ContractFile, Run: r.Run,
		Latency: r.Latency, Evidence: r.Evidence, Steps: r.Steps, Selection: r.Code || len(r.Scenarios) < len(p.Scenarios),
		Sums: &report.Sums{Contract: p.Sums.Contract, Scenarios: p.Sums.Scenarios, Rules: p.Sums.Rules},
	}
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
