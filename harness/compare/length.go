package compare

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

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
