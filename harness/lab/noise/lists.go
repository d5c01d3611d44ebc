package noise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// If the order of a list changes, each index has other values. No rule for these values would be right, because the
// contract promises them. So the report names the list, and no rule is tried for its values.

// findReordered records the lists of a case that have the same elements on both sides in another order. A list that is
// sent in pages is combined from all responses of its path.
func (s *measurement) findReordered(c *runfile.Case) {
	columns := map[string]*[2][]string{}
	for i := range min(len(c.Transcripts[0].Steps), len(c.Transcripts[1].Steps)) {
		ref, cand := c.Transcripts[0].Steps[i].Exchanges, c.Transcripts[1].Steps[i].Exchanges
		for k := range min(len(ref), len(cand)) {
			of, _, _ := strings.Cut(ref[k].Request.Method+" "+ref[k].Request.Target, "?")
			if ref[k].Response == nil || cand[k].Response == nil {
				continue
			}
			for side, body := range [2][]byte{ref[k].Response.Body.Bytes, cand[k].Response.Body.Bytes} {
				root, _, err := jsontree.Parse(body)
				if err != nil {
					continue
				}
				eachValue(root, "$", "", func(path, list, value string) {
					if list == "" {
						return
					}
					key := of + "\x00" + list + "\x00" + strings.TrimPrefix(path, list)
					if columns[key] == nil {
						columns[key] = &[2][]string{}
					}
					columns[key][side] = append(columns[key][side], value)
				})
			}
		}
	}
	for key, sides := range columns {
		if isReordered(sides[0], sides[1]) {
			s.reordered[strings.Split(key, "\x00")[1]] = true
		}
	}
}

// isReordered reports whether two columns have the same values in another order.
func isReordered(a, b []string) bool {
	return !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// reorderedListAt returns the reordered list that contains a finding's place, or "".
func (s *measurement) reorderedListAt(f *verdict.Finding) string {
	path, _, ok := f.JSONPath()
	if !ok {
		return ""
	}
	out := ""
	for list := range s.reordered {
		if strings.HasPrefix(path, list) && (out == "" || len(list) < len(out)) {
			out = list
		}
	}
	return out
}

func reorderedText(list string) string {
	return fmt.Sprintf("%[1]s comes in a different order each time: if that is right, add lists: [{at: %[1]s, order: none, because: …}]; a rule for its elements would hide values", strings.TrimSuffix(list, "[*]"))
}
