package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestLatencies(t *testing.T) {
	answered := func(ms int) *transcript.Exchange {
		return &transcript.Exchange{
			Request: transcript.Request{Method: "GET", Target: "/items/1"}, Response: &transcript.Response{Status: 200},
			Sent: time.Second, Done: time.Second + time.Duration(ms)*time.Millisecond,
		}
	}
	steps := func(target string, times ...int) *transcript.Transcript {
		out := &transcript.Transcript{Target: target}
		for i, ms := range times {
			out.Steps = append(out.Steps, transcript.Step{ID: string(rune('a' + i)), Exchanges: []*transcript.Exchange{answered(ms)}})
		}
		return out
	}
	ref, cand := steps("old", 10, 10, 10, 10, 10, 7), steps("new", 5, 10, 20, 20, 40, 7)
	broken, stream := answered(9), answered(9)
	broken.Failure, stream.Stream = &transcript.Failure{}, "feed"
	for _, x := range []*transcript.Exchange{broken, stream} {
		ref.Steps = append(ref.Steps, transcript.Step{ID: "z", Exchanges: []*transcript.Exchange{x}})
		cand.Steps = append(cand.Steps, transcript.Step{ID: "z", Exchanges: []*transcript.Exchange{answered(900)}})
	}
	ref.Steps[5].Exchanges[0].Request.Target = "/nope"
	var l report.Latencies
	l.Add([]*transcript.Transcript{ref, cand}, func(method, target string) string {
		if target == "/nope" {
			return ""
		}
		return method + " /items/{id}"
	})
	l.Add(nil, nil)
	l.Add([]*transcript.Transcript{ref}, nil)
	want := []report.Latency{{Operation: "GET /items/{id}", Target: "new", Pairs: 5, Reference: 10_000, Candidate: 20_000, Ratio: 2, Low: 0.5, High: 2}}
	if diff := cmp.Diff(want, l.Rows()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
