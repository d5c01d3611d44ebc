package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Trend is the history of a project: its runs in the order in which they began.
type Trend struct {
	Points []TrendPoint
	// Skipped has the files that are not shown, each with the reason.
	Skipped []string
}

// A TrendPoint is one run.
type TrendPoint struct {
	Name    string // name of the run, such as the path of its report
	Run     *Document
	Started time.Time
	Verdict verdict.Verdict
	Match, Waived, Differ, Unknown,
	NotApplicable int
	// Operations, Statuses and Properties say how much of the contract was reached.
	Operations, Statuses, Properties coverage.Tally
	// Ratio is the candidates' time divided by the reference's. It is the median over the operations, weighted by how
	// often each was timed, and 0 when none was timed.
	Ratio float64
	// New and Fixed count findings since the previous run. Both are 0 in the first run.
	New, Fixed int
}

// A Dated is a report with its name.
type Dated struct {
	Name string
	*Document
}

// began returns when the run began, in the precision of a report. A run file is more precise.
func (d *Dated) began() time.Time { return d.Started.UTC().Truncate(time.Millisecond) }

// NewTrend sorts runs by time. A run that occurs twice is shown once, and shards are skipped.
func NewTrend(runs []Dated) *Trend {
	t := &Trend{}
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Dated) int {
		return cmp.Or(a.began().Compare(b.began()), cmp.Compare(a.Name, b.Name))
	})
	var before *Dated
	for i := range runs {
		run := &runs[i]
		switch {
		case run.Shard != nil:
			t.Skipped = append(t.Skipped, run.Name+": it is a shard; merge the shards of the run")
			continue
		case before != nil && before.began().Equal(run.began()) && before.Seed == run.Seed:
			t.Skipped = append(t.Skipped, run.Name+": the same run as "+before.Name)
			continue
		}
		t.Points = append(t.Points, point(run, before))
		before = run
	}
	return t
}

func point(run, before *Dated) TrendPoint {
	totals := &run.Totals
	reached := run.Coverage.Totals()
	p := TrendPoint{
		Name: run.Name, Run: run.Document, Started: run.Started, Verdict: run.Verdict,
		Match: totals.Match, Waived: totals.Waived, Differ: totals.Differ, Unknown: totals.Unknown, NotApplicable: totals.NotApplicable,
		Operations: reached.Operations, Statuses: reached.Statuses, Properties: run.Coverage.SchemaTotals().Properties,
		Ratio: ratio(run.Latency),
	}
	if before != nil {
		c := ChangesSince(before.Document, before.Name, run.Document)
		p.New, p.Fixed = len(c.New)+len(c.Changed), len(c.Fixed)
	}
	return p
}

// ratio returns the median ratio of operations, weighted by how often each was timed.
func ratio(rows []Latency) float64 {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Latency) int { return cmp.Compare(a.Ratio, b.Ratio) })
	all := 0
	for _, r := range rows {
		all += r.Pairs
	}
	passed := 0
	for _, r := range rows {
		if passed += r.Pairs; 2*passed >= all {
			return r.Ratio
		}
	}
	return 0
}
