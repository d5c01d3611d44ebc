package compare

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A stable time does not change: whenever a thing is told of again, it says the same as the first time. That holds on each
// side by itself, whatever the other one says.

// A stableKey is a time of a thing, by the rule that speaks of it. A thing is told by its id, or else by what it was asked
// for with and where it stands.
type stableKey struct {
	rule, thing string
}

// A stableTime is what was said of a thing first.
type stableTime struct {
	text string
	at   string // for a person
	told bool   // that it changes
}

// stability compares the stable times of two documents with what was said of the same things before. Those that were told of
// already are left out.
func (d *documents) stability(sides [2]*jsontree.Node, told []string) {
	if len(d.volatile[0])+len(d.volatile[1]) == 0 {
		return
	}
	var changed [2]map[string]string // why, by pointer
	for side, root := range sides {
		changed[side] = map[string]string{}
		for _, ptr := range slices.Sorted(maps.Keys(d.volatile[side])) {
			if rule := d.volatile[side][ptr]; rule.Stable && !slices.Contains(told, ptr) && !d.place.seen[side].Before(d.b.begun(side, rule.Since)) {
				if why := d.changed(rule, side, root, ptr); why != "" {
					changed[side][ptr] = why
				}
			}
		}
	}
	for _, ptr := range slices.Sorted(maps.Keys(changed[0])) {
		d.unstable(ptr, sides, changed[0][ptr], changed[1][ptr])
		delete(changed[1], ptr)
	}
	for _, ptr := range slices.Sorted(maps.Keys(changed[1])) {
		d.unstable(ptr, sides, "", changed[1][ptr])
	}
}

// changed says what a stable time was before, when it was something else; "" when it was not.
func (d *documents) changed(rule *Volatile, side int, root *jsontree.Node, ptr string) string {
	value, parent := nodeAt(root, ptr)
	if value == nil || !scalar(value) {
		return ""
	}
	thing, ok := rule.thing(parent, d.place.of[side]+" "+ptr)
	if !ok {
		return ""
	}
	key := stableKey{rule.Rule + rule.At, thing}
	first := d.b.stable[side][key]
	switch {
	case first == nil:
		put(&d.b.stable[side], key, &stableTime{text: value.Text, at: strings.TrimSpace(d.place.where.what + " " + ptr)})
		return ""
	case first.told || sameMoment(rule, first.text, value.Text):
		return ""
	}
	first.told = true
	return sideNames[side] + "'s was " + strconv.Quote(first.text) + " at " + first.at
}

// thing names what a time is of.
func (v *Volatile) thing(parent *jsontree.Node, place string) (string, bool) {
	if parent == nil || parent.Kind != jsontree.Object {
		return place, v.Of == ""
	}
	if v.Of != "" {
		path, err := jsonpath.Parse(v.Of)
		if err != nil { // checked where rules are read
			return "", false
		}
		found := path.SelectLocated(parent.Value())
		if len(found) != 1 {
			return "", false
		}
		n := located(parent, found[0].Path)
		return "of " + n.String(), scalar(n)
	}
	if id := parent.Member("id"); id != nil && scalar(id) {
		return "id " + id.Text, true
	}
	return place, true
}

// sameMoment reports whether two texts are one time, in whatever way it is written.
func sameMoment(rule *Volatile, a, b string) bool {
	if a == b {
		return true
	}
	text := func(s string) *jsontree.Node { return &jsontree.Node{Kind: jsontree.String, Text: s} }
	x, xok := momentOf(rule, text(a))
	y, yok := momentOf(rule, text(b))
	return xok && yok && x.Equal(y)
}

// unstable reports a time that changes on one side or both.
func (d *documents) unstable(ptr string, sides [2]*jsontree.Node, why ...string) {
	ref, _ := nodeAt(sides[0], ptr)
	cand, _ := nodeAt(sides[1], ptr)
	why = slices.DeleteFunc(slices.Clone(why), func(s string) bool { return s == "" })
	d.report(Difference{
		Kind: ValueDiffers, Place: strings.TrimSpace(d.name + " " + ptr), At: both(ptr), Reference: showNode(ref), Candidate: showNode(cand),
		Text: "a time changes that a rule calls stable: " + strings.Join(why, ", "), Fingerprint: digest("unstable", ptr[strings.LastIndexByte(ptr, '/')+1:]),
	})
}

// nodeAt returns the value at a JSON Pointer, and what it is in; nil when there is none.
func nodeAt(root *jsontree.Node, ptr string) (value, parent *jsontree.Node) {
	value = root
	for _, token := range strings.Split(ptr, "/")[1:] {
		value.Open()
		parent = value
		switch parent.Kind {
		case jsontree.Object:
			value = parent.Member(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		case jsontree.Array:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(parent.Items) {
				return nil, nil
			}
			value = parent.Items[i]
		default:
			return nil, nil
		}
		if value == nil {
			return nil, nil
		}
	}
	return value, parent
}

// begun returns when a step of a side began; long ago when there is no such step.
func (b *bindings) begun(side int, step string) time.Time {
	t := b.sides[side]
	for i := range t.Steps {
		if t.Steps[i].ID == step {
			return t.Started.Add(t.Steps[i].At)
		}
	}
	return time.Time{}
}
