package verdict

import (
	"cmp"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// order puts findings in the order of what they are about: the step, then the exchange or event, then differences
// before the others. What follows from a failure comes behind it.
func (f Finding) order(g Finding) int {
	return cmp.Or(
		cmp.Compare(max(f.place(), f.behind), max(g.place(), g.behind)), cmp.Compare(min(f.behind, 1), min(g.behind, 1)),
		cmp.Compare(g.Upstream, f.Upstream), // a server asks others before it answers
		cmp.Compare(f.Step, g.Step),
		cmp.Compare(f.exchange, g.exchange), cmp.Compare(f.event, g.event), cmp.Compare(f.Class, g.Class),
	)
}

// place is the line that a finding is told at.
func (f *Finding) place() int {
	if f.Upstream != "" {
		return f.while
	}
	return f.Line
}

// A failure is an exchange that one target broke, or did not answer, or the end of its process.
type failure struct {
	target string
	line   int
	// since is when the other targets did the same, by their names: what they told on their streams from then on may be
	// what this one could not tell.
	since map[string]time.Duration
}

// failures returns what failed, of all that was found.
func (j *judge) failures() []failure {
	var out []failure
	for i := range j.out.Findings {
		f := &j.out.Findings[i]
		if f.Class != Shortfall || f.Kind != string(compare.ExchangeFailed) && f.Kind != string(compare.TargetExited) {
			continue
		}
		fail := failure{target: f.Target, line: f.Line, since: map[string]time.Duration{}}
		for _, t := range j.Transcripts {
			if at, ok := begun(t, f.Step, f.exchange); ok && t.Target != f.Target {
				fail.since[t.Target] = at
			}
		}
		out = append(out, fail)
	}
	return out
}

// begun returns when an exchange of a step was begun. One that is joined was begun by an earlier step.
func begun(t *transcript.Transcript, step string, exchange int) (at time.Duration, ok bool) {
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.ID != step {
			continue
		}
		at = s.At
		if exchange >= 0 && exchange < len(s.Exchanges) {
			at = min(at, s.Exchanges[exchange].Sent)
		}
		for ; i >= 0; i-- {
			if earlier := t.Steps[i].At; earlier <= at {
				return earlier, true
			}
		}
		return at, true
	}
	return 0, false
}

// trace finds the differences on streams that follow from a failure. A stream's findings stand at the step that opened
// it, so without this an event that a hang has kept back would be told before the hang.
func (j *judge) trace() {
	failures := j.failures()
	for i := range j.out.Findings {
		f := &j.out.Findings[i]
		for _, fail := range failures {
			other := f.Target
			if fail.target == f.Target {
				other = j.Transcripts[0].Target
			} else if fail.target != j.Transcripts[0].Target {
				continue
			}
			since, known := fail.since[other]
			if came, ok := f.came[other]; known && ok && came >= since {
				f.behind = max(f.behind, fail.line)
			}
		}
	}
}

// came returns when the events of a difference came, by the target.
func (j *judge) came(i int, d compare.Difference) map[string]time.Duration {
	if d.Stream == "" {
		return nil
	}
	out := map[string]time.Duration{}
	for side, t := range [2]*transcript.Transcript{j.Transcripts[0], j.Transcripts[i]} {
		for _, s := range t.Streams {
			if n := d.Events[side]; s.Name == d.Stream && n >= 0 {
				out[t.Target] = s.Events[n].At
			}
		}
	}
	return out
}
