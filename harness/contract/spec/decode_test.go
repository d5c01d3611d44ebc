package spec

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

// sameAsLoader reads a document with decode, and with the loader's own methods.
func sameAsLoader(t *testing.T, name string, text []byte) {
	t.Helper()
	got, err := decode(text)
	if err != nil {
		t.Errorf("%s: decode: %v", name, err)
		return
	}
	want := new(openapi3.T)
	if err := want.UnmarshalJSON(text); err != nil {
		t.Fatalf("%s: the loader: %v", name, err)
	}
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("%s: decode reads it differently from the loader (-loader +decode):\n%s", name, diff)
	}
}

// Each row has what one decoder could read otherwise than the loader does.
var oddDocuments = map[string]string{
	"members of every kind": `{"openapi":"3.1.0","x-a":1,"unknown":[1],"info":{"title":"t","x-i":{"a":null}},"tags":[{"name":"a"}],
		"servers":[{"url":"/v1"}],"webhooks":{"w":{"post":{}}},"security":[{"key":[]}],"paths":{}}`,
	"a path with everything": `{"paths":{"x-p":{"a":1},"/a":{"$ref":"#/x","summary":"s","x-i":0,"parameters":[{"name":"q","in":"query","x-q":1,
		"schema":{"type":["string","null"]}},{"x-first":1,"$ref":"#/components/parameters/P","description":"d"}],
		"get":{"operationId":"g","x-o":[],"deprecated":true,"requestBody":{"$ref":"#/r"},"responses":{"x-r":2,"default":{"$ref":"#/d"},
		"200":{"description":"d","x-empty":true,"headers":{"H":{"schema":true,"x-h":1},"R":{"$ref":"#/h"}},
		"content":{"a/b":{"x-events":{"events":{}},"schema":{},"itemSchema":false,"example":null,"examples":{"e":{"value":{"a":[1.5,1e3]}},"r":{"$ref":"#/e"}},
		"encoding":{"f":{"contentType":"a"}}}}}},"callbacks":{"c":{"{$url}":{"post":{}}}}}}}}`,
	"schemas": `{"components":{"x-c":1,"schemas":{"true":true,"false":false,"empty":{},
		"object":{"type":"object","properties":{"$ref":{"type":"string"},"a":{"$ref":"#/s"}},"additionalProperties":{},"x-s":1,"proprties":{}},
		"closed":{"additionalProperties":false},"of":{"additionalProperties":{"$ref":"#/s"},"unevaluatedProperties":true},
		"null":null,"numbers":{"exclusiveMinimum":true,"exclusiveMaximum":5,"minimum":1,"multipleOf":0.5,"maxItems":3,"enum":[1,"a",null],"const":{"a":1}},
		"siblings":{"description":"d","$ref":"#/s","x-e":1,"minLength":2},"nothing":{"$ref":""},"wrong":{"$ref":7},
		"parts":{"allOf":[{"$ref":"#/a"},{"required":["a"]}],"oneOf":[],"not":{"type":"null"},"$defs":{"d":{}},"if":{},"prefixItems":[true],
		"dependentRequired":{"a":["b"]},"discriminator":{"propertyName":"t","mapping":{"a":"#/a"}}}}}}`,
}

func TestDecodeReadsWhatTheLoaderReads(t *testing.T) {
	for name, text := range oddDocuments {
		sameAsLoader(t, name, []byte(text))
	}
	text, err := os.ReadFile(filepath.FromSlash("../../../openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	plain, ok := newSource(text).read().PlainJSON()
	if !ok {
		t.Fatal("openapi.yaml is not plain")
	}
	sameAsLoader(t, "openapi.yaml", plain)
}

func TestDecodeRejectsWhatTheLoaderRejects(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{"openapi":3}`, `{"paths":[]}`, `{"paths":{"/a":{"get":[]}}}`, `{"paths":{"/a":{"get":{"responses":[]}}}}`,
		`{"components":{"schemas":{"a":[]}}}`, `{"components":{"schemas":{"a":{"additionalProperties":7}}}}`,
		`{"components":{"schemas":{"a":{"type":7}}}}`, `{"components":{"schemas":{"a":{"minLength":"7"}}}}`, `{"paths":{}} {}`, `{"paths":{}`,
		`{"components":{"schemas":{"a":{"$ref":"#/b","minLength":"7"}`,
	} {
		if _, err := decode([]byte(text)); err == nil {
			t.Errorf("decode(%s) has no error", text)
		}
		if err := new(openapi3.T).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("the loader accepts %s", text)
		}
	}
}
