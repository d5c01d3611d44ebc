package engine

import (
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An execution is a run in progress. The mutex of its judgement also guards outputs and cutShort.
type execution struct {
	judgement *judgement
	opts      Options
	targets   []project.Target
	jobs      jobLimit
	outputs   *outputs
	cutShort  []int // scenarios that were running when the interrupt came
}

func (e *execution) runOptions(s *scenario.Scenario) *run.Options {
	l := e.judgement.project.Limits
	return &run.Options{
		Step: l.Step, Scenario: l.Scenario, Settle: l.Settle, Events: l.Events, Seed: e.opts.Seed,
		Contract: e.judgement.project.ContractLookup(), Outside: e.judgement.project.CompareRules(s).Outside, Recorded: e.opts.Against.Transcript(s),
		Processors: target.OwnProcessors,
	}
}

// judge judges what the targets did, or records why the scenario does not apply.
func (e *execution) judge(i int, ts []*transcript.Transcript, notApplicable string) {
	e.judgeCase(i, &runfile.Case{Scenario: e.judgement.scenarios[i], NotApplicable: notApplicable, Transcripts: ts})
}

// judgeCase judges all runs of a scenario and writes them to the outputs.
func (e *execution) judgeCase(i int, c *runfile.Case) {
	all := c.All()
	v := judgeWorstRun(e.judgement.project, c, e.judgement.result.Alone, e.judgement.accept)
	e.judgement.mu.Lock()
	defer e.judgement.mu.Unlock()
	e.outputs.add(i, c, all)
	for _, t := range all {
		e.judgement.cover(c.Scenario, t)
	}
	e.judgement.keepEvidence(c.Scenario, &v, c.Transcripts)
	e.judgement.addVerdict(i, &v)
}

// recordInternalError gives a scenario the verdict of a panic in lockstep itself. The scenario is also written to the
// run file, because a run file without it could not be judged again.
func (e *execution) recordInternalError(i int, cause any) {
	v := internalError(e.judgement.scenarios[i], cause)
	if !e.isWritten(i) {
		e.judge(i, e.notRun(e.judgement.scenarios[i], v.Reasons[0].Text, v.Reasons[0].Log), "")
		return
	}
	e.judgement.mu.Lock()
	defer e.judgement.mu.Unlock()
	e.judgement.addVerdict(i, &v)
}

// isWritten reports whether the run file has a scenario, or is just getting it.
func (e *execution) isWritten(i int) bool {
	e.judgement.mu.Lock()
	defer e.judgement.mu.Unlock()
	return e.outputs.written[i]
}

// An observer passes to an execution what its pools do.
type observer struct {
	*Monitor
	run *execution
}

// OwnerUnchecked records that lockstep could not check whether the target's own process owns its port.
func (o observer) OwnerUnchecked(name, why string) {
	if why == "" {
		return
	}
	o.run.judgement.mu.Lock()
	defer o.run.judgement.mu.Unlock()
	if o.run.judgement.result.OwnerUnchecked == nil {
		o.run.judgement.result.OwnerUnchecked = map[string]string{}
	}
	o.run.judgement.result.OwnerUnchecked[name] = why
}

// interrupted names the scenarios that were running when the interrupt came. One of them may be what took so long.
func (e *execution) interrupted() string {
	if len(e.cutShort) == 0 {
		return ""
	}
	slices.Sort(e.cutShort)
	names := make([]string, len(e.cutShort))
	for i, n := range e.cutShort {
		names[i] = e.judgement.scenarios[n].ID
	}
	return "; " + transcript.UnderWay(names)
}

// notRun returns the transcripts of a scenario that did not run. The first one says why.
func (e *execution) notRun(s *scenario.Scenario, why string, log []string) []*transcript.Transcript {
	out := make([]*transcript.Transcript, len(e.targets))
	for i, t := range e.targets {
		out[i] = &transcript.Transcript{Scenario: s.ID, Target: t.Spec.Name, Started: time.Now()}
	}
	out[0].Unusable, out[0].Log = why, log
	return out
}
