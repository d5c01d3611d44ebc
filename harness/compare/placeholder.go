package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Placeholder stands for a value that another run gives another.
const Placeholder = "{…}"

// Shape returns what writes a text of a transcript, such as a path, with placeholders: for what ${{ unique }} and
// ${{ directory }} stood for, for what has the shape of an id, a time or a port, and for numbers between slashes, since servers count.
func (r *Rules) Shape(t *transcript.Transcript) func(text string) string {
	b := &bindings{own: newOwn(r.IDs), applied: map[string]bool{}}
	b.known[0] = given(t)
	return func(text string) string {
		var out strings.Builder
		at := 0
		for _, tok := range b.scan(0, text) {
			out.WriteString(text[at : tok.start+tok.lead])
			out.WriteString(Placeholder)
			at = tok.end
		}
		out.WriteString(text[at:])
		return uncountedSegments(out.String())
	}
}

// uncountedSegments replaces the segments of a path that are numbers.
func uncountedSegments(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments[1:] {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i+1] = Placeholder
		}
	}
	return strings.Join(segments, "/")
}
