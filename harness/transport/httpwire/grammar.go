package httpwire

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// tokenBytes are the characters of a token (RFC 9110 §5.6.2).
var tokenBytes = func() (set [256]bool) {
	for _, b := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[b] = true
	}
	return set
}()

func isToken[T string | []byte](s T) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

// isBlank reports whether b is optional white space around the value of a field (OWS, RFC 9110 §5.6.3).
func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// elements returns the elements of a field that is a comma-separated list. It reads all lines of the field, and leaves
// out empty elements (RFC 9110 §5.6.1).
func elements(h transcript.Header, name string) []string {
	var out []string
	for _, f := range h {
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		for e := range strings.SplitSeq(f.Value, ",") {
			// A line fold counts as a space (RFC 9112 §5.2).
			if e = strings.Trim(e, " \t\r\n"); e != "" {
				out = append(out, e)
			}
		}
	}
	return out
}

// hasToken reports whether an element of a field is the token, ignoring case.
func hasToken(h transcript.Header, name, token string) bool {
	for _, e := range elements(h, name) {
		if strings.EqualFold(e, token) {
			return true
		}
	}
	return false
}
