package mutate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// withStep returns a copy of the candidate's transcript in which one step is another.
func (s *Subject) withStep(step int, change func(*transcript.Step)) *transcript.Transcript {
	t := *s.Candidate
	t.Steps = slices.Clone(t.Steps)
	change(&t.Steps[step])
	return &t
}

// withExchange returns a copy in which one exchange is another. Its response may be changed in place, if it has one; its
// header may not.
func (s *Subject) withExchange(step, i int, change func(*transcript.Exchange)) *transcript.Transcript {
	return s.withStep(step, func(st *transcript.Step) {
		st.Exchanges = slices.Clone(st.Exchanges)
		x := *st.Exchanges[i]
		if x.Response != nil {
			r := *x.Response
			x.Response = &r
		}
		change(&x)
		st.Exchanges[i] = &x
	})
}

// withStream returns a copy in which one stream is another. Its list of events may be changed in place.
func (s *Subject) withStream(stream int, change func(*transcript.Stream)) *transcript.Transcript {
	t := *s.Candidate
	t.Streams = slices.Clone(t.Streams)
	st := *t.Streams[stream]
	st.Events = slices.Clone(st.Events)
	change(&st)
	t.Streams[stream] = &st
	return &t
}

// withEvent returns a copy in which one event is another, under the name that the contract has for it now.
func (s *Subject) withEvent(stream, i int, change func(*transcript.Event)) *transcript.Transcript {
	return s.withStream(stream, func(st *transcript.Stream) {
		change(&st.Events[i])
		s.rename(st, i)
	})
}

// rename gives an event the name that the contract has for it.
func (s *Subject) rename(st *transcript.Stream, i int) {
	if ev := &st.Events[i]; s.Name != nil && !ev.Comment {
		ev.Name = s.Name(st.Operation, ev)
	}
}

// withEvents returns a copy in which a stream has other events. Windows begin where they did, counted from the event
// that was moved: shift is how many events there are more, from that one on.
func (s *Subject) withEvents(stream, from, shift int, events func([]transcript.Event) []transcript.Event) *transcript.Transcript {
	t := s.withStream(stream, func(st *transcript.Stream) { st.Events = events(st.Events) })
	t.Windows = slices.Clone(t.Windows)
	for i := range t.Windows {
		if w := &t.Windows[i]; w.Stream == t.Streams[stream].Name && w.First > from {
			w.First += shift
		}
	}
	return t
}

// body returns a body with other content.
func body(data []byte) transcript.Body { return transcript.Body{Bytes: data, Size: int64(len(data))} }

// send gives an answer another body. A Content-Length that counted the body it had counts this one: frameworks do that by
// themselves.
func send(r *transcript.Response, data []byte) {
	for i, f := range r.Header {
		if strings.EqualFold(f.Name, "Content-Length") && f.Value == strconv.FormatInt(r.Body.Size, 10) {
			r.Header = replaced(r.Header, i, transcript.Field{Name: f.Name, Value: strconv.Itoa(len(data))})
		}
	}
	sent := r.Body.Sent
	r.Body = body(data)
	r.Body.Sent = sent // it comes in the same coding, and nobody asks how well it compresses
}

// replaced returns a header in which the fields at an index are others.
func replaced(h transcript.Header, i int, fields ...transcript.Field) transcript.Header {
	return slices.Concat(h[:i], fields, h[i+1:])
}
