package contract

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A kindCase shows one kind of violation: a transcript without it and one with it.
type kindCase struct {
	kind      Kind
	doc       string
	good, bad *transcript.Transcript
	place     string // of the violation
	text      string // a part of what it says
}

func withFailure(t *transcript.Transcript) *transcript.Transcript {
	t.Steps[0].Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseBody}
	return t
}

const parametersDoc = head + `paths:
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

const headersDoc = head + `paths:
  /x:
    get:
      responses:
        '200':
          description: ok
          headers:
            Cache-Control: {required: true, schema: {type: string, enum: [no-cache]}}
        4XX: {description: refused}
`

const mediaDoc = head + `paths:
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

var token = header("X-Token", "t")

var kindCases = []kindCase{
	{UndocumentedOperation, headersDoc, asked("OPTIONS", "/x", nil, ""), asked("DELETE", "/x", nil, ""),
		"target", `no operation for "DELETE" "/x"`},
	{MissingParameter, parametersDoc, asked("POST", "/x/1", token, ""), asked("POST", "/x/1", nil, ""),
		"header X-Token", `"X-Token" is required`},
	{RepeatedParameter, parametersDoc, asked("POST", "/x/1?tag=a&tag=b", token, ""), asked("POST", "/x/1?limit=1&limit=2", token, ""),
		"query limit", "is sent 2 times"},
	{ParameterValue, parametersDoc, asked("POST", "/x/1?limit=10", token, ""), asked("POST", "/x/1?limit=11", token, ""),
		"query limit", "11 is not at most 10"},
	{UndocumentedStatus, headersDoc, answer("GET", "/x", 404, nil, ""), answer("GET", "/x", 500, nil, ""),
		"status", "the status is 500; GET /x declares 200, 4XX"},
	{MissingHeader, headersDoc, answer("GET", "/x", 200, header("cache-control", "no-cache"), ""), answer("GET", "/x", 200, nil, ""),
		"header Cache-Control", "is required and missing"},
	{HeaderValue, headersDoc, answer("GET", "/x", 200, header("Cache-Control", "no-cache"), ""),
		answer("GET", "/x", 200, header("Cache-Control", "no-cache", "Cache-Control", "no-cache"), ""),
		"header Cache-Control", `"no-cache, no-cache" is not among the allowed values: "no-cache"`},
	{UndocumentedMediaType, mediaDoc, answer("GET", "/x", 200, header("Content-Type", "Application/JSON; charset=utf-8"), "{}"),
		answer("GET", "/x", 200, header("Content-Type", "text/html"), "{}"),
		"header Content-Type", `the content type is "text/html"; GET /x declares application/json for 200`},
	{MissingBody, mediaDoc, withFailure(answer("GET", "/x", 200, nil, "")), answer("GET", "/x", 200, nil, ""),
		"body", "the response has no body; GET /x declares application/json for 200"},
	{UndocumentedBody, mediaDoc, answer("GET", "/x", 202, nil, ""), answer("GET", "/x", 202, nil, "{}"),
		"body", "the response has a body; GET /x declares none for 202"},
	{schema.JSONSyntax, mediaDoc, answerJSON(`{}`), answerJSON(`<html>`), "body", "the content is not JSON: offset 0"},
	{schema.JSONByteOrderMark, mediaDoc, answerJSON(`{}`), answerJSON("\ufeff{}"), "body", "byte order mark"},
	{schema.JSONInvalidUTF8, mediaDoc, answerJSON(`{"a":"é"}`), answerJSON("{\"a\":\"\xe9\"}"), "body/a", "not UTF-8"},
	{schema.JSONDuplicateName, mediaDoc, answerJSON(`{"a":1,"A":1}`), answerJSON(`{"a":1,"a":1}`), "body/a", "twice"},
	{schema.JSONTrailingText, mediaDoc, answerJSON("{}\n"), answerJSON("{}\n{}"), "body", "text follows"},
	{schema.WrongType, returning(`{type: array, items: {type: string}}`), answerJSON(`["1"]`), answerJSON(`[1]`),
		"body/0", "the number 1 stands here; a string is wanted"},
	{schema.NotInEnum, returning(`{type: string, enum: [a, b]}`), answerJSON(`"a"`), answerJSON(`"c"`),
		"body", `"c" is not among the allowed values: "a", "b"`},
	{schema.PatternMismatch, returning(`{type: string, pattern: '^a+$'}`), answerJSON(`"aa"`), answerJSON(`"ab"`),
		"body", `"ab" does not match the pattern ^a+$`},
	{schema.FormatMismatch, returning(`{type: string, format: date}`), answerJSON(`"2024-02-29"`), answerJSON(`"2023-02-29"`),
		"body", `"2023-02-29" is not a date`},
	{schema.WrongLength, returning(`{type: string, minLength: 2, maxLength: 3}`), answerJSON(`"äöü"`), answerJSON(`"ä"`),
		"body", "has 1 characters; at least 2"},
	{schema.OutOfRange, returning(`{type: number, minimum: 0, maximum: 1, exclusiveMaximum: true}`), answerJSON(`0`), answerJSON(`1.0`),
		"body", "1.0 is not less than 1"},
	{schema.NotMultiple, returning(`{type: number, multipleOf: 0.01}`), answerJSON(`19.99`), answerJSON(`19.999`),
		"body", "19.999 is not a multiple of 0.01"},
	{schema.WrongItemCount, returning(`{type: array, items: {}, minItems: 1}`), answerJSON(`[1]`), answerJSON(`[]`),
		"body", "has 0 elements; at least 1"},
	{schema.RepeatedItem, returning(`{type: array, items: {}, uniqueItems: true}`), answerJSON(`[1,"1",[1]]`), answerJSON(`[1,2,1.0]`),
		"body", "the elements 0 and 2 are equal"},
	{schema.WrongFieldCount, returning(`{type: object, maxProperties: 1}`), answerJSON(`{"a":1}`), answerJSON(`{"a":1,"b":2}`),
		"body", "has 2 fields; at most 1"},
	{schema.MissingField, returning(`{type: object, required: [a], properties: {a: {}}}`), answerJSON(`{"a":null}`), answerJSON(`{}`),
		"body/a", `"a" is missing`},
	{schema.ForbiddenField, returning(`{type: object, properties: {name: {}}, additionalProperties: false}`), answerJSON(`{"name":1}`),
		answerJSON(`{"nmae":1}`), "body/nmae", `did it mean "name"?`},
	{schema.UndocumentedField, returning(`{type: object, properties: {clientID: {}}}`), answerJSON(`{"clientID":1}`),
		answerJSON(`{"clientId":1}`), "body/clientId", `no schema names the field "clientId"; did it mean "clientID"?`},
	{schema.ReadOnlyField, taking(`{type: object, required: [id], properties: {id: {type: string, readOnly: true}}}`), askedJSON(`{}`),
		askedJSON(`{"id":"1"}`), "body/id", "belongs to responses"},
	{schema.WriteOnlyField, returning(`{type: object, required: [key], properties: {key: {type: string, writeOnly: true}}}`), answerJSON(`{}`),
		answerJSON(`{"key":"1"}`), "body/key", "belongs to requests"},
	{schema.UnknownAlternative, returning(`{oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind}}`,
		"    Cat: {type: object, properties: {kind: {type: string}}}\n    Dog: {type: object, properties: {kind: {type: string}}}"),
		answerJSON(`{"kind":"Cat"}`), answerJSON(`{"kind":"Cow"}`),
		"body/kind", `"Cow" names none of the alternatives "Cat", "Dog"`},
	{schema.SeveralAlternatives, returning(`{oneOf: [{type: integer}, {type: number}]}`), answerJSON(`1.5`), answerJSON(`1`),
		"body", "1 matches 2 alternatives"},
	{schema.ForbiddenMatch, returning(`{not: {type: string}}`), answerJSON(`1`), answerJSON(`"a"`),
		"body", `"a" matches the schema #/paths/~1x/get/responses/200/content/application~1json/schema/not`},
	{UndocumentedEvent, streaming(eventsDoc), streamed(data("tick", `{"n":1}`)), streamed(data("tock", `{"n":1}`)),
		"event name", `the event "tock" is not among "tick", "ping"; did it mean "tick"?`},
	{UndocumentedComment, streaming(eventsDoc), streamed(), streamed(transcript.Event{Comment: true, Data: "keep-alive"}),
		"event", `the comment "keep-alive" stands here`},
	{EventData, streaming(eventsDoc), streamed(data("ping", "")), streamed(transcript.Event{Type: "ping", Undispatched: true}),
		"event data", `the event "ping" has no data field`},
	{schema.MoreViolations, returning(`{type: array, items: {type: string}}`), answerJSON(`[]`), answerJSON("[" + strings.Repeat("1,", 99) + "1]"),
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
	for _, file := range []string{"violation.go", "schema/kind.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Kind = "([^"]+)"$`).FindAllSubmatch(source, -1) {
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
