package mutate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// These functions return a copy of a transcript with one change. The copy shares everything else with the original.

func editStep(t *transcript.Transcript, step int, change func(*transcript.Step)) *transcript.Transcript {
	out := *t
	out.Steps = slices.Clone(t.Steps)
	change(&out.Steps[step])
	return &out
}

// editUpstream changes the requests that one rule of a stub has answered.
func editUpstream(t *transcript.Transcript, step int, change func(*transcript.Step)) *transcript.Transcript {
	out := *t
	out.Upstream = slices.Clone(t.Upstream)
	change(&out.Upstream[step])
	return &out
}

// editExchange changes one exchange of a step that has been copied already. The function may change the request and the
// response in place, but not their headers.
func editExchange(st *transcript.Step, i int, change func(*transcript.Exchange)) {
	st.Exchanges = slices.Clone(st.Exchanges)
	x := *st.Exchanges[i]
	if x.Response != nil {
		r := *x.Response
		x.Response = &r
	}
	change(&x)
	st.Exchanges[i] = &x
}

// editStream changes one stream. The function may change its list of events in place.
func editStream(t *transcript.Transcript, stream int, change func(*transcript.Stream)) *transcript.Transcript {
	out := *t
	out.Streams = slices.Clone(t.Streams)
	st := *out.Streams[stream]
	st.Events = slices.Clone(st.Events)
	change(&st)
	out.Streams[stream] = &st
	return &out
}

// editEvents changes the list of events of a stream. From an index on, events move by shift, and the windows of the
// scenario move with them.
func editEvents(t *transcript.Transcript, stream, from, shift int, events func([]transcript.Event) []transcript.Event) *transcript.Transcript {
	out := editStream(t, stream, func(st *transcript.Stream) { st.Events = events(st.Events) })
	out.Windows = slices.Clone(out.Windows)
	for i := range out.Windows {
		if w := &out.Windows[i]; w.Stream == out.Streams[stream].Name && w.First > from {
			w.First += shift
		}
	}
	return out
}

func newBody(data []byte) transcript.Body {
	return transcript.Body{Bytes: data, Size: int64(len(data))}
}

// setBody gives a response another body. A Content-Length that was right stays right, as with a framework.
func setBody(r *transcript.Response, data []byte) {
	for i, f := range r.Header {
		if strings.EqualFold(f.Name, "Content-Length") && f.Value == strconv.FormatInt(r.Body.Size, 10) {
			r.Header = replaceField(r.Header, i, transcript.Field{Name: f.Name, Value: strconv.Itoa(len(data))})
		}
	}
	sent := r.Body.Sent
	r.Body = newBody(data)
	r.Body.Sent = sent // it has the same coding, and its compressed length does not matter
}

// replaceField returns a header in which other fields replace the one at an index.
func replaceField(h transcript.Header, i int, fields ...transcript.Field) transcript.Header {
	return slices.Concat(h[:i], fields, h[i+1:])
}

// stepOf returns the step with that id, or nil.
func stepOf(t *transcript.Transcript, id string) *transcript.Step {
	for st := range t.AllSteps() {
		if st.ID == id {
			return st
		}
	}
	return nil
}
