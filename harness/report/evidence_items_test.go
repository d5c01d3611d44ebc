package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestAnItemIsNamedByWhatItIs(t *testing.T) {
	for _, tc := range []struct {
		ev          transcript.Event
		title, note string
	}{
		{transcript.Event{Item: transcript.ItemText, Name: "chat", Framing: "text 5"}, "chat", ""},
		{transcript.Event{Item: transcript.ItemText, Name: "text", Framing: "text 3, continuation 0, end 2"}, "text", "3 frames: text 3, continuation 0, end 2"},
		{transcript.Event{Item: transcript.ItemBytes, Framing: "opcode 3, fin, rsv 4, unmasked, 5 of 10"}, "bytes", "opcode 3, fin, rsv 4, unmasked, 5 of 10"},
		{transcript.Event{Item: transcript.ItemClose, Data: `{"code":1008,"reason":"no \"entry\""}`}, `close 1008 "no \"entry\""`, ""},
		{transcript.Event{Item: transcript.ItemClose, Data: `{"code":1000}`}, "close 1000", ""},
		{transcript.Event{Item: transcript.ItemClose, Data: `{}`}, "close without a code", ""},
		{transcript.Event{Item: transcript.ItemLine, Name: "line", Framing: "•\n"}, "line", ""},
		{transcript.Event{Item: transcript.ItemLine, Name: "line", Framing: "•\r\n"}, "line", "ends with CR LF"},
		{transcript.Event{Item: transcript.ItemLine, Name: "line", Framing: "•"}, "line", "no line end"},
		{transcript.Event{Item: transcript.ItemSignal, Data: "SIGTERM"}, "SIGTERM", ""},
		{transcript.Event{Item: transcript.ItemEOF}, "end of input", ""},
		{transcript.Event{Item: transcript.ItemExit, Data: `{"status":3}`}, "exit 3", ""},
		{transcript.Event{Item: transcript.ItemExit, Data: `{"signal":"SIGSEGV"}`}, "ended by SIGSEGV", ""},
	} {
		if title, note := itemTitle(&tc.ev), framingNote(&tc.ev); title != tc.title || note != tc.note {
			t.Errorf("%+v: %q, %q", tc.ev, title, note)
		}
	}
}

func TestBytesHaveAGutter(t *testing.T) {
	g := &EvidenceSource{Mask: func(s string) string { return strings.ReplaceAll(s, "secret", "‹›") }}
	got := g.itemText("message 2", &transcript.Event{Item: transcript.ItemBinary, Name: "binary", Data: "\x00\x01abcdef\xffsecret", Framing: "binary 15"}, "")
	want := "← message 2: binary\n\n" +
		"0000  00 01 61 62 63 64 65 66 │ ..abcdef\n" +
		"0008  ff e2 80 b9 e2 80 ba    │ .......\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	notUTF8 := g.itemText("", &transcript.Event{Item: transcript.ItemLine, Name: "line", Sent: true, Data: "\xc3("}, "")
	if want := "→ line\n\n0000  c3 28                   │ .(\n"; notUTF8 != want {
		t.Errorf("%q, want %q", notUTF8, want)
	}
}

// rpcStream returns a stream of JSON-RPC in which the responses come in another order than the requests.
func rpcStream() *transcript.Stream {
	line := func(data string, sent bool) transcript.Event {
		return transcript.Event{Item: transcript.ItemLine, Name: "line", Data: data, Sent: sent}
	}
	return &transcript.Stream{Name: "tool", Step: "1", Wire: transcript.WireProgram, Events: []transcript.Event{
		line(`{"jsonrpc":"2.0","id":1,"method":"a"}`, true), line(`{"jsonrpc":"2.0","id":"1","method":"b"}`, true),
		line(`{"jsonrpc":"2.0","id":1,"result":{}}`, false), line(`{"jsonrpc":"2.0","id":"1","result":{}}`, false),
		line(`{"jsonrpc":"2.0","id":7,"method":"ask"}`, false), line(`{"jsonrpc":"2.0","id":7,"result":{}}`, true),
		line(`{"jsonrpc":"2.0","id":9,"result":{}}`, false), line(`ready`, false),
	}}
}

func TestAResponseIsShownWithItsRequest(t *testing.T) {
	s := rpcStream()
	g := &EvidenceSource{Mask: func(s string) string { return s }}
	for i, want := range map[int]struct {
		before  int
		answers bool
	}{2: {0, true}, 3: {1, true}, 4: {1, false}, 6: {5, false}, 7: {5, false}, 0: {-1, false}} {
		if before, answers := g.sentBefore(itemPlace{s, i}); before != want.before || answers != want.answers {
			t.Errorf("before item %d: %d, %t; want %d, %t", i, before, answers, want.before, want.answers)
		}
	}
}

func TestACallShowsTheRequestsThatItCaused(t *testing.T) {
	upstream := func(id, path string, at time.Duration) transcript.Step {
		return transcript.Step{ID: id, Exchanges: []*transcript.Exchange{{Request: transcript.Request{Method: "GET", Target: path}, Response: &transcript.Response{Status: 200}, Sent: at}}}
	}
	call := &transcript.Exchange{
		Request:  transcript.Request{Method: transcript.Do, Target: "fetch"},
		Response: &transcript.Response{Proto: "driver", Status: 200, Body: transcript.Body{Bytes: []byte(`{"error":{"kind":"Timeout"}}`), Size: 28}},
		Sent:     10, Done: 20,
	}
	tr := &transcript.Transcript{
		Target: "new", Steps: []transcript.Step{{ID: "1", Text: "do fetch", Kind: "do", Exchanges: []*transcript.Exchange{call}}},
		Upstream: []transcript.Step{upstream("api.before", "/before", 5), upstream("api.one", "/one", 15), upstream("api.after", "/after", 25)},
	}
	s := &verdict.Scenario{Findings: []verdict.Finding{{Class: verdict.Unmet, Step: "1", Target: "new", Place: "body"}}}
	ev := GatherEvidence(&EvidenceSource{Scenario: s, Transcripts: []*transcript.Transcript{tr}, Mask: func(s string) string { return s }})
	want := Side{
		Target: "new", Request: "DO fetch\n",
		Answer: "→ error\n\n{\"error\":{\"kind\":\"Timeout\"}}\n\nrequests to upstreams meanwhile\n↗ api: GET /one → 200",
		Around: &JSONContext{Lines: []string{"{", `  "error": {"kind":"Timeout"}`, "}"}, Focus: -1},
	}
	got := ev.Findings[0].Sides[0]
	got.Around = &JSONContext{Lines: got.Around.Lines, Focus: got.Around.Focus}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(JSONContext{})); diff != "" {
		t.Errorf("the side (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(ev.Timelines[0].Spans, func(s Span) bool { return s.Text == "DO fetch" && s.Result == "error" }) {
		t.Errorf("the time line has %+v", ev.Timelines[0].Spans)
	}
	if steps := StepLines([]*transcript.Transcript{tr}); steps[0].Statuses[0] != StatusError {
		t.Errorf("the step has %v", steps[0].Statuses)
	}
}

// Ten thousand messages, and messages of a megabyte, take little room, and show the place of the finding.
func TestFloodsOfMessagesStaySmall(t *testing.T) {
	const many, at = 10_000, 7000
	flood := func(target, last string) *transcript.Transcript {
		s := &transcript.Stream{Name: "chat", Step: "1", Wire: transcript.WireSocket}
		for i := range many {
			s.Events = append(s.Events, transcript.Event{Item: transcript.ItemText, Name: "text", Data: fmt.Sprint(i), Sent: i%2 == 0})
		}
		s.Events[at+1].Data = strings.Repeat("\x00<b>", 1<<18) + last
		return &transcript.Transcript{Target: target, Streams: []*transcript.Stream{s}}
	}
	ts := []*transcript.Transcript{flood("old", "a"), flood("new", "b")}
	rules := &compare.Rules{}
	s := verdict.Judge(&verdict.Case{ID: "flood", Rules: rules, Contract: contract.Absent(), Transcripts: ts})
	if len(s.Findings) != 1 {
		t.Fatalf("%d findings", len(s.Findings))
	}
	ev := GatherEvidence(&EvidenceSource{Scenario: &s, Transcripts: ts, Mask: func(s string) string { return s }, Labels: rules.Labels})
	pair := ev.Streams[0]
	if len(pair.Rows) != maxStreamRows || pair.More != many-maxStreamRows {
		t.Errorf("%d rows, %d more", len(pair.Rows), pair.More)
	}
	found := 0
	for _, r := range pair.Rows {
		if r.Found {
			found++
		}
		if r.Left == nil || r.Right == nil || r.Left.Way != r.Right.Way {
			t.Errorf("a row has %+v and %+v", r.Left, r.Right)
		}
	}
	if found != 1 {
		t.Errorf("%d rows are marked", found)
	}
	raw, err := json.Marshal(ev)
	if err != nil || len(raw) > 200_000 {
		t.Errorf("the evidence has %d bytes, %v", len(raw), err)
	}
	if side := ev.Findings[0].Sides[1]; !strings.HasPrefix(side.Request, "→ sent 3501: text, the last that was sent before\n\n7000") || !strings.Contains(side.Answer, "bytes cut]") {
		t.Errorf("%.100q, %.100q", side.Request, side.Answer)
	}
}
