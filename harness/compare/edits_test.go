package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/internal/docgen"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
)

// A plan is a sequence of events. Each belongs to a client, has a name and a number, and mentions a thing.
type plan []planned

// If the client of a planned event is anchor, the event belongs to no client, and no other event may pass it. All
// anchors are different.
type planned struct{ client, name, n, thing int }

const anchor = 3

var plans = rapid.Custom(func(t *rapid.T) plan {
	p := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) planned {
		return planned{
			rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 2, anchor}).Draw(t, "client"), rapid.IntRange(0, 2).Draw(t, "name"), rapid.IntRange(0, 2).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "thing"),
		}
	}), 2, 14).Draw(t, "events")
	for i := range p {
		if p[i].client == anchor {
			p[i].n = 10 + i
		}
	}
	return p
})

// told returns the event as a side sends it. The ids of clients and of things are generated.
func (p planned) told(world int) string {
	if p.client == anchor {
		name := "anchor"
		if p.name == 7 {
			name = "e7"
		}
		return fmt.Sprintf(`%s {"n":%d,"thing":"%s"}`, name, p.n, docgen.Value(p.thing, world, p.thing))
	}
	return fmt.Sprintf(`e%d {"client":"%s","n":%d,"thing":"%s"}`, p.name, docgen.Value(1, world, 100+p.client), p.n, docgen.Value(p.thing, world, p.thing))
}

func (p plan) told(world int) []string {
	var out []string
	for _, e := range p {
		out = append(out, e.told(world))
	}
	return out
}

// known returns a response with generated values, so that they have partners before the stream is compared. It includes
// the ids of the clients and, if things is set, those of the things.
func known(world int, things bool) string {
	var all []string
	for n := range 4 {
		all = append(all, diff.Quoted(docgen.Value(1, world, 100+n)))
		if things {
			all = append(all, diff.Quoted(docgen.Value(n, world, n)))
		}
	}
	return "[" + strings.Join(all, ",") + "]"
}

// order returns what the plan fixes: the events of each client, the anchors, and how many anchors precede each event.
func (p plan) order() string {
	var out [4][]string
	anchors := 0
	for _, e := range p {
		out[e.client] = append(out[e.client], fmt.Sprint(e, anchors))
		if e.client == anchor {
			anchors++
		}
	}
	return fmt.Sprint(out)
}

// edited returns a copy of the plan with one edit. ok is false when the edit does not change the sequence.
func (p plan) edited(t *rapid.T, edit diff.Kind) (out plan, ok bool) {
	i := rapid.IntRange(0, len(p)-1).Draw(t, "which")
	out, e := slices.Clone(p), p[i]
	switch edit {
	case diff.EventMissing:
		return slices.Delete(out, i, i+1), true
	case diff.EventDoubled:
		return slices.Insert(out, i, e), true
	case diff.EventMoved:
		out = slices.Insert(slices.Delete(out, i, i+1), rapid.IntRange(0, len(p)-1).Draw(t, "to"), e)
		return out, out.order() != p.order()
	case diff.EventName:
		out[i].name = 7
	case diff.ValueDiffers:
		out[i].n = 7
	case diff.IdentityBroken:
		if rapid.Bool().Draw(t, "client") {
			out[i].client = (e.client + 1) % anchor
			return out, e.client != anchor
		}
		// another thing with the same shape of id
		out[i].thing = (e.thing + docgen.Shapes) % 6
		return out, out[i].thing != e.thing && out[i].thing < 4
	}
	return out, true
}

// In any sequence, and with any number of keys, one event that is lost, doubled, renamed, moved or changed is one
// finding of its kind.
func TestEachEditOfAnEventIsFoundOnce(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {OrderWithin: "$.client", Anchors: []string{"anchor"}}}}
	for name, edits := range map[string][]diff.Kind{
		"of things that are known": {diff.EventMissing, diff.EventDoubled, diff.EventName, diff.EventMoved, diff.ValueDiffers, diff.IdentityBroken},
		// Nothing is moved here: in another order, the ids may belong to other things.
		"of new things": {diff.EventMissing, diff.EventDoubled, diff.EventName, diff.ValueDiffers},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				ref, edit := plans.Draw(t, "plan"), rapid.SampledFrom(edits).Draw(t, "edit")
				cand, ok := ref.edited(t, edit)
				if !ok {
					t.Skip("nothing is another")
				}
				sides := [2]side{newSide("ref").answers(known(0, len(edits) > 4)), newSide("cand").answers(known(1, len(edits) > 4))}
				result := compared(sides[0].stream("bus", ref.told(0)...), sides[1].stream("bus", cand.told(1)...), rules)
				if len(result.Differences) != 1 || result.Differences[0].Kind != edit {
					t.Fatalf("%s: %v\n%s\n%s", edit, kinds(result), strings.Join(ref.told(0), "\n"), strings.Join(cand.told(1), "\n"))
				}
			})
		})
	}
}

func TestAMovedEventIsComparedAsWell(t *testing.T) {
	const body = `["ses_%s","ses_%s"]`
	for _, tc := range []struct{ name, moved, want string }{
		{"with the right id", `a {"id":"ses_f1eeddcc1122"}`, "event-order event 2 (a)"},
		{"with another id", `a {"id":"ses_f2eeddcc1122"}`, "event-order event 2 (a), identity event 1 (a) data /id"},
		{"long after it was", `a {"id":"ses_f1eeddcc1122","at":"2026-03-01T18:00:00Z"}`, "event-order event 2 (a), value event 1 (a) data /at"},
	} {
		ref := `a {"id":"ses_0a1b2c3d4e5f"}`
		if strings.Contains(tc.moved, "at") {
			ref = `a {"id":"ses_0a1b2c3d4e5f","at":"2026-03-01T12:00:00Z"}`
		}
		got := kinds(compared(
			newSide("ref").answers(fmt.Sprintf(body, "0a1b2c3d4e5f", "1a1b2c3d4e5f")).stream("bus", ref, "b 1"),
			newSide("cand").answers(fmt.Sprintf(body, "f1eeddcc1122", "f2eeddcc1122")).stream("bus", "b 1", tc.moved), nil,
		))
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, got, tc.want)
		}
	}
}

// Keys with the shape of an id separate the events, too, whether or not they are known before the stream.
func TestOrderIsFreeAcrossKeysThatAreIds(t *testing.T) {
	rules := &Rules{Streams: map[string]streamdiff.Rules{"bus": {OrderWithin: "$.k"}}}
	event := func(name string, world, n int) string {
		return fmt.Sprintf(`%s {"k":"%s"}`, name, docgen.Value(0, world, n))
	}
	for _, known := range []bool{true, false} {
		ref, cand := newSide("ref"), newSide("cand")
		if known {
			ref.answers(diff.Quoted(docgen.Value(0, 0, 1)), diff.Quoted(docgen.Value(0, 0, 2)))
			cand.answers(diff.Quoted(docgen.Value(0, 1, 1)), diff.Quoted(docgen.Value(0, 1, 2)))
		}
		ref.stream("bus", event("a", 0, 1), event("b", 0, 1), event("a", 0, 2), event("c", 0, 2))
		cand.stream("bus", event("a", 1, 2), event("a", 1, 1), event("c", 1, 2), event("b", 1, 1))
		if got := kinds(compared(ref, cand, rules)); got != nil {
			t.Errorf("known before: %t: differences %v", known, got)
		}
	}
}
