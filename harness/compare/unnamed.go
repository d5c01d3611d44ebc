package compare

import (
	"net/textproto"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Header fields are compared when a rule names them, and not otherwise: most are the business of a framework. One that
// nobody has named, and that is not the same on both sides, may have been forgotten, and is counted.

// ignoredHeaders are the fields that are nobody's intention: those of a single connection (RFC 9110 §7.6.1), the framing, the
// clock and the name of the software.
var ignoredHeaders = []string{
	"Connection", "Content-Length", "Date", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Server", "TE",
	"Trailer", "Transfer-Encoding", "Upgrade",
}

// clientHeaders are those that a client of HTTP sends to an upstream by itself, whatever asks.
var clientHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Host", "Sec-Fetch-Mode", "User-Agent"}

// A server can make up names as it likes.
const (
	maxUnnamed    = 100 // of a scenario
	maxHeaderName = 100
)

// unnamed counts the fields of two answers that differ in presence or value, and that are not named.
func (h fields) unnamed(named []string, ref, cand transcript.Header) {
	h.unnamedOf("", named, ref, cand)
}

// unnamedOf counts those of requests to a stub.
func (h fields) unnamedOf(stub string, named []string, ref, cand transcript.Header) {
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
		if h.result.Unnamed == nil {
			h.result.Unnamed = map[string]int{}
		}
		if _, known := h.result.Unnamed[name]; known || len(h.result.Unnamed) < maxUnnamed {
			h.result.Unnamed[name]++
		}
	}
}

// sameValues reports whether two answers have the same values of a field, in the same order.
func sameValues(ref, cand transcript.Header, name string) bool {
	k := 0 // values of the candidate's that have been looked at
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
