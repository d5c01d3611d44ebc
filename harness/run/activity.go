package run

import "github.com/lockstep-dev/lockstep/harness/transcript"

// A Watch is called when a target begins something that takes time. The function that it returns is called once, when
// that is done. Watches are called from several goroutines at the same time.
type Watch func(Activity) (done func(Outcome))

// An Activity is a running step, or a started request that is not joined yet.
type Activity struct {
	Scenario string
	Step     string // its id
	Text     string // the step as the scenario's file has it
}

// An Outcome is what the end of an activity shows about its target.
type Outcome int

const (
	Inconclusive Outcome = iota // it shows nothing
	Answered                    // the target has responded, so it was running
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
		if x.Sent > 0 { // a kept connection broke, and a new one could not be opened
			return Disconnected
		}
	}
	return Inconclusive
}
