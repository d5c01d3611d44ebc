package ident

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Placeholder replaces a value that is different in each run.
const Placeholder = "{…}"

// Shape returns a function that replaces such values in a text of a transcript, for example in a path. These are the
// values of ${{ unique }} and ${{ directory }}, everything with the shape of an id, a time or a port, and numbers
// between slashes, because servers count.
func Shape(ids []IDShape, t *transcript.Transcript) func(text string) string {
	v := Vocabulary{Shapes: newProjectShapes(ids), applied: map[string]bool{}}
	v.known[0].values = lockstepValues(t)
	return func(text string) string {
		var out strings.Builder
		at := 0
		for _, tok := range v.Scan(0, text) {
			out.WriteString(text[at : tok.Start+tok.prefix])
			out.WriteString(Placeholder)
			at = tok.End
		}
		out.WriteString(text[at:])
		return withoutNumberSegments(out.String())
	}
}

// withoutNumberSegments replaces the segments of a path that are numbers.
func withoutNumberSegments(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments[1:] {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i+1] = Placeholder
		}
	}
	return strings.Join(segments, "/")
}
