package contract

import (
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
)

var petSchemas = func() string {
	data, err := os.ReadFile("schema/testdata/pets.yaml")
	if err != nil {
		panic(err)
	}
	return string(data)
}()

// TestSchemas checks values against schemas. It wants the place and kind of each violation.
func TestSchemas(t *testing.T) {
	for _, tc := range []struct {
		schema string
		values []string // "value → violations"
	}{
		{`{}`, []string{`null`, `1`, `{"a":{"b":1}}`, `[null]`}},
		{`{type: string}`, []string{`""`, `null → body type`, `1 → body type`, `true → body type`, `[] → body type`, `{} → body type`}},
		{`{type: boolean}`, []string{`true`, `false`, `0 → body type`, `"true" → body type`}},

		// Numbers keep their digits.
		{`{type: integer}`, []string{`1`, `-0`, `9007199254740993`, `123456789012345678901234567890`,
			`1.0 → body type`, `1e2 → body type`, `1e400 → body type`, `1.5 → body type`, `"1" → body type`}},
		{`{type: number}`, []string{`1`, `1.5`, `1e400`, `-1E-400`, `null → body type`}},
		{`{type: integer, format: int32}`, []string{`2147483647`, `-2147483648`, `2147483648 → body format`, `1.0 → body type`}},
		{`{type: integer, format: int64}`, []string{`9223372036854775807`, `9223372036854775808 → body format`,
			`-9223372036854775809 → body format`}},
		{`{type: number, format: double}`, []string{`1e308`, `1e400 → body format`}},
		{`{type: number, format: float}`, []string{`1e38`, `1e39 → body format`}},
		{`{type: integer, enum: [9007199254740993, 1]}`, []string{`9007199254740993`, `1`, `2 → body enum`}},
		{`{type: number, enum: [1, 0.1]}`, []string{`1`, `1.00`, `1e0`, `10e-2`, `0.10000000000000001 → body enum`}},
		{`{type: integer, maximum: 9223372036854775807}`, []string{`9223372036854775807`, `99999999999999999999 → body range`}},
		{`{type: number, minimum: 0.1}`, []string{`0.1`, `0.09999999999999999999999 → body range`, `1e400`, `-1e400 → body range`}},
		{`{type: number, minimum: 0, exclusiveMinimum: true}`, []string{`1e-400`, `0 → body range`, `-0.0 → body range`}},
		{`{type: number, maximum: 2}`, []string{`2.0`, `2.0000000000000000000001 → body range`}},
		{`{type: number, multipleOf: 3}`, []string{`0`, `9`, `-9`, `1e400 → body multiple-of`, `3e400`, `4 → body multiple-of`}},
		{`{type: number, multipleOf: 0.1}`, []string{`0.3`, `1e999999999999`, `0.35 → body multiple-of`}},

		{`{type: string, maxLength: 2}`, []string{`"äö"`, `"𝄞𝄞"`, `"abc" → body length`}},
		{`{type: string, pattern: '^\u00e4$'}`, []string{`"ä"`, `"a" → body pattern`}},
		{`{type: string, pattern: 'b'}`, []string{`"abc"`, `"ac" → body pattern`}}, // a pattern is not anchored
		{`{type: string, pattern: '(?=a)'}`, []string{`"b"`}},                      // RE2 does not support this pattern; it is listed as unjudged
		{`{type: string, format: date-time}`, []string{`"2006-01-02T15:04:05Z"`, `"2006-01-02t15:04:05.123+01:00"`,
			`"2016-12-31T23:59:60Z"`, `"2006-01-02 15:04:05Z" → body format`, `"2006-02-31T15:04:05Z" → body format`,
			`"2006-01-02T15:04:05" → body format`, `"2006-01-02T5:04:05Z" → body format`, `"2006-01-02T15:04:05,1Z" → body format`}},
		{`{type: string, format: byte}`, []string{`""`, `"YQ=="`, `"YQ"`, `"-_8="`, `"a b" → body format`}},
		{`{type: string, format: uuid}`, []string{`"01890a5d-ac96-774b-bcce-b302099a8057"`, `"x" → body format`}},
		{`{type: string, format: email}`, []string{`"a@b"`, `"a" → body format`}},
		{`{type: string, format: uri}`, []string{`"urn:x"`, `"/a" → body format`}},
		{`{type: string, format: ipv4}`, []string{`"127.0.0.1"`, `"::1" → body format`}},
		{`{type: string, format: ipv6}`, []string{`"::1"`, `"127.0.0.1" → body format`}},
		{`{type: string, format: hostname}`, []string{`"!"`}}, // not checked

		{`{type: string, nullable: true}`, []string{`null`, `"a"`, `1 → body type`}},
		{`{type: string, nullable: true, enum: [a]}`, []string{`null`, `"a"`, `"b" → body enum`}},
		{`{enum: [a]}`, []string{`"a"`, `null → body type`}},
		{`{enum: [a, null]}`, []string{`"a"`, `null`}},
		{`{properties: {a: {}}}`, []string{`null`, `1`, `{"a":null}`}},
		{`{$ref: '#/components/schemas/Maybe'}`, []string{`null`}},
		{`{allOf: [{$ref: '#/components/schemas/Maybe'}]}`, []string{`null`}},
		{`{allOf: [{$ref: '#/components/schemas/Stone'}]}`, []string{`null → body type`}},
		{`{nullable: true, allOf: [{$ref: '#/components/schemas/Stone'}]}`, []string{`null`, `{}`}},
		{`{oneOf: [{type: string}, {type: integer, nullable: true}]}`, []string{`null`, `1`, `"a"`}},
		{`{oneOf: [{type: string, nullable: true}, {type: integer, nullable: true}]}`, []string{`null → body type`}},
		{`{anyOf: [{type: string, nullable: true}, {type: integer, nullable: true}]}`, []string{`null`}},
		{`{not: {type: string}}`, []string{`null`}},

		{`{type: array, items: {type: integer}}`, []string{`[]`, `[1,2]`, "[1,\"a\",null] → body/1 type\nbody/2 type", `{} → body type`}},
		{`{type: array, items: {}, minItems: 1, maxItems: 2}`, []string{`[null]`, `[] → body item-count`, `[1,2,3] → body item-count`}},
		{`{type: array, items: {}, uniqueItems: true}`, []string{`[[1],[2]]`, `[{"a":1,"b":2},{"a":1}]`, `["1",1]`, `[null,false]`,
			`[{"a":1,"b":[2.0]},{"b":[2],"a":1}] → body unique-items`, `[1,10e-1] → body unique-items`}},

		{`{type: object}`, []string{`{}`, `{"a":{"b":[]}}`}}, // free-form
		{`{type: object, additionalProperties: true}`, []string{`{"a":1}`}},
		{`{type: object, additionalProperties: false}`, []string{`{}`, `{"a":1} → body/a forbidden-field`}},
		{`{type: object, additionalProperties: {type: integer}}`, []string{`{"a":1}`, `{"a":"1"} → body/a type`}},
		{`{type: object, properties: {a: {type: integer}}}`, []string{`{}`, `{"a":1}`, `{"A":1} → body/A undocumented-field`,
			`{"a":"1","b":{"c":1}} → body/a type` + "\n" + `body/b undocumented-field`}},
		{`{type: object, properties: {a: {}}, additionalProperties: true}`, []string{`{"b":1}`}},
		{`{type: object, properties: {a: {}}, additionalProperties: {type: string}}`, []string{`{"a":1,"b":"x"}`, `{"b":1} → body/b type`}},
		{`{type: object, properties: {a/b: {type: string}, c~d: {type: string}}}`, []string{`{"a/b":1,"c~d":2} → body/a~1b type` + "\nbody/c~0d type"}},
		{`{type: object, required: [a, b]}`, []string{`{"a":1,"b":2}`, `{} → body/a missing-field` + "\nbody/b missing-field"}},
		{`{type: object, minProperties: 1}`, []string{`{"a":1}`, `{} → body field-count`}},
		{`{$ref: '#/components/schemas/Tree'}`, []string{`{"value":1,"children":[{"children":[{"value":2}]}]}`,
			`{"children":[{"children":[{"value":"2","x":1}]}]} → body/children/0/children/0/value type` + "\nbody/children/0/children/0/x undocumented-field"}},
		{`{$ref: '#/components/schemas/Old'}`, []string{`{"id":"1"}`, `{"pw":"1"} → body/pw write-only`}},

		// allOf: a field is documented if any part names it, at every level.
		{`{allOf: [{$ref: '#/components/schemas/Named'}, {$ref: '#/components/schemas/Aged'}]}`, []string{
			`{"name":"a","age":1,"at":{"x":1,"y":1}}`,
			`{"name":"a","age":1,"at":{"z":1}} → body/at/z undocumented-field`,
			`{"name":1,"x":1} → body/age missing-field` + "\nbody/name type\nbody/x undocumented-field"}},
		{`{allOf: [{$ref: '#/components/schemas/Named'}, {additionalProperties: true}]}`, []string{`{"name":"a","x":1}`}},
		{`{allOf: [{$ref: '#/components/schemas/Stone'}, {$ref: '#/components/schemas/Named'}]}`, []string{
			`{"name":"a","x":1} → body/x undocumented-field`}}, // "any object" names no field
		{`{allOf: [{$ref: '#/components/schemas/Old'}, {required: [pw]}]}`, []string{`{}`}}, // write-only in another part

		// oneOf without a discriminator: the violations of the closest alternative.
		{`{oneOf: [{$ref: '#/components/schemas/Named'}, {$ref: '#/components/schemas/Aged'}]}`, []string{
			`{"name":"a"}`, `{"age":1}`, `{"name":"a","at":{"y":1}} → body/at/y undocumented-field`,
			`{"name":"a","age":1} → body one-of`, `{"name":1} → body/name type`, `{"age":"1"} → body/age type`, `1 → body type`}},
		{`{oneOf: [{type: object, required: [a, b, c], properties: {t: {enum: [one]}, a: {}}}, {type: string}]}`, []string{
			`{"t":"one","a":1} → body/b missing-field` + "\nbody/c missing-field"}}, // never the string
		{`{oneOf: [{type: object, required: [t], properties: {t: {enum: [one]}, a: {type: integer}}}, {type: object, required: [t], properties: {t: {enum: [two]}, b: {type: integer}, c: {type: integer}}}]}`, []string{
			`{"t":"one","a":1}`, `{"t":"two","b":"1","c":"2"} → body/b type` + "\nbody/c type", `{"t":"three"} → body/t enum`}},
		{`{oneOf: [{type: integer}]}`, []string{`1`, `"a" → body type`}},
		{`{$ref: '#/components/schemas/Self'}`, []string{`"a" → body one-of`, `1`}}, // as contradictory as the schema itself

		// anyOf: all alternatives that match name fields.
		{`{anyOf: [{$ref: '#/components/schemas/Named'}, {$ref: '#/components/schemas/Aged'}]}`, []string{
			`{"name":"a","age":1,"at":{"x":1,"y":1}}`, `{"name":"a","age":"1"} → body/age undocumented-field`, `{} → body/name missing-field`}},
		{`{type: object, properties: {z: {}}, anyOf: [{$ref: '#/components/schemas/Named'}]}`, []string{`{"name":"a","z":1}`}},

		// Discriminators.
		{`{oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind, mapping: {hound: Dog}}}`, []string{
			`{"kind":"Cat","lives":7}`, `{"kind":"hound","bark":true}`, `{"kind":"Dog"} → body/bark missing-field`,
			`{"kind":"Cat","bark":true} → body/bark undocumented-field`, `{"kind":"Cow","x":1} → body/kind discriminator`,
			`{} → body/kind discriminator`, `{"kind":1} → body/kind discriminator`, `"Cat" → body type`}},
		// Alternatives that name themselves, and one that does not: then the discriminator says nothing.
		{`{oneOf: [{type: object, required: [t], properties: {t: {type: string, enum: [one]}, a: {type: integer}}}, {allOf: [{type: object, properties: {b: {type: integer}}}, {properties: {t: {enum: [two]}}}]}], discriminator: {propertyName: t}}`, []string{
			`{"t":"one","a":1}`, `{"t":"one","a":"1"} → body/a type`, `{"t":"two","b":1}`, `{"t":"two","b":"1"} → body/b type`,
			`{"t":"three"} → body/t discriminator`, `{} → body/t discriminator`}},
		{`{oneOf: [{type: object, required: [t], properties: {t: {enum: [one]}}}, {type: object, required: [b], properties: {t: {}, b: {}}}], discriminator: {propertyName: t}}`, []string{
			`{"t":"one"}`, `{"t":"any","b":1}`, `{"t":"one","b":1} → body one-of`}},
		{`{$ref: '#/components/schemas/Pet'}`, []string{
			`{"kind":"Cat","lives":7}`, `{"kind":"Cat","lives":"7"} → body/lives type`, `{"kind":"hound"} → body/bark missing-field`,
			`{"kind":"Puppy","bark":true,"age":1}`, `{"kind":"Pet","lives":7} → body/lives undocumented-field`, `{} → body/kind missing-field`,
			`{"kind":"Cow","x":1} → body/kind discriminator`, `{"kind":"Stone"}`, `1 → body type`}},
		{`{$ref: '#/components/schemas/Car'}`, []string{ // a mapping that names the schema itself, or leads back to it
			`{"make":"own"}`, `{"make":"own","seats":1} → body/seats undocumented-field`, `{"make":"far","seats":1}`, `{"make":"far","seats":"1"} → body/seats type`,
			`{"make":"Bus","stops":"1"} → body/stops type`, `{"make":"none"}`}},
		// Alternatives that include, by allOf, the schema that lists them.
		{`{$ref: '#/components/schemas/Plant'}`, []string{
			`{"fronds":1}`, `{"cushions":1}`, `{"taste":"good"}`, `{"taste":1} → body/taste type`, `{"fronds":1,"cushions":1} → body one-of`}},
		{`{$ref: '#/components/schemas/Moss'}`, []string{`{"cushions":1}`, `{} → body/cushions missing-field`, `{"cushions":1,"leaves":"1"} → body/leaves type`}},
		{`{oneOf: [{$ref: '#/components/schemas/Fern'}, {$ref: '#/components/schemas/Moss'}]}`, []string{`{"cushions":1}`, `{"fronds":1}`, `{"fronds":"1"} → body/fronds type`}},
		{`{$ref: '#/components/schemas/Cat'}`, []string{`{"kind":"Dog","lives":1}`, `{"kind":"Cat","bark":true} → body/bark undocumented-field`}},
	} {
		d := parse(t, sample.Returning(tc.schema, petSchemas))
		for _, row := range tc.values {
			value, want, _ := strings.Cut(row, " → ")
			if got := short(d.Check(sample.JSONResponse(value))); got != want {
				t.Errorf("%s of %s:\n%s\nwant\n%s", value, tc.schema, got, want)
			}
		}
	}
}

func TestUndocumentedFieldsCanBeAllowed(t *testing.T) {
	d, err := Parse([]byte(sample.Returning(`{type: object, properties: {a: {}}}`)), &Options{AllowUndocumentedFields: true})
	if err != nil {
		t.Fatal(err)
	}
	if vs := d.Check(sample.JSONResponse(`{"b":1}`)); len(vs) > 0 {
		t.Errorf("Check: %s", long(vs))
	}
}

func TestRequestsMayHaveUnknownFields(t *testing.T) {
	d := parse(t, sample.Taking(`{type: object, properties: {a: {type: integer}}}`))
	if vs := d.Check(sample.JSONRequest(`{"a":1,"b":1}`)); len(vs) > 0 {
		t.Errorf("Check: %s", long(vs))
	}
}

func TestTheClosestAlternativeIsNamed(t *testing.T) {
	d := parse(t, sample.Returning(`{oneOf: [{$ref: '#/components/schemas/Named'}, {$ref: '#/components/schemas/Aged'}]}`, petSchemas))
	vs := d.Check(sample.JSONResponse(`{"age":1.5,"x":1}`))
	const want = "1.5 stands here; an integer is wanted, which OpenAPI 3.0 writes without fraction and exponent"
	if len(vs) != 2 || vs[0].Text != want || vs[0].Schema != "#/components/schemas/Aged/properties/age" {
		t.Errorf("Check: %s", long(vs))
	}
	vs = d.Check(sample.JSONResponse(`{}`))
	if len(vs) != 1 || !strings.HasSuffix(vs[0].Text, "(of 2 alternatives the closest is #/components/schemas/Named)") {
		t.Errorf("Check: %s", long(vs))
	}
}
