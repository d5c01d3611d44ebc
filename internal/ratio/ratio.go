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
//   - the median times of both for one operation, under their names
func Report(b *testing.B, operations int, candidate, yardstick Candidate) {
	b.Helper()
	var ours, theirs []Cost
	round := func(n int) {
		var cost [2]Cost
		for i := range cost {
			which := (i + n) % 2
			runtime.GC()
			cost[which] = [2]Candidate{candidate, yardstick}[which].Round()
		}
		if n > 0 {
			ours, theirs = append(ours, cost[0]), append(theirs, cost[1])
		}
	}
	n := 0
	for ; b.Loop(); n++ {
		round(n)
	}
	for ; len(ours) < rounds; n++ {
		round(n)
	}
	b.ReportMetric(0, "ns/op") // of a pair of rounds, which nobody asks for
	wall := func(c Cost) time.Duration { return c.Wall }
	cpu := func(c Cost) time.Duration { return c.CPU }
	report(b, "", ours, theirs, wall)
	reportTime(b, candidate.Name+"-ns", ours, operations, wall)
	reportTime(b, yardstick.Name+"-ns", theirs, operations, wall)
	if slices.ContainsFunc(slices.Concat(ours, theirs), func(c Cost) bool { return c.CPU == 0 }) {
		return
	}
	report(b, "cpu-", ours, theirs, cpu)
	reportTime(b, candidate.Name+"-cpu-ns", ours, operations, cpu)
	reportTime(b, yardstick.Name+"-cpu-ns", theirs, operations, cpu)
}

func report(b *testing.B, prefix string, ours, theirs []Cost, of func(Cost) time.Duration) {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = float64(of(ours[i])) / float64(of(theirs[i]))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], prefix+"ratio-median")
	b.ReportMetric(ratios[0], prefix+"ratio-min")
	b.ReportMetric(ratios[len(ratios)-1], prefix+"ratio-max")
}

func reportTime(b *testing.B, name string, costs []Cost, operations int, of func(Cost) time.Duration) {
	times := make([]time.Duration, len(costs))
	for i, c := range costs {
		times[i] = of(c)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2])/float64(operations), name)
}
