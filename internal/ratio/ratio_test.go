package ratio

import (
	"flag"
	"slices"
	"testing"
	"time"
)

func TestARatioIsThatOfOneRound(t *testing.T) {
	costs := [2][]Cost{
		{{Wall: 30, CPU: 4}, {Wall: 10, CPU: 3}, {Wall: 20, CPU: 9}},
		{{Wall: 10, CPU: 4}, {Wall: 20, CPU: 1}, {Wall: 10, CPU: 3}},
	}
	if got, want := ratios(costs, wall), []float64{0.5, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("ratios of times: %v, want %v", got, want)
	}
	if got, want := ratios(costs, cpu), []float64{1, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("ratios of CPU times: %v, want %v", got, want)
	}
	if got := median(costs[0], wall); got != 20 {
		t.Errorf("median: %d, want 20", got)
	}
}

func TestCandidatesTakeTurnsToBegin(t *testing.T) {
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		t.Fatal(err)
	}
	var order string
	one := func(name string, cost Cost) Candidate {
		return Candidate{name, func() Cost {
			order += name
			return cost
		}}
	}
	var ours, theirs time.Duration
	result := testing.Benchmark(func(b *testing.B) {
		order = ""
		ours, theirs = Report(b, 10, one("a", Cost{600, 70}), one("b", Cost{200, 10}))
	})
	if len(order) != 2*(rounds+1) || order[:8] != "abbaabba" {
		t.Errorf("the order was %s", order)
	}
	if ours != 60 || theirs != 20 {
		t.Errorf("Report: %s, %s; want 60ns, 20ns", ours, theirs)
	}
	for name, want := range map[string]float64{"ratio-median": 3, "cpu-ratio-max": 7, "a-ns": 60, "b-cpu-ns": 1} {
		if got := result.Extra[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
