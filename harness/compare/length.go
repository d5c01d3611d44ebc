package compare

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// How long a body is follows from what it says and how it is written: of two that are compared, the lengths say nothing that
// is not told of them, or that is no difference at all, such as an id with another digit, blanks and escapes. A length that
// is none of its own body's is the server's own mistake.

// lengthExplained reports whether the Content-Lengths of two answers are both those of the bodies that came. That of an
// answer to HEAD is not.
func lengthExplained(ref, cand *transcript.Response) bool {
	return countsItself(ref) && countsItself(cand)
}

// countsItself reports whether an answer's Content-Length is that of the body that came.
func countsItself(r *transcript.Response) bool {
	given := r.Header.Values("Content-Length")
	return len(given) == 1 && given[0] == strconv.FormatInt(r.Body.Length(), 10) && r.Body.Whole()
}

// isLength reports whether a header field is Content-Length.
func isLength(name string) bool { return strings.EqualFold(name, "Content-Length") }
