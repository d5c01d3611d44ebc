package report

import (
	"cmp"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Latency compares how long the responses of an operation took on a candidate and on the reference. The time counts
// from the start of the request to the last byte of the body. Event streams have no latency. It has no effect on the
// verdict.
type Latency struct {
	Operation string `json:"operation"`
	Target    string `json:"target"` // the candidate
	Pairs     int    `json:"pairs"`
	// Reference and Candidate are medians, in microseconds.
	Reference int64 `json:"reference_us"`
	Candidate int64 `json:"candidate_us"`
	// Ratio is the median of the candidate's time divided by the reference's, pair by pair. A tenth of the pairs is
	// below Low, and a tenth above High.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Latencies collects the times of a run. The zero value is empty.
type Latencies struct {
	rows map[latencyKey]*latencyRow
}

type latencyKey struct{ operation, target string }

type latencyRow struct {
	reference, candidate []int64
	ratio                []float64
}

// Add adds what the targets did in a scenario, the reference first. operation returns the contract's name of a request,
// or "" for a request outside the contract.
func (l *Latencies) Add(ts []*transcript.Transcript, operation func(method, target string) string) {
	for _, cand := range ts[min(1, len(ts)):] {
		for i := range min(len(ts[0].Steps), len(cand.Steps)) {
			ref, other := &ts[0].Steps[i], &cand.Steps[i]
			if ref.ID != other.ID || ref.Burst || len(ref.Exchanges) != 1 || len(other.Exchanges) != 1 {
				continue // concurrent or repeated exchanges cannot be timed one by one
			}
			l.pair(ref.Exchanges[0], other.Exchanges[0], cand.Target, operation)
		}
	}
}

func (l *Latencies) pair(ref, cand *transcript.Exchange, target string, operation func(method, target string) string) {
	rt, rok := took(ref)
	ct, cok := took(cand)
	if !rok || !cok {
		return
	}
	op := operation(ref.Request.Method, ref.Request.Target)
	if op == "" {
		return
	}
	if l.rows == nil {
		l.rows = map[latencyKey]*latencyRow{}
	}
	key := latencyKey{op, target}
	row := l.rows[key]
	if row == nil {
		row = &latencyRow{}
		l.rows[key] = row
	}
	row.reference = append(row.reference, rt)
	row.candidate = append(row.candidate, ct)
	row.ratio = append(row.ratio, float64(ct)/float64(rt))
}

// took returns how many microseconds a complete exchange took.
func took(x *transcript.Exchange) (int64, bool) {
	t := (x.Done - x.Sent).Microseconds()
	return t, x.Response != nil && x.Failure == nil && x.Stream == "" && t > 0
}

// Rows returns a row for each operation and candidate, sorted by name.
func (l *Latencies) Rows() []Latency {
	var out []Latency
	for key, row := range l.rows {
		slices.Sort(row.reference)
		slices.Sort(row.candidate)
		slices.Sort(row.ratio)
		out = append(out, Latency{
			Operation: key.operation, Target: key.target, Pairs: len(row.ratio),
			Reference: quantile(row.reference, 50), Candidate: quantile(row.candidate, 50),
			Ratio: rounded(quantile(row.ratio, 50)), Low: rounded(quantile(row.ratio, 10)), High: rounded(quantile(row.ratio, 90)),
		})
	}
	slices.SortFunc(out, func(a, b Latency) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Target, b.Target))
	})
	return out
}

// quantile returns the percentile of a sorted list.
func quantile[T any](sorted []T, percent int) T { return sorted[(len(sorted)-1)*percent/100] }

// rounded keeps three decimal places, because more would only suggest a precision that is not there.
func rounded(f float64) float64 { return float64(int64(f*1000+0.5)) / 1000 }
