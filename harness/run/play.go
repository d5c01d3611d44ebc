package run

import (
	"encoding/json"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Play has a stub answer whatever comes by rules, with no scenario around them, until stop is called. As in a scenario, it
// answers a bounded number of requests.
func Play(s *stub.Server, name string, rules []scenario.StubRule) (stop func()) {
	w := &walker{stage: &stage{}, t: &transcript.Transcript{Unique: unique(), Started: time.Now()}}
	w.env.values = map[string]json.RawMessage{"unique": quote(w.t.Unique)}
	u := &upstream{w: w, stub: s, name: name, rules: rules, underWay: map[*transcript.Step]int{}, gone: map[string]int{}}
	for _, r := range rules {
		u.steps = append(u.steps, &transcript.Step{ID: scenario.UpstreamID(name, r.Name), Kind: "upstream"})
	}
	return s.Attach(u, w.t.Unique, true, w.t.Started)
}
