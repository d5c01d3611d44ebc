package specgap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// told writes a gap as "schema: admits; pin".
func told(s Gap, ok bool) string {
	if !ok {
		return "none"
	}
	out := strings.TrimPrefix(s.Schema, "#") + ": " + s.Admits
	if s.Pin != "" {
		out += "; " + s.Pin
	}
	return out
}

func parting(a, b *transcript.Transcript, at ...string) *Divergence {
	return &Divergence{Transcripts: [2]*transcript.Transcript{a, b}, Step: "1", Events: [2]int{-1, -1}, At: [2]string{at[0], at[len(at)-1]}}
}

const body200 = "/paths/~1x/get/responses/200/content/application~1json/schema"

func TestASilenceIsTheMostSpecificSchemaThatAdmitsBoth(t *testing.T) {
	schemas := `
    Name: {type: string, minLength: 1}
    Base: {type: object, properties: {id: {type: string}}}
    Heir:
      allOf:
        - $ref: '#/components/schemas/Base'
        - {type: object, required: [size], properties: {size: {type: integer, minimum: 0}}}
    Cat: {type: object, required: [kind], properties: {kind: {type: string, enum: [cat]}, name: {$ref: '#/components/schemas/Name'}}}
    Dog: {type: object, required: [kind], properties: {kind: {type: string, enum: [dog]}, name: {type: string}}}
    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog'}}
    Tree: {type: object, properties: {leaf: {type: boolean}, below: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}`
	for _, tc := range []struct {
		name, schema, ref, cand string
		at                      string // one place for both sides, or the reference's and the candidate's
		how                     How
		want                    string
	}{
		{"a string", `{type: object, properties: {text: {type: string}}}`, `{"text":"a"}`, `{"text":"b"}`, "body/text", "",
			body200 + "/properties/text: type: string; an enum, a pattern or a format"},
		{"with bounds and a pattern", `{type: string, pattern: '^[ab]$', maxLength: 9, nullable: true}`, `"a"`, `"b"`, "body", "",
			body200 + ": type: string, nullable: true, pattern: ^[ab]$, maxLength: 9; an enum, a pattern or a format"},
		{"an enum", `{type: string, enum: [a, b]}`, `"a"`, `"b"`, "body", "", body200 + `: type: string, enum: ["a", "b"]; a narrower enum`},
		{"a number", `{type: integer, format: int32}`, `1`, `2`, "body", "", body200 + ": type: integer, format: int32; an enum, or a minimum and a maximum"},
		{"a boolean, through $ref and a list", `{$ref: '#/components/schemas/Tree'}`, `{"below":[{},{"leaf":true}]}`, `{"below":[{},{"leaf":false}]}`, "body/below/1/leaf", "",
			"/components/schemas/Tree/properties/leaf: type: boolean; an enum"},
		{"other places on the two sides", `{$ref: '#/components/schemas/Tree'}`, `{"below":[{},{"leaf":true}]}`, `{"below":[{"leaf":false}]}`, "body/below/1/leaf body/below/0/leaf", "",
			"/components/schemas/Tree/properties/leaf: type: boolean; an enum"},
		{"below allOf, of the base", `{$ref: '#/components/schemas/Heir'}`, `{"id":"a","size":1}`, `{"id":"b","size":1}`, "body/id", "",
			"/components/schemas/Base/properties/id: type: string; an enum, a pattern or a format"},
		{"below allOf, its own", `{$ref: '#/components/schemas/Heir'}`, `{"size":1}`, `{"size":2}`, "body/size", "",
			"/components/schemas/Heir/allOf/1/properties/size: type: integer, minimum: 0; an enum, or a minimum and a maximum"},
		{"in the alternative that both match", `{$ref: '#/components/schemas/Pet'}`, `{"kind":"cat","name":"a"}`, `{"kind":"cat","name":"b"}`, "body/name", "",
			"/components/schemas/Name: type: string, minLength: 1; an enum, a pattern or a format"},
		{"in different alternatives", `{$ref: '#/components/schemas/Pet'}`, `{"kind":"cat"}`, `{"kind":"dog"}`, "body/kind", "",
			"/components/schemas/Pet: oneOf: the reference's matches Cat, the candidate's Dog; fewer alternatives"},
		{"below different alternatives", `{type: object, properties: {pet: {$ref: '#/components/schemas/Pet'}}}`, `{"pet":{"kind":"cat","name":"a"}}`, `{"pet":{"kind":"dog","name":"b"}}`, "body/pet/name", "",
			"/components/schemas/Pet: oneOf: the reference's matches Cat, the candidate's Dog; fewer alternatives"},
		{"anyOf without a tag", `{anyOf: [{type: string}, {type: integer}]}`, `"1"`, `1`, "body", "",
			body200 + ": anyOf: the reference's matches " + "#" + body200 + "/anyOf/0, the candidate's #" + body200 + "/anyOf/1; fewer alternatives"},
		{"a field that is missing", `{$ref: '#/components/schemas/Base'}`, `{"id":"a"}`, `{}`, "body/id", "", `/components/schemas/Base: "id" is not required; required: [id]`},
		{"a field too much", `{$ref: '#/components/schemas/Base'}`, `{}`, `{"id":"a"}`, "body/id", "", `/components/schemas/Base: "id" is not required; required: [id]`},
		{"null and absent", `{type: object, properties: {n: {type: string, nullable: true}}}`, `{"n":null}`, `{}`, "body/n", "",
			body200 + `: "n" is nullable and not required: null and absent are both valid; required, or no nullable`},
		{"null and a value", `{type: object, properties: {n: {type: string, nullable: true}}}`, `{"n":null}`, `{"n":"a"}`, "body/n", "",
			body200 + "/properties/n: type: string, nullable: true; no nullable"},
		{"null and a value of an enum", `{type: object, properties: {n: {nullable: true, allOf: [{type: string, enum: [a, b]}]}}}`, `{"n":null}`, `{"n":"a"}`, "body/n", "",
			body200 + "/properties/n: nullable: true; no nullable"},
		{"no type at all", `{type: object, properties: {n: {}}}`, `{"n":1}`, `{"n":"1"}`, "body/n", "", body200 + "/properties/n: no type: any value; a type"},
		{"additional fields", `{type: object, additionalProperties: true}`, `{"x":1}`, `{}`, "body/x", "",
			body200 + `: additionalProperties allows "x"; additionalProperties: false, or the field under properties`},
		{"below an additional field", `{type: object, additionalProperties: true}`, `{"x":{"y":1}}`, `{"x":{"y":2}}`, "body/x/y", "",
			body200 + `: additionalProperties allows "x"; additionalProperties: false, or the field under properties`},
		{"a map of a schema", `{type: object, additionalProperties: {$ref: '#/components/schemas/Name'}}`, `{"x":"a"}`, `{"x":"b"}`, "body/x", "",
			"/components/schemas/Name: type: string, minLength: 1; an enum, a pattern or a format"},
		{"a free object", `{type: object}`, `{"x":1}`, `{"x":2}`, "body/x", "", body200 + `: the object may have undeclared fields, such as "x"; properties, and additionalProperties: false`},
		{"below an element of any value", `{}`, `[{"x":1}]`, `[{"x":2}]`, "body/0/x", "", body200 + ": no type: any value; type: array, and items"},
		{"an element more", `{type: array, maxItems: 9, items: {type: integer}}`, `[1,2]`, `[1]`, "body/1", OtherLength, body200 + ": type: array, maxItems: 9; minItems and maxItems"},
		{"another order", `{type: array, items: {type: integer}}`, `[1,2]`, `[2,1]`, "body", OtherOrder, body200 + ": type: array; no schema says in which order; an expect of the scenario"},
		{"another id", `{$ref: '#/components/schemas/Base'}`, `{"id":"a"}`, `{"id":"b"}`, "body/id", OtherIdentity,
			"/components/schemas/Base/properties/id: type: string; no schema says which ids belong together; an expect of the scenario"},
		{"no JSON", `{type: string}`, `"a"`, `nope`, "body", "", "none"},
		{"a place that neither has", `{type: object}`, `{}`, `{}`, "body/x", "", "none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := sample.Parse(t, sample.Returning(tc.schema, schemas))
			p := parting(sample.JSONResponse(tc.ref), sample.JSONResponse(tc.cand), strings.Fields(tc.at)...)
			p.How = tc.how
			if got := told(NewFinder(d).Find(p)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// OpenAPI 3.1 lists null among the types, and has no nullable.
func TestNullIsATypeInOpenAPI31(t *testing.T) {
	for _, tc := range []struct{ cand, want string }{
		{`{"n":"a"}`, body200 + "/properties/n: type: [string, null]; no null in type"},
		{`{}`, body200 + `: "n" is nullable and not required: null and absent are both valid; required, or no null in type`},
	} {
		doc := strings.Replace(sample.Returning(`{type: object, properties: {n: {type: [string, 'null']}}}`), "openapi: 3.0.3", "openapi: 3.1.0", 1)
		p := parting(sample.JSONResponse(`{"n":null}`), sample.JSONResponse(tc.cand), "body/n")
		if got := told(NewFinder(sample.Parse(t, doc)).Find(p)); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}

const silenceDoc = sample.Head + `paths:
  /x:
    get:
      responses:
        '200':
          description: ok
          headers:
            Size: {schema: {type: integer}}
            Deep: {content: {application/json: {schema: {type: array, items: {}}}}}
            Blank: {content: {image/png: {schema: {type: string}}}}
          content:
            application/json: {schema: {type: string}}
            text/*: {schema: {type: string}}
            image/png: {schema: {type: string}}
        '201': {description: ok}
        4XX: {description: refused}
        default: {description: other}
`

func TestASilenceOutsideTheBody(t *testing.T) {
	d := sample.Parse(t, silenceDoc)
	const at = "/paths/~1x/get/responses"
	with := func(contentType string, h ...string) *transcript.Transcript {
		return sample.Response("GET", "/x", 200, sample.Header(append([]string{"Content-Type", contentType}, h...)...), `"a"`)
	}
	for _, tc := range []struct {
		name      string
		ref, cand *transcript.Transcript
		at        string
		want      string
	}{
		{"two statuses", sample.Response("GET", "/x", 200, nil, ""), sample.Response("GET", "/x", 201, nil, ""), "status", at + ": GET /x declares both 200 and 201"},
		{"a range", sample.Response("GET", "/x", 404, nil, ""), sample.Response("GET", "/x", 400, nil, ""), "status", at + "/4XX: 4XX covers both 404 and 400; each possible status, instead of 4XX"},
		{"default", sample.Response("GET", "/x", 500, nil, ""), sample.Response("GET", "/x", 503, nil, ""), "status", at + "/default: default covers both 500 and 503; each possible status, instead of default"},
		{"the body of another status", sample.Response("GET", "/x", 200, nil, ""), sample.Response("GET", "/x", 201, nil, ""), "body", "none"},
		{"a field that is not declared", with("application/json", "X", "1"), with("application/json"), "header X", at + `/200: the header field "X" is not declared; declare it, required and with an enum`},
		{"a field that is not required", with("application/json", "size", "1"), with("application/json"), "header size", at + "/200/headers/Size: the header field Size is not required; required: true"},
		{"a field's value", with("application/json", "Size", "1"), with("application/json", "Size", "2"), "header Size", at + "/200/headers/Size/schema: type: integer; an enum, or a minimum and a maximum"},
		{"a field's value in JSON", with("application/json", "Deep", "[1]"), with("application/json", "Deep", "[2]"), "header Deep", at + "/200/headers/Deep/content/application~1json/schema: type: array; a schema of its items"},
		{"a field that is not looked at", with("application/json", "Blank", "1"), with("application/json", "Blank", "2"), "header Blank", at + "/200/headers/Blank: the field's value is not described; a schema"},
		{"two content types", with("application/json"), with("image/png"), "header Content-Type", at + "/200/content: both application/json and image/png are declared; one of them"},
		{"a range of them", with("text/html"), with("text/csv"), "header Content-Type", at + "/200/content/text~1*: the range text/*; one content type"},
		{"a parameter", with("application/json"), with("application/json; charset=utf-8"), "header Content-Type", at + "/200/content/application~1json: the parameters after application/json are not checked"},
		{"a text", with("text/html"), with("text/html"), "body", at + "/200/content/text~1*/schema: type: string; an enum, a pattern or a format"},
		{"an image", with("image/png"), with("image/png"), "body", at + "/200/content/image~1png: this content is not checked"},
		{"an operation that is not there", sample.Response("GET", "/y", 200, nil, ""), sample.Response("GET", "/y", 201, nil, ""), "status", "none"},
	} {
		if got := told(NewFinder(d).Find(parting(tc.ref, tc.cand, tc.at))); got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// A document cannot list generated ids, so an enum would not help when they differ.
func TestASpecGapAboutIDsSuggestsNoEnum(t *testing.T) {
	d := sample.Parse(t, silenceDoc)
	field := func(name, value string) *transcript.Transcript {
		return sample.Response("GET", "/x", 200, sample.Header("Content-Type", "application/json", name, value), `"a"`)
	}
	for _, tc := range []struct {
		field string
		how   How
		want  string
	}{
		{"X", OtherIdentity, "an expect of the scenario"},
		{"X", OtherForm, "declare it, required and with a pattern"},
		{"X", OtherValue, "declare it, required and with an enum"},
		{"Content-Length", OtherValue, ""},
		{"Size", OtherIdentity, "an expect of the scenario"},
		{"Size", OtherForm, "a pattern or a format"},
		{"Size", OtherValue, "an enum, or a minimum and a maximum"},
	} {
		p := parting(field(tc.field, "1"), field(tc.field, "2"), "header "+tc.field)
		p.How = tc.how
		if got, ok := NewFinder(d).Find(p); !ok || got.Pin != tc.want {
			t.Errorf("%s, %q: %q would decide, want %q", tc.field, tc.how, got.Pin, tc.want)
		}
	}
}

func TestASilenceOfAStream(t *testing.T) {
	d := sample.Parse(t, sample.Streaming(`
                name: /type
                comments: true
                events:
                  note: {schema: {type: object, properties: {type: {type: string}, text: {type: string}}}}
                  gone: {schema: {type: object, properties: {type: {type: string}}}}
`))
	const set = "/paths/~1x/get/responses/200/content/text~1event-stream/x-events"
	ref := sample.Stream(sample.Event("", `{"type":"note","text":"a"}`), sample.Event("", `{"type":"gone"}`), transcript.Event{Comment: true, Data: "beat"})
	cand := sample.Stream(sample.Event("", `{"type":"note","text":"b"}`), sample.Event("", `{"type":"note","text":"b"}`))
	for _, tc := range []struct {
		at     string
		events [2]int
		how    How
		want   string
	}{
		{"event data/text", [2]int{0, 0}, "", set + "/events/note/schema/properties/text: type: string; an enum, a pattern or a format"},
		{"event name", [2]int{1, 1}, "", set + `/events: both "gone" and "note" are declared`},
		{"event id", [2]int{0, 0}, "", set + "/events/note: the contract does not describe fields other than the data: id"},
		{"event", [2]int{1, -1}, "", set + `/events/gone: the event "gone" is optional`},
		{"event", [2]int{-1, 1}, "", set + `/events/note: the event "note" is optional`},
		{"event", [2]int{0, 1}, OtherOrder, set + "/events/note: the contract does not say in which order events come"},
		{"event", [2]int{2, -1}, "", set + ": comments are optional"},
		{"", [2]int{-1, -1}, "", set + ": the contract does not say who ends the stream, or when"},
	} {
		p := parting(ref, cand, tc.at)
		p.Stream, p.Events, p.How = "s", tc.events, tc.how
		if got := told(NewFinder(d).Find(p)); got != tc.want {
			t.Errorf("%q %v:\ngot  %s\nwant %s", tc.at, tc.events, got, tc.want)
		}
	}
	p := parting(ref, cand, "event")
	p.Stream = "another"
	if _, ok := NewFinder(d).Find(p); ok {
		t.Error("a stream that is not there has a silence")
	}
}

func TestASilenceOfMessages(t *testing.T) {
	const line, socketAt = transcript.ItemLine, "/paths/~1x/get"
	program := sample.Programming(`
  name: jsonrpc
  received:
    list result: {schema: {type: object, properties: {id: {}, result: {type: string}}}}
    note: {schema: {}}
  sent:
    list: {schema: {}}
`)
	list, note := sample.Sent(line, `{"id":1,"method":"list"}`), sample.Received(line, `{"method":"note"}`)
	exit := sample.Received(transcript.ItemExit, `{"status":0}`)
	ref := sample.Program(list, sample.Received(line, `{"id":1,"result":"a"}`), exit, sample.Received(transcript.ItemStderr, "x"))
	cand := sample.Program(list, sample.Received(line, `{"id":1,"result":"b"}`), note)
	socket := sample.Socket(sample.Received(transcript.ItemText, "a"))
	for _, tc := range []struct {
		doc       string
		ref, cand *transcript.Transcript
		at        string
		events    [2]int
		how       How
		want      string
	}{
		{program, ref, cand, "event data/result", [2]int{1, 1}, "", "/x-messages/received/list result/schema/properties/result: type: string; an enum, a pattern or a format"},
		{program, ref, cand, "event", [2]int{-1, 2}, "", `/x-messages/received/note: the message "note" is optional`},
		{program, ref, cand, "event", [2]int{1, 2}, OtherOrder, "/x-messages/received/list result: the contract does not say in which order messages come"},
		{program, ref, cand, "event name", [2]int{1, 2}, "", `/x-messages/received: both "list result" and "note" are declared`},
		{program, ref, cand, "event", [2]int{2, -1}, "", `/x-messages: the contract does not describe "exit"; an entry exit under received`},
		{program, ref, cand, "event", [2]int{3, -1}, "", `/x-messages: the contract does not describe "stderr"`},
		{sample.Returning("{}"), ref, cand, "event data/result", [2]int{1, 1}, "", ": the messages of the program are not described; x-messages"},
		{sample.API("  /x:\n    get: {responses: {'101': {description: ok}}}"), socket, socket, "event data", [2]int{0, 0}, "", socketAt + ": the messages of the socket are not described; x-messages"},
		{sample.Messaging("        received: {text: {contentType: text/plain, schema: {type: string}}}"), socket, socket, "event framing", [2]int{0, 0}, "",
			socketAt + "/x-messages/received/text: the contract does not describe fields other than the data: framing"},
	} {
		p := parting(tc.ref, tc.cand, tc.at)
		p.Stream, p.Events, p.How = "s", tc.events, tc.how
		if got := told(NewFinder(sample.Parse(t, tc.doc)).Find(p)); got != tc.want {
			t.Errorf("%q %v:\ngot  %s\nwant %s", tc.at, tc.events, got, tc.want)
		}
	}
}

func TestASilenceHasTheLineOfItsSchema(t *testing.T) {
	text := sample.Returning(`{$ref: '#/components/schemas/Note'}`, `
    Note:
      type: object
      properties:
        text:
          type: string`)
	s, ok := NewFinder(sample.Parse(t, text)).Find(parting(sample.JSONResponse(`{"text":"a"}`), sample.JSONResponse(`{"text":"b"}`), "body/text"))
	if line := strings.Split(text, "\n")[max(0, s.Line-1)]; !ok || strings.TrimSpace(line) != "text:" {
		t.Errorf("line %d is %q, %v\n%s", s.Line, line, ok, sample.Numbered(text))
	}
}

func TestABurstHasNoSilence(t *testing.T) {
	a, b := sample.JSONResponse(`"a"`), sample.JSONResponse(`"b"`)
	a.Steps[0].Burst = true
	if got := told(NewFinder(sample.Parse(t, sample.Returning(`{type: string}`))).Find(parting(a, b, "body"))); got != "none" {
		t.Error(got)
	}
}

func TestFinderKeepWhatWasRead(t *testing.T) {
	f := NewFinder(sample.Parse(t, sample.Returning(`{type: object, properties: {a: {type: string}, b: {type: string}}}`)))
	for i, name := range []string{"a", "b", "a"} {
		x, y := sample.JSONResponse(fmt.Sprintf(`{"a":"%d","b":"x"}`, i/2)), sample.JSONResponse(`{"a":"y","b":"y"}`)
		if got := told(f.Find(parting(x, y, "body/"+name))); !strings.HasPrefix(got, body200+"/properties/"+name+":") {
			t.Errorf("%d: %s", i, got)
		}
	}
}
