package verdict

import (
	"cmp"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// order sorts findings by what they are about: the step, then the exchange or event, then differences before others. A
// consequence of a failure comes after the failure.
func (f Finding) order(g Finding) int {
	return cmp.Or(
		cmp.Compare(max(f.orderLine(), f.followsLine), max(g.orderLine(), g.followsLine)), cmp.Compare(min(f.followsLine, 1), min(g.followsLine, 1)),
		cmp.Compare(g.Upstream, f.Upstream), // a server calls its upstreams before it responds
		cmp.Compare(f.Step, g.Step),
		cmp.Compare(f.exchange, g.exchange), cmp.Compare(f.event, g.event), cmp.Compare(f.Class, g.Class),
	)
}

// orderLine is the line at which a finding is reported.
func (f *Finding) orderLine() int {
	if f.Upstream != "" {
		return f.lineDuring
	}
	return f.Line
}

// A failure is an exchange that one target broke or did not answer, or the end of its process.
type failure struct {
	target string
	line   int
	// startedOn is when each other target began the same exchange. What they sent on their streams from then on may be
	// what this target could not send.
	startedOn map[string]time.Duration
}

// failures returns the failures among the findings.
func failures(ts []*transcript.Transcript, findings []Finding) []failure {
	var out []failure
	for i := range findings {
		f := &findings[i]
		if f.Class != Unmet || f.Kind != string(compare.ExchangeFailed) && f.Kind != string(compare.TargetExited) {
			continue
		}
		fail := failure{target: f.Target, line: f.Line, startedOn: map[string]time.Duration{}}
		for _, t := range ts {
			if at, ok := exchangeStart(t, f.Step, f.exchange); ok && t.Target != f.Target {
				fail.startedOn[t.Target] = at
			}
		}
		out = append(out, fail)
	}
	return out
}

// exchangeStart returns when an exchange of a step began. A joined exchange began in an earlier step.
func exchangeStart(t *transcript.Transcript, step string, exchange int) (at time.Duration, ok bool) {
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

// orderAfterFailures finds the differences on streams that follow from a failure. A stream's findings are listed at the
// step that opened it. So without this, an event that a hang has held back would be listed before the hang.
func orderAfterFailures(ts []*transcript.Transcript, findings []Finding) {
	failed := failures(ts, findings)
	for i := range findings {
		f := &findings[i]
		for _, fail := range failed {
			other := f.Target
			if fail.target == f.Target {
				other = ts[0].Target
			} else if fail.target != ts[0].Target {
				continue
			}
			since, known := fail.startedOn[other]
			if came, ok := f.arrivals[other]; known && ok && came >= since {
				f.followsLine = max(f.followsLine, fail.line)
			}
		}
	}
}

// arrivals returns when the events of a difference came, by target.
func arrivals(ref, cand *transcript.Transcript, d diff.Difference) map[string]time.Duration {
	if d.Stream == "" {
		return nil
	}
	out := map[string]time.Duration{}
	for side, t := range [2]*transcript.Transcript{ref, cand} {
		for _, s := range t.Streams {
			if n := d.Events[side]; s.Name == d.Stream && n >= 0 {
				out[t.Target] = s.Events[n].At
			}
		}
	}
	return out
}

// orderAfterWrongIDs finds wrong ids in events that came after an exchange with a wrong id began. A stream's findings
// are listed at the step that opened it. So without this, an event would be listed before the response whose id it
// repeats.
func orderAfterWrongIDs(ts []*transcript.Transcript, findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if !f.isIdentity() || f.Stream == "" {
			continue
		}
		came, ok := f.arrivals[f.Target]
		if !ok {
			continue
		}
		first := 0 // the line of the first such exchange
		for k := range findings {
			g := &findings[k]
			if !g.isIdentity() || g.Stream != "" || g.Target != f.Target || g.Line < f.Line || first > 0 && g.Line >= first {
				continue
			}
			if since, known := startFor(ts, g); known && since <= came {
				first = g.Line
			}
		}
		f.followsLine = max(f.followsLine, first)
	}
}

// startFor returns when an exchange began, on the target that a finding is about.
func startFor(ts []*transcript.Transcript, f *Finding) (time.Duration, bool) {
	for _, t := range ts {
		if t.Target == f.Target {
			return exchangeStart(t, f.Step, f.exchange)
		}
	}
	return 0, false
}

func (f *Finding) isIdentity() bool {
	return f.Class == Difference && f.Kind == string(diff.IdentityBroken)
}
