package report

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A member that is wrong in one element of a list is wrong in all, as a rule. That is one cause, and would fill the room of
// all others: the first element is shown, and the others are listed. Elements that are missing are a thing each.

// ofElements is what findings of one step have in common that say the same of a member of several elements.
type ofElements struct {
	said                  // without values, and what is made of them
	step, stream, targets string
}

// byElements puts those causes together that say the same of several elements of a list.
func byElements(all []*cause) []*cause {
	firsts := map[ofElements]*cause{}
	kept := all[:0]
	for _, c := range all {
		place, inList := ofAnyElement(c.Place)
		if !inList || c.Kind == "identity" {
			kept = append(kept, c)
			continue
		}
		what := said{class: c.Class, kind: c.Kind, place: place, text: c.Text, waiver: c.Waiver, note: c.Note, known: c.Known}
		if c.Class == verdict.Difference {
			what.blame = c.Blame
		}
		key := ofElements{what, c.Step, c.Stream, strings.Join(c.targets, "\n")}
		first := firsts[key]
		if first == nil {
			firsts[key] = c
			kept = append(kept, c)
			continue
		}
		first.findings += c.findings
		first.elements = append(first.elements, c.Place)
	}
	return kept
}

// ofAnyElement returns a place without the indexes of elements; false where there are none, or where the element itself is
// the place.
func ofAnyElement(place string) (bare string, inList bool) {
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
