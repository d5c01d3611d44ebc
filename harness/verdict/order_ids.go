package verdict

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
)

// traceIDs finds wrong ids in events that came after an exchange with one was begun. A stream's findings stand at the step
// that opened it, so without this an event would be told before the answer whose id it repeats.
func (j *judge) traceIDs() {
	for i := range j.out.Findings {
		f := &j.out.Findings[i]
		if !f.confusesIDs() || f.Stream == "" {
			continue
		}
		came, ok := f.came[f.Target]
		if !ok {
			continue
		}
		first := 0 // the line of the first such exchange
		for k := range j.out.Findings {
			g := &j.out.Findings[k]
			if !g.confusesIDs() || g.Stream != "" || g.Target != f.Target || g.Line < f.Line || first > 0 && g.Line >= first {
				continue
			}
			if since, known := j.since(g); known && since <= came {
				first = g.Line
			}
		}
		f.behind = max(f.behind, first)
	}
}

// since returns when an exchange of the target that a finding is about was begun.
func (j *judge) since(f *Finding) (time.Duration, bool) {
	for _, t := range j.Transcripts {
		if t.Target == f.Target {
			return begun(t, f.Step, f.exchange)
		}
	}
	return 0, false
}

func (f *Finding) confusesIDs() bool {
	return f.Class == Difference && f.Kind == string(compare.IdentityBroken)
}
