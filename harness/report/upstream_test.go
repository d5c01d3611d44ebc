package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// The evidence for a finding about an upstream has the requests of both sides. The timeline shows when they were sent.
func TestEvidenceOfRequestsToAnUpstream(t *testing.T) {
	side := func(target, body string) *transcript.Transcript {
		return &transcript.Transcript{Target: target, Took: time.Second, Upstream: []transcript.Step{{
			ID: "llm.answer", Line: 2, Kind: "upstream", Text: `upstream llm, rule "answer"`,
			Exchanges: []*transcript.Exchange{{
				Request:  transcript.Request{Method: "POST", Target: "/v1/messages", Body: transcript.Body{Bytes: []byte(body), Size: int64(len(body))}},
				Response: &transcript.Response{Proto: "HTTP/1.1", Status: 200}, Sent: 100 * time.Millisecond, Done: 300 * time.Millisecond,
			}},
		}}}
	}
	s := &verdict.Scenario{ID: "ask", Findings: []verdict.Finding{{
		Class: verdict.Difference, Kind: "value", Step: "llm.answer", Line: 3, Upstream: "llm", Target: "go", Place: "request body /model", Reference: `"a"`, Candidate: `"b"`,
	}}}
	ev := report.GatherEvidence(&report.EvidenceSource{
		Scenario: s, Transcripts: []*transcript.Transcript{side("node", `{"model":"a"}`), side("go", `{"model":"b"}`)},
		Text: []byte("stubs:\n  llm:\n    - name: answer\n      answer: {text: a}\n"), Mask: func(s string) string { return s },
	})
	for i, want := range []string{`"model": "a"`, `"model": "b"`} {
		got := ev.Findings[0].Sides[i]
		if !strings.HasPrefix(got.Request, "POST /v1/messages\n") || got.Curl != "" || got.Around == nil || !strings.Contains(got.Around.Lines[got.Around.Focus], want) {
			t.Errorf("behind it stands %+v, around it %+v", got, got.Around)
		}
	}
	if at := ev.Findings[0].Source; at == nil || at.Line != 3 || at.Text != "    - name: answer" {
		t.Errorf("the source is %+v", at)
	}
	if span := ev.Timelines[1].Spans; len(span) != 1 || span[0].Stub != "llm" || span[0].From != 100_000 || span[0].To != 300_000 || span[0].Result != "200" {
		t.Errorf("the time line has %+v", span)
	}
}
