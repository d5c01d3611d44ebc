package engine

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// maxEvidence limits how many scenarios keep evidence. Scenarios that fail for the same reason have the same evidence.
const maxEvidence = 1000

// keepEvidence keeps how long the responses of a scenario took, and the evidence that reports show for its findings.
// The caller holds the mutex.
func (j *judgement) keepEvidence(s *scenario.Scenario, v *verdict.Scenario, ts []*transcript.Transcript) {
	defer j.recoverEvidence(s.ID)
	if !j.result.Alone {
		j.latencies.Add(ts, j.project.ContractLookup().Operation)
	}
	j.gather(s, v, ts)
	j.keepSteps(s.ID, ts)
	if !v.MayHaveConstants() {
		return
	}
	if size := sizeOf(ts); j.undecided.size+size <= maxUndecided {
		if j.undecided.transcripts == nil {
			j.undecided.transcripts = map[string][]*transcript.Transcript{}
		}
		j.undecided.size += size
		j.undecided.transcripts[s.ID] = ts
	}
}

// recoverEvidence makes sure that a panic in lockstep itself does not cost the scenario its verdict.
func (j *judgement) recoverEvidence(id string) {
	if cause := recover(); cause != nil {
		j.log.Error("evidence broke", "scenario", id, "err", cause, "stack", string(debug.Stack()))
	}
}

// maxSteps limits how many steps of all scenarios are kept for the page.
const maxSteps = 100_000

func (j *judgement) keepSteps(id string, ts []*transcript.Transcript) {
	if j.steps >= maxSteps {
		return
	}
	if j.result.Steps == nil {
		j.result.Steps = map[string][]report.StepLine{}
	}
	lines := report.StepLines(ts)
	j.result.Steps[id] = lines
	j.steps += len(lines)
}

func (j *judgement) gather(s *scenario.Scenario, v *verdict.Scenario, ts []*transcript.Transcript) {
	defer j.recoverEvidence(s.ID)
	if len(v.Findings) == 0 || len(j.result.Evidence) >= maxEvidence && j.result.Evidence[s.ID] == nil {
		return
	}
	if j.result.Evidence == nil {
		j.result.Evidence = map[string]*report.Evidence{}
	}
	rules := j.project.CompareRules(s)
	j.result.Evidence[s.ID] = report.GatherEvidence(&report.EvidenceSource{
		Scenario: v, Transcripts: ts, Text: s.Text, Rules: rulesInForce(j.project.Rules, s),
		Mask: compare.NewMasker(rules, ts...).Mask, Labels: rules.Labels,
	})
}

// undecided has the transcripts of scenarios whose verdicts may still change when all scenarios have been judged.
type undecided struct {
	transcripts map[string][]*transcript.Transcript
	size        int
}

// maxUndecided limits the bytes of bodies and events in undecided.
const maxUndecided = 32 << 20

func sizeOf(ts []*transcript.Transcript) (n int) {
	const step = 1 << 10 // estimate for the header fields of a step and its other data
	for _, t := range ts {
		for range t.AllSteps() {
			n += step
		}
		for message := range runfile.Messages(t) {
			n += len(message)
		}
	}
	return n
}

// findConstants looks for constants in all scenarios and keeps the evidence for them.
func (j *judgement) findConstants() {
	j.constancy = verdict.Constants(j.verdicts, j.accept)
	for i, v := range j.verdicts {
		if v == nil || !slices.ContainsFunc(v.Findings, func(f verdict.Finding) bool { return f.Constant() }) {
			continue
		}
		if ts := j.undecided.transcripts[v.ID]; ts != nil {
			j.gather(j.scenarios[i], v, ts)
		} else if ev := j.result.Evidence[v.ID]; ev != nil {
			ev.Findings = realignEvidence(ev.Findings, v.Findings)
		}
	}
	j.undecided = undecided{}
}

// realignEvidence keeps the evidence of each finding at its index after findings about constants have been inserted.
// Those have no evidence.
func realignEvidence(evidence []report.FindingEvidence, findings []verdict.Finding) []report.FindingEvidence {
	out := make([]report.FindingEvidence, len(findings))
	for i, f := range findings {
		if !f.Constant() && len(evidence) > 0 {
			out[i], evidence = evidence[0], evidence[1:]
		}
	}
	return out
}

// rulesInForce lists the rules that apply to a scenario, and where each is written.
func rulesInForce(project scenario.Rules, s *scenario.Scenario) []string {
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
		volatile := func(rules []scenario.Volatile, of string) {
			for _, v := range rules {
				out = append(out, fmt.Sprintf("%s%s%s (%s:%d)", prefix, of, &v, v.File, v.Line))
			}
		}
		volatile(r.Volatile, "")
		for name, of := range r.Stubs {
			for i, header := range of.Headers {
				out = append(out, fmt.Sprintf("%sstub %s: header %s is compared (%s)", prefix, name, header, of.HeaderAt[i]))
			}
			volatile(of.Volatile, "stub "+name+": ")
		}
		for name, of := range r.MCP {
			volatile(of.Volatile, "MCP "+name+": ")
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
