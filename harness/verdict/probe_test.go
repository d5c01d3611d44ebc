package verdict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// both has two values.
func both(a, b string) string { return fmt.Sprintf(`{"m":%q,"n":%q}`, a, b) }

func TestFewScenariosNeedAProbe(t *testing.T) {
	one := scene{process: 1, ref: m(fixed), cand: m(other)}
	two := scene{process: 1, ref: m(drawn(1)), cand: m(drawn(2))}
	elsewhere := func(s scene, process int) scene { s.process = process; return s }
	var many []scene
	for i := range 2 * (maxProbes + 2) {
		many = append(many, scene{process: 1, ref: m(drawn(100 + i/2)), cand: m(drawn(200 + i/2))})
	}
	port := func(n int) string { return m(fmt.Sprintf("http://localhost:%d/", n)) }
	for _, tc := range []struct {
		name   string
		scenes []scene
		millis []int64
		want   []int
	}{
		{"the shortest", []scene{one, one, one}, []int64{30, 10, 20}, []int{1}},
		{"one that shows two values", []scene{one, two, {process: 1, ref: both(fixed, drawn(1)), cand: both(other, drawn(2))}}, []int64{1, 1, 50}, []int{2}},
		{"two that show one each", []scene{one, two, one, two}, []int64{1, 2, 2, 1}, []int{0, 3}},
		{"no more than there may be", many, make([]int64, len(many)), []int{0, 2, 4, 6, 8}},
		{"a port that nobody gives out", []scene{{process: 1, ref: port(4096), cand: port(4097)}, {process: 1, ref: port(4096), cand: port(4097)}}, []int64{1, 1}, []int{0}},
		{"a port of the moment", []scene{{process: 1, ref: port(40961), cand: port(40971)}, {process: 1, ref: port(40961), cand: port(40971)}}, []int64{1, 1}, nil},
		{"what only one scenario shows", []scene{one, two}, []int64{1, 1}, nil},
		{"what is a constant already", []scene{one, one, elsewhere(one, 2)}, []int64{1, 1, 1}, nil},
		{"a server that runs", []scene{elsewhere(one, 0), elsewhere(one, 0)}, []int64{1, 1}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := ofRun(t, tc.scenes...)
			for i, s := range all {
				s.Millis = tc.millis[i]
			}
			all = append(all, nil) // a scenario that was not judged
			if diff := cmp.Diff(tc.want, ProbeCandidates(all)); diff != "" {
				t.Errorf("worth a probe (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAProbeDecides(t *testing.T) {
	const doubt = "made up or constant"
	one := scene{process: 1, ref: m(fixed), cand: m(other)}
	for _, tc := range []struct {
		name  string
		probe scene
		says  string // how the finding begins; "" for none
		doubt bool
	}{
		{"a constant", scene{process: 2, ref: m(fixed), cand: m(other)}, "the reference returns the same value in 2 scenarios, on 2 processes", false},
		{"one whose partner is drawn", scene{process: 2, ref: m(fixed), cand: m(drawn(1))}, "the reference returns the same", false},
		{"what both draw", scene{process: 2, ref: m(drawn(1)), cand: m(drawn(2))}, "", false},
		{"what the reference draws alone", scene{process: 2, ref: m(drawn(1)), cand: m(other)}, "the candidate returns the same", false},
		{"a value that is not there", scene{process: 2, ref: m("gone"), cand: m("gone")}, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := ofRun(t, one, one, tc.probe)
			all[1].AddProbe(all[2])
			Constants(all[:2], nil)
			for _, s := range all[:2] {
				want := Match
				if tc.says != "" {
					want = Differ
				}
				if s.Verdict != want || len(s.Findings) > 1 {
					t.Errorf("%s is %s: %v", s.ID, s.Verdict, said(*s))
				}
				for _, f := range s.Findings {
					if !strings.HasPrefix(f.Text, tc.says) {
						t.Errorf("%s: %s", s.ID, f.Text)
					}
				}
				listed := false
				for reason := range s.Compared.NotCompared {
					listed = listed || strings.HasPrefix(reason, doubt)
				}
				if listed != tc.doubt {
					t.Errorf("%s lists %v", s.ID, s.Compared.NotCompared)
				}
			}
		})
	}
}
