package mutate

import (
	"slices"
	"strings"
	"time"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/lockstep-dev/lockstep/harness/compare"
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
		case nanos:
			return micros.write(t)
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
	values("time", "old", "It dates what happened just now 50 minutes back", func(v *spot, _ uint64) (string, bool) {
		const old = 50 * time.Minute
		if v.class != moment || !v.justNow() || v.ruled(func(r compare.Volatile) bool { return r.Near >= old }) {
			return "", false
		}
		t, how, _ := timeOf(v.node.Text, v.doc.seen)
		return v.like(how.write(t.Add(-old))), true
	}),
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
	operator("time", "no-fraction", "It tells times of one name without the part of a second", func(s *Subject, _ uint64, yield emit) {
		for _, f := range s.fractions() {
			var pairs []string
			for i, at := range f.texts {
				pairs = append(pairs, at, f.whole[i])
			}
			if !yield(Mutant{
				Place: "everywhere " + f.name, Before: pairs[0], After: pairs[1], site: f.site,
				Build: func() *transcript.Transcript { return s.everywhere(renaming(pairs...)) },
			}) {
				return
			}
		}
	}),
	values("time", "digits", "It tells a part of a second in more digits than a rule says", func(v *spot, _ uint64) (string, bool) {
		text, utc := strings.CutSuffix(v.node.Text, "Z")
		if _, how, ok := timeOf(v.node.Text, v.doc.seen); !ok || !utc || how != rfc3339 || !v.ruled(func(r compare.Volatile) bool { return r.Digits != "" && r.Digits != "any" }) {
			return "", false
		}
		if !strings.Contains(text, ".") {
			text += "."
		}
		return v.like(text + "0Z"), true
	}),
}

// fractions are the times of one name that have a part of a second.
type fractions struct {
	name   string
	texts  []string
	whole  []string // what they are without it
	digits int      // of the finest part
	site   site
}

// fractions returns those that are so many that none can do without by chance, when zeros at the end are left out.
func (s *Subject) fractions() []*fractions {
	const certain = 5 // digits of all of them
	var all []*fractions
	s.spots(func(v *spot) bool {
		_, how, ok := timeOf(v.node.Text, v.doc.seen)
		_, part, has := strings.Cut(strings.TrimRight(v.node.Text, "Z"), ".")
		if v.class != moment || !ok || how != rfc3339 || !has || strings.ContainsAny(part, "+-") || v.name == "" {
			return true
		}
		i := slices.IndexFunc(all, func(f *fractions) bool { return f.name == v.name })
		if i < 0 {
			i = len(all)
			all = append(all, &fractions{name: v.name, site: v.doc.site})
		}
		if f := all[i]; !slices.Contains(f.texts, v.node.Text) {
			t, how, _ := timeOf(v.node.Text, v.doc.seen)
			f.texts, f.whole = append(f.texts, v.node.Text), append(f.whole, how.write(t.Truncate(time.Second)))
			f.digits = max(f.digits, len(strings.TrimRight(part, "0")))
		}
		return true
	})
	return slices.DeleteFunc(all, func(f *fractions) bool {
		distinct := slices.Compact(slices.Sorted(slices.Values(f.whole)))
		return len(f.texts) < 2 || f.digits*len(distinct) <= certain
	})
}

// ruled reports whether a rule about a value is such a rule.
func (v *spot) ruled(such func(compare.Volatile) bool) bool {
	value := v.doc.root.Value()
	return slices.ContainsFunc(v.doc.rules, func(r compare.Volatile) bool {
		path, err := jsonpath.Parse(r.At)
		return err == nil && such(r) && slices.ContainsFunc(path.SelectLocated(value), func(found *spec.LocatedNode) bool {
			return found.Path.Pointer() == v.pointer
		})
	})
}

// justNow reports whether both sides tell a time of the scenario, and not of what was there before.
func (v *spot) justNow() bool {
	s := v.doc.s
	during := func(text string, side *transcript.Transcript) bool {
		t, _, ok := timeOf(text, side.Started)
		return ok && !t.Before(side.Started.Truncate(time.Second)) && !t.After(side.Started.Add(side.Took))
	}
	return v.ref != nil && v.ref.Kind == v.node.Kind && during(v.ref.Text, s.Reference) && during(v.node.Text, s.Candidate)
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
