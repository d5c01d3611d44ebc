package cause

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A member that is wrong in one element of a list is usually wrong in all of them. That is one cause, and without
// merging it would crowd out the others. So the first element is shown, and the others are listed. Missing elements
// stay separate.

// An elementKey is what findings of one step have in common if they say the same about a member of several elements.
type elementKey struct {
	statement             // without values, and without what is derived from them
	step, stream, targets string
}

// mergeElements merges causes that say the same about several elements of a list.
func mergeElements(all []*Cause) []*Cause {
	firsts := map[elementKey]*Cause{}
	kept := all[:0]
	for _, c := range all {
		place, inList := withoutIndexes(c.Place)
		if !inList || c.Kind == "identity" {
			kept = append(kept, c)
			continue
		}
		what := statement{class: c.Class, kind: c.Kind, place: place, text: c.Text, waiver: c.Waiver, note: c.Note, known: c.Known}
		if c.Class == verdict.Difference {
			what.blame = c.Blame
		}
		key := elementKey{what, c.Step, c.Stream, strings.Join(c.Targets, "\n")}
		first := firsts[key]
		if first == nil {
			firsts[key] = c
			kept = append(kept, c)
			continue
		}
		first.Findings = append(first.Findings, c.Findings...)
		first.Elements = append(first.Elements, c.Place)
	}
	return kept
}

// withoutIndexes returns a place without the indexes of elements. It returns false when there are no indexes, or when
// the place is an element itself.
func withoutIndexes(place string) (bare string, inList bool) {
	parts := strings.Split(place, "/")
	last := len(parts) - 1
	for i, part := range parts[1:] {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			inList = i+1 < last
			parts[i+1] = "*"
		}
	}
	return strings.Join(parts, "/"), inList
}

// property returns a place without indexes of elements and numbers of messages: what it is called in a schema.
func property(place string) string {
	bare, _ := withoutIndexes(diff.Unnumbered(place))
	return bare
}
