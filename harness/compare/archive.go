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

// A body whose type is a ZIP archive is compared by its contents, as a document whose members are the entries: see
// harness/internal/archive. So a rule selects an entry by a JSONPath. The order of the entries is compared as well.
// Their times and the compression are not.

// archiveIn reads the archive in a response. It returns nil when the response does not declare an archive, or when its
// body is not completely known.
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

// brokenArchive returns what is wrong with the archive in a response; "" when nothing is. A response to HEAD has no
// body, so it is not checked.
func brokenArchive(x *transcript.Exchange) string {
	if !hasBody(x) || !succeeded(x) {
		return ""
	}
	if _, err := archiveIn(x.Response); err != nil {
		return err.Error()
	}
	return ""
}

// entryOrder compares the order of the entries that both archives have. Comparing the documents finds all other
// differences.
func (c *comparison) entryOrder(sides [2]jsondiff.Content, report func(diff.Difference)) {
	if len(sides[0].Entries) == 0 || len(sides[1].Entries) == 0 {
		return
	}
	b := c.IDs.Named() // by now, the generated values in the names are bound
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
