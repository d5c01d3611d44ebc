package runfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// StaleReason says what has changed since a scenario was recorded, so that the reference might act differently today or
// get other requests. It returns "" when nothing has. Comparison rules, waivers and the contract do not matter, because
// they apply when a recording is judged. But the contract names streams and events, which scenarios refer to.
func (r *Recording) StaleReason(s *scenario.Scenario) string {
	sum, recorded := r.Header.Recording.Scenarios[s.ID]
	t := r.transcripts[s.ID]
	const since = " has changed since the recording"
	switch {
	case r.changedForAll() != "":
		return r.changedForAll()
	case !recorded || t == nil && r.notApplicable[s.ID] == "":
		return "the recording does not have the scenario"
	case sum != project.ScenarioSum(s):
		return s.File + since
	case t == nil:
		return ""
	}
	if limit := r.changedLimit(s, t); limit != "" {
		return "limits." + limit + since + ", when the scenario reached it"
	}
	if name := r.changedName(t); name != "" {
		return "the contract" + since + ": it calls " + name
	}
	return ""
}

// changedForAll says what has changed for all scenarios: the reference, or how much of its responses is kept.
func (r *Recording) changedForAll() string {
	was, now := r.Header.Recording, r.project.Settings(r.Reference())
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

// changedLimit names a changed limit that cut something short in the recording, or would do so now. It returns "" when
// there is none.
func (r *Recording) changedLimit(s *scenario.Scenario, t *transcript.Transcript) string {
	was, now := r.Header.Recording.Limits, r.project.Limits.Recorded()
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

// reached reports whether an amount is at the old or the new value of a limit that has changed.
func reached[T cmp.Ordered](amount, was, now T) bool { return was != now && amount >= min(was, now) }

// changedName names a stream or an event that the contract has renamed. Scenarios await events by name, and rules refer
// to streams by the names of their operations.
func (r *Recording) changedName(t *transcript.Transcript) string {
	if r.Header.Contract == r.project.Sums.Contract {
		return ""
	}
	asked := r.project.ContractLookup()
	for _, s := range t.Streams {
		for _, x := range exchangesOf(t, s) {
			if now := asked.Operation(x.Request.Method, x.Request.Target); now != s.Operation {
				return fmt.Sprintf("the stream %s %q, and then %q", s.Name, now, s.Operation)
			}
		}
		name := asked.EventNamer(s.Operation)
		for i := range s.Events {
			if now := name(&s.Events[i]); now != s.Events[i].Name {
				return fmt.Sprintf("an event of the stream %s %q, and then %q", s.Name, now, s.Events[i].Name)
			}
		}
	}
	return ""
}

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

// Stale returns, in their order, the selected scenarios that cannot be judged against the recording, and the reasons.
func (r *Recording) Stale(sel project.Selection) (ids, why []string) {
	picked, err := r.project.Select(sel)
	if err != nil {
		return nil, nil
	}
	for _, s := range picked {
		if text := r.StaleReason(s); text != "" {
			ids, why = append(ids, s.ID), append(why, text)
		}
	}
	return ids, why
}
