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
	json      *jsondiff.Comparer
	rules     *Rules
	runs      runs
	differing map[string]int // Result.Unnamed
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
	h.json.IDs.Applied[HeaderApplied(name, "")] = true
	if len(h.rules.Steps[step].Headers) > 0 { // else it is not needed
		h.json.IDs.Applied[HeaderApplied(name, step)] = true
	}
}

// headers returns the names of the header fields to compare in a step, each once.
func (h *fields) headers(step string) []string {
	return transcript.AddNames(h.rules.Headers, h.rules.Steps[step].Headers...)
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
	return transcript.ContainsName(h.headers(step), "Content-Type")
}

// The length of a body follows from its values and its notation. So the lengths of two compared bodies add nothing:
// either the bodies show the same difference, or it does not matter, like a longer id, white space or escapes. But a
// length that does not fit its own body is the server's mistake.

// lengthExplained reports whether both Content-Lengths are the lengths of the bodies that came. In a response to HEAD,
// they are not.
func lengthExplained(ref, cand *transcript.Response) bool {
	return countsItself(ref) && countsItself(cand)
}

// countsItself reports whether a response's Content-Length is the length of the body that came.
func countsItself(r *transcript.Response) bool {
	given := r.Header.Values("Content-Length")
	return len(given) == 1 && given[0] == strconv.FormatInt(r.Body.Length(), 10) && r.Body.Whole()
}

func isLength(name string) bool { return strings.EqualFold(name, "Content-Length") }

// Header fields are compared only if a rule names them, because most of them belong to a framework. If a field without
// a rule is not the same on both sides, the rule may have been forgotten, so the field is counted.

// ignoredHeaders are the fields that say nothing about the application: those of a single connection (RFC 9110 §7.6.1),
// the framing, the clock, the name of the software, and the response to the random key of a WebSocket, which is checked.
var ignoredHeaders = []string{
	"Connection", "Content-Length", "Date", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Sec-WebSocket-Accept",
	"Server", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
}

// clientHeaders are the fields that an HTTP client sends to an upstream by itself.
var clientHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Host", "Sec-Fetch-Mode", "User-Agent"}

// These bounds are needed because a server can send any number of names.
const (
	maxUnnamed    = 100 // different names in one scenario
	maxHeaderName = 100
)

// unnamed counts the fields of two messages that no rule names and that differ in presence or value. The messages are
// requests to a stub; without a stub, they are responses.
func (h *fields) unnamed(stub string, named []string, ref, cand transcript.Header) {
	of := ""
	if stub != "" {
		named, of = slices.Concat(named, clientHeaders), " (upstream "+stub+")"
	}
	var counted []string
	for _, f := range slices.Concat(ref, cand) {
		if transcript.ContainsName(ignoredHeaders, f.Name) || transcript.ContainsName(named, f.Name) || transcript.ContainsName(counted, f.Name) ||
			slices.Equal(ref.Values(f.Name), cand.Values(f.Name)) {
			continue
		}
		counted = append(counted, f.Name)
		name := textproto.CanonicalMIMEHeaderKey(f.Name[:min(len(f.Name), maxHeaderName)]) + of
		if _, known := h.differing[name]; known || len(h.differing) < maxUnnamed {
			ident.Put(&h.differing, name, h.differing[name]+1)
		}
	}
}

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
	names := transcript.AddNames(h.headers(step.ID), "Link")
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
