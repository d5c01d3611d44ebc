package mutate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// timeOperators report a wrong time.
var timeOperators = []Operator{
	changeTime("unit", "It counts in another unit", func(t time.Time, how notation) string {
		switch how {
		case millis:
			return seconds.write(t)
		case nanos:
			return micros.write(t)
		default:
			return millis.write(t)
		}
	}),
	changeTime("zero", "It does not know the time", func(_ time.Time, how notation) string {
		if how == rfc3339 {
			return "1970-01-01T00:00:00Z"
		}
		return "0"
	}),
	changeTime("zone", "It sends local time as if it were UTC", func(t time.Time, how notation) string { return how.write(t.Add(2 * time.Hour)) }),
	changeTime("year", "It is a year off", func(t time.Time, how notation) string { return how.write(t.AddDate(1, 0, 0)) }),
	replaceValues("time", "old", "It dates a current event 50 minutes back", func(v *value, _ uint64) string {
		const old = 50 * time.Minute
		if v.origin != runTime || !duringScenario(v) || v.hasRule(func(r jsondiff.Volatile) bool { return r.Near >= old }) {
			return ""
		}
		t, how, _ := v.time()
		return v.likeValue(how.write(t.Add(-old)))
	}),
	operator("time", "unstable", "It sends a different time each time the same thing is requested", func(s *Subject, _ uint64, yield emit) {
		seen := map[string]bool{}
		for v := range s.values() {
			if v.origin != runTime || v.parent.Member("id") == nil {
				continue
			}
			key := v.name + " " + v.node.Text + " " + v.parent.Member("id").Text
			if !seen[key] {
				seen[key] = true
				continue
			}
			t, how, _ := v.time()
			yield(v.set(v.likeValue(how.write(t.Add(time.Second)))))
		}
	}),
	replaceValues("time", "updated-before-created", "It gives an object a time of change before its creation", func(v *value, _ uint64) string {
		if v.origin != runTime || !strings.Contains(strings.ToLower(v.name), "updated") {
			return ""
		}
		created := slices.IndexFunc(v.parent.Names, func(n string) bool { return strings.Contains(strings.ToLower(n), "created") })
		if created < 0 {
			return ""
		}
		t, how, ok := parseTime(v.parent.Items[created].Text, v.doc.seen)
		if !ok {
			return ""
		}
		return v.likeValue(how.write(t.Add(-time.Minute)))
	}),
	operator("time", "no-fraction", "It sends the times of one field without fractions of a second", func(s *Subject, _ uint64, yield emit) {
		for _, f := range fractionalTimesOf(s) {
			var pairs []string
			for i, at := range f.texts {
				pairs = append(pairs, at, f.whole[i])
			}
			replace := replaceEncoded(pairs...)
			yield(s.mutant(f.site, "everywhere "+f.name, pairs[0], pairs[1], func(t *transcript.Transcript) { rewriteAll(t, replace) }))
		}
	}),
	replaceValues("time", "digits", "It sends more fractional digits than a rule allows", func(v *value, _ uint64) string {
		text, utc := strings.CutSuffix(v.node.Text, "Z")
		if _, how, ok := v.time(); !ok || !utc || how != rfc3339 || !v.hasRule(func(r jsondiff.Volatile) bool { return r.Digits != "" && r.Digits != "any" }) {
			return ""
		}
		if !strings.Contains(text, ".") {
			text += "."
		}
		return v.likeValue(text + "0Z")
	}),
}

// changeTime makes an operator on times of the run.
func changeTime(name, doc string, change func(t time.Time, how notation) string) Operator {
	return replaceValues("time", name, doc, func(v *value, _ uint64) string {
		if v.origin != runTime {
			return ""
		}
		t, how, _ := v.time()
		return v.likeValue(change(t, how))
	})
}

// A fractionalTimes has the times of one name that have a fraction of a second.
type fractionalTimes struct {
	name   string
	texts  []string
	whole  []string // the same times without the fraction
	digits int      // number of digits of the finest fraction
	site   site
}

// fractionalTimesOf returns those with so many digits that they cannot all lose them by chance. Servers leave out
// trailing zeros, so a single fraction may disappear.
func fractionalTimesOf(s *Subject) []*fractionalTimes {
	const minDigits = 5 // digits of all of them together
	var all []*fractionalTimes
	for v := range s.values() {
		t, how, ok := v.time()
		_, part, has := strings.Cut(strings.TrimRight(v.node.Text, "Z"), ".")
		if v.origin != runTime || !ok || how != rfc3339 || !has || strings.ContainsAny(part, "+-") || v.name == "" {
			continue
		}
		i := slices.IndexFunc(all, func(f *fractionalTimes) bool { return f.name == v.name })
		if i < 0 {
			i = len(all)
			all = append(all, &fractionalTimes{name: v.name, site: v.doc.site})
		}
		if f := all[i]; !slices.Contains(f.texts, v.node.Text) {
			f.texts, f.whole = append(f.texts, v.node.Text), append(f.whole, how.write(t.Truncate(time.Second)))
			f.digits = max(f.digits, len(strings.TrimRight(part, "0")))
		}
	}
	return slices.DeleteFunc(all, func(f *fractionalTimes) bool {
		distinct := slices.Compact(slices.Sorted(slices.Values(f.whole)))
		return len(f.texts) < 2 || f.digits*len(distinct) <= minDigits
	})
}

// duringScenario reports whether the time is within the scenario on both sides, and not from before it.
func duringScenario(v *value) bool {
	during := func(text string, side *transcript.Transcript) bool {
		t, _, ok := parseTime(text, side.Started)
		return ok && !t.Before(side.Started.Truncate(time.Second)) && !t.After(side.Started.Add(side.Took))
	}
	s := v.doc.s
	return v.ref != nil && v.ref.Kind == v.node.Kind && during(v.ref.Text, s.Reference) && during(v.node.Text, s.Candidate)
}

// likeValue returns a time as JSON of the value's type.
func (v *value) likeValue(text string) string {
	if v.node.Kind == jsontree.Number {
		return text
	}
	return quoted(text)
}

// time reads the value as a time of the run.
func (v *value) time() (time.Time, notation, bool) { return parseTime(v.node.Text, v.doc.seen) }

// A notation is a way to write a time: the unit in which it counts since 1970, or RFC 3339.
type notation time.Duration

const (
	seconds = notation(time.Second)
	millis  = notation(time.Millisecond)
	micros  = notation(time.Microsecond)
	nanos   = notation(time.Nanosecond)
	rfc3339 = notation(0)
)

// counts are the notations by the number of digits that they have in these years.
var counts = map[int]notation{10: seconds, 13: millis, 16: micros, 19: nanos}

// parseTime reads a text as a time within a day of the moment at which it was seen.
func parseTime(s string, seen time.Time) (time.Time, notation, bool) {
	var t time.Time
	how, counted := counts[len(s)]
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && counted {
		t = time.Unix(0, n*int64(how))
	} else if len(s) >= 20 && len(s) <= 35 && s[4] == '-' && s[10] == 'T' {
		if t, err = time.Parse(time.RFC3339Nano, s); err != nil {
			return t, 0, false
		}
		how = rfc3339
	} else {
		return t, 0, false
	}
	return t, how, t.Sub(seen).Abs() < 24*time.Hour
}

func (how notation) write(t time.Time) string {
	if how == rfc3339 {
		return t.Format(time.RFC3339Nano)
	}
	return strconv.FormatInt(t.UnixNano()/int64(how), 10)
}

// endOfMillis returns where a time of the run in milliseconds ends in a text; 0 when there is none.
func endOfMillis(text string, seen time.Time) int {
	const length = 13
	run := 0
	for i := range len(text) + 1 {
		if i < len(text) && text[i] >= '0' && text[i] <= '9' {
			run++
			continue
		}
		if run == length {
			if _, _, ok := parseTime(text[i-run:i], seen); ok {
				return i
			}
		}
		run = 0
	}
	return 0
}
