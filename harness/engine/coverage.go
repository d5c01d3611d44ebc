package engine

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// cover counts which parts of the contract a transcript has reached. After a panic in lockstep itself, the numbers are
// wrong, so the run is marked incomplete.
func (j *judgement) cover(s *scenario.Scenario, t *transcript.Transcript) {
	defer func() {
		if cause := recover(); cause != nil {
			j.result.Incomplete = fmt.Sprintf("lockstep itself failed to count the coverage of %s: %v", t.Scenario, cause)
			j.log.Error("coverage broke", "scenario", t.Scenario, "err", cause, "stack", string(debug.Stack()))
		}
	}()
	var shape coverage.Normalizer // few transcripts need it
	if j.project.Contract.IsAbsent() {
		return
	}
	j.coverage.AddNormalized(t, func(text string) string {
		if shape == nil {
			shape = j.project.CompareRules(s).Shape(t)
		}
		return shape(text)
	})
}

// uncompared lists what the contract declares and responses had, but no rule compared. With one target, nothing is
// compared.
func uncompared(r *Result, coverage *coverage.Coverage) []string {
	if r.Alone {
		return nil
	}
	return coverage.NotCompared(func(header string) bool {
		key := compare.HeaderApplied(header, "")
		for i := range r.Scenarios {
			if slices.Contains(r.Scenarios[i].Applied, key) {
				return true
			}
		}
		return false
	})
}

// coverageGate says whether the run has reached the coverage that the project demands. It returns nil without a demand.
// selected is the number of selected scenarios.
func coverageGate(p *project.Project, r *Result, selected int, coverage *coverage.Coverage) *coverage.Gate {
	d := p.Demand
	if d == nil {
		return nil
	}
	why, lacking := whyNotJudged(p, r, selected)
	if why != "" {
		return d.NotJudged(why)
	}
	g := d.Judge(coverage)
	g.NotApplicable = lacking
	return g
}

// whyNotJudged says why the coverage is not that of all scenarios, or returns "". Scenarios that need what a target cannot
// do are returned as lacking. They are the same in every run, so what only they would reach is missing.
func whyNotJudged(p *project.Project, r *Result, selected int) (why string, lacking []string) {
	if r.Incomplete != "" {
		return "the run is not complete", nil
	}
	if r.Code {
		return "scenarios in Go have run, and maybe not all of them", nil
	}
	if n, all := selected, len(p.Scenarios); n < all {
		return fmt.Sprintf("%d of %d scenarios were selected", n, all), nil
	}
	needs := map[string]bool{}
	for _, s := range p.Scenarios {
		needs[s.ID] = len(s.Needs) > 0
	}
	var doubtful []string
	for i := range r.Scenarios {
		switch s := &r.Scenarios[i]; {
		case s.Verdict == verdict.NotApplicable && needs[s.ID]:
			lacking = append(lacking, s.ID)
		case s.Verdict == verdict.NotApplicable || len(s.Reasons) > 0:
			doubtful = append(doubtful, s.ID)
		}
	}
	switch len(doubtful) {
	case 0:
		return "", lacking
	case 1:
		return doubtful[0] + " was not judged", nil
	default:
		return fmt.Sprintf("%s and %d more scenarios were not judged", doubtful[0], len(doubtful)-1), nil
	}
}
