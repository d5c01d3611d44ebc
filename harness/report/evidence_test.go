package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestAround(t *testing.T) {
	const doc = `{"id":1,"owner":{"name":"x","tags":["a","b","c"]},"empty":{},"odd/name":{"~":2}}`
	for _, tc := range []struct {
		name, body, pointer string
		want                []string
		focus               int
	}{
		{"the whole", `{"a":1}`, "", []string{"{", `  "a": 1`, "}"}, -1},
		{"a member", doc, "/owner/name", []string{"/owner {", `  "name": "x"`, `  "tags": ["a","b","c"]`, "}"}, 1},
		{"a member that is missing", doc, "/owner/age", []string{"/owner {", `  "name": "x"`, `  "tags": ["a","b","c"]`, "}"}, -1},
		{"an element", doc, "/owner/tags/1", []string{"/owner/tags [", `  0: "a"`, `  1: "b"`, `  2: "c"`, "]"}, 2},
		{"an object", `{"a":{"b":1},"c":2}`, "/a", []string{"{", `  "a": {"b":1}`, `  "c": 2`, "}"}, 1},
		{"an empty object", `{"a":{},"c":2}`, "/a", []string{"{", `  "a": {}`, `  "c": 2`, "}"}, 1},
		{"escaped names", doc, "/odd~1name/~0", []string{"/odd~1name {", `  "~": 2`, "}"}, 1},
		{"below a value", doc, "/id/deep", []string{"{", `  "id": 1`, `  "owner": {"name":"x","tags":["a","b","c"]}`, `  "empty": {}`, `  "odd/name": {"~":2}`, "}"}, 1},
		{"an index that is none", `[1]`, "/x", []string{"[", "  0: 1", "]"}, -1},
	} {
		got := jsonContext((&parsedBody{}).parse([]byte(tc.body)), tc.pointer)
		if diff := cmp.Diff(&JSONContext{Lines: tc.want, Focus: tc.focus}, got, cmpopts.IgnoreUnexported(JSONContext{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	for _, none := range []string{"", "text", `"a"`, "17", "{"} {
		if got := jsonContext((&parsedBody{}).parse([]byte(none)), ""); got != nil {
			t.Errorf("around %q: %v", none, got)
		}
	}
}

func TestLinesThatFindingsAreAboutAreKnown(t *testing.T) {
	got := jsonContext((&parsedBody{}).parse([]byte(`{"id":1,"owner":{"name":"x"},"odd/name":2,"id2":3}`)), "/id")
	got.markFound([]string{"/id", "/owner/name", "/odd~1name", "/missing"})
	if diff := cmp.Diff([]int{1, 2, 3}, got.Found); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	below := jsonContext((&parsedBody{}).parse([]byte(`{"owner":{"name":"x","age":1}}`)), "/owner/name")
	below.markFound([]string{"/owner"})
	whole := jsonContext((&parsedBody{}).parse([]byte(`{"id":1,"n":2}`)), "/id")
	whole.markFound([]string{""})
	if !slices.Equal(below.Found, []int{1, 2}) || !slices.Equal(whole.Found, []int{1, 2}) {
		t.Errorf("what a finding about an object, or about everything, marks: %v and %v", below.Found, whole.Found)
	}
}

func TestAroundALongListIsShort(t *testing.T) {
	list := "[" + strings.Repeat("0,", 9999) + "1]"
	got := jsonContext((&parsedBody{}).parse([]byte(list)), "/5000")
	if len(got.Lines) != maxMembers+4 || got.Lines[got.Focus] != "  5000: 0" || got.Lines[1] != "  … 4994 more" {
		t.Errorf("%d lines, focus %q: %q", len(got.Lines), got.Lines[got.Focus], got.Lines)
	}
}

func TestCurl(t *testing.T) {
	request := &transcript.Request{
		Method: "POST", Target: "/items?q='x'", Body: transcript.Body{Bytes: []byte(`{"it's":1}`), Size: 10},
		Header: transcript.Header{{Name: "Host", Value: "127.0.0.1:1"}, {Name: "Content-Type", Value: "application/json"}, {Name: "content-length", Value: "10"}, {Name: "X-$HOME", Value: "`id`"}},
	}
	const want = `curl -i -X 'POST' --path-as-is "$URL"'/items?q='\''x'\''' \
  -H 'Content-Type: application/json' \
  -H 'X-$HOME: ` + "`id`" + `' \
  --data-raw '{"it'\''s":1}'`
	if got := curl(request); got != want {
		t.Errorf("curl:\n%s\nwant\n%s", got, want)
	}
	request.Body = transcript.Body{Bytes: []byte(`@/etc/passwd`), Size: 12}
	if got := curl(request); !strings.Contains(got, "--data-raw '@/etc/passwd'") {
		t.Errorf("a body that looks like a file's name:\n%s", got)
	}
	request.Body = transcript.Body{Bytes: []byte(`{"a":""}`), Size: 1008, Fill: &transcript.Fill{At: 6, Times: 1000}}
	const filled = `{ printf %s '{"a":"'; head -c 1000 /dev/zero | tr '\0' x; printf %s '"}'; } |` + "\n  curl -i -X 'POST'"
	if got := curl(request); !strings.HasPrefix(got, filled) || !strings.HasSuffix(got, "\\\n  --data-binary @-") {
		t.Errorf("a filled body:\n%s", got)
	}
	var b strings.Builder
	if writeBody(&b, request.Body); b.String() != "\n"+`{"a":"‹1000 × x›"}` {
		t.Errorf("a filled body is shown as %q", b.String())
	}
	request.Body = transcript.Body{Bytes: make([]byte, 3), Size: 3}
	if got := curl(request); got != "" {
		t.Errorf("a body that no command line can hold: %s", got)
	}
}

func TestExcerpt(t *testing.T) {
	const text = "steps:\n  - http: GET /a\n    expect:\n      status: 200\n  - http: GET /b\n\n  - http: GET /c\n"
	for line, want := range map[int][]string{
		2: {"  - http: GET /a", "    expect:", "      status: 200"}, 5: {"  - http: GET /b"}, 7: {"  - http: GET /c"}, 0: nil, 99: nil,
	} {
		if diff := cmp.Diff(want, excerpt([]byte(text), line)); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", line, diff)
		}
	}
}

func TestALongTimelineCountsWhatItLeavesOut(t *testing.T) {
	tr := &transcript.Transcript{Streams: []*transcript.Stream{{Name: "bus", Events: make([]transcript.Event, maxSpans+7)}}}
	for n := range maxSpans + 4 {
		tr.Streams = append(tr.Streams, &transcript.Stream{Name: fmt.Sprint(n)})
	}
	g := &EvidenceSource{Mask: func(s string) string { return s }}
	if got := g.timeline(tr); len(got.Spans) != maxSpans || len(got.Marks) != maxSpans || got.Omitted != 5+7 {
		t.Errorf("%d spans, %d marks, %d left out", len(got.Spans), len(got.Marks), got.Omitted)
	}
}

func TestEvidenceMasksSecrets(t *testing.T) {
	const secret = "hunter2-hunter2"
	x := &transcript.Exchange{
		Request:  transcript.Request{Method: "GET", Target: "/?k=" + secret, Header: transcript.Header{{Name: "X-Key", Value: secret}}},
		Response: &transcript.Response{Proto: "HTTP/1.1", Status: 200, Body: transcript.Body{Bytes: []byte(`{"key":"` + secret + `"}`), Size: 25}},
		Done:     time.Millisecond,
	}
	s := &verdict.Scenario{Findings: []verdict.Finding{{Class: verdict.Violation, Step: "1", Line: 1, Target: "go", Place: "body /key"}}}
	ts := []*transcript.Transcript{{Target: "go", Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{x}}}}}
	ev := GatherEvidence(&EvidenceSource{Scenario: s, Transcripts: ts, Mask: func(s string) string { return strings.ReplaceAll(s, secret, "‹token›") }})
	if len(ev.Findings) != 1 || len(ev.Findings[0].Sides) != 1 {
		t.Fatalf("evidence: %+v", ev)
	}
	side := ev.Findings[0].Sides[0]
	shown := side.Request + side.Answer + side.Curl + strings.Join(side.Around.Lines, "") + ev.Timelines[0].Spans[0].Text
	if strings.Contains(shown, secret) || strings.Count(shown, "‹token›") != 7 {
		t.Errorf("covered %d times: %s", strings.Count(shown, "‹token›"), shown)
	}
}
