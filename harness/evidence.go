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
	e.guarded(s.ID, func() { e.keepAll(s, v, ts) })
}

func (e *execution) guarded(id string, f func()) {
	defer func() {
		if cause := recover(); cause != nil && e.opts.Log != nil {
			e.opts.Log.Error("evidence broke", "scenario", id, "err", cause, "stack", string(debug.Stack()))
		}
	}()
	f()
}

func (e *execution) keepAll(s *scenario.Scenario, v *verdict.Scenario, ts []*transcript.Transcript) {
	if !e.result.Alone {
		e.latencies.Add(ts, consultant{e.project.Contract}.Operation)
	}
	e.gather(s, v, ts)
	if !v.MayHaveConstants() {
		return
	}
	if size := sizeOf(ts); e.undecided.size+size <= mostUndecided {
		if e.undecided.transcripts == nil {
			e.undecided.transcripts = map[string][]*transcript.Transcript{}
		}
		e.undecided.size += size
		e.undecided.transcripts[s.ID] = ts
	}
}

func (e *execution) gather(s *scenario.Scenario, v *verdict.Scenario, ts []*transcript.Transcript) {
	if len(v.Findings) == 0 || len(e.result.Evidence) >= mostEvidence && e.result.Evidence[s.ID] == nil {
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

// undecided are transcripts of scenarios whose judgement may yet change, when all scenarios have been judged.
type undecided struct {
	transcripts map[string][]*transcript.Transcript
	size        int
}

// mostUndecided bounds how many bytes of bodies and events are kept for them.
const mostUndecided = 32 << 20

func sizeOf(ts []*transcript.Transcript) (n int) {
	const step = 1 << 10 // header fields, and what a step is made of
	for _, t := range ts {
		for s := range t.AllSteps() {
			n += step
			for _, x := range s.Exchanges {
				if n += len(x.Request.Body.Bytes); x.Response != nil {
					n += len(x.Response.Body.Bytes)
				}
			}
		}
		for _, s := range t.Streams {
			for i := range s.Events {
				n += len(s.Events[i].Data)
			}
		}
	}
	return n
}

// constants looks for constants in all scenarios, and gathers what stands behind them.
func (e *execution) constants() {
	e.known = verdict.Constants(e.judged, e.accept)
	for i, v := range e.judged {
		if v == nil || !slices.ContainsFunc(v.Findings, func(f verdict.Finding) bool { return f.Constant() }) {
			continue
		}
		if ts := e.undecided.transcripts[v.ID]; ts != nil {
			e.guarded(v.ID, func() { e.gather(e.scenarios[i], v, ts) })
		} else if ev := e.result.Evidence[v.ID]; ev != nil {
			ev.Behind = makeRoom(ev.Behind, v.Findings)
		}
	}
	e.undecided = undecided{}
}

// makeRoom keeps what stands behind findings beside them when constants, behind which nothing is known, have come between.
func makeRoom(behind []report.Behind, findings []verdict.Finding) []report.Behind {
	out := make([]report.Behind, len(findings))
	for i, f := range findings {
		if !f.Constant() && len(behind) > 0 {
			out[i], behind = behind[0], behind[1:]
		}
	}
	return out
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
