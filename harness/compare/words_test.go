package compare

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListsOfWordsAreAligned(t *testing.T) {
	for _, tc := range []struct {
		name, ref, cand string
		want            []string
	}{
		{"one more, and one less", "read write exec", "write exec zip", []string{"element-missing body /0", "element-extra body /2"}},
		{"of two", "read write", "write exec", []string{"element-missing body /0", "element-extra body /1"}},
		{"one that moved, and one that changed", "a b c", "x a c", []string{"element-extra body /0", "element-missing body /1"}},
		{"one that changed", "read write exec", "read wrote exec", []string{"value body /1"}},
		{"all that changed", "read write", "lamp rug", []string{"value body /0", "value body /1"}},
		{"another order", "read write exec", "exec read write", []string{"order body"}},
		{"many, shifted", words(40)[2:], words(40) + " rug", []string{"element-extra body /0", "element-extra body /40"}},
	} {
		list := func(text string) string {
			out, _ := json.Marshal(strings.Fields(text))
			return string(out)
		}
		got := kinds(compared(newSide("ref").answers(list(tc.ref)), newSide("cand").answers(list(tc.cand)), nil))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func words(n int) string {
	var out []string
	for i := range n {
		out = append(out, strings.Repeat(string(rune('a'+i%26)), 1+i/26))
	}
	return strings.Join(out, " ")
}

func TestNamesOfEventsMayHaveIDs(t *testing.T) {
	rules := &Rules{}
	story := func(target, name, id string) side {
		s := newSide(target)
		s.stream("bus", "a {}", "b {}", "c {}")
		for i, text := range []string{"item-‹unique›", "item-" + name, "done"} {
			ev := &s.t.Streams[0].Events[i]
			ev.Name = strings.ReplaceAll(text, "‹unique›", s.t.Unique)
			ev.Type = ev.Name
			ev.ID = strings.ReplaceAll(id, "‹unique›", s.t.Unique)
		}
		return s
	}
	for _, tc := range []struct {
		name string
		cand side
		want []string
	}{
		{"its own", story("cand", uuidX, "e-‹unique›"), nil},
		{"the other's name", story("cand", "uref00000001", "e-‹unique›"), []string{"event-name event 2 (item-‹uuid›)"}},
		{"another name", story("cand", "lamp", "e-‹unique›"), []string{"event-name event 2 (item-‹uuid›)"}},
		{"another id", story("cand", uuidX, "e-lamp"), []string{"value event 1 (item-‹unique›) id", "value event 2 (item-‹uuid›) id", "value event 3 (done) id"}},
	} {
		got := kinds(compared(story("ref", uuidA, "e-‹unique›"), tc.cand, rules))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
