package compare

import (
	"net/textproto"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Header fields are compared when a rule names them, and not otherwise: most are the business of a framework. One that
// nobody has named, and that is not the same on both sides, may have been forgotten, and is counted.

// aside are the fields that are nobody's intention: those of a single connection (RFC 9110 §7.6.1), the framing, the
// clock and the name of the software.
var aside = []string{
	"Connection", "Content-Length", "Date", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Server", "TE",
	"Trailer", "Transfer-Encoding", "Upgrade",
}

// A server can make up names as it likes.
const (
	mostUnnamed = 100 // of a scenario
	longestName = 100
)

// unnamed counts the fields of two answers that differ in presence or value, and that are not named.
func (c *comparison) unnamed(named []string, ref, cand transcript.Header) {
	var seen []string
	for _, f := range slices.Concat(ref, cand) {
		same := func(name string) bool { return strings.EqualFold(name, f.Name) }
		if slices.ContainsFunc(aside, same) || slices.ContainsFunc(named, same) || slices.ContainsFunc(seen, same) {
			continue
		}
		seen = append(seen, f.Name)
		if slices.Equal(ref.Values(f.Name), cand.Values(f.Name)) {
			continue
		}
		name := textproto.CanonicalMIMEHeaderKey(f.Name[:min(len(f.Name), longestName)])
		if c.result.Unnamed == nil {
			c.result.Unnamed = map[string]int{}
		}
		if _, known := c.result.Unnamed[name]; known || len(c.result.Unnamed) < mostUnnamed {
			c.result.Unnamed[name]++
		}
	}
}
