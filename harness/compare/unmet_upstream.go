package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// unmetUpstream returns the requests that a target must not send to a stub, and those that it did not send although it
// must.
func unmetUpstream(s *transcript.Step, d *diagnosis) []Unmet {
	var out []Unmet
	for i, x := range s.Exchanges {
		at := "request " + strconv.Itoa(i+1)
		switch f := x.Failure; {
		case f != nil && f.Kind != transcript.FailCanceled && !d.causedByExit(f, x.Done) && !d.explainedByOutage(f, startOf(x), x.Done):
			out = append(out, Unmet{
				Kind: ExchangeFailed, Step: s.ID, Exchange: i, Event: -1, Place: at, Want: "a complete request", Got: f.Text,
				Text: "the request to the upstream broke",
			})
		case f == nil && x.Request.Body.Undecoded(x.Request.Header) && !isUnexpected(s):
			if _, why := x.Request.Body.Opaque(x.Request.Header, false); why != "" {
				f := wrongCoding(x.Request.Header, why)
				f.Step, f.Exchange, f.Event, f.Place = s.ID, i, -1, at+" body"
				out = append(out, f)
			}
		case f == nil && isUnexpected(s):
			_, got := diff.Cut("", diff.Show(x.Request.Method+" "+x.Request.Target+" "+string(x.Request.Body.Bytes)).Text)
			out = append(out, Unmet{
				Kind: UpstreamUnexpected, Step: s.ID, Exchange: i, Event: -1, Place: at, Want: s.Unmet.What, Got: strings.TrimSpace(got.String()),
				Text: "unexpected request to the upstream: " + cmp.Or(x.Unanswered, s.Unmet.Why),
			})
		}
	}
	awaited := slices.ContainsFunc(d.t.Steps, func(o transcript.Step) bool { // a step that waited for the request has reported that
		return o.Unmet != nil && o.Unmet.Kind == "asked" && o.Text == "asked "+s.ID
	})
	if s.Unmet != nil && !isUnexpected(s) && !awaited && d.t.Exit == nil && d.t.Aborted == "" {
		out = append(out, Unmet{
			Kind: UpstreamMissing, Step: s.ID, Exchange: -1, Event: -1, Place: "requests", Want: s.Unmet.What, Got: s.Unmet.Why,
			Text: "the upstream did not get the expected requests",
		})
	}
	return out
}
