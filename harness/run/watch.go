package run

import "github.com/lockstep-dev/lockstep/harness/transcript"

// A Watch is told when a target begins something that takes time. What it returns is called when that is done, once.
// Several goroutines call it at the same time.
type Watch func(Activity) (done func(Outcome))

// An Activity is a step under way, or a request that was started and is not joined yet.
type Activity struct {
	Scenario string
	Step     string // its id
	Text     string // how the scenario's file says it
}

// An Outcome is what an activity says of the target it ran on.
type Outcome int

// The outcomes.
const (
	Silent   Outcome = iota // nothing
	Answered                // it was there: it has answered
	Broken                  // it has hung up in the middle
)

// watch announces a step.
func (w *walker) watch(rec *transcript.Step) (done func(Outcome)) {
	if w.server.Watch == nil {
		return func(Outcome) {}
	}
	return w.server.Watch(Activity{Scenario: w.t.Scenario, Step: rec.ID, Text: rec.Text})
}

// outcome is what a step that was done says of the target.
func (w *walker) outcome(rec *transcript.Step) Outcome {
	out := Silent
	for _, x := range rec.Exchanges {
		out = max(out, outcomeOf(x))
	}
	if s := w.stream(rec.Stream); s != nil && rec.Unmet != nil && s.Ended() {
		return Broken
	}
	return out
}

func outcomeOf(x *transcript.Exchange) Outcome {
	switch {
	case x == nil:
		return Silent
	case x.Failure == nil && x.Response != nil:
		return Answered
	case x.Failure == nil:
		return Silent
	}
	switch x.Failure.Kind {
	case transcript.FailReset, transcript.FailClosed:
		return Broken
	case transcript.FailConnect:
		if x.Sent > 0 { // on a connection that broke; there was no other to try it again
			return Broken
		}
	}
	return Silent
}
