package mutate_test

import (
	"fmt"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
)

// drawn returns how many mutants of each operator were chosen. there are the numbers of mutants that exist.
func drawn(t *testing.T, most int, seed uint64, there ...int) (chosen []int, picks string) {
	t.Helper()
	s := mutate.NewSample(len(there), seed)
	for op, n := range there {
		s.Add(op, "a", n/2, 0)
		s.Add(op, "b", n-n/2, 0)
	}
	total := s.Draw(most)
	for op, n := range there {
		of := 0
		for _, scenario := range []string{"a", "b"} {
			for i := range n {
				if s.Of(op, scenario)[i] {
					of++
					picks += fmt.Sprint(op, scenario, i, " ")
				}
			}
		}
		chosen = append(chosen, of)
		total -= of
	}
	if total != 0 {
		t.Errorf("Draw says %d more than there are", total)
	}
	return chosen, picks
}

func TestASampleHasAsManyOfEachOperator(t *testing.T) {
	for _, tc := range []struct {
		most  int
		there []int
		want  string
	}{
		{0, []int{10, 200, 3}, "[10 200 3]"},
		{1000, []int{10, 200, 3}, "[10 200 3]"},
		{30, []int{100, 100, 100}, "[10 10 10]"},
		{43, []int{100, 100, 3}, "[20 20 3]"}, // the others get what one does not have
		{1, []int{5, 5}, "[1 1]"},             // at least one of each
		{10, []int{0, 50}, "[0 10]"},
	} {
		if got, _ := drawn(t, tc.most, 1, tc.there...); fmt.Sprint(got) != tc.want {
			t.Errorf("of %v, at most %d: %v, want %s", tc.there, tc.most, got, tc.want)
		}
	}
}

func TestASampleDependsOnItsSeedAlone(t *testing.T) {
	_, a := drawn(t, 20, 1, 100, 100)
	_, b := drawn(t, 20, 1, 100, 100)
	_, c := drawn(t, 20, 2, 100, 100)
	if a != b || a == c {
		t.Errorf("seed 1: %s\nagain:  %s\nseed 2: %s", a, b, c)
	}
}

func TestMutantsOfLargeScenariosAreDrawnLessOften(t *testing.T) {
	s := mutate.NewSample(1, 1)
	s.Add(0, "large", 1000, 100)
	s.Add(0, "small", 1000, 1)
	s.Draw(500)
	if large, small := len(s.Of(0, "large")), len(s.Of(0, "small")); large > 30 || large+small != 500 {
		t.Errorf("%d of the large scenario, %d of the small one", large, small)
	}
}
