package verdict

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// blind gives a reason for each stream on which nothing came that its `only` selects, from no target: a pattern with a slip
// in it selects nothing, and the events would be equal because there are none. A `never` says that nothing shall come, and
// a stream that a server has ended was compared by its end.
func (j *judge) blind() []Reason {
	var out []Reason
	for _, first := range j.Transcripts[0].Streams {
		if !first.Only || slices.ContainsFunc(j.Transcripts, func(t *transcript.Transcript) bool { return tells(t, first.Name) }) {
			continue
		}
		reason := Reason{
			Step: first.Step,
			Text: "nothing came on " + first.Name + " that its `only` selects, so none of its events were compared: mend the pattern, or say with `never` that nothing shall come",
		}
		if s := j.steps[first.Step]; s != nil {
			reason.Line = s.Line
		}
		out = append(out, reason)
	}
	return out
}

// tells reports whether there is anything to go by about the events of a stream.
func tells(t *transcript.Transcript, stream string) bool {
	return slices.ContainsFunc(t.Windows, func(w transcript.Window) bool { return w.Stream == stream }) ||
		slices.ContainsFunc(t.Streams, func(s *transcript.Stream) bool {
			return s.Name == stream && (s.Ended != transcript.EndedByClient || slices.ContainsFunc(s.Events, func(ev transcript.Event) bool { return !ev.Comment }))
		})
}
