package engine_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const ticketsContract = `openapi: 3.0.3
info: {title: tickets, version: "1"}
paths:
  /health: {get: {responses: {"200": {description: ok}}}}
  /tickets:
    post:
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, additionalProperties: true}}}}}
    get: {responses: {"200": {description: ok, content: {text/event-stream: {schema: {type: string}, x-events: {events: {made: {schema: {type: object, additionalProperties: true}}}}}}}}}
  /tickets/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string, pattern: '^t-[0-9]+$'}}]
      responses: {"200": {description: ok, content: {text/plain: {schema: {type: string}}}}}
  /uses:
    post:
      parameters: [{name: by, in: query, schema: {type: string, maxLength: 3}}, {name: X-Key, in: header, schema: {type: string, enum: [k-1]}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {of: {type: object, properties: {"a/b": {type: string, pattern: '^t-'}}}}}}}}
      responses: {"200": {description: ok, content: {text/plain: {schema: {type: string}}}}}
`

// tickets is a server whose tickets have that id.
func tickets(t *testing.T, id string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "POST" && r.URL.Path == "/tickets":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Made", id)
			fmt.Fprintf(w, `{"id": %q, "of": {"a/b": %[1]q}, "count": 7}`, id)
		case r.URL.Path == "/tickets":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: made\ndata: {\"id\": %q}\n\n", id)
		default:
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "fine")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// judgedTickets compares a server that issues wrong ticket ids with one that issues right ones. It returns the
// findings, and what could not be judged.
func judgedTickets(t *testing.T, steps string, wrong string) (found, unjudged []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"openapi.yaml":        ticketsContract,
		"scenarios/made.yaml": "scenario: made\nwhy: It is made\nsource: here\n" + steps,
		"lockstep.yaml": fmt.Sprintf("contract: openapi.yaml\nscenarios: scenarios\nreference: right\ntargets:\n  right: {url: %q, ready: {get: /health}}\n  wrong: {url: %q, ready: {get: /health}}\n"+
			"compare: {volatile: [{at: $..id, kind: text, because: it is made up}, {at: \"$..['a/b']\", kind: text, because: it is made up}]}\n", tickets(t, "t-1"), tickets(t, wrong)),
	} {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	p := fauxproject.Load(t, filepath.Join(dir, "lockstep.yaml"))
	file, result := fauxproject.Record(t, p, engine.Options{})
	isJudgedAgain(t, p, file, result)
	for _, c := range result.Scenarios {
		for _, f := range c.Findings {
			if f.Class == verdict.Violation {
				found = append(found, f.String())
			}
		}
		for _, r := range c.Reasons {
			unjudged = append(unjudged, r.Text)
		}
	}
	return found, unjudged
}

// A request that breaks the contract because of a value from the server is sent, and the server is blamed. One that
// breaks it because of the scenario is not sent.
func TestACapturedValueThatBreaksTheContractIsAViolationOfItsServer(t *testing.T) {
	for _, tc := range []struct {
		name, steps string
		found       []string
		unjudged    string
	}{
		{"in a path", "  - {http: POST /tickets, json: {}, capture: {id: $.id}}\n  - {http: 'GET /tickets/${{ id }}'}\n  - {http: 'GET /tickets/${{ id }}'}\n",
			[]string{`step 1: body/id: wrong breaks the contract: "7!" does not match the pattern ^t-[0-9]+$; GET /tickets/{id} sends it again, as path id`}, ""},
		{"in a query and a header, of a header", "  - {http: POST /tickets, json: {}, capture: {id: {header: X-Made}}}\n  - {http: POST /uses, query: {by: '${{ id }}'}, headers: {X-Key: k-1}, json: {of: {}}}\n",
			[]string{`step 1: header X-Made: wrong breaks the contract: "7!777" has 5 characters; at most 3 are wanted; POST /uses sends it again, as query by`}, ""},
		{"within what is captured", "  - {http: POST /tickets, json: {}, capture: {of: $.of}}\n  - {http: POST /uses, json: {of: '${{ of }}'}}\n",
			[]string{`step 1: body/of/a~1b: wrong breaks the contract: "7!" does not match the pattern ^t-; POST /uses sends it again, as body/of/a~1b`}, ""},
		{"of an event", "  - {open: made, sse: GET /tickets}\n  - {await: made, match: {event: made}, within: 5s, capture: {id: $.id}}\n  - {http: 'GET /tickets/${{ id }}'}\n",
			[]string{`step 1, stream made: event 1 data/id: wrong breaks the contract: "7!" does not match the pattern ^t-[0-9]+$; GET /tickets/{id} sends it again, as path id`}, ""},
		{"put together by the scenario", "  - {http: POST /tickets, json: {}, capture: {id: $.id}}\n  - {http: 'GET /tickets/x${{ id }}'}\n", nil, `the request breaks the contract: path id: "x7!" does not match the pattern ^t-[0-9]+$`},
		{"of another type", "  - {http: POST /tickets, json: {}, capture: {n: $.count}}\n  - {http: POST /uses, json: {of: {a/b: '${{ n }}'}}}\n", nil, "the request breaks the contract: body/of/a~1b: the number 7 stands here"},
		{"made by the client", "  - {http: POST /tickets, json: {of: 7!}, capture: {id: $.id}}\n  - {http: 'GET /tickets/${{ id }}'}\n", nil, "the request breaks the contract: path id"},
		{"beside a mistake", "  - {http: POST /tickets, json: {}, capture: {id: $.id, n: $.count}}\n  - {http: POST /uses, query: {by: '${{ id }}'}, json: {of: '${{ n }}'}}\n", nil, "the request breaks the contract"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wrong := "7!"
			if strings.Contains(tc.steps, "by:") {
				wrong = "7!777"
			}
			found, unjudged := judgedTickets(t, "steps:\n"+tc.steps, wrong)
			if diff := cmp.Diff(tc.found, found); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
			if tc.unjudged == "" && len(unjudged) > 0 || tc.unjudged != "" && !strings.Contains(strings.Join(unjudged, "\n"), tc.unjudged) {
				t.Errorf("unjudged: %q, want %q", unjudged, tc.unjudged)
			}
		})
	}
}
