package mutate

import (
	"bytes"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// foreignOperators send what belongs to another client.
var foreignOperators = []Operator{
	foreignEvent("event", "It sends another client's event too", func(e *event, data string) Mutant {
		return e.withEvents("and "+data, 1, func(all []transcript.Event) []transcript.Event {
			other := all[e.index]
			other.Data = data
			return slices.Insert(all, e.index+1, other)
		})
	}),
	foreignEvent("instead", "It sends another client's event instead of ours", func(e *event, data string) Mutant {
		return e.mutant(" data", e.ev.Data, data, func(ev *transcript.Event) { ev.Data = data })
	}),
	eachResponse("foreign", "answer", "It answers with the response to another request", func(s *Subject, r *response, yield emit) {
		if r.x.Stream != "" || r.st.Burst {
			return
		}
		for other := range s.responses() {
			o := other.x.Response
			if other.x.Stream == "" && o.Status == r.x.Response.Status && other.index+other.step != r.index+r.step && !o.Body.IsZero() && !sameBody(s, r, other) {
				yield(r.withBody(o.Body.Bytes))
				return
			}
		}
	}),
	eachStream("foreign", "stream", "It sends the events of one stream on another", func(s *Subject, st *stream, yield emit) {
		for other := range s.streams() {
			content := other.content(other.st)
			if other.index == st.index || len(content) == 0 {
				continue
			}
			ev := *content[0]
			ev.At = st.st.Until
			yield(st.mutant("", excerpt("an event of "+other.st.Name+": "+ev.Data), func(out *transcript.Stream) { out.Events = append(out.Events, ev) }))
		}
	}),
}

// foreignEvent makes an operator on events with the client's unique token. change gets the data that another client
// would get.
func foreignEvent(name, doc string, change func(e *event, data string) Mutant) Operator {
	return eachContentEvent("foreign", name, doc, func(e *event, yield emit) {
		if unique := e.stream.t.Unique; unique != "" && strings.Contains(e.ev.Data, unique) {
			yield(change(e, strings.ReplaceAll(e.ev.Data, unique, similarID(unique, 7))))
		}
	})
}

// sameBody reports whether two responses are the same to a client, apart from what the server generated.
func sameBody(s *Subject, a, b *response) bool {
	if bytes.Equal(a.body(), b.body()) {
		return true
	}
	x, y := documentOf(s, a), documentOf(s, b)
	return x != nil && y != nil && x.masked() == y.masked()
}

// masked returns a document with a mark instead of what the server generated.
func (d *document) masked() string { return d.origins.masked(d.root, d.ref, d.seen) }

func documentOf(s *Subject, r *response) *document {
	for _, d := range s.documents() {
		if d.where == r.where+" body" {
			return d
		}
	}
	return nil
}
