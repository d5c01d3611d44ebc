package contract

import (
	"fmt"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

// TestStyles checks the table of the specification (OpenAPI 3.0.3 §4.7.12.3, Style Examples). Where RFC 6570 differs
// from the table, it follows the RFC.
func TestStyles(t *testing.T) {
	const (
		text   = `{type: string, enum: [blue]}`
		array  = `{type: array, items: {type: string, enum: [blue, black, brown]}, minItems: 3, maxItems: 3}`
		object = `{type: object, properties: {R: {type: integer}, G: {type: integer}, B: {type: integer}}, required: [R, G, B], additionalProperties: false}`
	)
	for _, tc := range []struct {
		in, style string
		explode   bool
		schema    string
		good, bad string // the parameter's value, or the whole query
	}{
		{"path", "matrix", false, text, ";color=blue", ";color=red"},
		{"path", "matrix", false, array, ";color=blue,black,brown", ";color=blue;black;brown"},
		{"path", "matrix", false, object, ";color=R,100,G,200,B,150", ";color=R,100,G,x,B,150"},
		{"path", "matrix", true, array, ";color=blue;color=black;color=brown", ";color=blue,black,brown"},
		{"path", "matrix", true, object, ";R=100;G=200;B=150", ";R=100;G=200"},
		{"path", "label", false, text, ".blue", ".red"},
		{"path", "label", false, array, ".blue.black.brown", ".blue.black"},
		{"path", "label", false, array, ".blue,black,brown", ".blue,black"},
		{"path", "label", true, array, ".blue.black.brown", ".blue,black,brown"},
		{"path", "label", true, object, ".R=100.G=200.B=150", ".R=100.G=200"},
		{"path", "simple", false, text, "blue", "red"},
		{"path", "simple", false, array, "blue,black,brown", "blue,black"},
		{"path", "simple", false, array, "blue,bl%61ck,brown", "blue%2Cblack,brown"}, // split first, then decoded
		{"path", "simple", false, object, "R,100,G,200,B,150", "R,100,G,200,B"},
		{"path", "simple", true, object, "R=100,G=200,B=150", "R=100,G=200,B=x"},
		{"query", "form", false, text, "color=blue", "color=red"},
		{"query", "form", false, array, "color=blue,black,brown", "color=blue"},
		{"query", "form", false, object, "color=R,100,G,200,B,150", "color=R,100"},
		{"query", "form", true, array, "color=blue&color=black&color=brown", "color=blue,black,brown"},
		{"query", "form", true, object, "R=100&G=200&B=150", "R=100&G=200"},
		{"query", "spaceDelimited", false, array, "color=blue%20black%20brown", "color=blue%20black"},
		{"query", "spaceDelimited", false, array, "color=blue+black+brown", "color=blue,black,brown"},
		{"query", "pipeDelimited", false, array, "color=blue|black|brown", "color=blue|black"},
		{"query", "pipeDelimited", false, array, "color=blue%7Cblack%7Cbrown", "color=blue,black,brown"},
		{"query", "deepObject", true, object, "color[R]=100&color[G]=200&color%5BB%5D=150", "color[R]=100"},
	} {
		path, target := "/x", func(value string) string { return "/x?" + value }
		if tc.in == "path" {
			path, target = "/x/{color}", func(value string) string { return "/x/" + value }
		}
		d := parse(t, sample.Head+fmt.Sprintf(`paths:
  %s:
    get:
      parameters:
        - {name: color, in: %s, required: %t, style: %s, explode: %t, schema: %s}
      responses: {'204': {description: ok}}
`, path, tc.in, tc.in == "path", tc.style, tc.explode, tc.schema))
		if vs := d.CheckRequest("GET", target(tc.good), nil, nil); len(vs) > 0 {
			t.Errorf("%s, explode %t: %s: %s", tc.style, tc.explode, tc.good, long(vs))
		}
		if vs := d.CheckRequest("GET", target(tc.bad), nil, nil); len(vs) == 0 || vs[0].Kind != spec.ParameterValue {
			t.Errorf("%s, explode %t: %s is no violation", tc.style, tc.explode, tc.bad)
		}
	}
}

func TestSetCookieIsNoList(t *testing.T) {
	d := parse(t, sample.API(`
  /x:
    get:
      responses:
        '204':
          description: ok
          headers:
            Set-Cookie: {schema: {type: string, pattern: '^[^,]*$'}}
            X-Count: {schema: {type: integer}}`))
	h := sample.Header("Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Count", "1")
	if vs := d.Check(sample.Response("GET", "/x", 204, h, "")); len(vs) > 0 {
		t.Errorf("Check: %s", long(vs))
	}
	if got := short(d.Check(sample.Response("GET", "/x", 204, append(h, sample.Header("x-count", "2")...), ""))); got != "header X-Count header-value" {
		t.Errorf("Check: %s", got)
	}
}
