package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

func texts(r Result) []string {
	var out []string
	for _, d := range r.Differences {
		out = append(out, string(d.Kind)+": "+d.Text())
	}
	return out
}

// A rule for a place does not allow every value: both sides must have one, of the same type, within the limits of the
// rule.
func TestMagnitudes(t *testing.T) {
	short := jsondiff.Volatile{At: "$", Kind: jsondiff.Duration, Unit: ident.Milliseconds, Max: 2 * time.Second}
	alike := jsondiff.Volatile{At: "$", Kind: jsondiff.Duration, Unit: ident.Seconds, Tolerance: jsondiff.Tolerance{Amount: "200000000"}}
	within := jsondiff.Volatile{At: "$", Kind: jsondiff.Number, Tolerance: jsondiff.Tolerance{Amount: "0.1"}}
	percent := jsondiff.Volatile{At: "$", Kind: jsondiff.Number, Tolerance: jsondiff.Tolerance{Amount: "5", Percent: true}}
	micros := jsondiff.Volatile{At: "$", Kind: jsondiff.Time, Unit: ident.Microseconds, Near: time.Minute}
	nanos := jsondiff.Volatile{At: "$", Kind: jsondiff.Time, Unit: ident.Nanoseconds}
	written := jsondiff.Volatile{At: "$", Kind: jsondiff.Time, Unit: ident.RFC3339}
	for _, tc := range []struct {
		name      string
		rule      jsondiff.Volatile
		ref, cand string
		want      string // "": they do not differ
	}{
		{"durations up to a bound", short, "3", "1999.5", ""},
		{"a duration at the bound", short, "0", "2000", ""},
		{"durations as text", short, `"3"`, `"17"`, ""},
		{"a duration beyond the bound", short, "3", "2000.5", "value: the candidate's duration is longer than the 2s that a rule allows"},
		{"two equal durations beyond the bound", short, "9000", "9000", "value: the reference's duration is longer than the 2s that a rule allows"},
		{"a negative duration", short, "3", "-1", "value: a rule requires a duration in milliseconds, but the candidate's value is not one"},
		{"a text that is not a duration", short, `"3ms"`, `"4ms"`, "value: a rule requires a duration in milliseconds, but the reference's value is not one"},
		{"a fraction", short, `"1/2"`, `"1/3"`, "value: a rule requires a duration in milliseconds, but the reference's value is not one"},
		{"a duration of another type", short, "3", `"3"`, "type: the types differ: number and string"},
		{"a duration and null", short, "3", "null", "type: the types differ: number and null"},
		{"no duration on both sides", short, "null", "null", ""},
		{"a rule for a list", short, "[1]", "[2]", "value: the numbers differ"},
		{"durations that are near", alike, "1.0", "1.2", ""},
		{"durations that are far apart", alike, "1.0", "1.201", "value: the durations are further apart than a rule allows: 200ms"},
		{"numbers at the tolerance", within, "1.0", "1.1", ""},
		{"numbers beyond the tolerance", within, "1.0", "1.1000000000000000000000000001", "value: the numbers are further apart than a rule allows: 0.1"},
		{"a number of another type", within, "1.0", `"1.0"`, "type: the types differ: number and string"},
		{"a number with a huge exponent", within, "1", "1e999999999", "value: a rule requires a number, but the candidate's value is not one that can be measured"},
		{"twice a number with a huge exponent", within, "1e999999999", "1e999999999", ""},
		{"a percentage", percent, "200", "210", ""},
		{"a percentage of a negative number", percent, "-200", "-190", ""},
		{"more than a percentage", percent, "200", "210.1", "value: the numbers are further apart than a rule allows: 5%"},
		{"a percentage of nothing", percent, "0", "0.0001", "value: the numbers are further apart than a rule allows: 5%"},
		{"microseconds", micros, "1772366400000000", "1772366430000000", ""},
		{"microseconds that are not near", micros, "1772366400000000", "1772366460000001", "value: a time is too far from the moment it was seen: the candidate's is 1m0s after it was seen"},
		{"milliseconds for microseconds", micros, "1772366400000000", "1772366400000", "value: a time is too far from the moment it was seen: the candidate's is 20493 days before it was seen"},
		{"nanoseconds for microseconds", micros, "1772366400000000", "1772366400000000000", "value: a rule requires a time in microseconds, but the candidate's value is not one"},
		{"nanoseconds as text", nanos, `"1772366400000000000"`, `"1772366400000000001"`, ""},
		{"a time in its notation", written, `"2026-03-01T12:00:00Z"`, `"2026-03-01T14:00:00.5+02:00"`, ""},
		{"another notation than the rule's, on both sides", written, `"1772366400"`, `"1772366400"`, "value: a rule requires a time in RFC 3339 format, but the reference's value is not one"},
		{"a time and more", written, `"2026-03-01T12:00:00Z"`, `"2026-03-01T12:00:00Z, or so"`, "value: a rule requires a time in RFC 3339 format, but the candidate's value is not one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var want []string
			if tc.want != "" {
				want = []string{tc.want}
			}
			got := texts(compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), &Rules{Volatile: []jsondiff.Volatile{tc.rule}}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

// at sets when the last step's response was seen, in seconds after the start.
func (s side) at(seconds time.Duration) side {
	s.t.Steps[len(s.t.Steps)-1].Exchanges[0].Done = seconds * time.Second
	return s
}

func TestATimeThatNeverGoesBack(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$.at", Kind: jsondiff.Time, Monotone: true}}}
	steps := func(target string, times ...string) side {
		s := newSide(target)
		for i, at := range times {
			s.answers(`{"at":"2026-03-01T12:00:` + at + `Z"}`).at(time.Duration(i))
		}
		return s
	}
	stream := func(s side, times ...string) side {
		var events []string
		for _, at := range times {
			events = append(events, `tick {"at":"2026-03-01T12:00:`+at+`Z"}`)
		}
		return s.stream("bus", events...)
	}
	branch := func(s side) side {
		s.t.Steps[1].ID = "2.left.1"
		return s
	}
	for _, tc := range []struct {
		name      string
		ref, cand side
		want      []string
	}{
		{"it goes on", steps("ref", "01", "02", "02.5"), steps("cand", "05", "05", "07"), nil},
		{"it goes back", steps("ref", "01", "02", "03"), steps("cand", "05", "04.5", "07"), []string{"value: a time goes backwards: the candidate's by 500ms"}},
		{"it goes back on both sides", steps("ref", "02", "01"), steps("cand", "02", "01"), []string{"value: a time goes backwards: the reference's by 1s, the candidate's by 1s"}},
		{"a branch has a line of its own", branch(steps("ref", "02", "01")), branch(steps("cand", "02", "01")), nil},
		{"a stream has a line of its own", stream(steps("ref", "09"), "01", "02"), stream(steps("cand", "09"), "01", "02"), nil},
		{"a stream goes back", stream(newSide("ref"), "01", "02"), stream(newSide("cand"), "02", "01"), []string{"value: a time goes backwards: the candidate's by 1s"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, texts(compared(tc.ref, tc.cand, rules))); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

// Responses of a burst have no order, so their times cannot go back.
func TestTheTimesOfABurstHaveNoOrder(t *testing.T) {
	s := func(target, first, second string) side {
		s := newSide(target).answers(`{"at":`+first+`}`, `{"at":`+second+`}`)
		s.t.Steps[0].Burst = true
		s.t.Steps[0].Exchanges = append(s.t.Steps[0].Exchanges, s.t.Steps[1].Exchanges...)
		s.t.Steps = s.t.Steps[:1]
		return s
	}
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$.at", Kind: jsondiff.Time, Unit: ident.Seconds, Monotone: true}}}
	if got := texts(compared(s("ref", "1772366402", "1772366401"), s("cand", "1772366403", "1772366401"), rules)); got != nil {
		t.Errorf("said %q", got)
	}
}
