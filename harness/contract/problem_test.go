package contract

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// problemsOf returns the mistakes of a document.
func problemsOf(t *testing.T, doc string) Problems {
	t.Helper()
	_, err := Parse([]byte(doc), &Options{File: "api.yaml"})
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatalf("Parse: %v, want Problems", err)
	}
	return ps
}

func TestParseReportsEveryMistakeWithItsLineAndAFix(t *testing.T) {
	for _, tc := range []struct {
		name, doc string
		want      []string // a part of each problem, in order
	}{
		{"not YAML", "openapi: [", []string{"api.yaml:1: "}},
		{"a tab, far down", "openapi: 3.0.3\ninfo:\n  title: x\n  version: '1'\npaths:\n  /x:\n    get:\n\t  responses: {}\n", []string{"api.yaml:8: not YAML: a tab\n\tfix: indent with spaces"}},
		{"a colon too many", "openapi: 3.0.3\ninfo:\n  title: x: y\n", []string{"api.yaml:3: not YAML: a second colon in the line\n\tfix: put the value in quotes"}},
		{"a control character", "openapi: 3.0.3\ninfo: {title: 'a\ab'}\n", []string{"api.yaml:2: not YAML: the control character U+0007"}},
		{"a key twice", "openapi: 3.0.3\ninfo: {}\ninfo: {}\n", []string{`api.yaml:3: duplicate key "info", first in line 2` + "\n\tfix: remove one of them"}},
		{"JSON cut short", `{"openapi": "3.0.3", `, []string{"the document is not JSON: the document ends before its value does"}},
		{"a name twice in JSON", `{"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {}, "paths": {}}`,
			[]string{`/paths the name "paths" stands twice in one object`}},
		{"nothing", "", []string{"it has no key openapi"}},
		{"a list", "[]", []string{"cannot unmarshal array"}},
		{"Swagger 2", "swagger: '2.0'\ninfo: {title: x, version: '1'}\npaths: {}\n",
			[]string{`api.yaml:1: this is a document of Swagger "2.0", which OpenAPI 3 replaces` + "\n\tfix: convert it: npx swagger2openapi "}},
		{"OpenAPI 4", "openapi: 4.0.0\ninfo: {title: x, version: '1'}\npaths: {}\n",
			[]string{`api.yaml:1: openapi is "4.0.0"` + "\n\tfix: write the document in OpenAPI 3.0, 3.1 or 3.2"}},
		{"a value of another type", strings.Replace(sample.API("  /x: {}"), "title: test", "title: [test]", 1), []string{"title"}},
		{"a mistake in a component is one mistake", sample.API(`
  /a:
    get: {responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}
  /b:
    get: {responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}`,
			"    A:\n      type: strin"), []string{`api.yaml:10: components: schema "A": unsupported 'type' value "strin"`}},
		{"references that lead nowhere, all of them", sample.API(`
  /a:
    get:
      responses:
        '200':
          $ref: '#/components/responses/Nope'
        '201':
          description: ok
          content: {application/json: {schema: {$ref: '#/components/schemas/Pte'}}}
        '202':
          $ref: 'other.yaml#/Thing'`, "    Pet: {type: object}"), []string{
			`api.yaml:8: $ref points to "#/components/responses/Nope", which does not exist`,
			`api.yaml:11: $ref points to "#/components/schemas/Pte", which does not exist` + "\n\tfix: did you mean \"#/components/schemas/Pet\"?",
			`api.yaml:13: $ref points to another file, "other.yaml#/Thing"` + "\n\tfix: put what it refers to into this document; a bundler does it: ",
		}},
		{"a reference to something of another kind", sample.API(`
  /a:
    get:
      parameters:
        - $ref: '#/components/schemas/Pet'
      responses: {'200': {description: ok}}`, "    Pet: {type: object, properties: {a: {type: string}}}"), []string{"#/components/schemas/Pet"}},
		{"a mapping that leads nowhere", sample.Returning(`{$ref: '#/components/schemas/U'}`, `
    Cat: {type: object}
    U:
      oneOf: [{$ref: '#/components/schemas/Cat'}]
      discriminator:
        propertyName: kind
        mapping: {cat: Cta, c: Cat}`), []string{`api.yaml:17: the mapping of "cat" points to "Cta", which does not exist` + "\n\tfix: did you mean \"#/components/schemas/Cat\"?"}},
		{"a divisor of 0", sample.Returning(`{type: integer, multipleOf: 0}`), []string{"api.yaml:11: multipleOf is 0"}},
		{"x-events: keys", sample.Streaming(`
                nmae: event
                comment: true
                x-note: fine
                events:
                  tick: {shcema: {}, description: a tick}`), []string{
			`api.yaml:13: unknown key "nmae" in x-events` + "\n\tfix: did you mean \"name\"?",
			`api.yaml:14: unknown key "comment" in x-events` + "\n\tfix: did you mean \"comments\"?",
			`api.yaml:17: the event "tick" has no schema`,
			`api.yaml:17: unknown key "shcema" in the event tick` + "\n\tfix: did you mean \"schema\"?"}},
		{"x-events: values", sample.Streaming(`
                name: type
                comments: sometimes
                events:
                  a: {schema: {$ref: '#/components/schemas/Nope'}}
                  b:
                    contentType: image/png
                    schema: {}
                  c: 5
                  d: {schema: {type: integer}, contentType: text/plain}
                  e: {schema: 5}
                  f: {schema: {type: strin}}
                  g: {schema: {properties: {a: {$ref: '#/components/schemas/Nope'}}}}`), []string{
			`api.yaml:13: name is type` + "\n\tfix: write \"event\"",
			`api.yaml:14: comments must be true or false`,
			`api.yaml:16: $ref points to "#/components/schemas/Nope", which does not exist`,
			`api.yaml:18: contentType is image/png`,
			`api.yaml:20: the event "c" is not an object`,
			`api.yaml:21: the event is plain text, but its schema does not allow a string`,
			`api.yaml:22: schema is not an object`,
			`api.yaml:23: the schema cannot be read: unsupported 'type' value "strin"`,
			`api.yaml:24: the schema cannot be read`}},
		{"x-events: nothing in it", sample.Streaming(`
                comments: true`), []string{"api.yaml:12: x-events has no events"}},
		{"x-events: not an object", strings.Replace(sample.Returning(`{}`), "schema: {}", "x-events: 1", 1),
			[]string{"x-events is not allowed for application/json"}},
		{"x-events: misspelt", strings.Replace(sample.Streaming(eventsDoc), "x-events", "x-event", 1),
			[]string{`api.yaml:12: unknown key "x-event"` + "\n\tfix: did you mean \"x-events\"?"}},
		{"x-empty: values", strings.Replace(sample.Returning(`{}`), "description: ok", "description: ok\n          x-empty: sometimes", 1),
			[]string{"api.yaml:9: x-empty must be true or false"}},
		{"x-empty: without content", sample.API(`
  /x:
    get:
      responses:
        '200': {description: ok, x-empty: true}`), []string{"x-empty has no effect here"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ps := problemsOf(t, tc.doc)
			if len(ps) != len(tc.want) {
				t.Fatalf("%d problems, want %d:\n%v\n\n%s", len(ps), len(tc.want), ps, sample.Numbered(tc.doc))
			}
			for i, p := range ps {
				p.Column = 0 // the loader does not always set it
				if !strings.Contains(p.Error(), tc.want[i]) {
					t.Errorf("problem %d:\n%v\nwant in it\n%s\n\n%s", i, p, tc.want[i], sample.Numbered(tc.doc))
				}
			}
		})
	}
}

func TestWhatChangesNoJudgementIsNoted(t *testing.T) {
	for _, tc := range []struct {
		name, doc string
		want      []string // a part of each note, in order
	}{
		{"no version and no responses", "openapi: 3.0.3\ninfo:\n  title: x\npaths:\n  /x:\n    get: {}\n",
			[]string{"api.yaml:2: info: value of version must be a non-empty string",
				"api.yaml:6: paths: invalid path /x: invalid operation GET: value of responses must be an object"}},
		{"an example that breaks its schema", sample.Returning(`{$ref: '#/components/schemas/A'}`, `
    A:
      type: object
      properties:
        n: {type: integer}
      example:
        n: one
    B: {type: string, default: 1}`), []string{
			`api.yaml:18: the example does not match its schema at /n: the string "one" stands here; an integer is wanted`,
			`api.yaml:20: the default does not match its schema`}},
		{"an example beside a schema", sample.API(`
  /x:
    get:
      parameters: [{name: n, in: query, schema: {type: integer}, example: x}]
      responses:
        '200':
          description: ok
          content:
            application/json:
              schema: {type: string}
              examples:
                good: {value: a}
                bad: {value: 1}`), []string{"api.yaml:6: the example does not match", "api.yaml:15: the example bad does not match"}},
		{"security schemes", strings.Replace(sample.API("  /x:\n    get: {security: [{key: []}], responses: {'200': {description: ok}}}"), "paths:", "tags: [{name: a}, {name: a}]\npaths:", 1),
			[]string{"api.yaml:3: ", `security requirement /paths/~1x/get/security/0/key refers to undefined security scheme "key"`}},
		{"paths that conflict", sample.API("  /x/{a}:\n    get: {parameters: [{name: a, in: path, required: true, schema: {}}], responses: {'200': {description: ok}}}\n  /x/{b}:\n    get: {parameters: [{name: b, in: path, required: true, schema: {}}], responses: {'200': {description: ok}}}"),
			[]string{"conflicting paths"}},
		{"a null constant", "openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths: {}\ncomponents:\n  schemas:\n    A: {const: null}\n",
			[]string{"api.yaml:6: const: null is not checked\n\tfix: write type: 'null'"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			notes := parse(t, tc.doc).Notes()
			if len(notes) != len(tc.want) {
				t.Fatalf("%d notes, want %d:\n%v\n\n%s", len(notes), len(tc.want), notes, sample.Numbered(tc.doc))
			}
			for i, p := range notes {
				p.Column = 0 // the loader does not always set it
				if !strings.Contains(p.Error(), tc.want[i]) {
					t.Errorf("note %d:\n%v\nwant in it\n%s\n\n%s", i, p, tc.want[i], sample.Numbered(tc.doc))
				}
			}
		})
	}
}

func TestMistakesOfADocumentHaveTheirColumns(t *testing.T) {
	for _, tc := range []struct{ name, doc, want string }{
		{"a tab", "openapi: 3.0.3\ninfo:\n  title: x\n \tversion: '1'\n", "api.yaml:4:2: not YAML: a tab"},
		{"a key twice", "openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths:\n  /x:\n    get: {responses: {}}\n    get: {}\n", `api.yaml:6:5: duplicate key "get", first in line 5`},
		{"a key twice in a line", "openapi: 3.0.3\ninfo: {title: x, title: y}\n", `api.yaml:2:18: duplicate key "title", first in line 2`},
		{"JSON in one line", `{"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {"/x": {"get": {"responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "strin"}}}}}}}}}`,
			`api.yaml:1:163: paths: invalid path /x: invalid operation GET: unsupported 'type' value "strin"`},
		{"a reference like another", sample.API(`
  /a:
    get:
      responses:
        '200': {description: ü, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
        '201': {description: ü, content: {application/json: {schema: {$ref: '#/components/schemas/Pe'}}}}`, "    Pet: {type: object}"),
			`api.yaml:8:77: $ref points to "#/components/schemas/Pe", which does not exist`},
	} {
		if got := problemsOf(t, tc.doc)[0].Error(); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %s\nwant %s\n\n%s", tc.name, got, tc.want, sample.Numbered(tc.doc))
		}
	}
}

func TestOurDocumentHasNoMistakes(t *testing.T) {
	d, data := ours(t)
	if ps := d.Notes(); len(ps) > 0 {
		t.Errorf("not judged: %v", ps)
	}
	// Parse checks every example against its schema, so a wrong example is found.
	broken := strings.Replace(string(data), "example: {success: true}", "example: {success: 1}", 1)
	ps := parse(t, broken).Notes()
	if len(ps) != 1 || !strings.Contains(ps[0].What, "at /success: the number 1 stands here; a boolean is wanted") || ps[0].Line == 0 {
		t.Errorf("problems of a broken example: %v", ps)
	}
}

func TestNotesListWhatIsNotChecked(t *testing.T) {
	doc := sample.API(`
  /x:
    get:
      responses:
        '200':
          description: ok
          content:
            text/event-stream: {schema: {type: string}}
            application/json:
              schema: {type: string, pattern: '(?!a)'}`)
	var got []string
	for _, p := range parse(t, doc).Notes() {
		got = append(got, p.Error())
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "api.yaml:10:13: the events of this stream are not checked: it has no x-events") ||
		!strings.HasPrefix(got[1], "api.yaml:12:15: the pattern (?!a) is not checked: ") {
		t.Errorf("Notes: %q", got)
	}
}

func TestADocumentInJSONHasLinesToo(t *testing.T) {
	doc := `{
	"openapi": "3.0.3",
	"info": {"title": "x", "version": "1"},
	"paths": {
		"/b": {"get": {"responses": {"200": {"description": "ok"}}}},
		"/a": {
			"get": {
				"responses": {
					"200": {"description": "ok"}
				}
			}
		}
	}
}`
	d := parse(t, doc)
	if got := d.Operations()[0].Path + d.Operations()[1].Path; got != "/b/a" {
		t.Errorf("operations in the order %s, want that of the document", got)
	}
	vs := d.Check(sample.Response("GET", "/a", 500, nil, ""))
	if len(vs) != 1 || vs[0].Line != 8 {
		t.Errorf("Check: %s", long(vs))
	}
}

// A key without a value is an easy mistake in YAML, and the loader reads it as null.
func TestMissingValuesDoNotPanic(t *testing.T) {
	whole := sample.API(`
  /x:
    parameters:
      - {name: a, in: query, schema: {type: string}}
    get:
      parameters:
        - {name: b, in: query, schema: {type: array, items: {type: string}}}
      requestBody:
        content:
          application/json:
            schema: {type: string}
            examples: {one: {value: a}}
      responses:
        '200':
          description: ok
          headers:
            X: {schema: {type: string}}
          content:
            application/json:
              schema: {$ref: '#/components/schemas/A'}
            text/event-stream:
              x-events:
                name: event
                comments: true
                events:
                  a:
                    description: b
                    contentType: text/plain
                    schema: {type: string}
        '101': {description: ok}
      x-messages:
        name: jsonrpc
        received:
          a:
            description: b
            schema: {type: string}
        sent:
          a: {schema: {type: string}}`, `
    A:
      type: object
      required: [a]
      properties:
        a: {type: string}
      additionalProperties: {type: string}
      allOf: [{type: object}]
      oneOf: [{type: object}]
      anyOf: [{type: object}]
      not: {type: string}
      enum: [{a: b}]
      discriminator:
        propertyName: a
        mapping:
          a: A`)
	parse(t, whole)
	lines := strings.Split(whole, "\n")
	for i, line := range lines {
		key, _, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		end := i + 1
		for end < len(lines) && indentation(lines[end]) > indentation(line) {
			end++
		}
		for _, value := range []string{key + ":", key + ": [null]", key + ": {a: null}", key + ": 1", ""} {
			without := slices.Concat(lines[:i], []string{value}, lines[end:])
			d, err := Parse([]byte(strings.Join(without, "\n")), nil)
			if err != nil {
				continue
			}
			d.CheckRequest("GET", "/x?a=b&b=c", sample.Header("Content-Type", "application/json"), []byte(`"a"`))
			d.Check(sample.JSONResponse(`{"a":"A","b":1}`))
			d.Check(sample.Stream(sample.Event("a", "b")))
			d.Check(sample.Socket(sample.Received(transcript.ItemText, `{"method":"a"}`), sample.Sent(transcript.ItemText, `"a"`)))
		}
	}
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
