package spec

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
	"weak"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var documents = []string{"../../../openapi.yaml", "../../../internal/faux/project/openapi.yaml", "../../../examples/notes/openapi.yaml"}

func TestPlainDocumentsAreReadAsTheLoaderReadsThem(t *testing.T) {
	for _, file := range documents {
		data := testfile.Read(t, file)
		got, err := loadPlain(newSource(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want, err := newLoader().LoadFromData(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the loader reads something else", file)
		}
	}
}

func TestPlainValuesAreReadAsTheLoaderReadsThem(t *testing.T) {
	plain := 0
	for _, value := range []string{
		"1", "1.0", "1.50", "-0", "1e3", "1E400", "0x1F", "017", "0o17", "1_000", ".5", "5.", "+1", ".inf", ".nan",
		"9007199254740993", "18446744073709551616", "true", "True", "TRUE", "yes", "on", "no", "null", "Null", "~", "",
		"2026-03-01", "2026-03-01T12:00:00Z", "12:30", "\"1\"", "'true'", "!!str 1", "!!int \"1\"", "&a 1", "[&a 1, *a]",
		"{a: 1, b: [x, null, {c: }]}", "{a: 1, a: 2}", "{1: a, 200: b}", "{0x10: a}", "{1.5: a}", "{true: a}", "{null: a}",
		"{2026-03-01: a}", "{? [a] : 1}", "{<<: {a: 1}}", "{\"\": 1}", "\"\\u00e9\\n\\x41\\/\"", "|\n  two\n  lines\n", ">-\n  a\n\n  b\n",
		"a: b: c", "[", "{$ref: x}", "é",
	} {
		data := []byte("openapi: 3.0.3\nx-value: " + value + "\n")
		got, err := loadPlain(newSource(data))
		if err != nil {
			continue
		}
		plain++
		want, err := newLoader().LoadFromData(data)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %v; the loader reads %v %v", value, got.Extensions, want, err)
		}
	}
	if plain < 20 {
		t.Errorf("only %d of these values are plain", plain)
	}
}

// The loader, which reads YAML 1.1, would change one of these values and reject the others.
func TestPlainValuesAreReadAsYAML12(t *testing.T) {
	for value, want := range map[string]string{`"\ud83d\ude00"`: "😀", "a\u2028b": "a\u2028b", "'a\u0085b'": "a\u0085b"} {
		got, err := loadPlain(newSource([]byte("openapi: 3.0.3\nx-value: " + value + "\n")))
		if err != nil || got.Extensions["x-value"] != want {
			t.Errorf("%+q is read as %v (%v), want %+q", value, got, err, want)
		}
	}
}

// A minified document has one line, so its mistakes need columns.
func TestMistakesInMinifiedDocumentsHaveColumns(t *testing.T) {
	const start = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{`
	for _, tc := range []struct{ name, text, at, what string }{
		{"a comma too many", start + `"responses":{"200":{"description":"é",}}}}}}`, `,}}}}}}`, "not JSON: invalid character ',' at start of value"},
		{"a name twice", start + `"operationId":"a","operationId":"b","responses":{}}}}}`, `"operationId":"a"`, `the name "operationId" stands twice`},
		{"the end is missing", start + `"responses":{`, ``, "ends before its value does"},
		{"text behind it", start + `"responses":{}}}}} x`, `x`, "text follows"},
		{"an unknown type", start + `"responses":{"200":{"description":"d","content":{"text/plain":{"schema":{"type":"strng"}}}}}}}}}`, `"schema"`, `"strng"`},
	} {
		_, problems := Read("api.json", []byte(tc.text))
		if len(problems) != 1 {
			t.Errorf("%s: %d problems, want one: %v", tc.name, len(problems), problems)
			continue
		}
		want := 1 + utf8.RuneCountInString(tc.text[:strings.LastIndex(tc.text, tc.at)])
		if p := problems[0]; p.Line != 1 || p.Column != want || !strings.Contains(p.What, tc.what) {
			t.Errorf("%s: %d:%d: %s, want line 1, column %d and %q", tc.name, p.Line, p.Column, p.What, want, tc.what)
		}
	}
}

// The loader has no lines for large documents in JSON.
func TestMistakesInLargeDocumentsInJSONHaveLines(t *testing.T) {
	filler := `"x-filler": "` + strings.Repeat("x", maxJSONWithLines) + "\",\n"
	text := "{\n" + filler + `"openapi": "3.0.3", "info": {"title": "t", "version": "1"},
"paths": {
"/a/{b}": {"get": {"parameters": [{"name": "b", "in": "path", "required": true, "schema": {}}], "responses": {"200": {"description": "d"}}}},
"/a/{c}": {"get": {"parameters": [{"name": "c", "in": "path", "required": true, "schema": {}}], "responses": {"200": {"description": "d"}}}}}}`
	doc, problems := Read("api.json", []byte(text))
	if problems != nil {
		t.Fatal(problems)
	}
	if notes := doc.Notes(); len(notes) != 1 || notes[0].Line != 5 && notes[0].Line != 6 || notes[0].Column != 1 {
		t.Errorf("the notes are %v, want one about conflicting paths in line 5 or 6", notes)
	}
	broken := strings.Replace(text, `"schema": {}`, `"schema": {"type": "strng"}`, 1)
	if _, problems := Read("api.json", []byte(broken)); len(problems) != 1 || problems[0].Line != 5 {
		t.Errorf("the problems are %v, want one in line 5", problems)
	}
}

// OpenAPI 3.2 has the method QUERY, and a place for all others.
func TestOperationsOfOpenAPI32(t *testing.T) {
	doc, problems := Read("api.yaml", []byte(`openapi: 3.2.0
info: {title: t, version: '1'}
paths:
  /notes:
    parameters: [{name: limit, in: query, schema: {type: integer}}]
    query: {responses: {'200': {description: d}}}
    additionalOperations:
      COPY: {responses: {'200': {description: d}}}
`))
	if problems != nil {
		t.Fatal(problems)
	}
	for method, line := range map[string]int{"QUERY": 6, "COPY": 8} {
		op, ok := doc.Operation(method, "/notes")
		if !ok {
			t.Errorf("the document has no operation %s", method)
			continue
		}
		if doc.Line(op.Ref) != line || len(op.Params) != 1 || doc.Line(op.Params[0].Ref) != 5 {
			t.Errorf("%s is in line %d with the parameters %v, want line %d and the parameter of line 5", op, doc.Line(op.Ref), op.Params, line)
		}
	}
}

// The loader's tree needs several times the memory of everything else.
func TestADocumentDoesNotKeepTheTreeAlive(t *testing.T) {
	doc, problems := Read("openapi.yaml", testfile.Read(t, documents[0]))
	if problems != nil {
		t.Fatal(problems)
	}
	tree := weak.Make(doc.Tree)
	doc.Tree = nil
	runtime.GC()
	if tree.Value() != nil {
		t.Error("something still refers to the loader's tree")
	}
	if doc.Notes() != nil || len(doc.Operations()) == 0 {
		t.Error("the document has notes, or no operations")
	}
}
