package mutate

import (
	"bytes"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// foreignOperators send what is for somebody else.
var foreignOperators = []Operator{
	eachEvent("foreign", "event", "It sends another client's event too", func(s *Subject, o *occurrence, yield emit) bool {
		unique := s.Candidate.Unique
		if unique == "" || !strings.Contains(o.ev.Data, unique) {
			return true
		}
		data := strings.ReplaceAll(o.ev.Data, unique, fresh(unique, 7))
		return yield(s.sequenceMutant(o, "and "+data, 1, func(all []transcript.Event) []transcript.Event {
			other := all[o.index]
			other.Data = data
			return slices.Insert(all, o.index+1, other)
		}))
	}),
	eachEvent("foreign", "instead", "It sends another client's event in the place of ours", func(s *Subject, o *occurrence, yield emit) bool {
		unique := s.Candidate.Unique
		if unique == "" || !strings.Contains(o.ev.Data, unique) {
			return true
		}
		data := strings.ReplaceAll(o.ev.Data, unique, fresh(unique, 7))
		return yield(s.eventMutant(o, " data", o.ev.Data, data, func(ev *transcript.Event) { ev.Data = data }))
	}),
	operator("foreign", "answer", "It answers with what belongs to another request", func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			r := a.x.Response
			if a.x.Stream != "" || a.st.Burst {
				return true
			}
			var other *answer
			s.answers(func(b *answer) bool {
				o := b.x.Response
				if b.x.Stream == "" && o.Status == r.Status && b.index+b.step != a.index+a.step && !o.Body.IsZero() && !s.sameBody(a, b) {
					other = b
				}
				return other == nil
			})
			return other == nil || yield(s.bodyMutant(a, other.x.Response.Body.Bytes))
		})
	}),
	operator("foreign", "stream", "It sends the events of one stream on another", func(s *Subject, _ uint64, yield emit) {
		for i, st := range s.Candidate.Streams {
			for k, other := range s.Candidate.Streams {
				if k == i || len(s.sequence(other)) == 0 {
					continue
				}
				ev := *s.sequence(other)[0]
				ev.At = st.Until
				if !yield(Mutant{
					Place: "stream " + st.Name, After: shown("an event of " + other.Name + ": " + ev.Data), site: site{step: st.Step, stream: st},
					Build: func() *transcript.Transcript {
						return s.withStream(i, func(st *transcript.Stream) { st.Events = append(st.Events, ev) })
					},
				}) {
					return
				}
			}
		}
	}),
}

// sameBody reports whether two answers are the same to a client, but for what the server made up.
func (s *Subject) sameBody(a, b *answer) bool {
	if bytes.Equal(a.x.Response.Body.Bytes, b.x.Response.Body.Bytes) {
		return true
	}
	x, y := s.documentOf(a), s.documentOf(b)
	return x != nil && y != nil && erased(s, x.root, x.ref, x.seen) == erased(s, y.root, y.ref, y.seen)
}

func (s *Subject) documentOf(a *answer) *document {
	for _, d := range s.documents() {
		if d.where == a.where+" body" {
			return d
		}
	}
	return nil
}
