package run

import (
	"context"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Stepper performs the steps of a scenario one by one, for a program that decides about each step when it has seen the
// one before. Its functions must not be called at the same time.
type Stepper struct {
	// Step performs a step on all targets, and returns what each of them did.
	Step func(*scenario.Step) []Observed
	// Capture gives names to values of a step that has been performed. A missing value is recorded in that step.
	Capture func(step string, captures []scenario.Capture)
}

// An Observed is what a target did in a step. It must not be changed.
type Observed struct {
	Target string
	Step   transcript.Step   // zero for a step with branches, which has several records
	Event  *transcript.Event // the last event that the step awaited; nil if none came
}

// Stepwise is Scenario for a program that adds the steps while perform runs. When perform returns a reason, the steps
// were cut short.
func Stepwise(ctx context.Context, sc *scenario.Scenario, targets []*Target, opts *Options, perform func(*Stepper) (cut string)) []*transcript.Transcript {
	return observe(ctx, sc, targets, opts, func(ctx context.Context, s *session) {
		cut := perform(&Stepper{
			Step:    func(st *scenario.Step) []Observed { s.step(ctx, st); return s.observed(ctx, st) },
			Capture: func(step string, captures []scenario.Capture) { s.capture(ctx, step, captures) },
		})
		for _, d := range s.drivers {
			d.t.Aborted = cut
		}
	})
}

// observed returns what the targets did in a step that has just been performed.
func (s *session) observed(ctx context.Context, st *scenario.Step) []Observed {
	out := make([]Observed, len(s.drivers))
	for i, d := range s.drivers {
		out[i].Target = d.target.Name
		if rec := recordOf(d.t, st.ID); rec != nil {
			out[i].Step, out[i].Event = *rec, lastEvent(ctx, d.streams.get(rec.Stream), rec)
		}
	}
	return out
}

// capture captures values of a step that has been performed.
func (s *session) capture(ctx context.Context, step string, captures []scenario.Capture) {
	for _, d := range s.drivers {
		rec := recordOf(d.t, step)
		if rec == nil || rec.Skipped != "" || rec.Fault != "" {
			continue
		}
		st := d.streams.get(rec.Stream)
		if n := len(rec.Exchanges); n > 0 && rec.Stream == "" {
			d.captureResponse(rec.Exchanges[n-1], captures, rec)
		} else if ev := lastEvent(ctx, st, rec); ev != nil {
			d.targetRun.capture(captures, []byte(ev.Data), nil, st.origin(rec), rec)
		}
	}
}

// recordOf returns the record of a step, or nil.
func recordOf(t *transcript.Transcript, step string) *transcript.Step {
	i := slices.IndexFunc(t.Steps, func(rec transcript.Step) bool { return rec.ID == step })
	if i < 0 {
		return nil
	}
	return &t.Steps[i]
}

// lastEvent returns the last event that a step awaited on a stream, or nil.
func lastEvent(ctx context.Context, st *stream, awaited *transcript.Step) (last *transcript.Event) {
	if st == nil || len(awaited.Events) == 0 {
		return nil
	}
	_, _ = st.wire.Await(ctx, awaited.Events[len(awaited.Events)-1], func(ev *transcript.Event) bool { // it has come
		event := *ev
		last = &event
		return true
	})
	return last
}
