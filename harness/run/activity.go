package run

import "github.com/lockstep-dev/lockstep/harness/transcript"

// A Watch is called when a target begins something that takes time. What it returns is called once, when that is done.
// Several goroutines call it at the same time.
type Watch func(Activity) (done func(Outcome))

// An Activity is a step under way, or a request that was started and is not joined yet.
type Activity struct {
	Scenario string
	Step     string // its id
	Text     string // how the scenario's file says it
}

// An Outcome is what the end of an activity tells about the target it ran on.
type Outcome int

// The outcomes.
const (
	Inconclusive Outcome = iota // nothing
	Answered                    // the target has answered, so it was there
	Disconnected                // the target has closed the connection too early
)

// announce tells the target's Watch that a step begins.
func (r *targetRun) announce(rec *transcript.Step) (done func(Outcome)) {
	if r.target.Watch == nil {
		return func(Outcome) {}
	}
	return r.target.Watch(Activity{Scenario: r.t.Scenario, Step: rec.ID, Text: rec.Text})
}

func outcomeOf(x *transcript.Exchange) Outcome {
	switch {
	case x == nil:
		return Inconclusive
	case x.Failure == nil && x.Response != nil:
		return Answered
	case x.Failure == nil:
		return Inconclusive
	}
	switch x.Failure.Kind {
	case transcript.FailReset, transcript.FailClosed:
		return Disconnected
	case transcript.FailConnect:
		if x.Sent > 0 { // a kept connection broke, and no new one could be made
			return Disconnected
		}
	}
	return Inconclusive
}
