// Package bench measures how fast lockstep compares large JSON documents, next to other libraries. It is a separate
// module, so that lockstep does not depend on those libraries.
package bench

import (
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/josephburnett/jd/v2"
	"github.com/wI2L/jsondiff"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/ratio"
)

// A way compares two documents and returns how many differences it found.
type way struct {
	name    string
	compare func(ref, cand []byte) (int, error)
}

var ways = []way{
	{"floor", floor},
	{"lockstep", lockstep},
	{"cmp", goCmp},
	{"jsondiff", jsonDiff},
	{"jd", jsonJD},
}

var only = flag.String("ways", "", "the ways to compare, by name, joined by commas; empty means all")

// floor is the least that any comparison has to do: it decodes both documents and compares the values. It finds at most
// one difference.
func floor(ref, cand []byte) (int, error) {
	r, c, err := decode(ref, cand)
	if err != nil || reflect.DeepEqual(r, c) {
		return 0, err
	}
	return 1, nil
}

func decode(ref, cand []byte) (r, c any, err error) {
	if err := json.Unmarshal(ref, &r); err != nil {
		return nil, nil, err
	}
	err = json.Unmarshal(cand, &c)
	return r, c, err
}

func lockstep(ref, cand []byte) (int, error) {
	return len(compare.Transcripts(nil, answer(ref), answer(cand), &compare.Rules{}).Differences), nil
}

var started = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func answer(body []byte) *transcript.Transcript {
	return &transcript.Transcript{
		Scenario: "s", Target: "t", Unique: "u4f9a7c21b3", Started: started,
		Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{{Response: &transcript.Response{
			Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}},
			Body: transcript.Body{Bytes: body, Size: int64(len(body))},
		}}}}},
	}
}

// reporter counts the places where go-cmp finds a difference.
type reporter struct{ n int }

func (r *reporter) PushStep(cmp.PathStep) {}
func (r *reporter) PopStep()              {}
func (r *reporter) Report(result cmp.Result) {
	if !result.Equal() {
		r.n++
	}
}

func goCmp(ref, cand []byte) (int, error) {
	r, c, err := decode(ref, cand)
	if err != nil {
		return 0, err
	}
	var found reporter
	cmp.Equal(r, c, cmp.Reporter(&found))
	return found.n, nil
}

func jsonDiff(ref, cand []byte) (int, error) {
	patch, err := jsondiff.CompareJSON(ref, cand, jsondiff.LCS())
	return len(patch), err
}

func jsonJD(ref, cand []byte) (int, error) {
	r, err := jd.ReadJsonString(string(ref))
	if err != nil {
		return 0, err
	}
	c, err := jd.ReadJsonString(string(cand))
	if err != nil {
		return 0, err
	}
	return len(r.Diff(c)), nil
}

// tooLong is the longest that a way may take for one document. A slower way is left out at larger sizes, so this bounds
// the duration of a run.
const tooLong = 4 * time.Second

func BenchmarkCompare(b *testing.B) {
	left := map[string]bool{} // the key is the way and the case
	for _, size := range []struct {
		name          string
		bytes, rounds int
	}{{"1KB", 1 << 10, 25}, {"100KB", 100 << 10, 15}, {"10MB", 10 << 20, 5}, {"50MB", 50 << 20, 3}} {
		for _, c := range []struct {
			name      string
			ref, cand document
		}{
			{"five-differences", document{}, document{edited: true}},
			{"equal", document{}, document{}},
			{"reordered", document{}, document{reordered: true}},
			{"ids-and-five-differences", document{ids: true}, document{ids: true, edited: true}},
		} {
			c.ref.size, c.cand.size = size.bytes, size.bytes
			b.Run(size.name+"/"+c.name, func(b *testing.B) {
				ref, cand := c.ref.bytes(), c.cand.bytes()
				present := slices.DeleteFunc(slices.Clone(ways), func(w way) bool { return left[w.name+c.name] || !wanted(w.name) })
				for _, slow := range measure(b, present, ref, cand, size.rounds) {
					left[slow+c.name] = true
				}
			})
		}
	}
}

func wanted(name string) bool {
	return *only == "" || name == "floor" || slices.Contains(strings.Split(*only, ","), name)
}

// measure runs the ways in turns, and returns the names of those that take too long.
func measure(b *testing.B, present []way, ref, cand []byte, rounds int) (slow []string) {
	b.Helper()
	times := make([][]float64, len(present))
	ratios := make([][]float64, len(present))
	operations := max(1, 20_000/len(ref))
	for round := -1; round < rounds; round++ {
		for i, w := range present {
			if slices.Contains(slow, w.name) {
				continue
			}
			runtime.GC()
			cost := ratio.Of(func() {
				for range operations {
					if _, err := w.compare(ref, cand); err != nil {
						b.Fatal(w.name, err)
					}
				}
			})
			if cost.Wall > tooLong && w.name != "floor" {
				slow = append(slow, w.name)
			}
			if round >= 0 || slices.Contains(slow, w.name) {
				times[i] = append(times[i], float64(cost.CPU)/float64(operations))
			}
			if round >= 0 {
				ratios[i] = append(ratios[i], float64(cost.CPU)/(times[0][round]*float64(operations)))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	var out strings.Builder
	for i, w := range present {
		n, _ := w.compare(ref, cand)
		slices.Sort(ratios[i])
		slices.Sort(times[i])
		allocated, peak := memory(func() { _, _ = w.compare(ref, cand) })
		both := float64(len(ref) + len(cand))
		fmt.Fprintf(&out, "\n  %-9s %6d differences  cpu %11s", w.name, n, time.Duration(times[i][len(times[i])/2]))
		if r := ratios[i]; len(r) > 0 {
			fmt.Fprintf(&out, "  ratio %6.3f (%.3f–%.3f)", r[len(r)/2], r[0], r[len(r)-1])
			b.ReportMetric(r[len(r)/2], w.name+"-cpu-ratio-median")
		} else {
			fmt.Fprintf(&out, "  ratio %6.3f, once", times[i][0]/times[0][len(times[0])/2])
		}
		fmt.Fprintf(&out, "  allocated %6.1f, peak %5.1f times the documents", float64(allocated)/both, float64(peak)/both)
	}
	b.Log(out.String())
	return slow
}

// memory returns how much a function allocates in total, and how much of that is in use at most. It collects garbage
// often, so that garbage hardly counts as in use.
func memory(f func()) (allocated, peak uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	inUse, before := stats.HeapAlloc, stats.TotalAlloc
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		most := inUse
		for {
			metrics.Read(samples)
			most = max(most, samples[0].Value.Uint64())
			select {
			case <-stop:
				done <- most - inUse
				return
			case <-time.After(500 * time.Microsecond):
			}
		}
	}()
	f()
	close(stop)
	peak = <-done
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc - before, peak
}
