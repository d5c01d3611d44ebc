package contract

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const paramsDoc = sample.Head + `paths:
  /x/{id}/{kind}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string, pattern: '^[a-z ]+$'}}
      - {name: kind, in: path, required: true, schema: {type: string, enum: [a/b, c]}}
      - {name: n, in: query, schema: {type: string}}
    get:
      parameters:
        - {name: n, in: query, schema: {type: integer, minimum: 1}}
        - {name: on, in: query, schema: {type: boolean}}
        - {name: flag, in: query, allowEmptyValue: true, schema: {type: boolean}}
        - {name: either, in: query, schema: {oneOf: [{type: integer}, {type: string, enum: [all]}]}}
        - {name: any, in: query, schema: {}}
        - {name: csv, in: query, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: pipe, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: deep, in: query, style: deepObject, explode: true, schema: {type: object, properties: {a: {type: integer}}, required: [a]}}
        - {name: spread, in: query, schema: {type: object, properties: {r: {type: integer}, g: {type: integer}}}}
        - {name: json, in: query, content: {application/json: {schema: {type: array, items: {type: integer}}}}}
        - {name: X-List, in: header, schema: {type: array, items: {type: integer}}}
        - {name: Accept, in: header, required: true, schema: {type: string}}
        - {name: sid, in: cookie, schema: {type: integer}}
        - {name: word, in: cookie, schema: {type: string, enum: [a+b]}}
      responses: {'204': {description: ok}}
`

func TestParameters(t *testing.T) {
	d := parse(t, paramsDoc)
	for _, tc := range []struct {
		target string
		header transcript.Header
		want   string
	}{
		{"/x/ab/c", nil, ""},
		{"/x/a%20b/a%2Fb", nil, ""}, // judged after decoding
		{"/x/a%2520b/c", nil, "path id parameter-value"},
		{"/x/%zz/c", nil, "path id parameter-value"},
		{"/x/a/d", nil, "path kind parameter-value"},
		{"/x/a/c?n=1", nil, ""},
		{"/x/a/c?n=0", nil, "query n parameter-value"},
		{"/x/a/c?n=", nil, "query n parameter-value"},
		{"/x/a/c?n", nil, "query n parameter-value"},
		{"/x/a/c?n=one", nil, "query n parameter-value"},
		{"/x/a/c?n=1.0", nil, "query n parameter-value"},
		{"/x/a/c?n=1%20", nil, "query n parameter-value"},
		{"/x/a/c?n=1&n=2", nil, "query n repeated-parameter"},
		{"/x/a/c?%6e=0", nil, "query n parameter-value"},
		{"/x/a/c?N=0&other=1&other=2&=&&", nil, ""}, // these are not declared
		{"/x/a/c?on=true", nil, ""},
		{"/x/a/c?on=True", nil, "query on parameter-value"},
		{"/x/a/c?flag", nil, ""},
		{"/x/a/c?flag=", nil, ""},
		{"/x/a/c?flag=1", nil, "query flag parameter-value"},
		{"/x/a/c?either=7", nil, ""},
		{"/x/a/c?either=all", nil, ""},
		{"/x/a/c?either=some", nil, "query either parameter-value"},
		{"/x/a/c?any=%00", nil, ""},
		{"/x/a/c?csv=1,2", nil, ""},
		{"/x/a/c?csv=1,b", nil, "query csv/1 parameter-value"},
		{"/x/a/c?csv=1&csv=2", nil, "query csv repeated-parameter"},
		{"/x/a/c?pipe=1|2", nil, ""},
		{"/x/a/c?pipe=1%7C2", nil, ""},
		{"/x/a/c?deep[a]=1", nil, ""},
		{"/x/a/c?deep[a]=x", nil, "query deep/a parameter-value"},
		{"/x/a/c?deep[b]=x", nil, "query deep/a parameter-value"}, // a is missing
		{"/x/a/c?r=1&g=2", nil, ""},
		{"/x/a/c?r=1&g=x", nil, "query spread/g parameter-value"},
		{"/x/a/c?json=[1,2]", nil, ""},
		{"/x/a/c?json=[1,%222%22]", nil, "query json/1 parameter-value"},
		{"/x/a/c?json=[1", nil, "query json parameter-value"},
		{"/x/a/c", sample.Header("x-list", "1, 2", "X-LIST", "3"), ""},
		{"/x/a/c", sample.Header("X-List", "1,b"), "header X-List/1 parameter-value"},
		{"/x/a/c", sample.Header("Cookie", "a=b; sid=12"), ""},
		{"/x/a/c", sample.Header("Cookie", "sid=x"), "cookie sid parameter-value"},
		{"/x/a/c?any=a+b", sample.Header("Cookie", "word=a+b"), ""},
		{"/x/a/c?any=a", sample.Header("Cookie", "word=a%20b"), "cookie word parameter-value"},
	} {
		if got := short(d.CheckRequest("GET", tc.target, tc.header, nil)); got != tc.want {
			t.Errorf("CheckRequest(%q, %v): %s, want %s", tc.target, tc.header, got, tc.want)
		}
	}
}

const bodiesDoc = sample.Head + `paths:
  /x:
    post:
      requestBody:
        required: true
        content:
          application/json: {schema: {type: object, required: [a]}}
          text/plain: {schema: {type: string, enum: [yes, no]}}
          application/octet-stream: {}
      responses:
        '200':
          description: ok
          content:
            text/plain: {schema: {type: string, enum: [ok]}}
            text/csv: {schema: {type: integer}}
            application/*: {schema: {type: object}}
            application/problem+json: {schema: {type: object, required: [title]}}
            text/event-stream: {schema: {type: string}}
        '204': {description: nothing}
        '203': {description: perhaps, x-empty: true, content: {text/plain: {schema: {type: string, enum: [ok]}}}}
        '205': {description: all, content: {text/plain: {schema: {type: string}}}}
        4XX: {description: refused}
        '404': {description: not found, content: {application/json: {}}}
        default: {description: other}
    get:
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: object}}}, headers: {Content-Type: {required: true, schema: {type: integer}}}}
        '304': {description: same, content: {application/json: {schema: {type: object}}}}
        '404': {description: not found}
        4XX: {description: refused, content: {application/json: {schema: {type: object}}}}
`

func TestRequestBodies(t *testing.T) {
	d := parse(t, bodiesDoc)
	for _, tc := range []struct{ method, contentType, body, want string }{
		{"POST", "application/json", `{"a":1}`, ""},
		{"POST", "APPLICATION/JSON;charset=x", `{"a":1}`, ""},
		{"POST", "application/json", `{}`, "body/a missing-field"},
		{"POST", "application/json", ``, "body missing-body"},
		{"POST", "application/json", `{"a":1,"a":2}`, "body/a json-duplicate-name"},
		{"POST", "application/json", "\ufeff{\"a\":1} 2", "body json-byte-order-mark\nbody json-trailing-text"},
		{"POST", "application/json", `{"a"`, "body json-syntax"},
		{"POST", "text/plain", "yes", ""},
		{"POST", "text/plain", "maybe", "body enum"},
		{"POST", "application/octet-stream", "\x00", ""},
		{"POST", "application/octet-stream", "", ""},
		{"POST", "image/png", "x", "header Content-Type undocumented-media-type"},
		{"POST", "", "x", "header Content-Type undocumented-media-type"},
		{"POST", "", "", "body missing-body"},
		{"GET", "", "", ""},
		{"GET", "text/plain", "", ""},
		{"GET", "text/plain", "x", "body undocumented-body"},
		{"PUT", "", "", "target undocumented-operation"},
	} {
		var h transcript.Header
		if tc.contentType != "" {
			h = sample.Header("content-type", tc.contentType)
		}
		vs := d.CheckRequest(tc.method, "/x", h, []byte(tc.body))
		if got := short(vs); got != tc.want {
			t.Errorf("CheckRequest(%s, %q, %q): %s, want %s", tc.method, tc.contentType, tc.body, got, tc.want)
		}
		for _, v := range vs {
			if v.Side != Request {
				t.Errorf("CheckRequest: side %q", v.Side)
			}
		}
	}
}

func TestResponses(t *testing.T) {
	d := parse(t, bodiesDoc)
	for _, tc := range []struct {
		method      string
		status      int
		contentType string
		body, want  string
	}{
		{"POST", 200, "text/plain;charset=UTF-8", "ok", ""},
		{"POST", 200, "text/plain", "OK", "body enum"},
		{"POST", 200, "text/plain", "", "body enum"}, // an empty text is a text
		{"POST", 200, "text/csv", "12", ""},          // text that reads as a number
		{"POST", 200, "text/csv", "12x", "body type"},
		{"POST", 200, "application/json", "{}", ""},
		{"POST", 200, "application/json", "[]", "body type"}, // by the range
		{"POST", 200, "application/pdf", "[]", ""},
		{"POST", 200, "application/problem+json", "{}", "body/title missing-field"},
		{"POST", 200, "image/png", "x", "header Content-Type undocumented-media-type"},
		{"POST", 200, "nonsense", "x", "header Content-Type undocumented-media-type"},
		{"POST", 200, "", "x", "header Content-Type undocumented-media-type"},
		{"POST", 200, "", "", "body missing-body"},
		{"POST", 200, "application/json", "", "body missing-body"},
		{"POST", 200, "text/event-stream", "data: anything", ""}, // not read here
		{"POST", 203, "", "", ""},
		{"POST", 203, "text/plain", "ok", ""},
		{"POST", 203, "text/plain", "", "body enum"}, // a response with a content type has content
		{"POST", 203, "text/plain", "OK", "body enum"},
		{"POST", 203, "", "ok", "header Content-Type undocumented-media-type"},
		{"POST", 204, "", "", ""},
		{"POST", 204, "text/plain", "", ""},
		{"POST", 204, "text/plain", "x", "body undocumented-body"},
		{"POST", 205, "text/plain", "", ""},
		{"POST", 404, "application/json", "nope", "body json-syntax"}, // without a schema, it must still be JSON
		{"POST", 404, "application/json", `{"a":[1]}`, ""},
		{"POST", 418, "", "", ""},
		{"POST", 418, "text/plain", "x", "body undocumented-body"},
		{"POST", 500, "", "", ""},
		{"GET", 200, "application/json", "{}", ""},
		{"GET", 409, "application/json", `{}`, ""},
		{"GET", 404, "", "", ""},
		{"GET", 404, "application/json", `{}`, "body undocumented-body"}, // the body of another refusal does not matter
		{"GET", 304, "", "", ""},
		{"GET", 304, "image/png", "", "header Content-Type undocumented-media-type"},
		{"GET", 500, "application/json", "nope", "status undocumented-status"},
		{"HEAD", 200, "application/json", "", ""},
		{"HEAD", 200, "", "", ""},
		{"HEAD", 200, "image/png", "", "header Content-Type undocumented-media-type"},
		{"HEAD", 500, "", "", "status undocumented-status"},
	} {
		var h transcript.Header
		if tc.contentType != "" {
			h = sample.Header("Content-type", tc.contentType)
		}
		tr := sample.Response(tc.method, "/x", tc.status, h, tc.body)
		tr.Steps[0].Exchanges[0].Request.Malformed = true // check only the response
		vs := d.Check(tr)
		if got := short(vs); got != tc.want {
			t.Errorf("%s %d %q %q: %s, want %s", tc.method, tc.status, tc.contentType, tc.body, got, tc.want)
		}
		for _, v := range vs {
			if v.Side != Response || v.Schema == "" || v.Line == 0 {
				t.Errorf("Check: %+v does not say where", v)
			}
		}
	}
}

func TestAnOperationWithoutResponsesAllowsAll(t *testing.T) {
	d := parse(t, "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths:\n  /x: {get: {responses: {}}}\n")
	if vs := d.Check(sample.Response("GET", "/x", 404, nil, "")); len(vs) > 0 {
		t.Errorf("Check: %s", long(vs))
	}
}

func TestAnIncompleteExchangeIsCheckedAsFarAsPossible(t *testing.T) {
	d := parse(t, bodiesDoc)
	for _, tc := range []struct {
		name   string
		change func(*transcript.Exchange)
		want   string
	}{
		{"whole", func(*transcript.Exchange) {}, "body type"},
		{"no head", func(ex *transcript.Exchange) { ex.Response = nil }, ""},
		{"cut short", func(ex *transcript.Exchange) { ex.Failure = &transcript.Failure{Kind: transcript.FailClosed} }, ""},
		{"more than was kept", func(ex *transcript.Exchange) { ex.Response.Body.Size++ }, ""},
		{"compressed", func(ex *transcript.Exchange) {
			ex.Response.Header = append(ex.Response.Header, transcript.Field{Name: "content-encoding", Value: "gzip"})
		}, ""},
		{"taken out of its coding", func(ex *transcript.Exchange) {
			ex.Response.Header = append(ex.Response.Header, transcript.Field{Name: "content-encoding", Value: "gzip"})
			ex.Response.Body.Sent = 22
		}, "body type"},
		{"cut short, with a wrong head", func(ex *transcript.Exchange) {
			ex.Failure, ex.Response.Status = &transcript.Failure{Kind: transcript.FailClosed}, 500
		}, "status undocumented-status"},
		{"a malformed request", func(ex *transcript.Exchange) { ex.Request.Malformed, ex.Request.Method = true, "PUT" }, ""},
	} {
		tr := sample.Response("GET", "/x", 200, sample.Header("Content-Type", "application/json"), "[]")
		tc.change(tr.Steps[0].Exchanges[0])
		if got := short(d.Check(tr)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

const streamDoc = `
                name: /payload/type
                comments: true
                events:
                  a.b:
                    schema: {$ref: '#/components/schemas/Message'}
                  ping:
                    contentType: text/plain
                    schema: {type: string, enum: ['']}
                  message:
                    schema: {type: object, properties: {n: {type: integer}, key: {type: string, writeOnly: true}}, required: [key]}
components:
  schemas:
    Message: {type: object, properties: {payload: {type: object, required: [type], properties: {type: {type: string}}}}}`

func TestEvents(t *testing.T) {
	d := parse(t, sample.Streaming(streamDoc))
	for _, tc := range []struct {
		event      transcript.Event
		name, want string
	}{
		{sample.Event("", `{"payload":{"type":"a.b"}}`), "a.b", ""},
		{sample.Event("other", `{"payload":{"type":"a.b"}}`), "a.b", ""}, // the document takes the name from the data
		{sample.Event("", `{"payload":{"type":"a.b","x":1}}`), "a.b", "event data/payload/x undocumented-field"},
		{sample.Event("", `{"payload":{"type":"a.c"}}`), "a.c", "event name undocumented-event"},
		{sample.Event("a.b", `{"payload":{"type":5}}`), "a.b", "event data/payload/type type"},
		{sample.Event("", `{"payload":[]}`), "message", "event data/payload undocumented-field"},
		{sample.Event("", `{"n":"x"}`), "message", "event data/n type"},
		{sample.Event("", `not JSON`), "message", "event data json-syntax"},
		{sample.Event("", `{"n":1,"n":2}`), "message", "event data/n json-duplicate-name"},
		{sample.Event("", `{"key":"k"}`), "message", "event data/key write-only"}, // an event is sent to the client, like a response
		{sample.Event("ping", ``), "ping", ""},
		{sample.Event("ping", `x`), "ping", "event data enum"},
		{transcript.Event{Comment: true, Data: "keep-alive"}, "", ""},
		{transcript.Event{ID: "7", Undispatched: true}, "message", ""},
		{transcript.Event{Type: "a.b", Undispatched: true}, "a.b", "event data event-data"},
	} {
		if got := d.EventNamer("GET /x")(&tc.event); got != tc.name {
			t.Errorf("EventNamer of %+v = %q, want %q", tc.event, got, tc.name)
		}
		vs := d.Check(sample.Stream(sample.Event("ping", ""), tc.event))
		if got := short(vs); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.event, got, tc.want)
		}
		for _, v := range vs {
			if v.Side != Event || v.Stream != "s" || v.Event != 1 || v.Step != "1" {
				t.Errorf("%+v: %+v does not say where", tc.event, v)
			}
		}
	}
	if got := d.EventNamer("")(&transcript.Event{Type: "x"}); got != "x" {
		t.Errorf("EventNamer without an operation = %q", got)
	}
}

func TestAStreamThatIsNotDescribedIsNotChecked(t *testing.T) {
	d := parse(t, bodiesDoc)
	tr := sample.Response("POST", "/x", 200, sample.Header("Content-Type", "text/event-stream"), "")
	tr.Steps[0].Exchanges[0].Request.Malformed = true
	tr.Steps[0].Exchanges[0].Stream = "s"
	tr.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: []transcript.Event{sample.Event("x", "y"), {Comment: true}}}}
	if vs := d.Check(tr); len(vs) > 0 {
		t.Errorf("Check: %s", long(vs))
	}
}

func TestAStreamThatIsNotDeclared(t *testing.T) {
	d := parse(t, bodiesDoc)
	tr := sample.Response("GET", "/x", 200, sample.Header("Content-Type", "text/event-stream"), "")
	tr.Steps[0].Exchanges[0].Stream = "s"
	tr.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: []transcript.Event{sample.Event("x", "y")}}}
	if got := short(d.Check(tr)); got != "header Content-Type undocumented-media-type" {
		t.Errorf("Check: %s", got)
	}
}

func TestViolationsComeInTheOrderOfTheTranscript(t *testing.T) {
	d := parse(t, sample.Streaming(streamDoc))
	tr := sample.Stream(sample.Event("", "x"), sample.Event("", "y"))
	tr.Steps = append(tr.Steps, transcript.Step{ID: "2", Exchanges: []*transcript.Exchange{
		tr.Steps[0].Exchanges[0],
		{Request: transcript.Request{Method: "GET", Target: "/x"}, Response: &transcript.Response{Status: 500}},
	}})
	var got []string
	for _, v := range d.Check(tr) {
		got = append(got, strings.Join([]string{v.Step, string(rune('0' + v.Exchange)), v.Stream, string(rune('0' + v.Event)), string(v.Kind)}, " "))
	}
	want := "2 1  0 undocumented-status|1 0 s 0 json-syntax|1 0 s 1 json-syntax"
	if strings.Join(got, "|") != want {
		t.Errorf("Check: %s, want %s", strings.Join(got, "|"), want)
	}
}
