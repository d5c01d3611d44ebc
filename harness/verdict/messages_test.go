package verdict

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// program adds a program that was told to list, and wrote these lines.
func (s side) program(name func(*transcript.Event) string, lines ...string) side {
	s.step(transcript.Step{Kind: "process", Text: "start p", Stream: "p"})
	st := &transcript.Stream{Name: "p", Step: s.Steps[len(s.Steps)-1].ID, Wire: transcript.WireProgram, Operation: "program", Ended: transcript.EndedByClient}
	st.Events = []transcript.Event{{Item: transcript.ItemLine, Sent: true, Data: `{"id":1,"method":"list"}`, Framing: "•\n"}}
	for _, line := range lines {
		st.Events = append(st.Events, transcript.Event{Item: transcript.ItemLine, Data: line, Framing: "•\n"})
	}
	for i := range st.Events {
		st.Events[i].Name = name(&st.Events[i])
	}
	s.Streams = append(s.Streams, st)
	return s
}

func TestTheContractDecidesWhoIsWrongAboutAMessage(t *testing.T) {
	doc, err := contract.Parse([]byte(`openapi: 3.1.0
info: {title: t, version: "1"}
x-messages:
  name: jsonrpc
  received:
    list result: {schema: {type: object, properties: {id: {}, result: {type: integer}}}}
  sent:
    list: {schema: {}}
`), &contract.Options{File: "openapi.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, ref, cand string
		want            []string
	}{
		{"the candidate", `{"id":1,"result":1}`, `{"id":1,"result":"1"}`, []string{
			"difference type line 1 (list result) data /result (candidate)", "violation type line 1 data/result (candidate)"}},
		{"the reference", `{"id":1,"result":"1"}`, `{"id":1,"result":1}`, []string{
			"difference type line 1 (list result) data /result (reference)", "violation type line 1 data/result (reference)"}},
		{"nobody", `{"id":1,"result":1}`, `{"id":1,"result":2}`, []string{"difference value line 1 (list result) data /result (contract silent)"}},
	} {
		c := &Case{ID: "story", File: "story.yaml", Line: 1, Rules: &compare.Rules{}, Contract: doc}
		for i, line := range []string{tc.ref, tc.cand} {
			c.Transcripts = append(c.Transcripts, newSide([]string{"ref", "cand"}[i]).program(doc.EventNamer("program"), line).Transcript)
		}
		got := Judge(c)
		if diff := cmp.Diff(tc.want, said(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if gap := got.Findings[0].SpecGap; tc.name == "nobody" && (gap == nil || !strings.Contains(gap.Schema, "/x-messages/received/list result/")) {
			t.Errorf("%s: the gap is %+v", tc.name, gap)
		}
	}
}
