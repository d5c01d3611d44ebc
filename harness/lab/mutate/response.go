package mutate

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A response is a complete response of the candidate, with its counterpart.
type response struct {
	t           *transcript.Transcript // the candidate's
	step, index int
	where       string // "step 3"
	st          *transcript.Step
	x           *transcript.Exchange
	ref         *transcript.Exchange // the reference's exchange; nil when it is unknown
}

func (r *response) site() site { return site{step: r.st.ID} }

func (r *response) body() []byte { return r.x.Response.Body.Bytes }

// edit returns a transcript in which the exchange is changed.
func (r *response) edit(change func(*transcript.Exchange)) *transcript.Transcript {
	return editStep(r.t, r.step, func(st *transcript.Step) { editExchange(st, r.index, change) })
}

// mutant returns the mutant in which a part of the exchange is changed; "" means the whole exchange.
func (r *response) mutant(part, before, after string, change func(*transcript.Exchange)) Mutant {
	return Mutant{
		Place: strings.TrimSpace(r.where + " " + part), Before: before, After: after, site: r.site(),
		Build: func() *transcript.Transcript { return r.edit(change) },
	}
}

// withBody returns the mutant with another body.
func (r *response) withBody(after []byte) Mutant {
	was, is := excerpts(string(r.body()), string(after))
	return r.mutant("body", was, is, func(x *transcript.Exchange) { setBody(x.Response, after) })
}

// withHeader returns the mutant in which a header field is changed.
func (r *response) withHeader(name, before, after string, change func(transcript.Header) transcript.Header) Mutant {
	before, after = excerpts(before, after)
	m := r.mutant("header "+name, before, after, func(x *transcript.Exchange) { x.Response.Header = change(x.Response.Header) })
	m.site.header = name
	return m
}
