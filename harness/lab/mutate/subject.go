package mutate

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Subject is what two targets did in one scenario, when they did the same.
type Subject struct {
	Reference, Candidate *transcript.Transcript
	Rules                *compare.Rules
	// EventNamer returns a function for one stream of an operation, which returns the contract's names of its events in
	// their order. Nil leaves names as they are.
	EventNamer func(operation string) func(*transcript.Event) string

	docs    []*document
	scanned bool
	given   map[string]bool // what isGiven has found out
}

// wallClock returns the date and time of a moment in the candidate's transcript.
func (s *Subject) wallClock(at time.Duration) time.Time { return s.Candidate.Started.Add(at) }

// An exchange is a complete response of the candidate, or a request of it to an upstream, with its counterpart.
type exchange struct {
	s           *Subject
	upstream    bool
	step, index int
	where       string // "step 3", "POST /v1/messages request 2"
	st          *transcript.Step
	x           *transcript.Exchange
	ref         *transcript.Exchange // the reference's exchange; nil when it is unknown
}

// responses ranges over the complete responses of the candidate, and the outcomes of its driver.
func (s *Subject) responses() iter.Seq[*exchange] {
	return func(yield func(*exchange) bool) {
		for i := range s.Candidate.Steps {
			st := &s.Candidate.Steps[i]
			for k, x := range st.Exchanges {
				if x.Response == nil || x.Failure != nil {
					continue
				}
				e := &exchange{s: s, step: i, index: k, where: "step " + st.ID, x: x, st: st}
				if len(st.Exchanges) > 1 {
					e.where += fmt.Sprintf(" answer %d", k+1)
				}
				e.ref = counterpart(st, k, st.Burst, s.Reference.Steps, func(ref *transcript.Exchange) bool { return ref.Response != nil })
				if !yield(e) {
					return
				}
			}
		}
	}
}

// requests ranges over the requests of the candidate to upstreams.
func (s *Subject) requests() iter.Seq[*exchange] {
	return func(yield func(*exchange) bool) {
		for i := range s.Candidate.Upstream {
			st := &s.Candidate.Upstream[i]
			for k, x := range st.Exchanges {
				e := &exchange{s: s, upstream: true, step: i, index: k, where: st.Text + " request", x: x, st: st}
				if len(st.Exchanges) > 1 {
					e.where += fmt.Sprintf(" %d", k+1)
				}
				e.ref = counterpart(st, k, st.Unordered, s.Reference.Upstream, func(*transcript.Exchange) bool { return true })
				if !yield(e) {
					return
				}
			}
		}
	}
}

// counterpart returns the reference's exchange in the place of the candidate's. It returns nil when the exchanges of
// the step have no order, and when the reference has no such exchange.
func counterpart(st *transcript.Step, k int, unordered bool, reference []transcript.Step, is func(*transcript.Exchange) bool) *transcript.Exchange {
	for i := range reference {
		if ref := &reference[i]; !unordered && ref.ID == st.ID && k < len(ref.Exchanges) && is(ref.Exchanges[k]) {
			return ref.Exchanges[k]
		}
	}
	return nil
}

func (e *exchange) site() site { return site{step: e.st.ID} }

// isOutcome reports whether the exchange is what a driver was told, and its outcome.
func (e *exchange) isOutcome() bool { return e.x.Request.Method == transcript.Do }

// answers leaves the outcomes of drivers out, which have neither a status nor header fields.
var answers = filter((*Subject).responses, func(e *exchange) bool { return !e.isOutcome() })

func (e *exchange) body() []byte { return e.x.Response.Body.Bytes }

// stub returns the name of the stub that received a request.
func (e *exchange) stub() string {
	name, _, _ := strings.Cut(e.st.ID, ".")
	return name
}

// stepIn returns the step of the exchange in a copy of the transcript.
func (e *exchange) stepIn(t *transcript.Transcript) *transcript.Step {
	if e.upstream {
		return &t.Upstream[e.step]
	}
	return &t.Steps[e.step]
}

// mutant returns the mutant in which a part of the exchange is changed; "" means the whole exchange. The function must
// not change headers in place.
func (e *exchange) mutant(part, before, after string, change func(*transcript.Exchange)) Mutant {
	return e.s.mutant(e.site(), strings.TrimRight(e.where+" "+part, " "), before, after, func(t *transcript.Transcript) {
		change(e.stepIn(t).Exchanges[e.index])
	})
}

// withBody returns the mutant with another response body.
func (e *exchange) withBody(after []byte) Mutant {
	was, is := excerpts(string(e.body()), string(after))
	return e.mutant("body", was, is, func(x *transcript.Exchange) { setBody(x.Response, after) })
}

// withField returns the mutant in which fields with other values replace a field of the response.
func (e *exchange) withField(i int, values ...string) Mutant {
	f := e.x.Response.Header[i]
	before, after := excerpts(f.Value, strings.Join(values, " | "))
	m := e.mutant("header "+f.Name, before, after, func(x *transcript.Exchange) {
		x.Response.Header = replaceField(x.Response.Header, i, values...)
	})
	m.site.header = f.Name
	return m
}
