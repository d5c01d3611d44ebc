package schema

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Each line is a schema of JSON Schema 2020-12, the values that match it, and those that do not.
var dialect = []struct {
	schema    string
	good, bad []string
}{
	{`true`, []string{`null`, `1`, `{}`}, nil},
	{`false`, nil, []string{`null`, `1`, `{}`}},
	{`{"type": ["string", "null"]}`, []string{`"a"`, `null`}, []string{`1`, `[]`}},
	{`{"type": "null"}`, []string{`null`}, []string{`0`, `""`}},
	{`{"type": ["string", "null"], "enum": ["a"]}`, []string{`"a"`}, []string{`null`, `"b"`}},
	{`{"type": ["integer", "string"]}`, []string{`1`, `1.0`, `1e2`, `"a"`}, []string{`1.5`, `null`}},
	{`{"type": ["integer", "number"]}`, []string{`1`, `1.5`}, []string{`"1"`}},
	{`{"const": {"a": [1, null]}}`, []string{`{"a":[1.0,null]}`}, []string{`{"a":[1]}`, `null`}},
	{`{"const": 1, "enum": [1, 2]}`, []string{`1`}, []string{`2`, `3`}},
	{`{"const": 3, "enum": [1, 2]}`, nil, []string{`1`, `3`}},
	{`{"exclusiveMinimum": 1, "exclusiveMaximum": 3}`, []string{`2`, `"x"`}, []string{`1`, `3`, `1.0`}},
	{`{"minimum": 2, "exclusiveMinimum": 1}`, []string{`2`}, []string{`1.5`}},
	{`{"prefixItems": [{"type": "string"}, {"type": "integer"}]}`, []string{`[]`, `["a"]`, `["a",1,null]`, `{}`}, []string{`[1]`, `["a","b"]`}},
	{`{"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}`, []string{`["a",1,2]`}, []string{`["a","b"]`, `["a",1,"b"]`}},
	{`{"prefixItems": [{"type": "string"}], "items": false}`, []string{`["a"]`, `[]`}, []string{`["a",1]`}},
	{`{"allOf": [{"prefixItems": [{"type": "string"}]}, {"items": {"minLength": 2}}]}`, []string{`["ab",1]`}, []string{`["a"]`, `[1]`, `["ab","c"]`}},
	{`{"contains": {"type": "integer"}}`, []string{`[1]`, `["a",1]`, `{}`}, []string{`[]`, `["a"]`}},
	{`{"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}`, []string{`[1,2]`, `[1,2,3,"a"]`}, []string{`[1]`, `[1,2,3,4]`}},
	{`{"contains": {"type": "integer"}, "minContains": 0}`, []string{`[]`, `["a"]`}, nil},
	{`{"patternProperties": {"^x": {"type": "integer"}}}`, []string{`{"x":1,"y":"a"}`, `[]`}, []string{`{"xa":"a"}`}},
	{`{"properties": {"xa": {"minimum": 2}}, "patternProperties": {"^x": {"type": "integer"}}}`, []string{`{"xa":2}`}, []string{`{"xa":1}`, `{"xa":"a"}`}},
	{`{"properties": {"a": {}}, "patternProperties": {"^x": {}}, "additionalProperties": false}`, []string{`{"a":1,"xy":2}`}, []string{`{"b":1}`}},
	{`{"patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}}`, []string{`{"x":1,"y":"a"}`}, []string{`{"y":1}`}},
	{`{"propertyNames": {"maxLength": 2}}`, []string{`{"ab":1}`, `{}`, `[]`}, []string{`{"abc":1}`}},
	{`{"dependentRequired": {"a": ["b", "c"]}}`, []string{`{}`, `{"b":1}`, `{"a":1,"b":2,"c":3}`, `[]`}, []string{`{"a":1}`, `{"a":1,"b":2}`}},
	{`{"dependentSchemas": {"a": {"required": ["b"], "properties": {"b": {"type": "integer"}}}}}`, []string{`{"b":"x"}`, `{"a":1,"b":2}`}, []string{`{"a":1}`, `{"a":1,"b":"x"}`}},
	{`{"if": {"properties": {"k": {"const": "n"}}, "required": ["k"]}, "then": {"required": ["n"]}, "else": {"required": ["t"]}}`,
		[]string{`{"k":"n","n":1}`, `{"k":"x","t":1}`, `{"t":1}`, `5`}, []string{`{"k":"n"}`, `{"k":"x"}`, `{}`}},
	{`{"if": {"type": "null"}, "then": true, "else": {"type": "string"}}`, []string{`null`, `"a"`}, []string{`1`}},
	{`{"if": {"type": "null"}, "then": false}`, []string{`"a"`, `1`}, []string{`null`}},
	{`{"then": false, "else": false}`, []string{`1`, `null`}, nil},
	{`{"properties": {"a": {}}, "unevaluatedProperties": false}`, []string{`{"a":1}`, `{}`, `1`}, []string{`{"b":1}`, `{"a":1,"b":1}`}},
	{`{"allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "unevaluatedProperties": false}`, []string{`{"a":1,"b":1}`}, []string{`{"c":1}`}},
	{`{"allOf": [{"properties": {"a": {}}, "unevaluatedProperties": false}], "properties": {"b": {}}}`, []string{`{"a":1}`}, []string{`{"a":1,"b":1}`}},
	{`{"anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}], "unevaluatedProperties": false}`,
		[]string{`{"a":1}`, `{"b":1}`, `{"a":1,"b":1}`}, []string{`{"a":"x","b":1}`, `{"a":1,"c":1}`}},
	{`{"if": {"required": ["k"], "properties": {"k": {}}}, "then": {"properties": {"n": {}}}, "unevaluatedProperties": false}`, []string{`{"k":1,"n":1}`, `{}`}, []string{`{"n":1}`}},
	{`{"properties": {"a": {}}, "unevaluatedProperties": {"type": "integer"}}`, []string{`{"a":"x","b":1}`}, []string{`{"b":"x"}`}},
	{`{"dependentSchemas": {"a": {"properties": {"b": {}}}}, "properties": {"a": {}}, "unevaluatedProperties": false}`, []string{`{"a":1,"b":1}`}, []string{`{"b":1}`}},
	{`{"additionalProperties": true, "unevaluatedProperties": false}`, []string{`{"a":1}`}, nil},
	{`{"prefixItems": [{}], "unevaluatedItems": false}`, []string{`[1]`, `[]`}, []string{`[1,2]`}},
	{`{"prefixItems": [{}], "contains": {"type": "string"}, "unevaluatedItems": false}`, []string{`[1,"a"]`}, []string{`[1,"a",2]`}},
	{`{"allOf": [{"prefixItems": [{}, {}]}], "unevaluatedItems": {"type": "string"}}`, []string{`[1,2,"a"]`}, []string{`[1,2,3]`}},
	{`{"items": {"$ref": "#/$defs/word", "maxLength": 2}, "$defs": {"word": {"type": "string"}}}`, []string{`["ab"]`}, []string{`[1]`, `["abc"]`}},
	{`{"oneOf": [{"type": "null"}, {"type": "array", "items": {"type": ["integer", "null"]}}]}`, []string{`null`, `[1,null]`}, []string{`["a"]`, `1`}},
	{`{"not": {"prefixItems": [{"const": 1}], "minItems": 1}}`, []string{`[2]`, `[]`}, []string{`[1]`, `5`}},
}

// TestDialectIsThatOfJSONSchema2020 judges each value twice: by this package, and by a library for JSON Schema.
func TestDialectIsThatOfJSONSchema2020(t *testing.T) {
	for _, tc := range dialect {
		text := strings.ReplaceAll(tc.schema, "#/$defs/", "#/components/schemas/A/$defs/")
		doc, err := openapi3.NewLoader().LoadFromData([]byte(`{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}, "components": {"schemas": {"A": ` + text + `}}}`))
		if err != nil {
			t.Fatalf("%s: %v", tc.schema, err)
		}
		s := compile(t, doc)["A"]
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(tc.schema))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("a.json", parsed); err != nil {
			t.Fatal(err)
		}
		library, err := compiler.Compile("a.json")
		if err != nil {
			t.Fatal(err)
		}
		for i, value := range append(tc.good, tc.bad...) {
			want := i < len(tc.good)
			instance, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
			if err != nil {
				t.Fatal(err)
			}
			if got := library.Validate(instance) == nil; got != want {
				t.Errorf("the test is wrong: the library says that %s matches %s: %t", value, tc.schema, got)
			}
			n, _, err := jsontree.Parse([]byte(value))
			if err != nil {
				t.Fatal(err)
			}
			found := NewJudge(ToClient, false, 10).Judge(n, s)
			if got := len(found) == 0; got != want {
				t.Errorf("%s matches %s: %t, want %t: %v", value, tc.schema, got, want, found)
			}
			var m measurer
			if got := m.distance(n, s) == 0; got != want {
				t.Errorf("the distance of %s to %s is 0: %t, want %t", value, tc.schema, got, want)
			}
		}
	}
}

func TestFieldsThatThisDialectNamesAreDocumented(t *testing.T) {
	for text, undocumented := range map[string]int{
		`{"properties": {"a": {}}, "patternProperties": {"^x": {}}}`:                                      1,
		`{"properties": {"a": {}}, "patternProperties": {"(?=x)": {}}}`:                                   0,
		`{"properties": {"a": {}}, "if": {"required": ["b"]}, "then": {"properties": {"b": {}}}}`:         1,
		`{"properties": {"a": {}}, "unevaluatedProperties": {"type": "integer"}}`:                         0,
		`{"properties": {"a": {}}, "dependentSchemas": {"b": {"properties": {"b": {}, "xc": {}}}}}`:       0,
		`{"anyOf": [{"properties": {"a": {}}}, {"required": ["zz"], "properties": {"b": {}, "xc": {}}}]}`: 2,
		`{"properties": {"a": {}}, "unevaluatedProperties": true}`:                                        2,
	} {
		doc, err := openapi3.NewLoader().LoadFromData([]byte(`{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}, "components": {"schemas": {"A": ` + text + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		n, _, _ := jsontree.Parse([]byte(`{"a":1,"b":2,"xc":3}`))
		found := NewJudge(ToClient, true, 10).Judge(n, compile(t, doc)["A"])
		if len(found) != undocumented {
			t.Errorf("%s: %d findings, want %d: %v", text, len(found), undocumented, found)
		}
	}
}
