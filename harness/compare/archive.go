package compare

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A body that says it is a ZIP archive is compared by what it holds, as a document whose members are the entries (see
// harness/internal/archive): rules name an entry as JSONPaths name a member. The order of the entries counts as well, which that of
// members does not. When entries were written, and how they are compressed, does not.

// archiveIn reads the archive that an answer has. It is nil when the answer is not called one, has no body, or has one of
// which nobody knows all.
func archiveIn(r *transcript.Response) (*archive.Document, error) {
	if !archive.Is(r.Header.ContentType()) || r.Body.Undecoded(r.Header) || !r.Body.Whole() {
		return nil, nil
	}
	if w := r.Body.Withheld; w != nil {
		return &archive.Document{}, errors.New(w.Archive)
	}
	doc, err := archive.Read(r.Body.Bytes)
	if err != nil {
		return &archive.Document{}, err
	}
	return doc, nil
}

// brokenArchive says what is wrong with the archive of an answer; "" when nothing is. An answer to HEAD has no body, and
// what it would say is not looked into.
func brokenArchive(x *transcript.Exchange) string {
	if !hasBody(x) || !succeeded(x) {
		return ""
	}
	if _, err := archiveIn(x.Response); err != nil {
		return err.Error()
	}
	return ""
}

// entryOrder compares the order of the entries that two archives have in common. Which entries there are, the documents tell.
func (c *comparison) entryOrder(sides [2]jsondiff.Content, report func(diff.Difference)) {
	if len(sides[0].Entries) == 0 || len(sides[1].Entries) == 0 {
		return
	}
	b := c.IDs.Named() // by now what is made up in their names is bound
	var bare [2]map[string]bool
	for side, s := range sides {
		bare[side] = map[string]bool{}
		for _, name := range s.Entries {
			bare[side][b.Skeleton(side, name)] = true
		}
	}
	var common, names [2][]string
	for side, s := range sides {
		for _, name := range s.Entries {
			if stem := b.Skeleton(side, name); bare[1-side][stem] {
				common[side], names[side] = append(common[side], stem), append(names[side], name)
			}
		}
	}
	if len(common[0]) != len(common[1]) || slices.Equal(common[0], common[1]) {
		return
	}
	report(diff.Difference{
		Reason: diff.Because(diff.OrderDiffers, diff.EntriesReordered), At: diff.At{Part: "body"}, Ref: showNames(names[0]), Cand: showNames(names[1]),
	})
}

func showNames(names []string) diff.Excerpt {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return diff.Show(strings.Join(quoted, ", "))
}
