package contract

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// A kindCase shows one kind of violation: a transcript without it and one with it.
type kindCase struct {
	kind      Kind
	doc       string
	good, bad *transcript.Transcript
	place     string // place of the violation
	text      string // a part of its text
}

const parametersDoc = sample.Head + `paths:
  /x/{id}:
    post:
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: limit, in: query, schema: {type: integer, maximum: 10}}
        - {name: tag, in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Token, in: header, required: true, schema: {type: string}}
      responses:
        '204': {description: ok}
`

const headersDoc = sample.Head + `paths:
  /x:
    get:
      responses:
        '200':
          description: ok
          headers:
            Cache-Control: {required: true, schema: {type: string, enum: [no-cache]}}
        4XX: {description: refused}
`

const mediaDoc = sample.Head + `paths:
  /x:
    get:
      responses:
        '200':
          description: ok
          content:
            application/json: {schema: {type: object}}
        '202': {description: later}
`

const eventsDoc = `
                name: event
                events:
                  tick:
                    schema: {type: object, required: [n], properties: {n: {type: integer}}}
                  ping:
                    contentType: text/plain
                    schema: {type: string, enum: ['']}`

var token = sample.Header("X-Token", "t")

var kindCases = []kindCase{
	{spec.UndocumentedOperation, headersDoc, sample.Request("OPTIONS", "/x", nil, ""), sample.Request("DELETE", "/x", nil, ""),
		"target", `no operation for "DELETE" "/x"`},
	{spec.MissingParameter, parametersDoc, sample.Request("POST", "/x/1", token, ""), sample.Request("POST", "/x/1", nil, ""),
		"header X-Token", `"X-Token" is required`},
	{spec.RepeatedParameter, parametersDoc, sample.Request("POST", "/x/1?tag=a&tag=b", token, ""), sample.Request("POST", "/x/1?limit=1&limit=2", token, ""),
		"query limit", "is sent 2 times"},
	{spec.ParameterValue, parametersDoc, sample.Request("POST", "/x/1?limit=10", token, ""), sample.Request("POST", "/x/1?limit=11", token, ""),
		"query limit", "11 is not at most 10"},
	{spec.UndocumentedStatus, headersDoc, sample.Response("GET", "/x", 404, nil, ""), sample.Response("GET", "/x", 500, nil, ""),
		"status", "the status is 500; GET /x declares 200, 4XX"},
	{spec.MissingHeader, headersDoc, sample.Response("GET", "/x", 200, sample.Header("cache-control", "no-cache"), ""), sample.Response("GET", "/x", 200, nil, ""),
		"header Cache-Control", "is required and missing"},
	{spec.HeaderValue, headersDoc, sample.Response("GET", "/x", 200, sample.Header("Cache-Control", "no-cache"), ""),
		sample.Response("GET", "/x", 200, sample.Header("Cache-Control", "no-cache", "Cache-Control", "no-cache"), ""),
		"header Cache-Control", `"no-cache, no-cache" is not among the allowed values: "no-cache"`},
	{spec.UndocumentedMediaType, mediaDoc, sample.Response("GET", "/x", 200, sample.Header("Content-Type", "Application/JSON; charset=utf-8"), "{}"),
		sample.Response("GET", "/x", 200, sample.Header("Content-Type", "text/html"), "{}"),
		"header Content-Type", `the content type is "text/html"; GET /x declares application/json for 200`},
	{spec.MissingBody, mediaDoc, sample.CutShort(sample.Response("GET", "/x", 200, nil, "")), sample.Response("GET", "/x", 200, nil, ""),
		"body", "the response has no body; GET /x declares application/json for 200"},
	{spec.UndocumentedBody, mediaDoc, sample.Response("GET", "/x", 202, nil, ""), sample.Response("GET", "/x", 202, nil, "{}"),
		"body", "the response has a body; GET /x declares none for 202"},
	{schema.JSONSyntax, mediaDoc, sample.JSONResponse(`{}`), sample.JSONResponse(`<html>`), "body", "the content is not JSON: offset 0"},
	{schema.JSONByteOrderMark, mediaDoc, sample.JSONResponse(`{}`), sample.JSONResponse("\ufeff{}"), "body", "byte order mark"},
	{schema.JSONInvalidUTF8, mediaDoc, sample.JSONResponse(`{"a":"é"}`), sample.JSONResponse("{\"a\":\"\xe9\"}"), "body/a", "not UTF-8"},
	{schema.JSONDuplicateName, mediaDoc, sample.JSONResponse(`{"a":1,"A":1}`), sample.JSONResponse(`{"a":1,"a":1}`), "body/a", "twice"},
	{schema.JSONTrailingText, mediaDoc, sample.JSONResponse("{}\n"), sample.JSONResponse("{}\n{}"), "body", "text follows"},
	{schema.WrongType, sample.Returning(`{type: array, items: {type: string}}`), sample.JSONResponse(`["1"]`), sample.JSONResponse(`[1]`),
		"body/0", "the number 1 stands here; a string is wanted"},
	{schema.NotInEnum, sample.Returning(`{type: string, enum: [a, b]}`), sample.JSONResponse(`"a"`), sample.JSONResponse(`"c"`),
		"body", `"c" is not among the allowed values: "a", "b"`},
	{schema.PatternMismatch, sample.Returning(`{type: string, pattern: '^a+$'}`), sample.JSONResponse(`"aa"`), sample.JSONResponse(`"ab"`),
		"body", `"ab" does not match the pattern ^a+$`},
	{schema.FormatMismatch, sample.Returning(`{type: string, format: date}`), sample.JSONResponse(`"2024-02-29"`), sample.JSONResponse(`"2023-02-29"`),
		"body", `"2023-02-29" is not a date`},
	{schema.WrongLength, sample.Returning(`{type: string, minLength: 2, maxLength: 3}`), sample.JSONResponse(`"äöü"`), sample.JSONResponse(`"ä"`),
		"body", "has 1 characters; at least 2"},
	{schema.OutOfRange, sample.Returning(`{type: number, minimum: 0, maximum: 1, exclusiveMaximum: true}`), sample.JSONResponse(`0`), sample.JSONResponse(`1.0`),
		"body", "1.0 is not less than 1"},
	{schema.NotMultiple, sample.Returning(`{type: number, multipleOf: 0.01}`), sample.JSONResponse(`19.99`), sample.JSONResponse(`19.999`),
		"body", "19.999 is not a multiple of 0.01"},
	{schema.WrongItemCount, sample.Returning(`{type: array, items: {}, minItems: 1}`), sample.JSONResponse(`[1]`), sample.JSONResponse(`[]`),
		"body", "has 0 elements; at least 1"},
	{schema.RepeatedItem, sample.Returning(`{type: array, items: {}, uniqueItems: true}`), sample.JSONResponse(`[1,"1",[1]]`), sample.JSONResponse(`[1,2,1.0]`),
		"body", "the elements 0 and 2 are equal"},
	{schema.WrongFieldCount, sample.Returning(`{type: object, maxProperties: 1}`), sample.JSONResponse(`{"a":1}`), sample.JSONResponse(`{"a":1,"b":2}`),
		"body", "has 2 fields; at most 1"},
	{schema.WrongFieldName, sample.Returning(`{type: object, propertyNames: {pattern: ^a}}`), sample.JSONResponse(`{"ab":1}`), sample.JSONResponse(`{"b":1}`),
		"body/b", `"b": the name does not match`},
	{schema.MissingField, sample.Returning(`{type: object, required: [a], properties: {a: {}}}`), sample.JSONResponse(`{"a":null}`), sample.JSONResponse(`{}`),
		"body/a", `"a" is missing`},
	{schema.ForbiddenField, sample.Returning(`{type: object, properties: {name: {}}, additionalProperties: false}`), sample.JSONResponse(`{"name":1}`),
		sample.JSONResponse(`{"nmae":1}`), "body/nmae", `did it mean "name"?`},
	{schema.UndocumentedField, sample.Returning(`{type: object, properties: {clientID: {}}}`), sample.JSONResponse(`{"clientID":1}`),
		sample.JSONResponse(`{"clientId":1}`), "body/clientId", `no schema names the field "clientId"; did it mean "clientID"?`},
	{schema.ReadOnlyField, sample.Taking(`{type: object, required: [id], properties: {id: {type: string, readOnly: true}}}`), sample.JSONRequest(`{}`),
		sample.JSONRequest(`{"id":"1"}`), "body/id", "belongs to responses"},
	{schema.WriteOnlyField, sample.Returning(`{type: object, required: [key], properties: {key: {type: string, writeOnly: true}}}`), sample.JSONResponse(`{}`),
		sample.JSONResponse(`{"key":"1"}`), "body/key", "belongs to requests"},
	{schema.UnknownAlternative, sample.Returning(`{oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind}}`,
		"    Cat: {type: object, properties: {kind: {type: string}}}\n    Dog: {type: object, properties: {kind: {type: string}}}"),
		sample.JSONResponse(`{"kind":"Cat"}`), sample.JSONResponse(`{"kind":"Cow"}`),
		"body/kind", `"Cow" names none of the alternatives "Cat", "Dog"`},
	{schema.SeveralAlternatives, sample.Returning(`{oneOf: [{type: integer}, {type: number}]}`), sample.JSONResponse(`1.5`), sample.JSONResponse(`1`),
		"body", "1 matches 2 alternatives"},
	{schema.ForbiddenMatch, sample.Returning(`{not: {type: string}}`), sample.JSONResponse(`1`), sample.JSONResponse(`"a"`),
		"body", `"a" matches the schema #/paths/~1x/get/responses/200/content/application~1json/schema/not`},
	{spec.UndocumentedEvent, sample.Streaming(eventsDoc), sample.Stream(sample.Event("tick", `{"n":1}`)), sample.Stream(sample.Event("tock", `{"n":1}`)),
		"event name", `the event "tock" is not among "tick", "ping"; did it mean "tick"?`},
	{spec.UndocumentedComment, sample.Streaming(eventsDoc), sample.Stream(), sample.Stream(transcript.Event{Comment: true, Data: "keep-alive"}),
		"event", `the comment "keep-alive" stands here`},
	{spec.EventData, sample.Streaming(eventsDoc), sample.Stream(sample.Event("ping", "")), sample.Stream(transcript.Event{Type: "ping", Undispatched: true}),
		"event data", `the event "ping" has no data field`},
	{spec.TextInvalidUTF8, sample.Messaging(`
        received: {text: {contentType: text/plain, schema: {type: string}}}`),
		sample.Socket(sample.Received(transcript.ItemText, "é")), sample.Socket(sample.Received(transcript.ItemText, "\xe9")),
		"event data", `the text message "text" contains bytes that are not UTF-8`},
	{schema.MoreViolations, sample.Returning(`{type: array, items: {type: string}}`), sample.JSONResponse(`[]`), sample.JSONResponse("[" + strings.Repeat("1,", 99) + "1]"),
		"body", "more violations than"},
}

func TestEachKindOfViolationCanBeAbsentAndPresent(t *testing.T) {
	for _, tc := range kindCases {
		t.Run(string(tc.kind), func(t *testing.T) {
			if vs := parse(t, tc.doc).Check(tc.good); len(vs) > 0 {
				t.Errorf("Check of a good exchange: %s", long(vs))
			}
			vs := parse(t, tc.doc).Check(tc.bad)
			i := slices.IndexFunc(vs, func(v Violation) bool { return v.Kind == tc.kind })
			if i < 0 {
				t.Fatalf("Check: no violation of the kind; got %s", long(vs))
			}
			v := vs[i]
			if v.Place != tc.place || !strings.Contains(v.Text, tc.text) {
				t.Errorf("Check: %q: %q, want %q and %q in it", v.Place, v.Text, tc.place, tc.text)
			}
			if len(vs) > 1 && tc.kind != schema.MoreViolations {
				t.Errorf("Check: more than one violation: %s", long(vs))
			}
			if v.Line == 0 || v.Schema == "" || v.Step != "1" {
				t.Errorf("Check: %+v: a violation says where it is, and where in the document", v)
			}
		})
	}
}

func TestEveryKindHasACaseAndADescription(t *testing.T) {
	var declared, shown, described []string
	for _, file := range []string{"spec/kind.go", "schema/kind.go"} {
		source := testfile.Read(t, file)
		for _, m := range regexp.MustCompile(`(?m)^\t\w+ +(?:schema\.)?Kind = "([^"]+)"$`).FindAllSubmatch(source, -1) {
			declared = append(declared, string(m[1]))
		}
	}
	for _, tc := range kindCases {
		shown = append(shown, string(tc.kind))
	}
	for _, k := range Kinds() {
		described = append(described, string(k.Kind))
	}
	if diff := cmp.Diff(described, shown); diff != "" {
		t.Errorf("kinds without a case, or in another order (-described +shown):\n%s", diff)
	}
	slices.Sort(declared)
	slices.Sort(described)
	if diff := cmp.Diff(declared, described); diff != "" {
		t.Errorf("kinds without a description (-declared +described):\n%s", diff)
	}
}
