package verdict

import (
	"slices"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// emptySelections gives a reason for each stream on which no target sent an event that its `only` selects. A pattern
// with a typo selects nothing, and then the events are equal because there are none. It skips streams with a `never`,
// which expects no events, and streams that a server has ended, because their ends were compared.
func (j *judge) emptySelections() []Reason {
	var out []Reason
	for _, first := range j.Transcripts[0].Streams {
		if !first.Only || slices.ContainsFunc(j.Transcripts, func(t *transcript.Transcript) bool { return hasEvidence(t, first.Name) }) {
			continue
		}
		reason := Reason{
			Step: first.Step,
			Text: "no event on " + first.Name + " matched its `only`, so none of its events were compared: correct the pattern, or expect no events with `never`",
		}
		if s := j.script.steps[first.Step]; s != nil {
			reason.Line = s.Line
		}
		out = append(out, reason)
	}
	return out
}

// hasEvidence reports whether anything shows that the selection on a stream is right.
func hasEvidence(t *transcript.Transcript, stream string) bool {
	return slices.ContainsFunc(t.Windows, func(w transcript.Window) bool { return w.Stream == stream }) ||
		slices.ContainsFunc(t.Streams, func(s *transcript.Stream) bool {
			return s.Name == stream && (s.Ended != transcript.EndedByClient || slices.ContainsFunc(s.Events, func(ev transcript.Event) bool { return !ev.Comment }))
		})
}

// reasons collects what prevents a transcript from being judged.
func (j *judge) reasons(t *transcript.Transcript, reference bool) {
	add := func(r Reason) {
		r.Target = t.Target
		r.Text = j.masker.Mask(r.Text)
		r.Log = slices.Clone(r.Log)
		for i := range r.Log {
			r.Log[i] = j.masker.Mask(r.Log[i])
		}
		j.out.Reasons = append(j.out.Reasons, r)
	}
	switch {
	case t.Unusable != "":
		add(Reason{Text: t.Unusable, Log: t.Log})
		j.referenceLost = j.referenceLost || reference
	case t.Exit != nil && reference:
		add(Reason{Text: "the reference's process ended: " + t.Exit.How(), Log: t.Exit.Log})
		j.referenceLost = true
	case t.Exit != nil: // this is a finding too, but only a reason has the log
		add(Reason{Text: "the process ended: " + t.Exit.Status, Log: t.Exit.Log})
	case t.Aborted != "":
		add(Reason{Text: "cut short: " + t.Aborted})
	}
	for s := range t.AllSteps() {
		if s.Fault != "" {
			add(Reason{Step: s.ID, Line: s.Line, Text: s.Fault})
		}
	}
	for _, u := range compare.Unreadable(t) {
		add(Reason{Step: u.Step, Line: j.script.steps[u.Step].Line, Text: u.Text})
	}
}
