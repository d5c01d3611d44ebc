package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A story is what a server answered in a row: documents in which generated values occur, some of them in several places.
// ${0}, ${1}, … stand for the generated values.
type story []string

// makers make generated values of several shapes; the n-th is another one for each n and each world.
var makers = []func(world, n int) string{
	func(world, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", world*7919+n, n) },
	func(world, n int) string { return fmt.Sprintf("ses_%d%s%05d", world, "f3a9c1", n) },
	func(world, n int) string { return fmt.Sprintf("01JQ%dZ7XK9M3V5T8R2P4%06d", world, n) },
}

// told writes a story with the values of a world, which differ from those of another.
func (s story) told(world int) []string {
	out := make([]string, len(s))
	for i, document := range s {
		for n := range values {
			document = strings.ReplaceAll(document, fmt.Sprintf("${%d}", n), makers[n%len(makers)](world, n))
		}
		out[i] = document
	}
	return out
}

const values = 6

var stories = rapid.Custom(func(t *rapid.T) story {
	s := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return document(t, 3) }), 1, 4).Draw(t, "documents")
	return s
})

// document draws a JSON document.
func document(t *rapid.T, depth int) string {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
	case 1:
		return rapid.SampledFrom([]string{"0", "1", "-2.5", "1e3", "9007199254740993"}).Draw(t, "number")
	case 2:
		return `"` + rapid.StringMatching(`[a-z é✓]{0,8}`).Draw(t, "text") + `"`
	case 3:
		return fmt.Sprintf(`"${%d}"`, rapid.IntRange(0, values-1).Draw(t, "value"))
	case 4:
		return fmt.Sprintf(`"%s/${%d}?x"`, rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "path"), rapid.IntRange(0, values-1).Draw(t, "value"))
	case 5:
		var items []string
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			items = append(items, document(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		var members []string
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, fmt.Sprintf(`"m%d":%s`, i, document(t, depth-1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

func TestRenamingAllGeneratedValuesIsNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stories.Draw(t, "story")
		for world := range 2 { // the same values, and others
			got := compared(newSide("ref").answers(s.told(0)...), newSide("cand").answers(s.told(world)...), nil)
			if len(got.Differences) > 0 || got.Exchanges != len(s) {
				t.Fatalf("world %d: %d exchanges, differences %v", world, got.Exchanges, kinds(got))
			}
		}
	})
}

func TestRenamingOneOccurrenceIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stories.Draw(t, "story")
		n := rapid.IntRange(0, values-1).Draw(t, "value")
		value := makers[n%len(makers)](1, n)
		told := append(s.told(1), `{"first":"`+value+`"}`, `{"again":"`+value+`"}`)
		ref := append(s.told(0), `{"first":"`+makers[n%len(makers)](0, n)+`"}`, `{"again":"`+makers[n%len(makers)](0, n)+`"}`)
		// A value of the same shape that occurs nowhere else.
		told[len(told)-1] = `{"again":"` + makers[n%len(makers)](1, 900+n) + `"}`
		got := compared(newSide("ref").answers(ref...), newSide("cand").answers(told...), nil)
		if diff := cmp.Diff([]string{"identity body /again"}, kinds(got)); diff != "" {
			t.Fatalf("differences (-want +got):\n%s", diff)
		}
	})
}

func TestSwappingTheSidesMirrorsTheDifferences(t *testing.T) {
	mirrored := map[Kind]Kind{
		FieldMissing: FieldExtra, FieldExtra: FieldMissing, ElementMissing: ElementExtra, ElementExtra: ElementMissing,
	}
	rapid.Check(t, func(t *rapid.T) {
		one, other := document(t, 3), document(t, 3)
		if len(one) > 0 && rapid.Bool().Draw(t, "related") {
			other = strings.Replace(one, "1", "2", 1)
		}
		a, b := story{one}.told(0), story{other}.told(1)
		there := compared(newSide("ref").answers(a...), newSide("cand").answers(b...), nil)
		back := compared(newSide("cand").answers(b...), newSide("ref").answers(a...), nil)
		var want, got []string
		for _, d := range there.Differences {
			if kind, ok := mirrored[d.Kind]; ok {
				d.Kind = kind
			}
			want = append(want, fmt.Sprintf("%s %s: %s, %s", d.Kind, d.At[1], d.Candidate, d.Reference))
		}
		for _, d := range back.Differences {
			got = append(got, fmt.Sprintf("%s %s: %s, %s", d.Kind, d.At[0], d.Reference, d.Candidate))
		}
		if diff := cmp.Diff(sortedTexts(want), sortedTexts(got)); diff != "" {
			t.Fatalf("%s against %s (-mirrored +swapped):\n%s", a, b, diff)
		}
	})
}

func TestEachPlantedEditIsFoundOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Members whose values are drawn; an edit changes, removes or adds one of them.
		n := rapid.IntRange(1, 8).Draw(t, "members")
		edits := map[int]string{}
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			edits[rapid.IntRange(0, n-1).Draw(t, "where")] = rapid.SampledFrom([]string{"value", "type", "field-missing", "field-extra"}).Draw(t, "edit")
		}
		var ref, cand, want []string
		for i := range n {
			member := fmt.Sprintf(`"m%d":%s`, i, document(t, 2))
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
			return story{`{` + strings.Join(members, ",") + `}`}.told(world)
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
