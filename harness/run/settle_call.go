package run

import (
	"context"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// settleCall lets targets answer a started request that another target, or the recording, has an answer to. Then it decides,
// for all walkers at once, which answers came before the request is given up: what comes later is chance.
func (r *stage) settleCall(ctx context.Context, name string) {
	var calls []*call
	for _, w := range r.walkers {
		w.mu.Lock()
		if c := w.calls[name]; c != nil && !c.agreed {
			calls = append(calls, c)
		}
		w.mu.Unlock()
	}
	done := doneOf(calls)
	if slices.Contains(done, true) || len(calls) > 0 && r.answerRecorded(name) {
		ctx, cancel := r.settling(ctx)
		defer cancel()
		for _, c := range calls {
			select {
			case <-c.done:
			case <-ctx.Done():
			}
		}
		done = doneOf(calls)
	}
	for i, c := range calls {
		c.agreed, c.late = true, !done[i]
	}
}

func doneOf(calls []*call) []bool {
	out := make([]bool, len(calls))
	for i, c := range calls {
		select {
		case <-c.done:
			out[i] = true
		default:
		}
	}
	return out
}

// answerRecorded reports whether the recording has an answer to a started request that the scenario gives up.
func (r *stage) answerRecorded(name string) bool {
	if r.opts.Recorded == nil {
		return false
	}
	for i := range r.script.Steps {
		st := &r.script.Steps[i]
		if do, ok := st.Do.(*scenario.Hangup); !ok || do.Name != name {
			continue
		}
		return slices.ContainsFunc(r.opts.Recorded.Steps, func(s transcript.Step) bool {
			return s.ID == st.ID && len(s.Exchanges) == 1 && s.Exchanges[0].Failure == nil
		})
	}
	return false
}

// callNames returns the names of all started requests that are neither joined nor given up.
func (r *stage) callNames() []string {
	var names []string
	for _, w := range r.walkers {
		w.mu.Lock()
		for name := range w.calls {
			names = append(names, name)
		}
		w.mu.Unlock()
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// giveUp hangs up, and returns what came of the request until then.
func (c *call) giveUp() *transcript.Exchange {
	c.cancel(errDone)
	<-c.done
	if c.late && c.x != nil {
		if c.x.Failure == nil {
			c.x.Failure = &transcript.Failure{Phase: transcript.PhaseBody, Text: "it was answered when it had been given up"}
		}
		c.x.Failure.Kind = transcript.FailCanceled
	}
	return c.x
}
