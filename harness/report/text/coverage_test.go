package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/report"
)

// partly is a contract that was reached in part.
var partly = coverage.Coverage{
	Operations: []coverage.Operation{
		{Method: "GET", Path: "/a", Reached: 2, Requests: []coverage.Media{{Type: "text/csv"}}, Statuses: []coverage.Status{
			{Status: "200", Reached: 2, Media: []coverage.Media{
				{Type: "application/json", Reached: 2},
				{Type: "text/plain"},
				{Type: "text/event-stream", Stream: &coverage.Stream{Described: true, Events: []coverage.Event{{Name: "tick"}}}},
			}},
			{Status: "404", Reached: 1, Codes: []coverage.Point{{Name: "GONE", Seen: true}, {Name: "LOST"}}},
			{Status: "4XX"},
			{Status: "default"},
		}},
		{Method: "GET", Path: "/stream", Reached: 1, Statuses: []coverage.Status{
			{Status: "200", Reached: 1, Media: []coverage.Media{
				{Type: "text/event-stream", Reached: 1, Stream: &coverage.Stream{Described: true, Events: []coverage.Event{{Name: "tick", Reached: 5}, {Name: "tock"}}}},
			}},
		}},
		{Method: "GET", Path: "/other", Reached: 1, Statuses: []coverage.Status{
			{Status: "200", Reached: 1, Media: []coverage.Media{{Type: "text/event-stream", Reached: 1, Stream: &coverage.Stream{}}}},
		}},
		{Method: "DELETE", Path: "/a", Statuses: []coverage.Status{{Status: "204"}}},
	},
	Schemas: []coverage.Schema{
		{Schema: "#/components/schemas/A", Properties: []coverage.Point{{Name: "x", Line: 3, Seen: true}, {Name: "y", Line: 4}}},
		{Schema: "#/components/schemas/A/properties/x", Enum: []coverage.Point{{Name: `"\u202e"`, Line: 5}}},
		{Schema: "#/components/schemas/B", Alternatives: []coverage.Point{{Name: "#/components/schemas/A", Line: 6}}},
	},
	Uncompared: []string{"GET /a 200: header ETag"},
	Undocumented: []coverage.Undocumented{
		{
			Kind: spec.UndocumentedOperation, What: "GET /nope", Count: 3, Statuses: []coverage.StatusCount{{Status: 404, Count: 1}, {Status: 405, Count: 2}},
			Scenarios: []string{"a/b", "c"},
		},
		{
			Kind: spec.UndocumentedOperation, What: "PUT /nope/{…}", Count: 1, Statuses: []coverage.StatusCount{{Status: 204, Count: 1}},
			Scenarios: []string{"c"},
		},
		{Kind: spec.UndocumentedStatus, What: "GET /a: 500", Count: 2},
	},
}

func covered(opts Options) string {
	p := &coveragePage{&runPage{page: page{opts: opts}, doc: &report.Document{Contract: "api.yaml"}}}
	p.run.doc.Coverage = partly
	p.totals()
	return "\n" + p.run.String()
}

func TestWhatWasNotReachedIsNamed(t *testing.T) {
	const want = `
contract      operations 3/4 · statuses 4/7 · events 1/3 · streams not described 1 · undocumented 3
schema        1/2 properties · 0/1 enum values · 0/1 alternatives
not called    GET /a with text/csv, DELETE /a
not answered  GET /a 200 as text/plain 200 as text/event-stream 404 with LOST 4XX default
not sent      tock of GET /stream
not seen      A y (line 4), A/properties/x "\u202e" (line 5), B A (line 6)
undocumented  PUT /nope/{…} (204) ×1, GET /a: 500 ×2, GET /nope (404 ×1, 405 ×2) ×3
`
	if diff := cmp.Diff(want, covered(Options{})); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

func TestTheWholeTableHasWhatWasReachedToo(t *testing.T) {
	const want = `
contract      operations 3/4 · statuses 4/7 · events 1/3 · streams not described 1 · undocumented 3
schema        1/2 properties · 0/1 enum values · 0/1 alternatives
  GET /a       ×2  200 ×2, 404 ×1, 4XX never, default never
      200 application/json ×2
      200 text/plain never
      200 text/event-stream never, tick never
  GET /stream  ×1  200 ×1
      200 text/event-stream ×1, tick ×5, tock never
  GET /other   ×1  200 ×1
      200 text/event-stream ×1, events not described
  DELETE /a    never  204 never
  undocumented: PUT /nope/{…} (204) ×1 in c
  undocumented: GET /a: 500 ×2
  undocumented: GET /nope (404 ×1, 405 ×2) ×3 in a/b and others
  never: GET /a text/csv (api.yaml) [requests]
  never: GET /a 404 LOST (api.yaml) [codes]
  never: A y (api.yaml:4) [properties]
  never: A/properties/x "\u202e" (api.yaml:5) [enums]
  never: B A (api.yaml:6) [alternatives]
  not compared: GET /a 200: header ETag
`
	if diff := cmp.Diff(want, covered(Options{Verbose: true})); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

func TestMessagesHaveTheirLine(t *testing.T) {
	p := &coveragePage{&runPage{page: page{opts: Options{Verbose: true}}, doc: &report.Document{Contract: "api.yaml"}}}
	p.run.doc.Coverage.Operations = []coverage.Operation{
		{Method: "GET", Path: "/ws", Reached: 1, Statuses: []coverage.Status{{Status: "101", Reached: 1}}, Messages: &coverage.Stream{Described: true, Events: []coverage.Event{
			{Name: "received chat", Reached: 3}, {Name: "sent chat"},
		}}},
		{Path: "program", Reached: 2, Messages: &coverage.Stream{Described: true, Events: []coverage.Event{{Name: "exit", Reached: 2}, {Name: "note"}}}},
		{Method: "GET", Path: "/other", Reached: 1, Messages: &coverage.Stream{}},
	}
	const want = `
contract      operations 3/3 · statuses 1/1 · events 2/4 · streams not described 1
  GET /ws     ×1  101 ×1
      received chat ×3, sent chat never
  program     ×2  
      exit ×2, note never
  GET /other  ×1  
      messages not described
`
	p.totals()
	if diff := cmp.Diff(want, "\n"+p.run.String()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"sent chat of GET /ws", "note of program"}, report.UnreachedOf(&p.run.doc.Coverage).Events); diff != "" {
		t.Errorf("not sent (-want +got):\n%s", diff)
	}
}

func TestAContractOfHundredsOfOperationsIsALine(t *testing.T) {
	p := &coveragePage{&runPage{doc: &report.Document{Contract: "api.yaml"}}}
	for range 300 {
		p.run.doc.Coverage.Operations = append(p.run.doc.Coverage.Operations, coverage.Operation{Method: "GET", Path: "/" + strings.Repeat("x", 30)})
	}
	p.totals()
	if n := strings.Count(p.run.String(), "\n"); n != 2 {
		t.Errorf("coverage takes %d lines, want 2:\n%s", n, p.run.String())
	}
	if !strings.Contains(p.run.String(), ", and 297 more\n") {
		t.Errorf("the others are not counted:\n%s", p.run.String())
	}
}
