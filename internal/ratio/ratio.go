// Package ratio compares the cost of two ways of doing the same thing, for benchmarks that ask how much more
// expensive one of them is.
//
// A single time depends on the machine and on its other work as much as on the code. Two times that were measured in
// turn, round by round, share these influences, and their ratio does not depend on them. So a benchmark reports the
// ratios of its rounds, with their median and spread. It reports times only to show the scale.
//
// Every round starts with a garbage collection, so that neither side pays for the garbage of the other. The two take
// turns at going first.
package ratio

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// A Cost is the cost of one round.
type Cost struct {
	Wall time.Duration
	CPU  time.Duration // user and system time of all threads; 0 if unknown
}

// A Candidate is one of the two ways.
type Candidate struct {
	Name string
	// Round runs one round, and returns its cost. Of measures code that runs in this process.
	Round func() Cost
}

// Of measures a function: the wall-clock time, and the CPU time of the whole process.
func Of(f func()) Cost {
	cpu, start := processTime(), time.Now()
	f()
	return Cost{time.Since(start), processTime() - cpu}
}

// Allocated returns how many bytes a function allocates, together with all else that runs in this process.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// rounds is the minimum number of rounds, after one that is not counted.
const rounds = 25

// Report measures a candidate against a yardstick in rounds of the given number of operations, and reports
//
//   - ratio-median, ratio-min and ratio-max: the candidate's time divided by the yardstick's, over all rounds
//   - cpu-ratio-median, cpu-ratio-min and cpu-ratio-max: the same for CPU time, if it is known for both
//   - the median time of both for one operation, in nanoseconds, under their names
//
// It returns the two median wall-clock times.
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
	b.ReportMetric(0, "ns/op") // removes the time of a pair of rounds, which has no meaning
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

// ratios returns the ratio of each round, sorted.
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
