package harness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// stale says what has changed since a scenario was recorded, so that the reference might do something else in it today, or
// be asked something else; "" when nothing has. Rules of comparison, waivers and the contract are not asked: a recording is
// what was observed, and they judge it as they are now. Only by the names that it gives to streams and events does the
// contract have a say in what is observed.
func (r *Recording) stale(s *scenario.Scenario) string {
	sum, recorded := r.Header.Recording.Scenarios[s.ID]
	t := r.transcripts[s.ID]
	const since = " has changed since the recording"
	switch {
	case r.elsewhere() != "":
		return r.elsewhere()
	case !recorded || t == nil && r.notApplicable[s.ID] == "":
		return "the recording does not have the scenario"
	case sum != scenarioSum(s):
		return s.File + since
	case t == nil:
		return ""
	}
	if limit := r.limited(s, t); limit != "" {
		return "limits." + limit + since + ", in which the scenario ran into it"
	}
	if name := r.renamed(t); name != "" {
		return "the contract" + since + ": it calls " + name
	}
	return ""
}

// elsewhere says what has changed that concerns all scenarios: the reference, and what is kept of what it says.
func (r *Recording) elsewhere() string {
	was, now := r.Header.Recording, r.project.settingsOf(r.Reference())
	if was.Version != "" && r.version != "" && was.Version != r.version {
		return fmt.Sprintf("the reference has changed since the recording, from %s to %s", was.Version, r.version)
	}
	keys := slices.Collect(maps.Keys(was.Settings))
	keys = slices.AppendSeq(keys, maps.Keys(now))
	slices.Sort(keys)
	for _, key := range keys {
		if was.Settings[key] != now[key] {
			return fmt.Sprintf("%s: %s has changed since the recording", r.project.File, key)
		}
	}
	if was.Limits.Settle != r.project.Limits.Settle {
		return "limits.settle has changed since the recording"
	}
	return ""
}

// limited names a limit that has changed and that cut something short in the recording, or would today; "" when none has.
func (r *Recording) limited(s *scenario.Scenario, t *transcript.Transcript) string {
	was, now := r.Header.Recording.Limits, r.project.Limits.recorded()
	var step time.Duration
	var body int64
	events := 0
	for i := range t.Steps {
		step = max(step, t.Steps[i].Took)
		for _, x := range t.Steps[i].Exchanges {
			if x.Response != nil {
				body = max(body, x.Response.Body.Size)
			}
		}
	}
	for _, stream := range t.Streams {
		events = max(events, len(stream.Events))
	}
	switch {
	case reached(step, was.Step, now.Step):
		return "step"
	case s.Limit == 0 && reached(t.Took, was.Scenario, now.Scenario):
		return "scenario"
	case reached(body, was.Body, now.Body):
		return "body"
	case reached(events, was.Events, now.Events):
		return "events"
	}
	return ""
}

// reached reports whether something came up to a bound that was changed, as it was or as it is.
func reached[T cmp.Ordered](amount, was, now T) bool { return was != now && amount >= min(was, now) }

// renamed names a stream, or an event, that the contract calls otherwise now: scenarios wait for events by their names, and
// rules are about streams by the names of their operations.
func (r *Recording) renamed(t *transcript.Transcript) string {
	if r.Header.Contract == r.project.sums.contract {
		return ""
	}
	asked := consultant{r.project.Contract}
	for _, s := range t.Streams {
		for _, x := range exchangesOf(t, s) {
			if now := asked.Operation(x.Request.Method, x.Request.Target); now != s.Operation {
				return fmt.Sprintf("the stream %s %q, and then %q", s.Name, now, s.Operation)
			}
		}
		for i := range s.Events {
			if now := asked.EventName(s.Operation, &s.Events[i]); now != s.Events[i].Name {
				return fmt.Sprintf("an event of the stream %s %q, and then %q", s.Name, now, s.Events[i].Name)
			}
		}
	}
	return ""
}

// exchangesOf returns the exchanges that opened a stream.
func exchangesOf(t *transcript.Transcript, s *transcript.Stream) (out []*transcript.Exchange) {
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			if t.Steps[i].ID == s.Step && x.Stream == s.Name {
				out = append(out, x)
			}
		}
	}
	return out
}

// Stale returns the scenarios of a selection that cannot be judged against the recording, and why, in their order.
func (r *Recording) Stale(sel Selection) (ids, why []string) {
	picked, err := r.project.pick(sel)
	if err != nil {
		return nil, nil
	}
	for _, s := range picked {
		if text := r.stale(s); text != "" {
			ids, why = append(ids, s.ID), append(why, text)
		}
	}
	return ids, why
}

func scenarioSum(s *scenario.Scenario) string {
	return sum(append([]byte(s.ID+"\n"), s.Whole()...))[:32]
}
