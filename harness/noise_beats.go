package harness

import (
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A NoiseBeat is an operation whose streams all beat when they open, where a rule knows of the interval alone.
type NoiseBeat struct {
	Operation string
	Streams   int // that were seen to beat
}

// openings are the streams of an operation that beat, and those that did so with their opening.
type openings struct{ all, atOnce int }

// beats finds the operations whose rule could demand the first beat at the opening. A beat that is not there proves nothing:
// its stream may have had nothing to wait for.
func (s *survey) beats() {
	seen := map[string]*openings{}
	for _, c := range s.cases {
		rules := compareRules(s.project.Rules, c.Scenario)
		for _, t := range c.Transcripts {
			for _, st := range t.Streams {
				rule, named := rules.Streams[st.Name]
				if !named {
					rule = rules.Streams[st.Operation]
				}
				if h := rule.Heartbeat; h == nil || h.Every == 0 || h.First != h.Every {
					continue
				}
				first := slices.IndexFunc(st.Events, func(ev transcript.Event) bool { return rules.Beats(st.Name, st.Operation, &ev) })
				if first < 0 {
					continue
				}
				if seen[st.Operation] == nil {
					seen[st.Operation] = &openings{}
				}
				seen[st.Operation].add(t, st, &st.Events[first], rule.Heartbeat)
			}
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(seen)) {
		if o := seen[operation]; o.all >= enough && o.atOnce == o.all {
			s.out.Beats = append(s.out.Beats, NoiseBeat{operation, o.all})
		}
	}
}

// add counts a stream by its first beat: nobody takes one that comes within a quarter of an interval for that of its end.
func (o *openings) add(t *transcript.Transcript, st *transcript.Stream, first *transcript.Event, h *compare.Heartbeat) {
	o.all++
	if first.At-st.At <= h.Every/4+t.Excuse(st.At, st.At, first.At) {
		o.atOnce++
	}
}
