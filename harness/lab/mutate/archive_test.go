package mutate_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// packs is a side that sends an archive, and has sent a request to an MCP server.
func (s story) packs() *transcript.Transcript {
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, entry := range [][2]string{
		{"logs/a.jsonl", `{"of":"{1}","size":3}` + "\n" + `{"of":"{2}","at":"{at}"}` + "\n"},
		{"thing.json", `{"id":"{1}","ownerID":"c-{u}","name":"Grüße","ratio":1.5,"tags":["b","a"],"on":true,"gone":null}`},
		{"system.txt", "Version: 1.16.0\nOf: {1}\n"},
		{"pixel.png", "\x89PNG"},
	} {
		to, err := w.Create(entry[0])
		if err != nil {
			panic(err)
		}
		fmt.Fprint(to, s.expand(entry[1]))
	}
	w.Close()
	x := s.answer("GET /archive", 200, fmt.Sprintf("Content-Type: application/zip\nContent-Length: %d", file.Len()), "", 20*time.Millisecond)
	x.Response.Body = transcript.Body{Bytes: file.Bytes(), Size: int64(file.Len())}
	return &transcript.Transcript{
		Scenario: "packs", Target: "t", Unique: s.unique, Started: s.started, Took: 5 * time.Second,
		Steps: []transcript.Step{
			{ID: "1", Line: 1, Kind: "http", Exchanges: []*transcript.Exchange{s.answer("POST /things", 201, "Content-Type: application/json", `{"id":"{1}","other":"{2}"}`, 10*time.Millisecond)}},
			{ID: "2", Line: 2, Kind: "http", Exchanges: []*transcript.Exchange{x}},
			{ID: "3", Line: 3, Kind: "http", Exchanges: []*transcript.Exchange{
				s.answer("GET /log", 200, "Content-Type: application/x-ndjson", `{"of":"{1}","size":3}`+"\n"+`{"of":"{2}","at":"{at}"}`+"\n", 20*time.Millisecond),
			}},
		},
		Upstream: []transcript.Step{
			{ID: "tools.tools/call", Line: 3, Kind: "upstream", Text: "MCP server tools, tools/call", Exchanges: []*transcript.Exchange{
				s.said("tools/call", `{"name":"echo","arguments":{"of":"{1}"}}`), s.said("tools/call", `{"name":"slow"}`),
			}},
			{ID: "tools.tools/list", Line: 3, Kind: "upstream", Text: "MCP server tools, tools/list", Exchanges: []*transcript.Exchange{s.said("tools/list", "{}")}},
		},
	}
}

// said is a message of a side to an MCP server.
func (s story) said(method, params string) *transcript.Exchange {
	x := s.question(params, 30*time.Millisecond)
	x.Request.Method, x.Request.Target, x.Response = transcript.MCP, method, nil
	x.Request.Header = transcript.Header{{Name: "Content-Type", Value: "application/json"}}
	return x
}

func TestWhatIsInArchivesAndRecordsIsChanged(t *testing.T) {
	measured := *rules
	measured.Headers = append([]string{"Content-Length"}, rules.Headers...)
	found := func(ref, cand *transcript.Transcript) string { return foundBy(&measured, ref, cand) }
	if got := found(reference.packs(), candidate.packs()); got != "" {
		t.Fatalf("found: %s", got)
	}
	mutants := map[string]int{} // by what they change
	for _, op := range mutate.Operators() {
		s := &mutate.Subject{Reference: reference.packs(), Candidate: candidate.packs(), Rules: &measured}
		for m := range op.Mutants(s, 1) {
			got := found(s.Reference, m.Build())
			switch {
			case op.Matters && got == "":
				t.Errorf("%s at %s: %s → %s lives: %s", op.Name, m.Place, m.Before, m.After, m.Explain(s))
			case !op.Matters && got != "":
				t.Errorf("%s at %s: %s → %s is a false alarm: %s", op.Name, m.Place, m.Before, m.After, got)
			}
			for _, of := range [...]string{"step 2 body /thing.json", "step 2 body /logs~1a.jsonl", "step 2 body /system.txt", "step 2 body /pixel.png", "MCP server tools"} {
				if len(m.Place) >= len(of) && m.Place[:len(of)] == of {
					mutants[of]++
				}
			}
		}
	}
	for of, least := range map[string]int{"step 2 body /thing.json": 50, "step 2 body /logs~1a.jsonl": 40, "step 2 body /system.txt": 20, "step 2 body /pixel.png": 5, "MCP server tools": 40} {
		if mutants[of] < least {
			t.Errorf("%d mutants of %s, want %d at least", mutants[of], of, least)
		}
	}
}
