package jsondiff

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A stable time does not change: whenever a thing appears again, it has the same time as at first. This applies to each
// side alone, whatever the other one says.

// stableTimes compares times that must not change.
type stableTimes struct{ in *setting }

// stability compares the stable times of two documents with earlier ones of the same things. It skips the pointers in
// told, which have reported differences.
func (s stableTimes) stability(sides [2]*jsontree.Node, told []string) {
	if s.in.rules.none() {
		return
	}
	var changed [2]map[string]string // the reasons, by pointer
	for side, root := range sides {
		changed[side] = map[string]string{}
		for _, ptr := range slices.Sorted(maps.Keys(s.in.rules[side])) {
			if rule := s.in.rules[side][ptr]; rule.Stable && !slices.Contains(told, ptr) && !s.in.place.Seen[side].Before(stepStart(s.in.ids.Times.Sides[side], rule.Since)) {
				if why := s.changed(rule, side, root, ptr); why != "" {
					changed[side][ptr] = why
				}
			}
		}
	}
	for _, ptr := range slices.Sorted(maps.Keys(changed[0])) {
		s.unstable(ptr, sides, changed[0][ptr], changed[1][ptr])
		delete(changed[1], ptr)
	}
	for _, ptr := range slices.Sorted(maps.Keys(changed[1])) {
		s.unstable(ptr, sides, "", changed[1][ptr])
	}
}

// changed returns what a stable time was at first, if it has changed; "" otherwise.
func (s stableTimes) changed(rule *Volatile, side int, root *jsontree.Node, ptr string) string {
	value, parent := root.At(ptr)
	if value == nil || !Scalar(value) {
		return ""
	}
	thing, ok := rule.subject(parent, s.in.place.Of[side]+" "+ptr)
	if !ok {
		return ""
	}
	key := stableKey{rule.Rule + rule.At, thing}
	first := s.in.history.stable[side][key]
	switch {
	case first == nil:
		ident.Put(&s.in.history.stable[side], key, &stableTime{text: value.Text, at: s.in.place.Where.String() + " " + ptr})
		return ""
	case first.reported || sameMoment(rule, first.text, value.Text):
		return ""
	}
	first.reported = true
	return diff.Side(side).String() + "'s was " + strconv.Quote(first.text) + " at " + first.at
}

// subject identifies the thing that a time belongs to.
func (v *Volatile) subject(parent *jsontree.Node, place string) (string, bool) {
	if parent == nil || parent.Kind != jsontree.Object {
		return place, v.Of == ""
	}
	if v.Of != "" {
		path, err := jsonpath.Parse(v.Of)
		if err != nil { // this was checked when the rules were read
			return "", false
		}
		found := path.SelectLocated(parent.Value())
		if len(found) != 1 {
			return "", false
		}
		n, _ := parent.At(found[0].Path.Pointer())
		return "of " + n.String(), Scalar(n)
	}
	if id := parent.Member("id"); id != nil && Scalar(id) {
		return "id " + id.Text, true
	}
	return place, true
}

// sameMoment reports whether two texts are the same time, in any notation.
func sameMoment(rule *Volatile, a, b string) bool {
	if a == b {
		return true
	}
	text := func(s string) *jsontree.Node { return &jsontree.Node{Kind: jsontree.String, Text: s} }
	x, xok := timeOf(rule, text(a))
	y, yok := timeOf(rule, text(b))
	return xok && yok && x.Equal(y)
}

// unstable reports a time that changes on one side or both.
func (s stableTimes) unstable(ptr string, sides [2]*jsontree.Node, why ...string) {
	ref, _ := sides[0].At(ptr)
	cand, _ := sides[1].At(ptr)
	why = slices.DeleteFunc(slices.Clone(why), func(s string) bool { return s == "" })
	at := s.in.place.Where.Place()
	at.Pointers = [2]string{ptr, ptr}
	s.in.report(diff.Difference{
		Reason: diff.Because(diff.ValueDiffers, diff.TimeChanges, strings.Join(why, ", ")), At: at, Ref: showNode(ref), Cand: showNode(cand),
		Fingerprint: diff.Digest("unstable", ptr[strings.LastIndexByte(ptr, '/')+1:]),
	})
}

// stepStart returns when a step of a side began; the zero time when there is no such step.
func stepStart(t *transcript.Transcript, step string) time.Time {
	for i := range t.Steps {
		if t.Steps[i].ID == step {
			return t.Started.Add(t.Steps[i].At)
		}
	}
	return time.Time{}
}
