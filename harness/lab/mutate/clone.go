package mutate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// clone returns a copy of a transcript whose steps, exchanges, streams, events and windows may be changed in place. It
// shares bodies, headers and everything else with the original.
func clone(of *transcript.Transcript) *transcript.Transcript {
	t := *of
	t.Steps, t.Upstream = slices.Clone(t.Steps), slices.Clone(t.Upstream)
	for st := range t.AllSteps() {
		st.Exchanges = slices.Clone(st.Exchanges)
		for k, was := range st.Exchanges {
			x := *was
			if x.Response != nil {
				r := *x.Response
				x.Response = &r
			}
			st.Exchanges[k] = &x
		}
	}
	t.Streams = slices.Clone(t.Streams)
	for i, was := range t.Streams {
		st := *was
		st.Events = slices.Clone(st.Events)
		t.Streams[i] = &st
	}
	t.Windows = slices.Clone(t.Windows)
	return &t
}

func newBody(data []byte) transcript.Body {
	return transcript.Body{Bytes: data, Size: int64(len(data))}
}

// setBody gives a response another body. A Content-Length that was right stays right, as with a framework.
func setBody(r *transcript.Response, data []byte) {
	for i, f := range r.Header {
		if f.Is("Content-Length") && f.Value == strconv.FormatInt(r.Body.Size, 10) {
			r.Header = replaceField(r.Header, i, strconv.Itoa(len(data)))
		}
	}
	sent := r.Body.Sent
	r.Body = newBody(data)
	r.Body.Sent = sent // it has the same coding, and its compressed length does not matter
}

// replaceField returns a header in which fields with other values replace the one at an index.
func replaceField(h transcript.Header, i int, values ...string) transcript.Header {
	out := append(transcript.Header(nil), h[:i]...)
	for _, value := range values {
		out = append(out, transcript.Field{Name: h[i].Name, Value: value})
	}
	return append(out, h[i+1:]...)
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

// rewriteSent rewrites everything that the target sent in a clone: responses, requests to upstreams, and events.
func rewriteSent(t *transcript.Transcript, replace func(string) string) {
	for i := range t.Steps {
		for _, x := range t.Steps[i].Exchanges {
			if r := x.Response; r != nil {
				r.Header = rewriteHeader(r.Header, replace)
				setBody(r, rewriteBody(r, replace))
			}
		}
	}
	for i := range t.Upstream {
		for _, x := range t.Upstream[i].Exchanges {
			r := &x.Request
			r.Target, r.Body, r.Header = replace(r.Target), newBody([]byte(replace(string(r.Body.Bytes)))), rewriteHeader(r.Header, replace)
		}
	}
	for _, st := range t.Streams {
		for k := range st.Events {
			if ev := &st.Events[k]; !ev.Sent {
				ev.Data, ev.ID = replace(ev.Data), replace(ev.ID)
			}
		}
	}
}

func rewriteHeader(h transcript.Header, replace func(string) string) transcript.Header {
	out := slices.Clone(h)
	for i := range out {
		out[i].Value = replace(out[i].Value)
	}
	return out
}

// rewriteBody returns the body of a response with other texts. In an archive, it rewrites the entries.
func rewriteBody(r *transcript.Response, replace func(string) string) []byte {
	if archiveIn(r) == nil {
		return []byte(replace(string(r.Body.Bytes)))
	}
	if packed, err := archive.Replace(r.Body.Bytes, replace); err == nil && packed != nil {
		return packed
	}
	return r.Body.Bytes
}

// rewriteAll replaces texts everywhere in a clone: in what was sent and received, and in what the scenario demands.
func rewriteAll(sent *transcript.Transcript, replace func(string) string) {
	rewriteSent(sent, replace)
	// The JSON of a transcript has everything but the contents of bodies.
	var t transcript.Transcript
	rewriteJSON(sent, &t, replace)
	for i := range t.Steps {
		for k, x := range t.Steps[i].Exchanges {
			was := sent.Steps[i].Exchanges[k]
			x.Request.Body = newBody([]byte(replace(string(was.Request.Body.Bytes))))
			x.Request.Body.Size, x.Request.Body.Fill = was.Request.Body.Size, was.Request.Body.Fill
			if x.Response != nil {
				x.Response.Body = was.Response.Body
			}
		}
	}
	for i := range t.Upstream {
		for k, x := range t.Upstream[i].Exchanges {
			x.Request.Body = sent.Upstream[i].Exchanges[k].Request.Body
		}
	}
	*sent = t
}

// rewriteJSON writes a value with replaced texts into another value of its type. It reports whether anything has
// changed.
func rewriteJSON(from, into any, replace func(string) string) (changed bool) {
	was, err := json.Marshal(from)
	if err != nil {
		panic(fmt.Sprintf("mutate: %v", err))
	}
	is := replace(string(was))
	if err := json.Unmarshal([]byte(is), into); err != nil {
		panic(fmt.Sprintf("mutate: %v", err))
	}
	return is != string(was)
}
