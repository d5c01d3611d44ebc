package contract

import (
	"slices"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// sharedDoc uses references everywhere.
const sharedDoc = sample.Head + `servers: [{url: api}, {url: 'https://example.com'}]
paths:
  /x:
    parameters:
      - $ref: '#/components/parameters/N'
      - {name: m, in: query, schema: {type: integer}}
    post:
      operationId: make
      servers: [{url: /v2/}]
      parameters: [{name: m, in: query, schema: {type: string}}]
      requestBody: {$ref: '#/components/requestBodies/Thing'}
      responses:
        '200': {$ref: '#/components/responses/Thing'}
    get:
      responses:
        '200': {$ref: '#/components/responses/Things'}
components:
  parameters:
    N: {name: 'n', in: query, required: true, schema: {$ref: '#/components/schemas/Count'}}
  requestBodies:
    Thing: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
  headers:
    Count: {required: true, schema: {$ref: '#/components/schemas/Count'}}
  responses:
    Thing:
      description: a thing
      headers: {X-Count: {$ref: '#/components/headers/Count'}}
      content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}
    Things:
      description: things, as they come
      content:
        text/event-stream:
          x-events:
            events:
              thing:
                schema: {type: object, properties: {thing: {$ref: '#/components/schemas/Thing'}}}
              other:
                schema: {$ref: '#/components/schemas/Thing'}
  schemas:
    Count: {type: integer}
    Thing: {type: object, properties: {count: {$ref: '#/components/schemas/Count'}}}
`

func TestReferencesAreFollowed(t *testing.T) {
	d := parse(t, sharedDoc)
	h := sample.Header("Content-Type", "application/json")
	for _, tc := range []struct {
		vs           []Violation
		want, schema string
	}{
		{d.CheckRequest("POST", "/v2/x?n=1&m=one", h, []byte(`{"count":1}`)), "", ""},
		{d.CheckRequest("POST", "/v2/x?m=1", h, nil), "query n missing-parameter\nbody missing-body", "#/components/parameters/N"},
		{d.CheckRequest("POST", "/v2/x?n=one", h, []byte(`{}`)), "query n parameter-value", "#/components/schemas/Count"},
		{d.CheckRequest("POST", "/v2/x?n=1", h, []byte(`{"count":"1"}`)), "body/count type", "#/components/schemas/Count"},
		{d.CheckRequest("POST", "/x?n=1", h, nil), "target undocumented-operation", "#/paths"},
		{d.CheckRequest("GET", "/x?n=1&m=1", nil, nil), "", ""},
		{d.CheckRequest("GET", "/api/x?n=1&m=one", nil, nil), "query m parameter-value", "#/paths/~1x/parameters/1/schema"},
		{d.Check(sample.Response("POST", "/v2/x?n=1", 200, h, `{"count":1}`)), "header X-Count missing-header", "#/components/headers/Count"},
		{d.Check(sample.Stream(sample.Event("thing", `{"thing":{"count":"1"}}`)))[1:], "event data/thing/count type", "#/components/schemas/Count"},
		{d.Check(sample.Stream(sample.Event("other", `{"count":"1"}`)))[1:], "event data/count type", "#/components/schemas/Count"},
	} {
		if got := short(tc.vs); got != tc.want || len(tc.vs) > 0 && (tc.vs[0].Schema != tc.schema || tc.vs[0].Line == 0) {
			t.Errorf("%s(want %s at %s)", long(tc.vs), tc.want, tc.schema)
		}
	}
}

func TestNamedFindsWhatOperationReturns(t *testing.T) {
	d, _ := ours(t)
	op, ok := d.Operation("HEAD", "/client-tools/tools/a%2Fb?directory=x")
	if !ok || op.String() != "GET /client-tools/tools/{clientID}" || op.ID != "listClientTools" {
		t.Fatalf("Operation: %v, %t", op, ok)
	}
	if named, ok := d.Named(op.String()); !ok || named != op {
		t.Errorf("Named(%q): %v, %t", op, named, ok)
	}
	if named, ok := d.Named("GET /nope"); ok || named != nil {
		t.Errorf("Named of nothing: %v, %t", named, ok)
	}
}

func TestEventNamesOfOurDocument(t *testing.T) {
	d, _ := ours(t)
	for _, tc := range []struct{ operation, event, data, want string }{
		{"GET /event", "", `{"type":"server.connected","properties":{}}`, "server.connected"},
		{"GET /global/event", "", `{"directory":"/","payload":{"type":"client-tool.failed"}}`, "client-tool.failed"},
		{"GET /client-tools/pending/{clientID}", "tool-request", `{"type":"x"}`, "tool-request"},
		{"GET /status", "", `{"type":"x"}`, "message"},
	} {
		_, ok := d.Named(tc.operation)
		if got := d.EventNamer(tc.operation)(&transcript.Event{Type: tc.event, Data: tc.data}); !ok || got != tc.want {
			t.Errorf("EventNamer(%s)(%s) = %q, want %q", tc.operation, tc.data, got, tc.want)
		}
	}
}

func TestEventsOfAnOperation(t *testing.T) {
	const events = `
                events:
                  tock: {schema: {}}
                  tick: {schema: {}}`
	for _, tc := range []struct {
		name, doc string
		want      []string // nil means that the document does not say
	}{
		{"in the order of the document", sample.Streaming(events), []string{"tock", "tick"}},
		{"a stream beside another", sample.Streaming(events + `
        '202':
          description: ok
          content: {text/event-stream: {schema: {type: string}, x-events: {events: {boom: {schema: {}}}}}}`), []string{"tock", "tick", "boom"}},
		{"a stream beside one that is not described", sample.Streaming(events + `
        '202':
          description: ok
          content: {text/event-stream: {schema: {type: string}}}`), nil},
		{"no stream", sample.Returning(`{type: string}`), nil},
	} {
		d, err := Parse([]byte(tc.doc), nil)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if streams := d.Operations()[0].Streams(); streams != (tc.name != "no stream") {
			t.Errorf("%s: Streams: %t", tc.name, streams)
		}
		names, ok := d.Operations()[0].Events()
		if !slices.Equal(names, tc.want) || ok != (tc.want != nil) {
			t.Errorf("%s: Events: %q %t, want %q", tc.name, names, ok, tc.want)
		}
	}
}
