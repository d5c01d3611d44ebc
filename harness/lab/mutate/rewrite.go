package mutate

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// rewriteSent returns a copy of a transcript in which everything that the target sent is rewritten: responses, requests
// to upstreams, and events.
func rewriteSent(of *transcript.Transcript, replace func(string) string) *transcript.Transcript {
	t := *of
	t.Steps = slices.Clone(t.Steps)
	for i := range t.Steps {
		for k, x := range t.Steps[i].Exchanges {
			if x.Response == nil {
				continue
			}
			editExchange(&t.Steps[i], k, func(x *transcript.Exchange) {
				x.Response.Header = rewriteHeader(x.Response.Header, replace)
				setBody(x.Response, rewriteBody(x.Response, replace))
			})
		}
	}
	t.Upstream = slices.Clone(t.Upstream)
	for i := range t.Upstream {
		for k := range t.Upstream[i].Exchanges {
			editExchange(&t.Upstream[i], k, func(x *transcript.Exchange) {
				r := &x.Request
				r.Target, r.Body, r.Header = replace(r.Target), newBody([]byte(replace(string(r.Body.Bytes)))), rewriteHeader(r.Header, replace)
			})
		}
	}
	t.Streams = slices.Clone(t.Streams)
	for i, st := range t.Streams {
		c := *st
		c.Events = slices.Clone(c.Events)
		for k := range c.Events {
			c.Events[k].Data, c.Events[k].ID = replace(c.Events[k].Data), replace(c.Events[k].ID)
		}
		t.Streams[i] = &c
	}
	return &t
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

// rewriteAll returns a copy of a transcript in which texts are replaced everywhere: in what was sent and received, and
// in what the scenario demands.
func rewriteAll(of *transcript.Transcript, replace func(string) string) *transcript.Transcript {
	out := rewriteSent(of, replace)
	// The JSON of a transcript has everything but the contents of bodies.
	var t transcript.Transcript
	rewriteJSON(out, &t, replace)
	for i := range t.Steps {
		for k, x := range t.Steps[i].Exchanges {
			was := out.Steps[i].Exchanges[k]
			x.Request.Body = newBody([]byte(replace(string(was.Request.Body.Bytes))))
			x.Request.Body.Size, x.Request.Body.Fill = was.Request.Body.Size, was.Request.Body.Fill
			if x.Response != nil {
				x.Response.Body = was.Response.Body
			}
		}
	}
	for i := range t.Upstream {
		for k, x := range t.Upstream[i].Exchanges {
			x.Request.Body = out.Upstream[i].Exchanges[k].Request.Body
		}
	}
	return &t
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
