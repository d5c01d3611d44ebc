package compare

import (
	"net/textproto"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Header fields are compared only if a rule names them, because most of them belong to a framework. If a field without
// a rule is not the same on both sides, the rule may have been forgotten, so the field is counted.

// ignoredHeaders are the fields that say nothing about the application: those of a single connection (RFC 9110 §7.6.1),
// the framing, the clock and the name of the software.
var ignoredHeaders = []string{
	"Connection", "Content-Length", "Date", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Server", "TE",
	"Trailer", "Transfer-Encoding", "Upgrade",
}

// clientHeaders are the fields that an HTTP client sends to an upstream by itself.
var clientHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Host", "Sec-Fetch-Mode", "User-Agent"}

// These bounds are needed because a server can send any number of names.
const (
	maxUnnamed    = 100 // different names in one scenario
	maxHeaderName = 100
)

// unnamed counts the fields of two responses that no rule names and that differ in presence or value.
func (h *fields) unnamed(named []string, ref, cand transcript.Header) {
	h.unnamedOf("", named, ref, cand)
}

// unnamedOf is unnamed for requests to a stub; a stub of "" stands for responses.
func (h *fields) unnamedOf(stub string, named []string, ref, cand transcript.Header) {
	var told []string
	of := ""
	if stub != "" {
		named, of = slices.Concat(named, clientHeaders), " (upstream "+stub+")"
	}
	for i := range len(ref) + len(cand) {
		var f transcript.Field
		if i < len(ref) {
			f = ref[i]
		} else {
			f = cand[i-len(ref)]
		}
		same := func(name string) bool { return strings.EqualFold(name, f.Name) }
		if slices.ContainsFunc(ignoredHeaders, same) || slices.ContainsFunc(named, same) || slices.ContainsFunc(told, same) || sameValues(ref, cand, f.Name) {
			continue
		}
		told = append(told, f.Name)
		name := textproto.CanonicalMIMEHeaderKey(f.Name[:min(len(f.Name), maxHeaderName)]) + of
		if _, known := h.differing[name]; known || len(h.differing) < maxUnnamed {
			ident.Put(&h.differing, name, h.differing[name]+1)
		}
	}
}

// sameValues reports whether two messages have the same values of a field, in the same order.
func sameValues(ref, cand transcript.Header, name string) bool {
	k := 0 // the candidate's field to look at next
	next := func() (string, bool) {
		for ; k < len(cand); k++ {
			if cand[k].Is(name) {
				k++
				return cand[k-1].Value, true
			}
		}
		return "", false
	}
	for _, f := range ref {
		if !f.Is(name) {
			continue
		}
		if value, ok := next(); !ok || value != f.Value {
			return false
		}
	}
	_, more := next()
	return !more
}
