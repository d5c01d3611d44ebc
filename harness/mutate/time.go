package mutate

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// timeOperators tell the time wrongly.
var timeOperators = []Operator{
	moments("unit", "It counts in another unit", func(t time.Time, how notation) string {
		switch how {
		case seconds:
			return millis.write(t)
		case millis:
			return seconds.write(t)
		default:
			return millis.write(t)
		}
	}),
	moments("zero", "It does not know the time", func(_ time.Time, how notation) string {
		if how == rfc3339 {
			return "1970-01-01T00:00:00Z"
		}
		return "0"
	}),
	moments("zone", "It takes its own zone's clock for UTC", func(t time.Time, how notation) string { return how.write(t.Add(2 * time.Hour)) }),
	moments("year", "It is a year off", func(t time.Time, how notation) string { return how.write(t.AddDate(1, 0, 0)) }),
	operator("time", "unstable", "It tells another time each time it is asked for the same thing", func(s *Subject, _ uint64, yield emit) {
		seen := map[string]bool{}
		s.spots(func(v *spot) bool {
			if v.class != moment || v.parent.Member("id") == nil {
				return true
			}
			key := v.name + " " + v.node.Text + " " + v.parent.Member("id").Text
			if !seen[key] {
				seen[key] = true
				return true
			}
			t, how, _ := timeOf(v.node.Text, v.doc.seen)
			return yield(v.set(v.like(how.write(t.Add(time.Second)))))
		})
	}),
	operator("time", "updated-before-created", "A thing was changed before it was made", func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			if v.class != moment || !strings.Contains(strings.ToLower(v.name), "updated") {
				return true
			}
			created := slices.IndexFunc(v.parent.Names, func(n string) bool { return strings.Contains(strings.ToLower(n), "created") })
			if created < 0 {
				return true
			}
			t, how, ok := timeOf(v.parent.Items[created].Text, v.doc.seen)
			return !ok || yield(v.set(v.like(how.write(t.Add(-time.Minute)))))
		})
	}),
	operator("time", "no-fraction", "It tells the time without the part of a second", func(s *Subject, _ uint64, yield emit) {
		s.spots(func(v *spot) bool {
			t, how, ok := timeOf(v.node.Text, v.doc.seen)
			if v.class != moment || !ok || how != rfc3339 || !strings.Contains(v.node.Text, ".") {
				return true
			}
			return yield(v.set(v.like(how.write(t.Truncate(time.Second)))))
		})
	}),
}

// moments makes an operator on times of the run.
func moments(name, doc string, change func(t time.Time, how notation) string) Operator {
	return values("time", name, doc, func(v *spot, _ uint64) (string, bool) {
		if v.class != moment {
			return "", false
		}
		t, how, _ := timeOf(v.node.Text, v.doc.seen)
		return v.like(change(t, how)), true
	})
}

// shiftTimes returns a document in which every time of the run is another.
func shiftTimes(d *document, by time.Duration) *transcript.Transcript {
	root := parsed(string(d.data))
	var walk func(n *jsontree.Node)
	walk = func(n *jsontree.Node) {
		if n.Kind == jsontree.String || n.Kind == jsontree.Number {
			if t, how, ok := timeOf(n.Text, d.seen); ok {
				n.Text = how.write(t.Add(by))
			}
		}
		for _, item := range n.Items {
			walk(item)
		}
	}
	walk(root)
	return d.put([]byte(root.String()))
}
