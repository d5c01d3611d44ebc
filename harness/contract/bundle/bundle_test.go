package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files opens the files of a test, except for the document itself.
func files(all map[string]string) func(string) ([]byte, error) {
	return func(file string) ([]byte, error) {
		text, ok := all[file]
		if !ok {
			return nil, errors.New(file + ": no such file")
		}
		return []byte(text), nil
	}
}

func join(t *testing.T, all map[string]string) (*Bundle, string) {
	t.Helper()
	b, problems := Read("api/openapi.yaml", []byte(all["api/openapi.yaml"]), files(all))
	if len(problems) > 0 {
		return nil, problems.Error()
	}
	return b, ""
}

const document = `openapi: 3.1.0
info: {title: shop, version: "1"}
paths:
  /items: {$ref: "paths/items.yaml"}
  /items/{id}:
    get:
      parameters: [{$ref: "./common.yaml#/parameters/Id"}]
      responses:
        "200":
          description: ok
          content: {application/json: {schema: {$ref: "schemas/Item.yaml"}}}
        default: {$ref: "common.yaml#/responses/Error"}
components:
  schemas:
    Error: {type: string}
`

var whole = map[string]string{
	"api/openapi.yaml": document,
	"api/paths/items.yaml": `get:
  responses:
    "200":
      description: ok
      content:
        application/json:
          schema: {type: array, items: {$ref: "../schemas/Item.yaml"}}
          example: {$ref: "not a reference"}
`,
	"api/schemas/Item.yaml": `type: object
required: [id]
properties:
  id: {$ref: "#/$defs/Id"}
  $ref: {type: string}
  parent: {$ref: "Item.yaml"}
  owner: {$ref: "../common.yaml#/schemas/Owner"}
  failed: {$ref: "../openapi.yaml#/components/schemas/Error"}
  kind:
    oneOf: [{$ref: "Cat.json"}]
    discriminator: {propertyName: kind, mapping: {cat: Cat.json, other: Error}}
$defs:
  Id: {type: integer}
`,
	"api/schemas/Cat.json": `{"type": "object", "properties": {"kind": {"const": "cat"}}}`,
	"api/common.yaml": `parameters:
  Id: {name: id, in: path, required: true, schema: {$ref: "#/schemas/Id"}}
responses:
  Error: {description: wrong, content: {application/json: {schema: {$ref: "#/schemas/Error"}}}}
schemas:
  Id: {type: integer, minimum: 1}
  Owner: {type: object, properties: {items: {type: array, items: {$ref: "schemas/Item.yaml"}}}}
  Error: {type: object}
`,
}

func TestFilesAreJoined(t *testing.T) {
	b, wrong := join(t, whole)
	if wrong != "" {
		t.Fatal(wrong)
	}
	const want = `{
		"openapi": "3.1.0", "info": {"title": "shop", "version": "1"},
		"paths": {
			"/items": {"get": {"responses": {"200": {"description": "ok", "content": {"application/json": {
				"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}, "example": {"$ref": "not a reference"}}}}}}},
			"/items/{id}": {"get": {"parameters": [{"$ref": "#/components/parameters/Id"}], "responses": {
				"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}},
				"default": {"$ref": "#/components/responses/Error"}}}}},
		"components": {
			"schemas": {
				"Error": {"type": "string"},
				"Id": {"type": "integer"},
				"Cat": {"type": "object", "properties": {"kind": {"const": "cat"}}},
				"Owner": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}}},
				"Item": {"type": "object", "required": ["id"], "properties": {
					"id": {"$ref": "#/components/schemas/Id"}, "$ref": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Item"},
					"owner": {"$ref": "#/components/schemas/Owner"}, "failed": {"$ref": "#/components/schemas/Error"},
					"kind": {"oneOf": [{"$ref": "#/components/schemas/Cat"}],
						"discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat", "other": "Error"}}}},
					"$defs": {"Id": {"type": "integer"}}},
				"Id-2": {"type": "integer", "minimum": 1},
				"Error-2": {"type": "object"}},
			"parameters": {"Id": {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Id-2"}}},
			"responses": {"Error": {"description": "wrong", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error-2"}}}}}}}`
	var got, expected any
	if err := errors.Join(json.Unmarshal(b.Text, &got), json.Unmarshal([]byte(want), &expected)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The names of events and messages are the author's: none of them is a keyword.
func TestFilesOfMessagesAreJoined(t *testing.T) {
	b, wrong := join(t, map[string]string{
		"api/openapi.yaml": `openapi: 3.1.0
info: {title: shop, version: "1"}
x-messages:
  received: {example: {schema: {$ref: note.yaml}}, $ref: {schema: {$ref: note.yaml}}}
  sent: {schema: {schema: {type: array, items: {$ref: note.yaml}}}, paths: {schema: {$ref: note.yaml}}}
paths: {}
`,
		"api/note.yaml": "type: string\n",
	})
	if wrong != "" {
		t.Fatal(wrong)
	}
	const ref = `{"$ref":"#/components/schemas/note"}`
	const want = `{"received":{"example":{"schema":` + ref + `},"$ref":{"schema":` + ref + `}},` +
		`"sent":{"schema":{"schema":{"type":"array","items":` + ref + `}},"paths":{"schema":` + ref + `}}}`
	var got struct {
		Messages json.RawMessage `json:"x-messages"`
	}
	if err := json.Unmarshal(b.Text, &got); err != nil {
		t.Fatal(err)
	}
	var x, y any
	if err := errors.Join(json.Unmarshal(got.Messages, &x), json.Unmarshal([]byte(want), &y)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(y, x); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each line of the whole has the place where it was written, and the line of the document that leads there.
func TestLinesHaveTheirPlaces(t *testing.T) {
	b, wrong := join(t, whole)
	if wrong != "" {
		t.Fatal(wrong)
	}
	lines := strings.Split(string(b.Text), "\n")
	if len(lines) != len(b.Places) {
		t.Fatalf("%d lines, %d places", len(lines), len(b.Places))
	}
	places := map[string][]string{}
	for i, line := range lines {
		p := b.Places[i]
		key := strings.TrimRight(strings.TrimSuffix(line, ","), "}]")
		places[key] = append(places[key], fmt.Sprintf("%s:%d:%d from %d", p.File, p.Line, p.Column, p.RootLine))
	}
	for line, want := range map[string]string{
		`"openapi": "3.1.0"`:     "api/openapi.yaml:1:1 from 1",
		`"minimum": 1`:           "api/common.yaml:6:23 from 7",
		`"const": "cat"`:         "api/schemas/Cat.json:1:44 from 4",
		`"get": {`:               "api/paths/items.yaml:1:1 from 4",
		`"Item": {`:              "api/schemas/Item.yaml:1:1 from 4",
		`"propertyName": "kind"`: "api/schemas/Item.yaml:11:21 from 4",
		`"description": "wrong"`: "api/common.yaml:4:11 from 12",
		`"title": "shop"`:        "api/openapi.yaml:2:8 from 2",
	} {
		if !slices.Contains(places[line], want) {
			t.Errorf("%s is at %q, want %s", line, places[line], want)
		}
	}
}

func TestMistakesInReferences(t *testing.T) {
	for name, tc := range map[string]struct {
		ref   string
		files map[string]string
		want  string
	}{
		"no file":       {"none.yaml", nil, `api/openapi.yaml:1:49: $ref points to "none.yaml": api/none.yaml: no such file` + "\n\tfix: write the path of a file, relative to openapi.yaml"},
		"no such place": {"a.yaml#/b", map[string]string{"api/a.yaml": "c: {}\n"}, `api/openapi.yaml:1:49: $ref points to "a.yaml#/b", but api/a.yaml has no such place` + "\n\tfix: write a place that exists"},
		"the net":       {"https://192.0.2.1/a.yaml", nil, `api/openapi.yaml:1:49: $ref points to "https://192.0.2.1/a.yaml", which is not a file: a contract is read from files only` + "\n\tfix: download it, and write its path"},
		"absolute":      {"/etc/passwd", nil, `api/openapi.yaml:1:49: $ref points to "/etc/passwd", which is not a relative path` + "\n\tfix: write the path of a file, relative to openapi.yaml, and after # the place in it: ./common.yaml#/components/schemas/Name"},
		"not YAML":      {"a.yaml", map[string]string{"api/a.yaml": "a: b: c\n"}, `api/a.yaml:1:4: not YAML: a second colon in the line`},
		"an alias":      {"a.yaml", map[string]string{"api/a.yaml": "a: &x {}\nb: *x\n"}, "api/a.yaml:2:4: alias *x"},
		"itself":        {"a.yaml", map[string]string{"api/a.yaml": "$ref: b.yaml\n", "api/b.yaml": "$ref: a.yaml\n"}, `api/b.yaml:1:7: $ref points to "a.yaml", which contains it` + "\n\tfix: make it a component, which may refer to itself"},
		"empty":         {"a.yaml", map[string]string{"api/a.yaml": ""}, "api/a.yaml: the file is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			all := map[string]string{"api/openapi.yaml": fmt.Sprintf("{openapi: 3.0.3, paths: {/a: {summary: s, $ref: %q}}}\n", tc.ref)}
			maps.Copy(all, tc.files)
			if _, wrong := join(t, all); !strings.HasPrefix(wrong, tc.want) {
				t.Errorf("%s, want %s", wrong, tc.want)
			}
		})
	}
}

func TestManyFilesAreRefused(t *testing.T) {
	var paths strings.Builder
	for i := range maxFiles + 1 {
		fmt.Fprintf(&paths, "  /%d: {$ref: %d.yaml}\n", i, i)
	}
	_, problems := Read("openapi.yaml", []byte("paths:\n"+paths.String()), func(string) ([]byte, error) { return []byte("get: {}\n"), nil })
	if len(problems) == 0 || !strings.Contains(problems.Error(), "more than 1000 files") {
		t.Errorf("%v", problems)
	}
	// Thirty files that each contain the next one twice would have a billion values.
	_, problems = Read("0.yaml", []byte("paths: {/a: {$ref: 1.yaml}}\n"), func(file string) ([]byte, error) {
		var n int
		_, err := fmt.Sscanf(file, "%d.yaml", &n)
		return fmt.Appendf(nil, "a: {$ref: %d.yaml}\nb: {$ref: %d.yaml}\n", n+1, n+1), err
	})
	if len(problems) == 0 || !strings.Contains(problems.Error(), "more than 2000000 values") {
		t.Errorf("%.500v", problems)
	}
}

func TestOnlyDocumentsInSeveralFilesAreJoined(t *testing.T) {
	for text, want := range map[string]bool{
		"$ref: a.yaml": true, `"$ref":"./a.json#/b"`: true, "$ref: '#/components/a'": false, `{"$ref": "#/a"}`: false, "a: b": false, "$ref:\n": false,
	} {
		if got := Needed([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
