package harness

import (
	"encoding/json"
	"maps"

	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A recording depends on what the reference was, and on what is taken out of what it said. How what it said is compared,
// and what it is held against, does not matter: that is asked when it is judged.

// targetSettings sums up what lockstep.yaml says of what a target is. When it counts as ready, and how long it may take to
// stop, does not change what it does.
func targetSettings(name string, n *yamldoc.Node, files []target.File) map[string]string {
	prefix := "targets." + name + "."
	out := settingSums(prefix, n, "command", "dir", "env", "inherit", "headers")
	if len(files) > 0 {
		out[prefix+"files"] = settingSum(files) // with their contents, and those of the project that it gets
	}
	return out
}

// settingSums sums up some keys of a map, those that are there.
func settingSums(prefix string, n *yamldoc.Node, keys ...string) map[string]string {
	out := map[string]string{}
	for _, key := range keys {
		if v := n.Get(key); v != nil {
			out[prefix+key] = settingSum(v.Value())
		}
	}
	return out
}

func settingSum(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("harness: a setting that is no JSON: " + err.Error()) // maps, lists and scalars are
	}
	return sum(data)[:16]
}

// settingsOf returns the sums that a recording of a target depends on.
func (p *Project) settingsOf(name string) map[string]string {
	out := maps.Clone(p.settings)
	maps.Copy(out, p.ofTarget[name])
	return out
}

func (l Limits) recorded() transcript.Limits {
	return transcript.Limits{Step: l.Step, Scenario: l.Scenario, Settle: l.Settle, Body: l.Body, Events: l.Events}
}
