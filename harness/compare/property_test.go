package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/internal/docgen"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

func TestRenamingAllGeneratedValuesIsNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := docgen.Stories.Draw(t, "story")
		for world := range 2 { // the same values, and different ones
			got := compared(newSide("ref").answers(s.In(0)...), newSide("cand").answers(s.In(world)...), nil)
			if len(got.Differences) > 0 || got.Exchanges != len(s) {
				t.Fatalf("world %d: %d exchanges, differences %v", world, got.Exchanges, kinds(got))
			}
		}
	})
}

func TestRenamingOneOccurrenceIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := docgen.Stories.Draw(t, "story")
		n := rapid.IntRange(0, docgen.Values-1).Draw(t, "value")
		value := docgen.Value(n, 1, n)
		told := append(s.In(1), `{"first":"`+value+`"}`, `{"again":"`+value+`"}`)
		ref := append(s.In(0), `{"first":"`+docgen.Value(n, 0, n)+`"}`, `{"again":"`+docgen.Value(n, 0, n)+`"}`)
		// A value of the same shape that occurs nowhere else.
		told[len(told)-1] = `{"again":"` + docgen.Value(n, 1, 900+n) + `"}`
		got := compared(newSide("ref").answers(ref...), newSide("cand").answers(told...), nil)
		if diff := cmp.Diff([]string{"identity body /again"}, kinds(got)); diff != "" {
			t.Fatalf("differences (-want +got):\n%s", diff)
		}
	})
}

func TestSwappingTheSidesMirrorsTheDifferences(t *testing.T) {
	mirrored := map[diff.Kind]diff.Kind{
		diff.FieldMissing: diff.FieldExtra, diff.FieldExtra: diff.FieldMissing, diff.ElementMissing: diff.ElementExtra, diff.ElementExtra: diff.ElementMissing,
	}
	rapid.Check(t, func(t *rapid.T) {
		one, other := docgen.Document(t, 3), docgen.Document(t, 3)
		if len(one) > 0 && rapid.Bool().Draw(t, "related") {
			other = strings.Replace(one, "1", "2", 1)
		}
		a, b := docgen.Story{one}.In(0), docgen.Story{other}.In(1)
		there := compared(newSide("ref").answers(a...), newSide("cand").answers(b...), nil)
		back := compared(newSide("cand").answers(b...), newSide("ref").answers(a...), nil)
		var want, got []string
		for _, d := range there.Differences {
			if kind, ok := mirrored[d.Kind]; ok {
				d.Kind = kind
			}
			want = append(want, fmt.Sprintf("%s %s: %s, %s", d.Kind, d.At.InContract(1), d.Cand.String(), d.Ref.String()))
		}
		for _, d := range back.Differences {
			got = append(got, fmt.Sprintf("%s %s: %s, %s", d.Kind, d.At.InContract(0), d.Ref.String(), d.Cand.String()))
		}
		if diff := cmp.Diff(sortedTexts(want), sortedTexts(got)); diff != "" {
			t.Fatalf("%s against %s (-mirrored +swapped):\n%s", a, b, diff)
		}
	})
}

func TestEachPlantedEditIsFoundOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// The members have random values. An edit changes, removes or adds one of them.
		n := rapid.IntRange(1, 8).Draw(t, "members")
		edits := map[int]string{}
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			edits[rapid.IntRange(0, n-1).Draw(t, "where")] = rapid.SampledFrom([]string{"value", "type", "field-missing", "field-extra"}).Draw(t, "edit")
		}
		var ref, cand, want []string
		for i := range n {
			member := fmt.Sprintf(`"m%d":%s`, i, docgen.Document(t, 2))
			switch edits[i] {
			case "":
				ref, cand = append(ref, member), append(cand, member)
				continue
			case "value":
				ref, cand = append(ref, fmt.Sprintf(`"m%d":"old"`, i)), append(cand, fmt.Sprintf(`"m%d":"new"`, i))
			case "type":
				ref, cand = append(ref, fmt.Sprintf(`"m%d":"1"`, i)), append(cand, fmt.Sprintf(`"m%d":1`, i))
			case "field-missing":
				ref = append(ref, member)
			case "field-extra":
				cand = append(cand, member)
			}
			want = append(want, fmt.Sprintf("%s body /m%d", edits[i], i))
		}
		whole := func(members []string, world int) []string {
			return docgen.Story{`{` + strings.Join(members, ",") + `}`}.In(world)
		}
		got := compared(newSide("ref").answers(whole(ref, 0)...), newSide("cand").answers(whole(cand, 1)...), nil)
		if diff := cmp.Diff(sortedTexts(want), sortedTexts(kinds(got))); diff != "" {
			t.Fatalf("differences (-want +got):\n%s", diff)
		}
	})
}

func TestAnInsertedElementIsOneDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 40).Draw(t, "items")
		at := rapid.IntRange(0, len(items)).Draw(t, "at")
		list := func(with bool) string {
			var out []string
			for i := range len(items) + 1 {
				if i == at && with {
					out = append(out, `"inserted"`)
				}
				if i < len(items) {
					out = append(out, fmt.Sprint(items[i]))
				}
			}
			return "[" + strings.Join(out, ",") + "]"
		}
		got := compared(newSide("ref").answers(list(false)), newSide("cand").answers(list(true)), nil)
		if diff := cmp.Diff([]string{"element-extra body" + " " + jsontree.AppendIndex("", at)}, kinds(got)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", list(true), diff)
		}
	})
}

func sortedTexts(all []string) []string { return slices.Sorted(slices.Values(all)) }
