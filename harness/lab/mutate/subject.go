package mutate

import (
	"fmt"
	"iter"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Subject is what two targets did in one scenario, when they did the same.
type Subject struct {
	Reference, Candidate *transcript.Transcript
	Rules                *compare.Rules
	// Name returns the contract's name of an event on an operation's stream. Nil leaves names as they are.
	Name func(operation string, ev *transcript.Event) string

	docs    []*document
	scanned bool
}

func (s *Subject) origins() *origins { return &origins{s.Reference, s.Candidate, s.Rules} }

// responses ranges over the complete responses of the candidate.
func (s *Subject) responses() iter.Seq[*response] {
	return func(yield func(*response) bool) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			for k, x := range st.Exchanges {
				if x.Response == nil || x.Failure != nil {
					continue
				}
				r := &response{t: s.Candidate, step: i, index: k, where: "step " + st.ID, x: x, st: st, ref: s.counterpart(st, k)}
				if len(st.Exchanges) > 1 {
					r.where += fmt.Sprintf(" answer %d", k+1)
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

// counterpart returns the reference's exchange in the place of the candidate's. It returns nil for a burst, whose
// responses have no order.
func (s *Subject) counterpart(st *transcript.Step, k int) *transcript.Exchange {
	if st.Burst {
		return nil
	}
	for i := range s.Reference.Steps {
		ref := &s.Reference.Steps[i]
		if ref.ID == st.ID && k < len(ref.Exchanges) && ref.Exchanges[k].Response != nil {
			return ref.Exchanges[k]
		}
	}
	return nil
}

// requests ranges over the requests of the candidate to upstreams.
func (s *Subject) requests() iter.Seq[*request] {
	return func(yield func(*request) bool) {
		for i := range s.Candidate.Upstream {
			st := &s.Candidate.Upstream[i]
			for k, x := range st.Exchanges {
				if !yield(&request{s.Candidate, s.Rules, i, k, st, x}) {
					return
				}
			}
		}
	}
}

// streams ranges over the event streams of the candidate.
func (s *Subject) streams() iter.Seq[*stream] {
	return func(yield func(*stream) bool) {
		for i, own := range s.Candidate.Streams {
			st := &stream{t: s.Candidate, index: i, st: own, rules: s.Rules, rule: s.ruleFor(own), nameOf: s.Name, origins: s.origins()}
			for _, ref := range s.Reference.Streams {
				if ref.Name == own.Name {
					st.ref = ref
				}
			}
			if !yield(st) {
				return
			}
		}
	}
}

func (s *Subject) ruleFor(st *transcript.Stream) streamdiff.Rules {
	if r, ok := s.Rules.Streams[st.Name]; ok {
		return r
	}
	return s.Rules.Streams[st.Operation]
}

// documents returns the JSON documents of the candidate.
func (s *Subject) documents() []*document {
	if !s.scanned {
		s.scanned, s.docs = true, documents(s)
	}
	return s.docs
}

// values ranges over the values of all documents.
func (s *Subject) values() iter.Seq[*value] {
	return func(yield func(*value) bool) {
		for _, d := range s.documents() {
			for _, v := range d.values {
				if !yield(v) {
					return
				}
			}
		}
	}
}
