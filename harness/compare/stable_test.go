package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

func TestAStableTimeDoesNotChange(t *testing.T) {
	const (
		a0 = `{"id":"a","at":"2026-03-01T12:00:00.5Z"}`
		a1 = `{"id":"a","at":"2026-03-01T12:00:01.5Z"}`
		b2 = `{"id":"b","at":"2026-03-01T12:00:02Z"}`
	)
	stable := jsondiff.Volatile{At: "$..at", Kind: jsondiff.Time, Stable: true}
	since, of := stable, stable
	since.Since, of.Of = "2", "$.key"
	for _, tc := range []struct {
		name      string
		rule      jsondiff.Volatile
		ref, cand []string
		want      []string
		says      string
	}{
		{"it does not", stable, []string{a0, b2, a0}, []string{a1, b2, a1}, nil, ""},
		{"it does", stable, []string{a0, b2, a0}, []string{a0, b2, a1}, []string{"3: value body /at"}, `the candidate's was "2026-03-01T12:00:00.5Z" at step 1 body /at`},
		{"it does on the reference", stable, []string{a0, a1}, []string{a0, a0}, []string{"2: value body /at"}, "the reference's was"},
		{"it does on both", stable, []string{a0, a1}, []string{a0, a1}, []string{"2: value body /at"}, "the reference's was"},
		{"it does, and again", stable, []string{a0, a0, a0, a0}, []string{a0, a1, a0, a1}, []string{"2: value body /at"}, ""},
		{"written in another way", stable, []string{a0, a0}, []string{a0, strings.Replace(a0, ".5Z", ".500Z", 1)}, nil, ""},
		{"in a list", stable, []string{"[" + a0 + "," + b2 + "]", a0}, []string{"[" + a0 + "," + b2 + "]", a1}, []string{"2: value body /at"}, "at step 1 body /0/at"},
		{"in a list with others", stable, []string{a0, "[" + b2 + "," + a0 + "]"}, []string{a0, "[" + b2 + "," + a1 + "]"}, []string{"2: value body /1/at"}, ""},
		{"since a step", since, []string{a0, a0, a0}, []string{a0, a1, a1}, nil, ""},
		{"since a step, and behind it", since, []string{a0, a0, a0}, []string{a0, a1, a0}, []string{"3: value body /at"}, "at step 2"},
		{"by another member", of, []string{`{"id":1,"key":"k","at":1772366400}`, `{"id":2,"key":"k","at":1772366400}`}, []string{`{"id":1,"key":"k","at":1772366400}`, `{"id":2,"key":"k","at":1772366401}`}, []string{"2: value body /at"}, ""},
		{"by another member that is not there", of, []string{a0, a0}, []string{a0, a1}, nil, ""},
		{"of the same path", stable, []string{`{"at":1772366400}`, `{"at":1772366400}`}, []string{`{"at":1772366400}`, `{"at":1772366401}`}, []string{"2: value body /at"}, ""},
		{"it is wrong anyway", stable, []string{a0, a0}, []string{a0, `{"id":"a","at":"2027-03-01T12:00:00Z"}`}, []string{"2: value body /at"}, "too far from"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sides := [2]side{newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...)}
			for _, s := range sides {
				for i := range s.t.Steps {
					s.t.Steps[i].At = time.Duration(i) * time.Second
					s.t.Steps[i].Exchanges[0].Done = s.t.Steps[i].At + time.Millisecond
				}
			}
			var got []string
			all := compared(sides[0], sides[1], &Rules{Volatile: []jsondiff.Volatile{tc.rule}}).Differences
			for _, d := range all {
				got = append(got, d.Step+": "+string(d.Kind)+" "+d.At.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Fatalf("differences (-want +got):\n%s", diff)
			}
			if len(all) > 0 && !strings.Contains(all[0].Text(), tc.says) {
				t.Errorf("said: %s", all[0].Text())
			}
		})
	}
}

func TestThingsWithoutAnIdAreTheirPaths(t *testing.T) {
	rules := &Rules{Volatile: []jsondiff.Volatile{{At: "$.at", Kind: jsondiff.Time, Stable: true}}}
	ref := newSide("ref").answers(`{"at":1772366400}`, `{"at":1772366401}`)
	ref.t.Steps[0].Exchanges[0].Request.Target, ref.t.Steps[1].Exchanges[0].Request.Target = "/a?x=1", "/b"
	if got := kinds(compared(ref, ref, rules)); got != nil {
		t.Errorf("of two paths: %v, want none", got)
	}
	ref.t.Steps[1].Exchanges[0].Request.Target = "/a?x=2"
	if got := kinds(compared(ref, ref, rules)); len(got) != 1 {
		t.Errorf("of one path: %v, want one", got)
	}
}

func TestFractionsOfASecond(t *testing.T) {
	const never = "the times are written differently: the candidate's never have fractions of a second, the reference's always do"
	at := func(seconds ...string) []string {
		var out []string
		for _, s := range seconds {
			out = append(out, `{"at":"2026-03-01T12:00:`+s+`Z"}`)
		}
		return out
	}
	rule := func(digits string) *Rules {
		return &Rules{Volatile: []jsondiff.Volatile{{At: "$.at", Kind: jsondiff.Time, Digits: digits}}}
	}
	for _, tc := range []struct {
		name      string
		rules     *Rules
		ref, cand []string
		want      []string
	}{
		{"always and never", nil, at("01.123", "02.456", "03.789"), at("01", "02", "03"), []string{never}},
		{"always and never, in nanoseconds", rule(""), at("01.123456789", "02.123456789"), at("01", "02"), []string{never}},
		{"within one second, of a fine clock", nil, at("01.123456", "01.456789"), at("01", "01"), []string{never}},
		{"within one second, of a coarse clock", nil, at("01.123", "01.456"), at("01", "01"), nil},
		{"within one second, of a coarse clock, and often", nil, at("01.123", "01.456", "01.789"), at("01", "01", "01"), []string{never}},
		{"once", nil, at("01.123456789"), at("01"), nil},
		{"once in several", nil, at("01.123", "02.456", "03.789"), at("01.123", "02", "03.789"), nil},
		{"of one time only", nil, at("01.123", "01.123", "01.123"), at("01", "01", "01"), nil},
		{"of a clock of tenths", nil, at("01.1", "02.2", "03.30"), at("01", "02", "03"), nil},
		{"never on both sides", nil, at("01", "02", "03"), at("02", "03", "04"), nil},
		{"with zeros and without", nil, at("01.100", "02.020", "03.123"), at("01.1", "02.02", "03.123"), nil},
		{"at names that differ", nil, []string{`{"a":"2026-03-01T12:00:01.123Z"}`, `{"b":"2026-03-01T12:00:02.456Z"}`}, []string{`{"a":"2026-03-01T12:00:01Z"}`, `{"b":"2026-03-01T12:00:02Z"}`}, nil},
		{"any, by a rule", rule("any"), at("01.123", "02.456", "03.789"), at("01", "02", "03"), nil},
		{"by a rule", rule("3"), at("01.123"), at("02.456"), nil},
		{"too many, by a rule", rule("3"), at("01.123"), at("02.4567"), []string{"the seconds have 4 fractional digits in the candidate's time, but a rule requires 3"}},
		{"some where there are none, by a rule", rule("0"), at("01.1"), at("02"), []string{"the seconds have 1 fractional digits in the reference's time, but a rule requires 0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, d := range compared(newSide("ref").answers(tc.ref...), newSide("cand").answers(tc.cand...), tc.rules).Differences {
				got = append(got, d.Text())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}
