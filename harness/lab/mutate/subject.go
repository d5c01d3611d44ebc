package mutate

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
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

// responses ranges over the complete responses of the candidate.
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

// A stream is an event stream of the candidate, with the reference's stream of the same name.
type stream struct {
	s     *Subject
	index int
	st    *transcript.Stream
	ref   *transcript.Stream // nil when the reference has none
	rule  streamdiff.Rules   // the rules for this stream
}

// streams ranges over the event streams of the candidate.
func (s *Subject) streams() iter.Seq[*stream] {
	return func(yield func(*stream) bool) {
		for i, own := range s.Candidate.Streams {
			st := &stream{s: s, index: i, st: own, rule: s.ruleFor(own)}
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

func (st *stream) site() site { return site{step: st.st.Step, stream: st.st} }

func (st *stream) isBeat(ev *transcript.Event) bool {
	return st.s.Rules.Beats(st.st.Name, st.st.Operation, ev)
}

// content returns the events on one side of the stream that are part of the sequence.
func (st *stream) content(side *transcript.Stream) []*transcript.Event {
	var out []*transcript.Event
	for k := range side.Events {
		if ev := &side.Events[k]; !st.s.Rules.Outside(side.Name, side.Operation, ev) {
			out = append(out, ev)
		}
	}
	return out
}

// referenceBeats reports whether the reference keeps the stream alive as well.
func (st *stream) referenceBeats() bool {
	return st.ref != nil && len(st.content(st.ref)) < len(st.ref.Events)
}

// mutant returns the mutant in which the stream is changed.
func (st *stream) mutant(before, after string, change func(*transcript.Stream)) Mutant {
	return st.s.mutant(st.site(), "stream "+st.st.Name, before, after, func(t *transcript.Transcript) { change(t.Streams[st.index]) })
}

// An event is an event of the candidate, with its counterpart.
type event struct {
	stream *stream
	index  int
	where  string // "stream bus event 4"
	ev     *transcript.Event
	ref    *transcript.Event // the reference's event; nil when it is unknown
	isBeat bool
}

// events pairs the events of both sides. Heartbeats are marked and have no counterpart.
func (st *stream) events() []*event {
	pieces := st.rule.Pieces()
	var whole []*transcript.Event // the reference's events that are not pieces of texts
	byText := map[string]*transcript.Event{}
	if st.ref != nil {
		for _, ev := range st.content(st.ref) {
			if p := pieces.Of(ev); p != nil {
				byText[p.Text] = ev
			} else {
				whole = append(whole, ev)
			}
		}
	}
	labels := st.s.Rules.Labels(st.st)
	var out []*event
	for k := range st.st.Events {
		if !st.isBeat(&st.st.Events[k]) && st.s.Rules.Outside(st.st.Name, st.st.Operation, &st.st.Events[k]) {
			continue
		}
		ev := &event{stream: st, index: k, where: "stream " + st.st.Name + " " + labels[k], ev: &st.st.Events[k]}
		ev.isBeat = st.isBeat(ev.ev)
		switch p := pieces.Of(ev.ev); {
		case ev.isBeat:
		case p != nil: // chance decides where a text is split, so its pieces have no counterparts by number
			ev.ref = byText[p.Text]
		case len(whole) > 0:
			ev.ref, whole = whole[0], whole[1:]
		}
		out = append(out, ev)
	}
	return out
}

// events ranges over the events of all streams, including heartbeats.
func (s *Subject) events() iter.Seq[*event] {
	return func(yield func(*event) bool) {
		for st := range s.streams() {
			for _, e := range st.events() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// contentEvents leaves heartbeats out. visibleEvents also leaves out empty pieces of a text, because they make no
// difference.
var (
	contentEvents = filter((*Subject).events, func(e *event) bool { return !e.isBeat })
	visibleEvents = filter(contentEvents, func(e *event) bool {
		p := e.piece()
		return p == nil || p.Text != ""
	})
)

func (e *event) site() site {
	at := e.stream.site()
	at.event = e.ev
	return at
}

// edit changes the event in a copy of the transcript. The event gets the name that the contract has for it after the
// change.
func (e *event) edit(t *transcript.Transcript, change func(*transcript.Event)) {
	ev := &t.Streams[e.stream.index].Events[e.index]
	change(ev)
	if e.stream.s.EventNamer == nil || ev.Comment {
		return
	}
	name := e.stream.s.EventNamer(e.stream.st.Operation)
	if e.stream.st.Wire == "" {
		ev.Name = name(ev)
		return
	}
	all := t.Streams[e.stream.index].Events // the name of a message can depend on others
	for i := range all {
		all[i].Name = name(&all[i])
	}
}

// mutant returns the mutant in which a part of the event is changed.
func (e *event) mutant(part, before, after string, change func(*transcript.Event)) Mutant {
	before, after = excerpts(before, after)
	return e.stream.s.mutant(e.site(), e.where+part, before, after, func(t *transcript.Transcript) { e.edit(t, change) })
}

// withEvents returns the mutant in which the stream has other events from this one on. The windows of the scenario
// behind it move with the events, by the difference in their number, which is shift.
func (e *event) withEvents(after string, shift int, events func([]transcript.Event) []transcript.Event) Mutant {
	return e.stream.s.mutant(e.site(), e.where, excerpt(e.ev.Name+" "+e.ev.Data), excerpt(after), func(t *transcript.Transcript) {
		st := t.Streams[e.stream.index]
		st.Events = events(st.Events)
		for i := range t.Windows {
			if w := &t.Windows[i]; w.Stream == st.Name && w.First > e.index {
				w.First += shift
			}
		}
	})
}

// without returns the mutant in which the event is missing.
func (e *event) without() Mutant {
	return e.withEvents("", -1, func(all []transcript.Event) []transcript.Event { return slices.Delete(all, e.index, e.index+1) })
}

// twice returns the mutant in which the event comes twice.
func (e *event) twice() Mutant {
	return e.withEvents("twice", 1, func(all []transcript.Event) []transcript.Event { return slices.Insert(all, e.index, all[e.index]) })
}

// next returns the following event, or nil.
func (e *event) next() *transcript.Event {
	if e.index+1 < len(e.stream.st.Events) {
		return &e.stream.st.Events[e.index+1]
	}
	return nil
}

// piece returns the piece of a text in the event, or nil.
func (e *event) piece() *streamdiff.Piece { return e.stream.rule.Pieces().Of(e.ev) }
