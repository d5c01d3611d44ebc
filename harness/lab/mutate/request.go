package mutate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A request is a request of the candidate to an upstream.
type request struct {
	t           *transcript.Transcript // the candidate's
	rules       *compare.Rules
	step, index int
	st          *transcript.Step
	x           *transcript.Exchange
}

func (r *request) where() string {
	if len(r.st.Exchanges) > 1 {
		return fmt.Sprintf("%s request %d", r.st.Text, r.index+1)
	}
	return r.st.Text + " request"
}

func (r *request) stub() string {
	name, _, _ := strings.Cut(r.st.ID, ".")
	return name
}

// counterpart returns the reference's request in the place of this one. It returns nil when there is none or it is
// unknown.
func (r *request) counterpart(reference *transcript.Transcript) *transcript.Request {
	for i := range reference.Upstream {
		if ref := &reference.Upstream[i]; ref.ID == r.st.ID && !r.st.Unordered && r.index < len(ref.Exchanges) {
			return &ref.Exchanges[r.index].Request
		}
	}
	return nil
}

// compares reports whether a header field of the request is compared.
func (r *request) compares(name string) bool {
	return slices.ContainsFunc(r.rules.UpstreamHeaders(r.stub(), r.st.ID), func(n string) bool { return strings.EqualFold(n, name) })
}

// edit returns a transcript in which the request is changed. The function must not change its header in place.
func (r *request) edit(change func(*transcript.Request)) *transcript.Transcript {
	return editUpstream(r.t, r.step, func(st *transcript.Step) {
		editExchange(st, r.index, func(x *transcript.Exchange) { change(&x.Request) })
	})
}

// mutant returns the mutant in which a part of the request is changed.
func (r *request) mutant(part, before, after string, change func(*transcript.Request)) Mutant {
	return Mutant{
		Place: r.where() + " " + part, Before: before, After: after, site: site{step: r.st.ID},
		Build: func() *transcript.Transcript { return r.edit(change) },
	}
}

// withRequests returns the mutant in which other requests replace this one.
func (r *request) withRequests(before, after string, change func([]*transcript.Exchange) []*transcript.Exchange) Mutant {
	return Mutant{
		Place: r.where(), Before: before, After: after, site: site{step: r.st.ID},
		Build: func() *transcript.Transcript {
			return editUpstream(r.t, r.step, func(st *transcript.Step) { st.Exchanges = change(slices.Clone(st.Exchanges)) })
		},
	}
}
