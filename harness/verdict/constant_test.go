package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// noon is when the runs of these tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A scene is a scenario of a run: the process of both sides, what the client sent, and what each side sent.
type scene struct {
	process   int // 0 means a process that lockstep has not started
	sent      string
	ref, cand string
}

// ofRun judges a run. Each scene begins a minute after the previous one. A process starts with the first scene that
// uses it.
func ofRun(t *testing.T, scenes ...scene) []*Scenario {
	t.Helper()
	var out []*Scenario
	started := map[int]time.Time{}
	for i, s := range scenes {
		at := noon.Add(time.Duration(i) * time.Minute)
		if _, ok := started[s.process]; !ok && s.process > 0 {
			started[s.process] = at.Add(-time.Second)
		}
		sides := []side{newSide("ref").answers(200, s.ref), newSide("cand").answers(200, s.cand)}
		for _, side := range sides {
			side.Process, side.Started = started[s.process], at
			request := &side.Steps[0].Exchanges[0].Request
			request.Body.Bytes, request.Body.Size = []byte(s.sent), int64(len(s.sent))
		}
		v := judged(t, sides...)
		v.ID = fmt.Sprintf("s%d", i)
		out = append(out, &v)
	}
	return out
}

func m(value string) string { return fmt.Sprintf(`{"m":%q}`, value) }

// drawn is an id that occurs in no other place.
func drawn(n int) string { return fmt.Sprintf("5f0c7a52-9f6e-4d1b-8c11-%012x", 0xabc000+n) }

const (
	fixed  = "0b6e4f0a-3c52-4a57-9b0a-0d6fd7c3f001"
	other  = "77d0c3b1-8f4e-4b8b-a1f5-5d8f10a7e002"
	expiry = "2027-01-01T00:00:00Z"
	later  = "2027-01-01T00:03:00Z"
)

func TestConstantsAreComparedExactly(t *testing.T) {
	const (
		repeats = "the reference returns the same"
		sent    = "the client sent"
		stuck   = "the candidate returns the same"
		same    = "the reference returns the same"
		always  = "the candidate returns the same"
	)
	for _, tc := range []struct {
		name   string
		scenes []scene
		want   string // how the finding begins; "" for none
	}{
		{"a fixed UUID", []scene{{process: 1, ref: m(fixed), cand: m(other)}, {process: 2, ref: m(fixed), cand: m(other)}}, repeats},
		{"one that the candidate draws", []scene{{process: 1, ref: m(fixed), cand: m(drawn(1))}, {process: 2, ref: m(fixed), cand: m(drawn(2))}}, repeats},
		{"a build", []scene{{process: 1, ref: m("release-20261122build7"), cand: m("release-20261122build8")}, {process: 2, ref: m("release-20261122build7"), cand: m("release-20261122build8")}}, repeats},
		{"a cuid", []scene{{process: 1, ref: m("cm3x9k2lq0001abcd8ef2ghij"), cand: m("cm3x9k2lq0001abcd8ef2ghik")}, {process: 2, ref: m("cm3x9k2lq0001abcd8ef2ghij"), cand: m("cm3x9k2lq0001abcd8ef2ghik")}}, repeats},
		{"a cuid2", []scene{{process: 1, ref: m("tz4a98xxat96iws9zmbrgj3a"), cand: m("pfh0haxfpzowht3oi213cqos")}, {process: 2, ref: m("tz4a98xxat96iws9zmbrgj3a"), cand: m("pfh0haxfpzowht3oi213cqos")}}, repeats},
		{"an xid in a text", []scene{{process: 1, ref: m("see cv37rs3p0uhs73dm5dg0!"), cand: m("see d0a1b2c3d4e5f6g7h8i0!")}, {process: 2, ref: m("see cv37rs3p0uhs73dm5dg0!"), cand: m("see d0a1b2c3d4e5f6g7h8i0!")}}, repeats},
		{"a folder", []scene{{process: 1, ref: m("/var/tmp/agent-logs"), cand: m("/var/tmp/agent-data")}, {process: 2, ref: m("/var/tmp/agent-logs"), cand: m("/var/tmp/agent-data")}}, repeats},
		{"a UUID in a text", []scene{{process: 1, ref: m("see " + fixed + "!"), cand: m("see " + other + "!")}, {process: 2, ref: m("see " + fixed + "!"), cand: m("see " + other + "!")}}, repeats},
		{"a configured port", []scene{{process: 1, ref: m("http://localhost:4096/"), cand: m("http://localhost:4097/")}, {process: 2, ref: m("http://localhost:4096/"), cand: m("http://localhost:4097/")}}, repeats},
		{"an expiry", []scene{{process: 1, ref: m(expiry), cand: m(later)}, {process: 2, ref: m(expiry), cand: m(later)}, {process: 3, ref: m(expiry), cand: m(later)}, {process: 4, ref: m(expiry), cand: m(later)}}, repeats},
		{"digits like a time", []scene{{process: 1, ref: `{"m":1999999999}`, cand: `{"m":1999999998}`}, {process: 2, ref: `{"m":1999999999}`, cand: `{"m":1999999998}`}}, repeats},
		{"what a client sends elsewhere", []scene{{process: 1, sent: m(fixed), ref: m("ok"), cand: m("ok")}, {process: 1, ref: m(fixed), cand: m(other)}}, sent},
		{"a time that a client sends", []scene{{process: 1, sent: m(expiry), ref: m(expiry), cand: m(later)}}, sent},
		{"an id that the candidate does not draw", []scene{{process: 1, ref: m(drawn(1)), cand: m(other)}, {process: 2, ref: m(drawn(2)), cand: m(other)}}, stuck},
		{"an id that varies on one process of the candidate", []scene{{process: 1, ref: m(fixed), cand: m(drawn(1))}, {process: 1, ref: m(fixed), cand: m(drawn(2))}, {process: 1, ref: m(fixed), cand: m(drawn(3))}}, same},
		{"an id that does not vary on one process of the candidate", []scene{{ref: m(drawn(1)), cand: m(other)}, {ref: m(drawn(2)), cand: m(other)}, {ref: m(drawn(3)), cand: m(other)}}, always},

		{"ids that both draw", []scene{{process: 1, ref: m(drawn(1)), cand: m(drawn(2))}, {process: 2, ref: m(drawn(3)), cand: m(drawn(4))}}, ""},
		{"the id of a process", []scene{
			{process: 1, ref: m(drawn(1)), cand: m(drawn(2))}, {process: 1, ref: m(drawn(1)), cand: m(drawn(2))}, {process: 1, ref: m(drawn(1)), cand: m(drawn(2))},
			{process: 2, ref: m(drawn(3)), cand: m(drawn(4))},
		}, ""},
		{"a constant that both share", []scene{{process: 1, ref: m(fixed), cand: m(fixed)}, {process: 2, ref: m(fixed), cand: m(fixed)}}, ""},
		{"an expiry that was made in the same second", []scene{{process: 1, ref: m(expiry), cand: m("2027-01-01T00:00:01Z")}, {process: 1, ref: m(expiry), cand: m("2027-01-01T00:00:01Z")}}, ""},
		{"a moment of now", []scene{{process: 1, ref: m("2026-03-01T12:00:30Z"), cand: m("2026-03-01T12:00:31Z")}, {process: 2, ref: m("2026-03-01T12:00:30Z"), cand: m("2026-03-01T12:00:31Z")}}, ""},
		{"cuids that both draw", []scene{{process: 1, ref: m("cm3x9k2lq0001abcd8ef2ghij"), cand: m("cm3x9k2lq0002abcd8ef2ghij")}, {process: 2, ref: m("cm3x9k2lq0003abcd8ef2ghij"), cand: m("cm3x9k2lq0004abcd8ef2ghij")}}, ""},
		{"a port of the moment", []scene{{process: 1, ref: m("http://localhost:40961/"), cand: m("http://localhost:40971/")}, {process: 2, ref: m("http://localhost:40961/"), cand: m("http://localhost:40971/")}}, ""},
		{"a list of what others have made, in another order", []scene{
			{ref: `{"m":["` + drawn(1) + `","` + drawn(2) + `"]}`, cand: `{"m":["` + drawn(11) + `","` + drawn(12) + `"]}`},
			{ref: `{"m":["` + drawn(1) + `","` + drawn(2) + `"]}`, cand: `{"m":["` + drawn(12) + `","` + drawn(11) + `"]}`},
			{ref: `{"m":["` + drawn(1) + `","` + drawn(2) + `"]}`, cand: `{"m":["` + drawn(13) + `","` + drawn(11) + `"]}`},
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := ofRun(t, tc.scenes...)
			for _, s := range all {
				if s.Verdict != Match {
					t.Fatalf("%s is %s by itself: %v %v", s.ID, s.Verdict, said(*s), s.Reasons)
				}
			}
			Constants(all, nil)
			found := 0
			for i, s := range all {
				for _, f := range s.Findings {
					if f.Kind != "constant" || f.Place != "body /m" || f.Step != "1" || f.Line != 10 || f.At != "GET /n: body /m" || f.Operation != "GET /n" {
						t.Errorf("%s: found %+v", s.ID, f)
					}
					if tc.want == "" || !strings.HasPrefix(f.Text, tc.want) {
						t.Errorf("%s: %s; want %q", s.ID, f.Text, tc.want)
					}
				}
				if wrong := tc.scenes[i].ref != tc.scenes[i].cand && tc.want != ""; (s.Verdict == Differ) != wrong {
					t.Errorf("%s is %s: %v", s.ID, s.Verdict, said(*s))
				}
				found += len(s.Findings)
			}
			if (found > 0) != (tc.want != "") {
				t.Errorf("%d findings; want %q", found, tc.want)
			}
		})
	}
}

// A constant is accepted by its fingerprint in each run, like any other finding. Only a run of all scenarios can show
// that it has disappeared.
func TestAConstantIsAccepted(t *testing.T) {
	scenes := []scene{{process: 1, ref: m(fixed), cand: m(other)}, {process: 2, ref: m(fixed), cand: m(other)}}
	first := ofRun(t, scenes...)
	Constants(first, nil)
	accept := &Acceptance{}
	for _, s := range first {
		for i := range s.Findings {
			s.Findings[i].Scenario = s.ID
			accept.Baseline = append(accept.Baseline, BaselineEntryOf(&s.Findings[i]))
		}
	}
	second := ofRun(t, append(scenes, scene{process: 3, ref: m(fixed), cand: m(fixed)})...)
	for _, s := range second {
		for _, f := range s.assumed.steps {
			f.Scenario = s.ID
		}
	}
	Constants(second, accept)
	var got []Verdict
	for _, s := range second {
		got = append(got, s.Verdict)
	}
	if diff := cmp.Diff([]Verdict{Waived, Waived, Match}, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	alone := ofRun(t, scenes[0])
	Constants(alone, accept)
	var run Run
	run.Add(*alone[0])
	if _, fixed := run.DivideBaseline(accept.Baseline, []string{"s0", "s1"}); len(fixed) > 0 {
		t.Errorf("a run of one scenario says that constants of two have gone: %v", fixed)
	}
}

// A constant names a few scenarios that are enough to show it, however many ran.
func TestAConstantNamesScenariosThatShowIt(t *testing.T) {
	quiet := scene{process: 1, ref: m("ok"), cand: m("ok")}
	repeated := []scene{{process: 1, ref: m(fixed), cand: m(other)}, {process: 1, ref: m(fixed), cand: m(other)}, {process: 1, ref: m(fixed), cand: m(other)}, {process: 2, ref: m(fixed), cand: m(other)}}
	for name, scenes := range map[string][]scene{
		"on several processes": append([]scene{quiet, quiet}, repeated...),
		"sent elsewhere":       {quiet, {process: 1, ref: m(fixed), cand: m(other)}, quiet, {process: 1, sent: m(fixed), ref: m("ok"), cand: m("ok")}, quiet},
		"the candidate's":      {quiet, {process: 1, ref: m(drawn(1)), cand: m(other)}, quiet, {process: 2, ref: m(drawn(2)), cand: m(other)}, {process: 3, ref: m(drawn(3)), cand: m(other)}, {process: 4, ref: m(drawn(4)), cand: m(other)}},
		"on one server":        {{ref: m("ok"), cand: m("ok")}, {ref: m(fixed), cand: m(drawn(1))}, {ref: m(fixed), cand: m(drawn(2))}, {ref: m(fixed), cand: m(drawn(3))}, {ref: m(fixed), cand: m(drawn(4))}},
	} {
		t.Run(name, func(t *testing.T) {
			all := ofRun(t, scenes...)
			Constants(all, nil)
			found := 0
			for _, s := range all {
				for _, f := range s.Findings {
					found++
					var few []scene
					for i := range scenes {
						if slices.Contains(f.With, fmt.Sprintf("s%d", i)) {
							few = append(few, scenes[i])
						}
					}
					again := ofRun(t, few...)
					Constants(again, nil)
					differ := slices.ContainsFunc(again, func(s *Scenario) bool { return s.Verdict == Differ })
					if len(f.With) < 2 || len(f.With) > 3 || !slices.Contains(f.With, s.ID) || !differ {
						t.Errorf("%s: with %v, which show it: %t", s.ID, f.With, differ)
					}
				}
			}
			if found == 0 {
				t.Error("nothing was found")
			}
		})
	}
}
