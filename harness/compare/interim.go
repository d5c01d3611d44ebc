package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Interim responses precede the final one. Whether a server sends 100 (Continue) depends on how much of the request it
// has read by then: "A server MAY omit sending a 100 (Continue) response if it has already received some or all of the
// content" (RFC 9110 §10.1.1). Whether it sends 102 (Processing) depends on how long it takes. All others, such as 103
// (Early Hints), are compared.

// interim compares the interim responses of a pair of exchanges: their statuses, and the header fields that rules name.
// Link is always compared, because an Early Hint consists of it (RFC 8297).
func (h *fields) interim(step *transcript.Step, ref, cand *transcript.Exchange, report func(diff.Difference)) {
	ri, ci := comparedInterim(ref), comparedInterim(cand)
	if len(ri)+len(ci) == 0 {
		return
	}
	const inContract = "interim"
	if r, o := statuses(ri), statuses(ci); r != o {
		report(diff.Difference{
			Reason: diff.Because(diff.StatusDiffers, diff.InterimDiffer), At: diff.At{Part: "interim responses", Contract: inContract}, Ref: diff.Show(r), Cand: diff.Show(o),
		})
		return
	}
	names := h.headers(step.ID)
	if !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, "Link") }) {
		names = append(slices.Clip(names), "Link")
	}
	for i := range ri {
		for _, name := range names {
			h.header(step, name, ri[i].Header, ci[i].Header, h.runs.seen(ref.Head, cand.Head), func(d diff.Difference) {
				d.At.Message, d.At.Contract = fmt.Sprintf("interim response %d", i+1), inContract
				report(d)
			})
		}
	}
}

// comparedInterim returns the interim responses that do not depend on timing.
func comparedInterim(x *transcript.Exchange) []transcript.Interim {
	return slices.DeleteFunc(slices.Clone(x.Interim), func(r transcript.Interim) bool { return r.Status == 100 || r.Status == 102 })
}

func statuses(responses []transcript.Interim) string {
	if len(responses) == 0 {
		return diff.Absent
	}
	var out []string
	for _, r := range responses {
		out = append(out, fmt.Sprint(r.Status))
	}
	return strings.Join(out, ", ")
}
