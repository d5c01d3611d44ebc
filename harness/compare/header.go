package compare

import (
	"fmt"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// fields compares header fields and trailers.
type fields struct {
	json        *jsondiff.Comparer
	rules       *Rules
	runs        runs
	seenHeaders map[string]string // HeaderApplied of the header fields seen in any step so far
	differing   map[string]int    // Result.Unnamed
}

// trailers compares the fields after two bodies, even if no rule names them: a server does not send trailers by
// accident.
func (h *fields) trailers(step *transcript.Step, ref, cand *transcript.Exchange, report func(diff.Difference)) {
	r, o := ref.Response.Trailer, cand.Response.Trailer
	if len(r)+len(o) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, f := range slices.Concat(r, o) {
		name := textproto.CanonicalMIMEHeaderKey(f.Name)
		if seen[name] {
			continue
		}
		seen[name] = true
		h.header(step, name, r, o, h.runs.seen(ref.Done, cand.Done), func(d diff.Difference) {
			d.At.Part = "trailer " + name
			report(d)
		})
	}
}

// headerApplied marks the rules for a header field that has appeared as applied: those for all steps, and those for
// this one.
func (h *fields) headerApplied(name, step string) {
	anywhere := h.seenHeaders[name]
	if anywhere == "" {
		anywhere = HeaderApplied(name, "")
		ident.Put(&h.seenHeaders, name, anywhere)
		h.json.IDs.Applied[anywhere] = true
	}
	if len(h.rules.Steps[step].Headers) > 0 { // else it is not needed
		h.json.IDs.Applied[anywhere+step] = true
	}
}

// headers returns the names of the header fields to compare in a step, each once.
func (h *fields) headers(step string) []string {
	own := h.rules.Steps[step].Headers
	if len(own) == 0 {
		return h.rules.Headers
	}
	names := slices.Clone(h.rules.Headers)
	for _, name := range own {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			names = append(names, name)
		}
	}
	return names
}

func (h *fields) header(step *transcript.Step, name string, ref, cand transcript.Header, seen [2]time.Time, report func(diff.Difference)) {
	rv, cv := inOrder(name, ref.Values(name)), inOrder(name, cand.Values(name))
	at := diff.At{Part: "header " + name}
	place := ident.Place{Where: ident.InStep(step.ID, at), Seen: seen}
	var why diff.Reason
	switch {
	case len(rv) > 0 && len(cv) == 0:
		why = diff.Because(diff.HeaderMissing, diff.CandidateLacksHeader)
	case len(rv) == 0 && len(cv) > 0:
		why = diff.Because(diff.HeaderExtra, diff.ReferenceLacksHeader)
	case len(rv) != len(cv):
		why = diff.Because(diff.HeaderValue, diff.HeaderCounts)
	default:
		for i := range rv {
			if found := h.headerValue(name, rv[i], cv[i], place, report); !found.None() {
				why = found
			}
		}
	}
	if !why.None() {
		report(diff.Difference{Reason: why, At: at, Ref: showValues(rv), Cand: showValues(cv)})
	}
}

// headerValue compares two values of a header field. It reports differences in their encoded contents, and returns all
// others.
func (h *fields) headerValue(name, ref, cand string, p ident.Place, report func(diff.Difference)) diff.Reason {
	why := h.json.IDs.Texts(ref, cand, p)
	switch {
	case why.Kind != diff.ValueDiffers:
	case why.Code != diff.TextsDiffer:
		why.Kind = diff.HeaderValue
	case sameField(h.json.IDs, name, ref, cand, p) || h.json.Encoded(p, ref, cand, report):
		return diff.Reason{}
	default:
		return diff.Because(diff.HeaderValue, diff.ValuesDiffer)
	}
	return why
}

func showValues(values []string) diff.Excerpt {
	switch len(values) {
	case 0:
		return diff.ShowSome("")
	case 1:
		return diff.Show(strconv.Quote(values[0]))
	default:
		return diff.Show(fmt.Sprintf("%q", values))
	}
}

func (h *fields) comparesType(step string) bool {
	return slices.ContainsFunc(h.headers(step), func(name string) bool { return strings.EqualFold(name, "Content-Type") })
}
