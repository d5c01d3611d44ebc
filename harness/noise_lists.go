package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A list that comes in another order each time shows other values at each place of it. No rule for these places is true:
// what they hold is what the contract promises. So the order is told, and the values are left in peace.

// shuffle notes the lists of a case that have the same elements on both sides, in another order. A list that comes in
// pages is put together from all answers of its path.
func (s *survey) shuffle(c *Case) {
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
				eachListed(root, "$", "", func(list, member, value string) {
					key := of + "\x00" + list + "\x00" + member
					if columns[key] == nil {
						columns[key] = &[2][]string{}
					}
					columns[key][side] = append(columns[key][side], value)
				})
			}
		}
	}
	for key, sides := range columns {
		if permuted(sides[0], sides[1]) {
			s.shuffled[strings.Split(key, "\x00")[1]] = true
		}
	}
}

// permuted reports whether two columns have the same values, in another order.
func permuted(a, b []string) bool {
	return !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// eachListed calls f with every value that stands in a list, the path of the nearest list, and the path within the element.
func eachListed(n *jsontree.Node, path, list string, f func(list, member, value string)) {
	n.Open()
	switch n.Kind {
	case jsontree.Object:
		for i, item := range n.Items {
			eachListed(item, path+pathStep(n.Names[i]), list, f)
		}
	case jsontree.Array:
		for _, item := range n.Items {
			eachListed(item, path+"[*]", path+"[*]", f)
		}
	case jsontree.String, jsontree.Number:
		if list != "" {
			f(list, strings.TrimPrefix(path, list), n.Text)
		}
	}
}

// shuffledAt returns the list that comes in another order and has the place of a finding; "" when there is none.
func (s *survey) shuffledAt(f *verdict.Finding) string {
	_, path, ok := pathOf(f)
	if !ok {
		return ""
	}
	out := ""
	for list := range s.shuffled {
		if strings.HasPrefix(path, list) && (out == "" || len(list) < len(out)) {
			out = list
		}
	}
	return out
}

func orderOf(list string) string {
	return fmt.Sprintf("%s comes in another order each time: sort it, or ask for less; a rule for what stands in it would hide values", strings.TrimSuffix(list, "[*]"))
}
