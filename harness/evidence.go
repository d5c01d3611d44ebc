package harness

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// mostEvidence is of how many scenarios evidence is kept. Those that are red for the same cause show the same.
const mostEvidence = 1000

// keep gathers what stands behind the findings of a scenario, for reports that show it, and notes how long answers took.
// The mutex is held. When that breaks, by a mistake of ours, the scenario has its judgement all the same.
func (e *execution) keep(s *scenario.Scenario, v *verdict.Scenario, ts []*transcript.Transcript) {
	defer func() {
		if cause := recover(); cause != nil && e.opts.Log != nil {
			e.opts.Log.Error("evidence broke", "scenario", s.ID, "err", cause, "stack", string(debug.Stack()))
		}
	}()
	if !e.result.Alone {
		e.latencies.Add(ts, consultant{e.project.Contract}.Operation)
	}
	if len(v.Findings) == 0 || len(e.result.Evidence) == mostEvidence {
		return
	}
	if e.result.Evidence == nil {
		e.result.Evidence = map[string]*report.Evidence{}
	}
	rules := compareRules(e.project.Rules, s)
	e.result.Evidence[s.ID] = report.Gather(&report.Gathering{
		Scenario: v, Transcripts: ts, Text: s.Text, Rules: inForce(e.project.Rules, s),
		Cover: compare.NewVeil(rules, ts...).Over,
	})
}

// inForce says which rules hold for a scenario, and where each is written.
func inForce(project scenario.Rules, s *scenario.Scenario) []string {
	var out []string
	note := func(step string, r scenario.Rules) {
		prefix := ""
		if step != "" {
			prefix = "step " + step + ": "
		}
		for i, name := range r.Headers {
			where := "by default"
			if i < len(r.HeaderAt) {
				where = r.HeaderAt[i].String()
			}
			out = append(out, fmt.Sprintf("%sheader %s is compared (%s)", prefix, name, where))
		}
		for _, v := range r.Volatile {
			out = append(out, fmt.Sprintf("%s%s (%s:%d)", prefix, &v, v.File, v.Line))
		}
		for name, of := range r.Stubs {
			for i, header := range of.Headers {
				out = append(out, fmt.Sprintf("%sstub %s: header %s is compared (%s)", prefix, name, header, of.HeaderAt[i]))
			}
			for _, v := range of.Volatile {
				out = append(out, fmt.Sprintf("%sstub %s: %s (%s:%d)", prefix, name, &v, v.File, v.Line))
			}
		}
		for name, of := range r.MCP {
			for _, v := range of.Volatile {
				out = append(out, fmt.Sprintf("%sMCP %s: %s (%s:%d)", prefix, name, &v, v.File, v.Line))
			}
		}
		var streams []string
		for name, rule := range r.Streams {
			streams = append(streams, fmt.Sprintf("%sstream %s has rules of its own (%s:%d)", prefix, name, rule.File, rule.Line))
		}
		slices.Sort(streams)
		out = append(out, streams...)
	}
	note("", s.Compare)
	for _, r := range s.StepRules {
		note(r.Step, r.Rules)
	}
	note("", project)
	return out
}
