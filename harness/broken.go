package harness

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// broken is the judgement of a scenario in which lockstep itself has failed: unknown, with the stack for whoever mends it.
func broken(s *scenario.Scenario, cause any, stack []byte) verdict.Scenario {
	return verdict.Scenario{
		ID: s.ID, File: s.File, Line: s.Line, Why: s.Why, Tags: s.Tags, Verdict: verdict.Unknown,
		Reasons: []verdict.Reason{{
			Text: fmt.Sprintf("lockstep itself failed: %v", cause),
			Log:  strings.Split(strings.TrimSpace(strings.ReplaceAll(string(stack), "\t", "    ")), "\n"),
		}},
	}
}

// failedAt notes that lockstep itself failed while it walked a scenario, which has no judgement yet. The run file has that,
// too: judged again, the scenario must not be missing.
func (e *execution) failedAt(i int, cause any) {
	s := e.scenarios[i]
	v := broken(s, cause, debug.Stack())
	if !e.filed(i) {
		e.judge(i, e.unwalked(s, v.Reasons[0].Text, v.Reasons[0].Log), "")
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle(i, &v)
}

// filed reports whether the run file has a scenario, or is about to.
func (e *execution) filed(i int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.written[i]
}

// cover counts what a transcript has reached of the contract. Numbers that are not right leave the run incomplete.
func (e *execution) cover(s *scenario.Scenario, t *transcript.Transcript) {
	defer func() {
		if cause := recover(); cause != nil {
			e.result.Incomplete = fmt.Sprintf("lockstep itself failed to count what %s reached of the contract: %v", t.Scenario, cause)
			if e.opts.Log != nil {
				e.opts.Log.Error("coverage broke", "scenario", t.Scenario, "err", cause, "stack", string(debug.Stack()))
			}
		}
	}()
	var shape contract.Shape // few transcripts need one
	e.coverage.AddShaped(t, func(text string) string {
		if shape == nil {
			shape = compareRules(e.project.Rules, s).Shape(t)
		}
		return shape(text)
	})
}
