package compare

import (
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// streams compares the streams that both sides have, in the order in which the reference opened them.
func (c *comparison) streams() {
	cand := map[string]*transcript.Stream{}
	for _, s := range c.runs.sides[1].Streams {
		cand[s.Name] = s
	}
	for _, ref := range c.runs.sides[0].Streams {
		other := cand[ref.Name]
		if other == nil {
			c.found.notCompared("not opened by both targets", len(ref.Events))
			continue
		}
		if unreadableStream(c.runs.sides[0], ref)+unreadableStream(c.runs.sides[1], other) != "" {
			c.found.notCompared("an event stream in a coding that cannot be read", 1)
			continue
		}
		key := c.rules.streamKey(ref.Name, ref.Operation)
		c.json.IDs.Applied[streamdiff.Applied(key)] = true
		both := streamdiff.Recordings{
			JSON: c.json, Sides: [2]*transcript.Stream{ref, other}, Runs: c.runs.sides,
			Rules: c.rules.Streams[key], RuleKey: key, Volatile: c.rules.volatile(ref.Step),
			Killed: c.runs.killed, Report: c.found.add, NotCompared: c.found.notCompared,
		}
		c.found.result.Events += both.Compare()
	}
}
