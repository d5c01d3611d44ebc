// Package ratio measures two ways of doing the same thing side by side, for benchmarks that ask how much dearer one is
// than the other.
//
// A time alone says as much about the machine, and about who else uses it, as about the code. Two that were taken in
// turns, round by round, have that in common, and their ratio says what is asked. A benchmark therefore reports the
// ratios of its rounds, with their median and how far they lie apart, and times only to give an idea of the scale.
//
// Every round begins after a garbage collection, so that nobody pays for what the other has left behind. Which of the
// two begins changes from round to round.
package ratio

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// A Cost is what a round took.
type Cost struct {
	Wall time.Duration
	CPU  time.Duration // user and system time, of all threads; 0 when it is not known
}

// A Candidate is one way of doing what is measured.
type Candidate struct {
	Name string
	// Round does it as often as the benchmark says, and returns what that took. Of measures what runs in this process.
	Round func() Cost
}

// Of measures a function: the time on the clock and the CPU time of the whole process.
func Of(f func()) Cost {
	cpu, start := processTime(), time.Now()
	f()
	return Cost{time.Since(start), processTime() - cpu}
}

// rounds is how many there are at least, after one that is thrown away.
const rounds = 25

// Report measures a candidate beside a yardstick, in rounds of so many operations, and reports
//
//   - ratio-median, ratio-min and ratio-max: the candidate's time by the yardstick's, of each round
//   - cpu-ratio-median, cpu-ratio-min and cpu-ratio-max: the same of the CPU time, where both know theirs
//   - the median times of both for one operation, in nanoseconds, under their names
//
// It returns the two median times on the clock.
func Report(b *testing.B, operations int, candidate, yardstick Candidate) (ours, theirs time.Duration) {
	b.Helper()
	both := [2]Candidate{candidate, yardstick}
	var costs [2][]Cost
	n := 0
	round := func() {
		for i := range both {
			which := (i + n) % 2
			runtime.GC()
			if cost := both[which].Round(); n > 0 {
				costs[which] = append(costs[which], cost)
			}
		}
		n++
	}
	for b.Loop() {
		round()
	}
	for n <= rounds {
		round()
	}
	b.ReportMetric(0, "ns/op") // of a pair of rounds, which nobody asks for
	report := func(prefix, unit string, of func(Cost) time.Duration) {
		r := ratios(costs, of)
		b.ReportMetric(r[len(r)/2], prefix+"ratio-median")
		b.ReportMetric(r[0], prefix+"ratio-min")
		b.ReportMetric(r[len(r)-1], prefix+"ratio-max")
		for i, c := range both {
			b.ReportMetric(float64(median(costs[i], of))/float64(operations), c.Name+unit)
		}
	}
	report("", "-ns", wall)
	if all := slices.Concat(costs[:]...); !slices.ContainsFunc(all, func(c Cost) bool { return c.CPU == 0 }) {
		report("cpu-", "-cpu-ns", cpu)
	}
	each := time.Duration(operations)
	return median(costs[0], wall) / each, median(costs[1], wall) / each
}

func wall(c Cost) time.Duration { return c.Wall }
func cpu(c Cost) time.Duration  { return c.CPU }

// ratios returns that of each round, the smallest first.
func ratios(costs [2][]Cost, of func(Cost) time.Duration) []float64 {
	out := make([]float64, len(costs[0]))
	for i := range out {
		out[i] = float64(of(costs[0][i])) / float64(of(costs[1][i]))
	}
	slices.Sort(out)
	return out
}

func median(costs []Cost, of func(Cost) time.Duration) time.Duration {
	times := make([]time.Duration, len(costs))
	for i, c := range costs {
		times[i] = of(c)
	}
	slices.Sort(times)
	return times[len(times)/2]
}
