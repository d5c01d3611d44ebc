package contract

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// quickly fails when something takes far too long even for the slowest machine. The mistakes that these tests guard
// against would take hours.
func quickly(t *testing.T, what string, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("%s took %s", what, took)
	}
}

func TestHostileDocumentsEndQuickly(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	deepSchema := strings.Repeat("{type: array, items: ", 100_000) + "{}" + strings.Repeat("}", 100_000)
	var indented strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&indented, "%*sa:\n", i, "")
	}
	for name, doc := range map[string]string{
		"brackets":      strings.Repeat("[", 100_000),
		"braces":        strings.Repeat(`{"a":`, 100_000),
		"a deep schema": sample.Returning(deepSchema),
		"indentation":   indented.String(),
		"dashes":        strings.Repeat("- ", 100_000),
		"aliases":       laughs,
		"NUL":           "\x00",
		"bytes":         string(bytes.Repeat([]byte{0xff}, 1000)),
		"a tab":         "openapi:\t\t3.0.3",
		"a long line":   "openapi: " + strings.Repeat("x", 1<<20),
	} {
		quickly(t, name, func() {
			if _, err := Parse([]byte(doc), nil); err == nil {
				t.Errorf("%s: Parse takes it", name)
			}
		})
	}
}

func TestSchemasThatLeadBackToThemselvesEnd(t *testing.T) {
	const schemas = `
    A: {allOf: [{$ref: '#/components/schemas/B'}]}
    B: {allOf: [{$ref: '#/components/schemas/A'}, {type: object}]}
    C: {anyOf: [{$ref: '#/components/schemas/D'}, {type: string}]}
    D: {oneOf: [{$ref: '#/components/schemas/C'}, {$ref: '#/components/schemas/D'}, {type: integer}]}
    E: {not: {$ref: '#/components/schemas/E'}}
    F: {type: object, properties: {f: {$ref: '#/components/schemas/F'}}, required: [f]}
    G:
      oneOf: [{$ref: '#/components/schemas/H'}]
      discriminator: {propertyName: t}
    H: {allOf: [{$ref: '#/components/schemas/G'}, {type: object, properties: {t: {type: string}}}]}
    I: {type: object, discriminator: {propertyName: t}, allOf: [{$ref: '#/components/schemas/J'}]}
    J: {type: object, discriminator: {propertyName: t}, allOf: [{$ref: '#/components/schemas/I'}]}
    K: {type: object, discriminator: {propertyName: t, mapping: {k: '#/components/schemas/K'}}}
    L: {type: object, discriminator: {propertyName: t, mapping: {k: '#/components/schemas/M'}}}
    M: {type: object, discriminator: {propertyName: t, mapping: {k: '#/components/schemas/N'}}}
    N: {type: object, discriminator: {propertyName: t, mapping: {k: '#/components/schemas/M'}}}
    O: {oneOf: [{$ref: '#/components/schemas/K'}, {$ref: '#/components/schemas/L'}]}
`
	for _, name := range strings.Split("ABCDEFGHIJKLMNO", "") {
		d := parse(t, sample.Returning("{$ref: '#/components/schemas/"+name+"'}", schemas))
		for _, value := range []string{`null`, `1`, `1.5`, `"a"`, `{}`, `[]`, `{"t":"H"}`, `{"t":"I"}`, `{"t":"J"}`, `{"t":"K"}`, `{"t":"k"}`, `{"f":{"f":{}}}`} {
			quickly(t, name+" "+value, func() { d.Check(sample.JSONResponse(value)) })
		}
	}
}

// Each level doubles the number of ways to the next level, so each value must be checked only once.
func TestAlternativesWithinAlternativesAreLinear(t *testing.T) {
	d := parse(t, sample.Returning("{$ref: '#/components/schemas/N'}", `
    N:
      oneOf:
        - {type: object, required: [a], properties: {a: {}, n: {$ref: '#/components/schemas/N'}}}
        - {type: object, required: [b], properties: {b: {}, n: {$ref: '#/components/schemas/N'}}}
        - {type: object, properties: {n: {$ref: '#/components/schemas/M'}}, required: [c]}
    M:
      anyOf: [{$ref: '#/components/schemas/N'}, {allOf: [{$ref: '#/components/schemas/N'}, {type: object}]}]
`))
	for _, field := range []string{`"a":1`, `"b":1`, `"x":1`, `"a":1,"b":2`} {
		deep := strings.Repeat(`{`+field+`,"n":`, 5000) + `{}` + strings.Repeat("}", 5000)
		quickly(t, field, func() { d.Check(sample.JSONResponse(deep)) })
	}
}

// When a document and a body are both nested deeply, the depths multiply. The recursion must end before the stack does.
func TestDepthTimesDepthIsBounded(t *testing.T) {
	var chain strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&chain, "    A%d: {oneOf: [{$ref: '#/components/schemas/A%d'}, {type: string}]}\n", i, i+1)
	}
	d := parse(t, sample.Returning("{$ref: '#/components/schemas/A0'}", chain.String()+"    A1000: {type: array, items: {$ref: '#/components/schemas/A0'}}"))
	quickly(t, "depth times depth", func() {
		vs := d.Check(sample.JSONResponse(strings.Repeat("[", 9999) + strings.Repeat("]", 9999)))
		if got := short(vs); got != "body more" {
			t.Errorf("Check: %s", long(vs))
		}
	})
	if vs := d.Check(sample.JSONResponse(`[[],[[]]]`)); len(vs) > 0 {
		t.Errorf("Check of a shallow value: %s", long(vs))
	}
}

// Combinations that share their members must not multiply either.
func TestSharedPartsAreVisitedOnce(t *testing.T) {
	var all, anyOf strings.Builder
	for i := range 40 {
		fmt.Fprintf(&all, "    A%d: {allOf: [{$ref: '#/components/schemas/A%d'}, {$ref: '#/components/schemas/A%[2]d'}]}\n", i, i+1)
		fmt.Fprintf(&anyOf, "    B%d: {anyOf: [{$ref: '#/components/schemas/B%d'}, {oneOf: [{$ref: '#/components/schemas/B%[2]d'}]}]}\n", i, i+1)
	}
	d := parse(t, sample.Returning("{oneOf: [{$ref: '#/components/schemas/A0'}, {$ref: '#/components/schemas/B0'}]}",
		all.String()+"    A40: {type: object}\n"+anyOf.String()+"    B40: {type: string}"))
	for _, value := range []string{`1`, `"a"`, `{"a":1}`} {
		quickly(t, value, func() { d.Check(sample.JSONResponse(value)) })
	}
}

func TestHostileBodiesEndQuickly(t *testing.T) {
	d := parse(t, sample.Returning("{$ref: '#/components/schemas/Any'}", `
    Any:
      oneOf:
        - {type: string, pattern: '^(a+)+$', format: date-time}
        - {type: integer, multipleOf: 7, maximum: 5}
        - {type: array, uniqueItems: true, items: {$ref: '#/components/schemas/Any'}}
        - {type: object, properties: {a: {type: string}}, additionalProperties: {$ref: '#/components/schemas/Any'}}`))
	const size = 1 << 20
	nested := func(n int, open, inside, end string) string {
		return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
	}
	var fields strings.Builder
	for i := range size / 20 {
		fmt.Fprintf(&fields, `"field%d":%d,`, i, i)
	}
	for name, content := range map[string]string{
		"brackets":             strings.Repeat("[", 100_000),
		"levels":               nested(9999, "[", "", "]"),
		"levels of pairs":      nested(9999, "[1,", "2", "]"),
		"levels of objects":    nested(5000, `{"a":1,"b":`, "1", "}"),
		"a long string":        `"` + strings.Repeat("a", size) + `!"`,
		"a long number":        strings.Repeat("9", size),
		"a long exponent":      "1e" + strings.Repeat("9", size),
		"a long fraction":      "0." + strings.Repeat("0", size) + "1",
		"a long name":          `{"` + strings.Repeat("n", size) + `":{}}`,
		"many long names":      "[" + strings.Repeat(`{"`+strings.Repeat("n", 10_000)+`":null},`, size/10_000) + "1]",
		"many numbers":         "[" + strings.Repeat("1,", size/2) + "1]",
		"many nulls":           "[" + strings.Repeat("null,", size/5) + "1]",
		"many fields":          "{" + fields.String() + `"last":1}`,
		"many equal fields":    "{" + strings.Repeat(`"a":1,`, size/6) + `"a":1}`,
		"many equal exponents": "[1e" + strings.Repeat("9", size/2) + ",1e" + strings.Repeat("9", size/2) + "]",
		"garbage":              strings.Repeat("\xff", size),
	} {
		quickly(t, name, func() {
			vs := d.Check(sample.JSONResponse(content))
			kept := 0
			for _, v := range vs {
				kept += len(v.Text) + len(v.Place)
			}
			if len(vs) > 52 || kept > 100_000 {
				t.Errorf("%s: %d violations of %d bytes", name, len(vs), kept)
			}
		})
	}
}

func TestHostileTargetsEndQuickly(t *testing.T) {
	d := parse(t, routesDoc+strings.TrimPrefix(paramsDoc, sample.Head+"paths:\n"))
	for _, target := range []string{
		strings.Repeat("/", 1<<18), "/api/v1/x/a/c?" + strings.Repeat("n=1&", 1<<16), "/api/v1/x/" + strings.Repeat("%", 1<<18) + "/c",
		"/api/v1/range/" + strings.Repeat("-", 1<<18), "/api/v1/x/a/c?csv=" + strings.Repeat(",", 1<<18), "/api/v1/x/a/c?deep" + strings.Repeat("[", 1<<18),
	} {
		quickly(t, target[:20], func() {
			for _, v := range d.CheckRequest("GET", target, nil, nil) {
				if len(v.Text) > 1000 {
					t.Errorf("%s: a text of %d bytes", target[:20], len(v.Text))
				}
			}
		})
	}
}

func TestManyEventsAreCheckedQuickly(t *testing.T) {
	d := parse(t, sample.Streaming(streamDoc))
	events := make([]transcript.Event, 10_000)
	for i := range events {
		events[i] = sample.Event("", fmt.Sprintf(`{"payload":{"type":"a.b","x":%d}}`, i))
	}
	quickly(t, "events", func() {
		if vs := d.Check(sample.Stream(events...)); len(vs) != len(events) {
			t.Errorf("%d violations, want %d", len(vs), len(events))
		}
	})
}
