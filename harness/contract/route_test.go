package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

const routesDoc = sample.Head + `servers:
  - url: https://example.com/api/{version}/
    variables: {version: {default: v1}}
  - url: /api/v1
paths:
  /:
    get: {operationId: root, responses: {'200': {description: ok}}}
  /tools:
    get: {operationId: tools, responses: {'200': {description: ok}}}
  /tools/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: tool, responses: {'200': {description: ok}}}
    delete: {operationId: drop, responses: {'200': {description: ok}}}
  /tools/all:
    get: {operationId: all, responses: {'200': {description: ok}}}
    head: {operationId: allHead, responses: {'200': {description: ok}}}
  /tools/{id}/{part}.json:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - {name: part, in: path, required: true, schema: {type: string}}
    get: {operationId: part, responses: {'200': {description: ok}}}
  /tools/{id}/parts:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: parts, responses: {'200': {description: ok}}}
  /range/{from}-{to}:
    parameters:
      - {name: from, in: path, required: true, schema: {type: integer}}
      - {name: to, in: path, required: true, schema: {type: integer}}
    get: {operationId: range, responses: {'200': {description: ok}}}
  /elsewhere:
    servers: [{url: 'http://other'}]
    get: {operationId: elsewhere, responses: {'200': {description: ok}}}
`

func TestOperationFindsTheMostConcretePath(t *testing.T) {
	d := parse(t, routesDoc)
	for _, tc := range []struct{ method, target, want string }{
		{"GET", "/api/v1/", "root []"},
		{"GET", "/api/v2/tools", "tools [v2]"}, // the server's version is a variable
		{"GET", "/api/v1/tools", "tools []"},
		{"GET", "/api/v1/tools?x=/tools/1", "tools []"},
		{"GET", "/api/v1/tools#x", "tools []"},
		{"GET", "http://host:1/api/v1/tools", "tools []"},
		{"GET", "/api/v1/tools/1", "tool [1]"},
		{"GET", "/api/v1/tools/all", "all []"},
		{"DELETE", "/api/v1/tools/all", "drop [all]"}, // the concrete path does not have this method
		{"HEAD", "/api/v1/tools/all", "allHead []"},
		{"HEAD", "/api/v1/tools/1", "tool [1]"},
		{"GET", "/api/v1/tools/a%2Fb", "tool [a%2Fb]"},
		{"GET", "/api/v1/tools/%zz%", "tool [%zz%]"},
		{"GET", "/api/v1/tools/...", "tool [...]"},
		{"GET", "/api/v1/tools/..", ""}, // a dot segment, however it is written
		{"GET", "/api/v1/tools/%2E", ""},
		{"GET", "/api/v1/tools/.%2e", ""},
		{"GET", "/api/v1/tools/%2e%2E/x.json", ""},
		{"GET", `/api/v1/tools/a\b`, ""},
		{"GET", "/api/v1/tools/a%5Cb", "tool [a%5Cb]"},
		{"GET", "/api/v1/tools/1/x.json", "part [1 x]"},
		{"GET", "/api/v1/tools/1/parts", "parts [1]"},
		{"GET", "/api/v1/%74ools", "tools []"}, // the same path by RFC 3986 §6.2.2.2
		{"GET", "/api/v1/range/1-2", "range [1 2]"},
		{"GET", "/api/v1/range/1-2-3", "range [1 2-3]"},
		{"GET", "/elsewhere", "elsewhere []"},

		{"GET", "/tools", ""},
		{"GET", "/api/v1", ""},
		{"GET", "/api/v1/elsewhere", ""},
		{"get", "/api/v1/tools", ""}, // methods are case-sensitive (RFC 9110 §9.1)
		{"POST", "/api/v1/tools", ""},
		{"GET", "/api/v1/Tools", ""},
		{"GET", "/api/v1/tools/", ""}, // a parameter must not be empty
		{"GET", "/api/v1//tools", ""},
		{"GET", "/api/v1/tools/1/.json", ""},
		{"GET", "/api/v1/tools/../tools", ""},
		{"GET", "/api/v1/range/1-", ""},
		{"GET", "/api/v1/range/-1", ""},
		{"GET", "tools", ""},
		{"OPTIONS", "*", ""},
		{"GET", "", ""},
		{"", "/api/v1/tools", ""},
	} {
		got := ""
		op, ok := d.Operation(tc.method, tc.target)
		if ok {
			_, values := d.Find(tc.method, tc.target)
			got = fmt.Sprintf("%s %v", op.ID, values)
		}
		if got != tc.want {
			t.Errorf("Operation(%q, %q) = %q, want %q", tc.method, tc.target, got, tc.want)
		}
	}
}

// FuzzOperation checks what must hold for any target: nothing panics, the same segments give the same operation, and
// inserting the values into the template gives the path again.
func FuzzOperation(f *testing.F) {
	d := parse(f, routesDoc)
	for _, s := range []string{"/", "/api/v1/tools/1", "/api/v1/range/1-2", "/api/v1/tools/%2e%2e/x.json", "//", "/api/v1/tools/\x00\\", "http://a/b"} {
		f.Add("GET", s)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		op, ok := d.Operation(method, target)
		if ok != (op != nil) {
			t.Fatalf("Operation: %v, %t", op, ok)
		}
		if again, _ := d.Operation(method, target); again != op {
			t.Fatalf("Operation: %v, then %v", op, again)
		}
		d.CheckRequest(method, target, nil, nil)
		if !ok || strings.Contains(target, "%") {
			return
		}
		_, values := d.Find(method, target)
		rebuilt := op.Path
		for _, name := range spec.PathNames(op.Path) {
			i := len(values) - op.PathParams + slices.Index(spec.PathNames(op.Path), name)
			rebuilt = strings.Replace(rebuilt, "{"+name+"}", values[i], 1)
		}
		if !strings.HasSuffix(spec.TargetPath(target), rebuilt) {
			t.Errorf("%q matches %s with %q, which is %q", target, op, values, rebuilt)
		}
	})
}

func TestAPathTakesOptionsByItself(t *testing.T) {
	d := parse(t, routesDoc)
	for target, want := range map[string]bool{"/api/v1/tools": true, "/api/v1/%74ools": true, "/api/v1/tools/..": false, "/api/v1/nope": false, "*": false} {
		if got := d.Accepts("OPTIONS", target); got != want {
			t.Errorf("Accepts(OPTIONS, %s) = %t", target, got)
		}
	}
	if d.Accepts("PUT", "/api/v1/tools") || !d.Accepts("HEAD", "/api/v1/tools/1") {
		t.Error("PUT is taken, or HEAD is not")
	}
}
