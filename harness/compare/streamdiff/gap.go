package streamdiff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A trigger is an action of the client at a moment: it sent a request, or hung up.
type trigger struct {
	step  string
	index int // of the exchange; -1 for the step itself
	at    time.Duration
}

// triggers returns the actions of a side's client in the order of time.
func triggers(t *transcript.Transcript) []trigger {
	var out []trigger
	for i := range t.Steps {
		step := &t.Steps[i]
		switch step.Kind {
		case "send", "signal", "close", "half-close", "drop", "stop", "kill", "restart":
			if step.Skipped == "" {
				out = append(out, trigger{step.ID, -1, step.At})
			}
			continue
		}
		for k, x := range step.Exchanges {
			if x.Failure == nil || x.Failure.Phase != transcript.PhaseConnect && x.Failure.Phase != transcript.PhaseSend {
				out = append(out, trigger{step.ID, k, x.Sent})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b trigger) int { return int(a.at - b.at) })
	return out
}

// lastBefore returns the last trigger before a moment.
func lastBefore(all []trigger, at time.Duration) (trigger, bool) {
	for _, t := range slices.Backward(all) {
		if t.at <= at {
			return t, true
		}
	}
	return trigger{}, false
}

// gaps returns how long two corresponding events came after their trigger. That is the client's latest action that came
// before the event on both sides. So an event after the next request counts as late, and not as early.
func (s *streams) gaps(ref, cand *transcript.Event) (after string, gaps [2]time.Duration, ok bool) {
	ats := [2]time.Duration{ref.At, cand.At}
	for side := range ats {
		last, found := lastBefore(s.triggers[side], ats[side])
		if !found {
			continue
		}
		i := slices.IndexFunc(s.triggers[1-side], func(t trigger) bool { return t.step == last.step && t.index == last.index })
		if i < 0 || s.triggers[1-side][i].at > ats[1-side] {
			continue
		}
		other := s.triggers[1-side][i]
		mine := [2]time.Duration{}
		mine[side], mine[1-side] = ats[side]-last.at, ats[1-side]-other.at
		if !ok || mine[0]+mine[1] < gaps[0]+gaps[1] {
			after, gaps, ok = last.step, mine, true
		}
	}
	return after, gaps, ok
}

// gap compares how long two corresponding events took.
func (s *streams) gap(p pair) {
	rule := s.Rules.Gap
	if rule == nil {
		return
	}
	step, gaps, ok := s.gaps(p.ref.event, p.cand.event)
	if !ok {
		return
	}
	var stalled time.Duration
	for side, ev := range []*transcript.Event{p.ref.event, p.cand.event} {
		from := ev.At - gaps[side]
		stalled = max(stalled, s.Runs[side].MachineDelay(from, from+rule.Max, ev.At))
	}
	var late []string
	for side, gap := range gaps {
		if rule.Max > 0 && gap > rule.Max+stalled {
			late = append(late, diff.Side(side).String()+"'s")
		}
	}
	var why diff.Reason
	switch {
	case len(late) > 0:
		why = diff.Because(diff.EventGap, diff.EventLate, strings.Join(late, " and "), rule.Max, stallNote(stalled))
	case rule.Tolerance > 0 && (gaps[0]-gaps[1]).Abs() > rule.Tolerance+stalled:
		why = diff.Because(diff.EventGap, diff.EventsApart, rule.Tolerance, stallNote(stalled))
	default:
		return
	}
	show := func(gap time.Duration) diff.Excerpt {
		return diff.Show(fmt.Sprintf("%s after step %s", gap.Round(time.Millisecond), step))
	}
	at := atEvent(p.ref)
	at.Part = "gap"
	s.report(diff.Difference{
		Reason: why, Events: [2]int{p.ref.index, p.cand.index}, At: at,
		Ref: show(gaps[0]), Cand: show(gaps[1]), Fingerprint: diff.Digest(p.ref.name, strings.Join(late, " ")),
	})
}
