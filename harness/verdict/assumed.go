package verdict

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
)

// assumed has the values of a scenario that were not compared because they were assumed to be generated.
type assumed struct {
	pairs []assumedPair
	steps map[string]*Finding // what findings at a step have in common
}

// An assumedPair is two values that were bound to each other in a scenario.
type assumedPair struct {
	ident.Assumed
	target    string       // the candidate
	processes [2]time.Time // when the process of each side was started
	probe     bool         // from a run of the scenario as a probe
}

// unresolved reports whether the two values may still turn out to differ.
func (p *assumedPair) unresolved() bool { return p.Reference != p.Candidate && !p.Sent && !p.probe }

// MayHaveConstants reports whether Constants may add findings to the scenario.
func (s *Scenario) MayHaveConstants() bool { return len(s.assumed.steps) > 0 }

// recordAssumed keeps the pairs of values that a comparison has assumed to be generated.
func (j *judge) recordAssumed(i int, all []ident.Assumed) {
	ref, cand := j.Transcripts[0], j.Transcripts[i]
	out := &j.out.assumed
	for _, b := range all {
		p := assumedPair{Assumed: b, target: cand.Target, processes: [2]time.Time{ref.Process, cand.Process}}
		if text := b.Place + " " + b.Reference + " " + b.Candidate; j.masker.Mask(text) != text {
			continue // a rule calls it a secret
		}
		if p.unresolved() && out.steps[b.Step] == nil {
			f := &Finding{Class: Difference, Kind: string(diff.Constant), Step: b.Step, Blame: BlameNobody, exchange: -1, event: -1, events: [2]int{-1, -1}}
			j.script.locate(f)
			f.At = j.script.stepAt(b.Step)
			if out.steps == nil {
				out.steps = map[string]*Finding{}
			}
			out.steps[b.Step] = f
		}
		out.pairs = append(out.pairs, p)
	}
}
