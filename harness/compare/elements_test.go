package compare

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

// numbered returns n objects as JSON, without those that have the given numbers.
func numbered(n int, without ...int) []string {
	var out []string
	for i := range n {
		if !slices.Contains(without, i) {
			out = append(out, fmt.Sprintf(`{"n":%d,"name":"item %d","tags":["a",%d]}`, i, i, i%7))
		}
	}
	return out
}

func list(items []string) string { return "[" + strings.Join(items, ",") + "]" }

func TestAnInsertionInALongListIsOneDifference(t *testing.T) {
	ref := numbered(10_000)
	for _, tc := range []struct {
		name string
		edit func(items []string) []string
		want []string
	}{
		{
			"one in the middle",
			func(items []string) []string { return slices.Insert(items, 5000, `{"new":1}`) },
			[]string{"element-extra body /5000"},
		},
		{
			"three at different places",
			func(items []string) []string {
				return slices.Insert(slices.Insert(slices.Insert(items, 9000, `1`), 5000, `{"new":1}`), 0, `"first"`)
			},
			[]string{"element-extra body /0", "element-extra body /5001", "element-extra body /9002"},
		},
		{
			"one put in, one left out, and one changed",
			func(items []string) []string {
				items[7000] = `{"n":7000,"name":"changed","tags":["a",0]}`
				return slices.Delete(slices.Insert(items, 3000, `{"new":1}`), 9000, 9001)
			},
			[]string{"element-extra body /3000", "value body /7000/name", "element-missing body /8999"},
		},
		{
			"one put in before one that is changed",
			func(items []string) []string {
				items[40] = `{"n":40,"name":"changed","tags":["a",5]}`
				return slices.Insert(items, 40, `{"n":-1,"name":"new","tags":[]}`)
			},
			[]string{"element-extra body /40", "value body /40/name"},
		},
		{
			"two thousand changed, and one put in",
			func(items []string) []string {
				for i := range 2000 {
					items[5*i] = strings.Replace(items[5*i], `"a"`, `"b"`, 1)
				}
				return slices.Insert(items, 5001, `{"new":1}`)
			},
			nil,
		},
		{
			"two thousand changed in each second place, and one put in",
			func(items []string) []string {
				for i := range 2000 {
					items[2*i] = strings.Replace(items[2*i], `"a"`, `"b"`, 1)
				}
				return slices.Insert(items, 501, `{"new":1}`)
			},
			nil,
		},
		{
			"four hundred changed near each other, and one put in",
			func(items []string) []string {
				for i := range 400 {
					items[3*i] = strings.Replace(items[3*i], `"a"`, `"b"`, 1)
				}
				items = slices.Insert(items, 501, `{"new":1}`)
				for i := range 1600 {
					items[5000+3*i] = strings.Replace(items[5000+3*i], `"a"`, `"b"`, 1)
				}
				return items
			},
			nil,
		},
		{
			"four hundred changed near each other, and one put in: few enough for all to be found",
			func(items []string) []string {
				for i := range 400 {
					items[3*i] = strings.Replace(items[3*i], `"a"`, `"b"`, 1)
				}
				return slices.Insert(items, 501, `{"new":1}`)
			},
			make([]string, 401),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cand := tc.edit(slices.Clone(ref))
			result := compared(newSide("ref").answers(list(ref)), newSide("cand").answers(list(cand)), &Rules{})
			got, all := kinds(result), told(result)
			if tc.want == nil {
				if all != 2001 {
					t.Errorf("%d differences, want 2001", all)
				}
				return
			}
			if tc.want[0] == "" {
				if all != len(tc.want) {
					t.Errorf("%d differences, want %d", all, len(tc.want))
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// A planter makes random documents, and copies of them with known edits.
type planter struct {
	*rand.Rand
	n int
}

// fresh returns a value that is different from all others.
func (p *planter) fresh() any {
	p.n++
	switch p.IntN(4) {
	case 0:
		return p.n
	case 1:
		return fmt.Sprint("text ", p.n)
	case 2:
		return map[string]any{"of": p.n, "note": "new"}
	default:
		return []any{p.n, true}
	}
}

func (p *planter) value(depth int) any {
	kind := p.IntN(6)
	if depth == 0 {
		kind = p.IntN(4)
	}
	switch kind {
	case 0:
		return p.IntN(5) // often equal to its neighbours
	case 1:
		return fmt.Sprint("word ", p.IntN(1000))
	case 2:
		return p.IntN(2) == 0
	case 3:
		return nil
	case 4:
		out := map[string]any{}
		for range p.IntN(6) {
			out[fmt.Sprint("m", p.IntN(30))] = p.value(depth - 1)
		}
		return out
	default:
		return p.list(depth, p.IntN(8))
	}
}

func (p *planter) list(depth, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = p.value(depth - 1)
	}
	return out
}

// edit returns a copy of a list with up to the given number of edits, none next to another, and how many there are.
func (p *planter) edit(items []any, edits int) (out []any, planted int) {
	at := map[int]bool{}
	for range edits {
		if i := p.IntN(len(items)); !at[i-2] && !at[i-1] && !at[i] && !at[i+1] && !at[i+2] {
			at[i] = true
		}
	}
	for i, item := range items {
		switch {
		case !at[i]:
			out = append(out, item)
		case p.IntN(3) == 0: // leave it out
		case p.IntN(2) == 0:
			out = append(out, p.fresh(), item)
		default:
			out = append(out, p.changed(item))
		}
	}
	return out, len(at)
}

// changed returns a value with one difference.
func (p *planter) changed(v any) any {
	if m, ok := v.(map[string]any); ok {
		p.n++
		out := map[string]any{fmt.Sprint("added", p.n): p.fresh()}
		for name, item := range m {
			out[name] = item
		}
		return out
	}
	p.n++
	return json.Number(fmt.Sprint(p.n + 1000)) // it has another type, or at least another value
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEditsThatArePlantedAreFoundOnceEach(t *testing.T) {
	for seed := range uint64(60) {
		p := &planter{Rand: rand.New(rand.NewPCG(seed, 1)), n: 1000}
		items := p.list(4, 20+p.IntN(200))
		edited, planted := p.edit(items, 1+p.IntN(8))
		if len(items) == len(edited) && planted > 1 && slices.Equal(sorted(t, items), sorted(t, edited)) {
			continue
		}
		ref, cand := newSide("ref").answers(marshal(t, items)), newSide("cand").answers(marshal(t, edited))
		there, back := compared(ref, cand, &Rules{}), compared(cand, ref, &Rules{})
		if len(there.Differences) != planted {
			t.Errorf("seed %d: %d differences, want %d:\n%s", seed, len(there.Differences), planted, strings.Join(kinds(there), "\n"))
		}
		if diff := cmp.Diff(mirrored(there.Differences), unmirrored(back.Differences)); diff != "" {
			t.Errorf("seed %d: the other way round (-want +got):\n%s", seed, diff)
		}
		if same := compared(ref, ref, &Rules{}); len(same.Differences) > 0 {
			t.Errorf("seed %d: a document differs from itself: %v", seed, kinds(same))
		}
	}
}

func sorted(t *testing.T, items []any) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = marshal(t, item)
	}
	slices.Sort(out)
	return out
}

var opposite = map[diff.Kind]diff.Kind{
	diff.FieldMissing: diff.FieldExtra, diff.FieldExtra: diff.FieldMissing, diff.ElementMissing: diff.ElementExtra, diff.ElementExtra: diff.ElementMissing,
}

// mirrored describes differences as they would be with the sides swapped.
func mirrored(ds []diff.Difference) []string {
	var out []string
	for _, d := range ds {
		kind := d.Kind
		if o, ok := opposite[kind]; ok {
			kind = o
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s, %s", kind, d.At.InContract(1), d.At.InContract(0), d.Cand.String(), d.Ref.String()))
	}
	slices.Sort(out)
	return out
}

func unmirrored(ds []diff.Difference) []string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s %s %s: %s, %s", d.Kind, d.At.InContract(0), d.At.InContract(1), d.Ref.String(), d.Cand.String()))
	}
	slices.Sort(out)
	return out
}

// Comparing a nested list again for each list around it would take too long.
func TestDeepNestsAreComparedInTime(t *testing.T) {
	nest := func(depth int, bottom string) string {
		return strings.Repeat(`[1,2,`, depth) + bottom + strings.Repeat("]", depth)
	}
	got := kinds(compared(newSide("ref").answers(nest(2000, "1")), newSide("cand").answers(nest(2000, "2")), &Rules{}))
	if len(got) != 1 || !strings.HasPrefix(got[0], "value ") {
		t.Errorf("%d differences, want one value", len(got))
	}
	deep := kinds(compared(newSide("ref").answers(nest(100_000, "1")), newSide("cand").answers(nest(100_000, "2")), &Rules{}))
	if len(deep) != 1 || deep[0] != "body body" {
		t.Errorf("nested too deep: %v, want one body", deep)
	}
}
