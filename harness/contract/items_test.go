package contract

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// streamOf returns a document of OpenAPI 3.2 with a stream at /x whose itemSchema is given in one line.
func streamOf(itemSchema string) string {
	doc := strings.Replace(sample.Returning("{}"), "3.0.3", "3.2.0", 1)
	return strings.Replace(doc, "application/json:", "text/event-stream:", 1) + "\n              itemSchema: " + itemSchema + "\n"
}

func TestItemSchemaDescribesEvents(t *testing.T) {
	const named = `{type: object, properties: {data: {type: string}}, oneOf: [
		{properties: {event: {const: tick}, data: {contentMediaType: application/json, contentSchema: {type: object, required: [n], properties: {n: {type: integer}}}}}},
		{properties: {event: {enum: [ping, pong]}, data: {const: ''}}},
		{properties: {event: {const: free}, data: {contentMediaType: application/json}}}]}`
	const unnamed = `{properties: {data: {contentSchema: {type: integer}}}}`
	const twice = `{anyOf: [{properties: {event: {const: a}, data: {contentSchema: {type: integer}}}}, {properties: {event: {const: a}, data: {contentSchema: {type: boolean}}}}]}`
	for _, tc := range []struct {
		name, items string
		event       transcript.Event
		want        string // the kind of the violation, or ""
	}{
		{"JSON", named, sample.Event("tick", `{"n":1}`), ""},
		{"JSON that does not match", named, sample.Event("tick", `{"n":"1"}`), "type"},
		{"an undocumented field", named, sample.Event("tick", `{"n":1,"m":2}`), "undocumented-field"},
		{"not JSON", named, sample.Event("tick", `n`), "json-syntax"},
		{"another name", named, sample.Event("tock", `{"n":1}`), "undocumented-event"},
		{"the second name of an enum", named, sample.Event("pong", ""), ""},
		{"text that does not match", named, sample.Event("ping", "x"), "enum"},
		{"any JSON", named, sample.Event("free", "[1]"), ""},
		{"a comment", named, transcript.Event{Comment: true, Data: "hello"}, ""},
		{"without a name", unnamed, sample.Event("", "1"), ""},
		{"without a name, not matching", unnamed, sample.Event("", "true"), "type"},
		{"the first of two", twice, sample.Event("a", "1"), ""},
		{"the second of two", twice, sample.Event("a", "true"), ""},
		{"neither of two", twice, sample.Event("a", `"x"`), "type"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := parse(t, streamOf(tc.items))
			if notes := d.Notes(); len(notes) > 0 {
				t.Errorf("Notes: %v", notes)
			}
			var kinds []string
			for _, v := range d.Check(sample.Stream(tc.event)) {
				kinds = append(kinds, string(v.Kind))
			}
			if got := strings.Join(kinds, " "); got != tc.want {
				t.Errorf("violations %q, want %q", got, tc.want)
			}
		})
	}
}

func TestItemSchemasThatAreNotChecked(t *testing.T) {
	for _, tc := range []struct{ doc, want string }{
		{streamOf("{type: object, properties: {n: {}}}"), "not every alternative of its itemSchema has the property data"},
		{streamOf("{anyOf: [{properties: {data: {}}}, {properties: {data: {contentSchema: {}}}}]}"), `the data of the event "message" is not checked`},
		{strings.Replace(streamOf("{type: object}"), "text/event-stream", "application/jsonl", 1), "the items of application/jsonl are not checked"},
	} {
		notes := parse(t, tc.doc).Notes()
		if len(notes) != 1 || !strings.Contains(notes[0].What, tc.want) || notes[0].Line == 0 {
			t.Errorf("notes %v, want %q", notes, tc.want)
		}
	}
}

func TestReferencesToAnchors(t *testing.T) {
	d := parse(t, `openapi: 3.1.0
info: {title: x, version: '1'}
paths:
  /x:
    get:
      responses:
        '200': {description: ok, content: {application/json: {schema: {items: {$ref: '#word'}}}}}
components:
  schemas:
    A: {properties: {w: {$anchor: word, type: string}}}
webhooks: {}
`)
	vs := d.Check(sample.JSONResponse(`["a",1]`))
	if len(vs) != 1 || vs[0].Place != "body/1" || vs[0].Schema != "#/components/schemas/A/properties/w" || vs[0].Line != 10 {
		t.Errorf("Check: %s", long(vs))
	}
	if _, ok := d.Operation("GET", "/x"); !ok {
		t.Error("the operation is missing")
	}
}
