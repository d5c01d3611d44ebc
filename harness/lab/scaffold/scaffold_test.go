package scaffold_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/lab/scaffold"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// drafted generates a project from a document with these paths and components.
func drafted(t *testing.T, text string, options *scaffold.Options) *scaffold.Project {
	t.Helper()
	text = "openapi: 3.0.3\ninfo: {title: T, version: '1'}\n" + text
	doc, err := contract.Parse([]byte(text), &contract.Options{KeepTree: true})
	if err != nil {
		t.Fatal(err)
	}
	return scaffold.New(doc, options)
}

// only returns the only scenario of a project, without its first lines.
func only(t *testing.T, d *scaffold.Project) (steps string, f scaffold.File) {
	t.Helper()
	if len(d.Scenarios) != 1 {
		t.Fatalf("there are %d scenarios", len(d.Scenarios))
	}
	f = d.Scenarios[0]
	_, steps, _ = strings.Cut(string(f.Text), "steps:\n")
	return steps, f
}

// post is a document with one operation whose body has this schema.
func post(schema string) string {
	return "paths: {/a: {post: {responses: {'200': {description: x}}, requestBody: {required: true, content: {application/json: {schema: " + schema + "}}}}}}\n"
}

func TestABodyObeysItsSchema(t *testing.T) {
	for name, tc := range map[string]struct{ schema, want string }{
		"nothing is said":           {"{}", `"text-${{ unique }}"`},
		"an example":                {"{type: object, example: {b: 1.50, a: 'x ${{ y }}'}}", "{a: \"x $${{ y }}\", b: 1.5}\n  - http: POST /a\n    json: {}"},
		"a default":                 {"{type: integer, default: 7}", "7"},
		"an enum":                   {"{type: string, nullable: true, enum: [null, red]}", "red"},
		"a length":                  {"{type: string, minLength: 30}", `"text-${{ unique }}aaaaaaaaaaaaa"`},
		"a short length":            {"{type: string, maxLength: 3, minLength: 2}", "aa"},
		"a pattern":                 {`{type: string, pattern: '^[A-Z]{2}-\d+(x|y)?$', minLength: 6}`, "AA-111111x"},
		"a format":                  {"{type: string, format: date-time}", `"2026-01-02T03:04:05Z"`},
		"an email":                  {"{type: string, format: email}", `"${{ unique }}@example.com"`},
		"an exclusive bound":        {"{type: integer, minimum: 3, exclusiveMinimum: true, multipleOf: 4}", "4"},
		"a number below 1":          {"{type: number, maximum: 0.5, exclusiveMaximum: true, minimum: 0.25}", "0.375"},
		"a negative number":         {"{type: integer, maximum: -3}", "-3"},
		"members":                   {"{type: object, required: [b], properties: {a: {type: boolean}, b: {type: boolean}, c: {type: string, readOnly: true}}}", "{b: true, a: true}\n  - http: POST /a\n    json: {b: true}"},
		"what may not be there":     {"{type: object, required: [b], maxProperties: 1, properties: {a: {type: boolean}, b: {type: boolean}}}", "{b: true}"},
		"more members":              {"{type: object, minProperties: 2, additionalProperties: {type: integer}}", "{key1: 1, key2: 1}"},
		"elements that are unlike":  {"{type: array, minItems: 2, uniqueItems: true, items: {type: integer}}", "[1, 2]"},
		"words that are unlike":     {"{type: array, minItems: 2, uniqueItems: true, items: {type: string, enum: [b, a]}}", "[b, a]"},
		"parts":                     {"{allOf: [{type: object, required: [a], properties: {a: {type: integer}}}, {required: [b], properties: {b: {type: string, enum: [x]}}}]}", "{a: 1, b: x}"},
		"alternatives":              {"{oneOf: [{type: object, required: [a], additionalProperties: false, properties: {a: {type: integer}}}, {type: string}]}", "{a: 1}"},
		"an alternative that is no": {`{anyOf: [{type: string, pattern: '^(?!a)'}, {type: integer}]}`, "1"},
		"a member beside":           {"{required: [k], properties: {k: {type: integer}}, anyOf: [{type: object, required: [a], properties: {a: {type: integer}}}]}", "{a: 1, k: 1}"},
	} {
		t.Run(name, func(t *testing.T) {
			steps, f := only(t, drafted(t, post(tc.schema), nil))
			if want := "  - http: POST /a\n    json: " + tc.want + "\n"; steps != want || f.Missing != "" {
				t.Errorf("%s\n%s\nwant\n%s", f.Missing, f.Text, want)
			}
		})
	}
}

func TestSchemasThatReferToThemselves(t *testing.T) {
	steps, f := only(t, drafted(t, post("{$ref: '#/components/schemas/Tree'}")+`components:
  schemas:
    Tree: {type: object, required: [name], properties: {name: {type: integer}, kids: {type: array, items: {$ref: '#/components/schemas/Tree'}}, next: {$ref: '#/components/schemas/Tree'}}}
`, nil))
	if f.Missing != "" || !strings.Contains(steps, "kids") || len(steps) > 20_000 {
		t.Errorf("%s: %d bytes\n%s", f.Missing, len(steps), steps)
	}
}

// A schema that doubles with each level leads to a value of readable size, or to none, within a short time.
func TestSchemasThatGrow(t *testing.T) {
	var wide strings.Builder
	for i := range 60 {
		fmt.Fprintf(&wide, "m%d: {$ref: '#/components/schemas/W'}, ", i)
	}
	for required, missing := range map[string]string{"": "", "required: [m0, m1], ": "no value for the body, application/json"} {
		steps, f := only(t, drafted(t, post("{$ref: '#/components/schemas/W'}")+"components: {schemas: {W: {type: object, "+required+"properties: {"+wide.String()+"}}}}\n", nil))
		if f.Missing != missing || len(steps) > 50_000 {
			t.Errorf("%s%q: %d bytes", required, f.Missing, len(steps))
		}
	}
}

func TestADiscriminatorIsTrue(t *testing.T) {
	steps, f := only(t, drafted(t, post("{oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind, mapping: {meow: '#/components/schemas/Cat', woof: '#/components/schemas/Dog'}}}")+`components:
  schemas:
    Cat: {type: object, required: [kind], properties: {kind: {type: string}}}
    Dog: {type: object, required: [kind, big], properties: {kind: {type: string}, big: {type: boolean}}}
`, nil))
	if want := "  - http: POST /a\n    json: {kind: meow}\n"; steps != want || f.Missing != "" {
		t.Errorf("%s\n%s", f.Missing, steps)
	}
}

func TestAnInlineAlternativeNamesItself(t *testing.T) {
	steps, f := only(t, drafted(t, post("{oneOf: [{type: object, required: [kind], properties: {kind: {type: string, enum: [cat]}}}, {type: object, required: [kind], properties: {kind: {type: string, enum: [dog]}}}], discriminator: {propertyName: kind}}"), nil))
	if want := "  - http: POST /a\n    json: {kind: cat}\n"; steps != want || f.Missing != "" {
		t.Errorf("%s\n%s", f.Missing, steps)
	}
}

func TestParametersAreWrittenAsTheDocumentHasThem(t *testing.T) {
	for name, tc := range map[string]struct{ path, parameters, want string }{
		"a path":            {"/a/{x}", "{name: x, in: path, required: true, schema: {type: string}}", "GET /a/x-${{ unique }}\n"},
		"a path's example":  {"/a/{x}", "{name: x, in: path, required: true, example: 'a b/c', schema: {type: string}}", "GET /a/a%20b%2Fc\n"},
		"a path's number":   {"/a/{x}/b", "{name: x, in: path, required: true, schema: {type: integer, minimum: 40}}", "GET /a/40/b\n"},
		"a query":           {"/a", "{name: q, in: query, required: true, schema: {type: integer, minimum: 2}}", "GET /a\n    query: {q: 2}\n"},
		"an optional query": {"/a", "{name: q, in: query, schema: {type: integer}}", "GET /a\n"},
		"a query's example": {"/a", "{name: q, in: query, examples: {one: {value: 3}}, schema: {type: integer}}", "GET /a\n    query: {q: 3}\n"},
		"a list":            {"/a", "{name: q, in: query, required: true, schema: {type: array, minItems: 2, items: {type: string, enum: [x]}}}", "GET /a\n    query: {q: [x, x]}\n"},
		"a joined list":     {"/a", "{name: q, in: query, required: true, explode: false, schema: {type: array, minItems: 2, items: {type: string, enum: [x]}}}", "GET /a?q=x,x\n"},
		"a piped list":      {"/a", "{name: q, in: query, required: true, style: pipeDelimited, explode: false, schema: {type: array, minItems: 2, items: {type: string}}}, {name: r, in: query, required: true, schema: {type: integer}}", "GET /a?q=q-${{ unique }}|q-${{ unique }}\n    query: {r: 1}\n"},
		"a deep object":     {"/a", "{name: q, in: query, required: true, style: deepObject, explode: true, schema: {type: object, required: [b], properties: {b: {type: integer}}}}", "GET /a\n    query: {\"q[b]\": 1}\n"},
		"JSON in a query":   {"/a", "{name: q, in: query, required: true, content: {application/json: {schema: {type: object, required: [b], properties: {b: {type: integer}}}}}}", "GET /a\n    query: {q: \"{\\\"b\\\":1}\"}\n"},
		"a header":          {"/a", "{name: X-A, in: header, required: true, schema: {type: string, enum: [v]}}", "GET /a\n    headers: {X-A: v}\n"},
		"a cookie":          {"/a", "{name: c, in: cookie, required: true, schema: {type: string, enum: [v]}}", "GET /a\n    headers: {Cookie: \"c=v\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			steps, f := only(t, drafted(t, "paths: {'"+tc.path+"': {get: {parameters: ["+tc.parameters+"], responses: {'200': {description: x}}}}}", nil))
			if want := "  - http: " + tc.want; steps != want || f.Missing != "" {
				t.Errorf("%s\n%s\nwant\n%s", f.Missing, f.Text, want)
			}
		})
	}
}

func TestBodiesThatAreNotPlainJSON(t *testing.T) {
	const form = "{type: object, required: [a], properties: {a: {type: string, enum: ['x y']}, b: {type: string}}}"
	for kind, want := range map[string]string{
		"application/x-www-form-urlencoded": `raw: {text: "a=x+y&b=b-${{ unique }}", type: application/x-www-form-urlencoded}`,
		"application/merge-patch+json":      "headers: {Content-Type: \"application/merge-patch+json\"}\n    json: {a: x y, b: \"b-${{ unique }}\"}\n  - http: POST /a\n    headers: {Content-Type: \"application/merge-patch+json\"}\n    json: {a: x y}",
	} {
		steps, f := only(t, drafted(t, strings.Replace(post(form), "application/json", kind, 1), nil))
		if want := "  - http: POST /a\n    " + want + "\n"; steps != want || f.Missing != "" {
			t.Errorf("%s\n%s\nwant\n%s", f.Missing, steps, want)
		}
	}
	steps, _ := only(t, drafted(t, strings.Replace(post("{type: string, enum: [hello]}"), "application/json", "text/plain", 1), nil))
	if want := "  - http: POST /a\n    raw: {text: hello, type: text/plain}\n"; steps != want {
		t.Errorf("%s\nwant\n%s", steps, want)
	}
}

func TestWhatCannotBeGeneratedIsSavedAsTodo(t *testing.T) {
	for name, tc := range map[string]struct{ document, missing string }{
		"a body that is not JSON":    {strings.Replace(post("{type: object}"), "application/json", "multipart/form-data", 1), "the body is multipart/form-data: write it with raw"},
		"a pattern beyond Go":        {post("{type: string, pattern: '^(?!a)'}"), "no value for the body, application/json"},
		"schemas that contradict":    {post("{type: integer, minimum: 5, maximum: 4}"), "body: "},
		"a loop of what is required": {post("{$ref: '#/components/schemas/L'}") + "components: {schemas: {L: {type: object, required: [l], properties: {l: {$ref: '#/components/schemas/L'}}}}}", "no value for the body, application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f := only(t, drafted(t, tc.document, nil))
			if !strings.HasPrefix(f.Missing, tc.missing) || f.Name != "a/post-a.yaml.todo" || !strings.Contains(string(f.Text), "# Set aside, because") {
				t.Errorf("%q: %s: %s", f.Name, f.Missing, f.Text)
			}
		})
	}
}

const shop = `servers: [{url: 'https://example.com/v1'}]
security: [{key: []}]
paths:
  /users:
    post: {operationId: createUser, responses: {'201': {description: x, content: {application/json: {schema: {type: object, properties: {user: {type: object, properties: {user_id: {type: integer}}}}}}}}}}
    get: {responses: {'200': {description: x, content: {application/json: {schema: {type: array, items: {}}}}}}}
  /users/{userId}:
    parameters: [{name: userId, in: path, required: true, schema: {type: integer}}]
    get: {operationId: getUser, tags: [User Admin], summary: 'Gets a user: one.', responses: {'200': {description: x}}}
  /users/{id}/orders:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    post: {operationId: createOrder, responses: {'201': {description: x, content: {application/json: {schema: {allOf: [{type: object, properties: {id: {type: string}}}]}}}}}}
  /users/{id}/orders/{order}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}, {name: order, in: path, required: true, schema: {type: string}}]
    delete: {operationId: deleteOrder, responses: {'204': {description: x}}}
    get: {operationId: getOrder, responses: {'200': {description: x}}}
  /ping:
    get: {responses: {'200': {description: x}}}
  /feed:
    get: {operationId: feed, responses: {'200': {description: x, content: {text/event-stream: {schema: {type: string}}}}}}
components: {securitySchemes: {key: {type: http, scheme: bearer}}}
`

func TestWhatAPathNamesIsCreatedFirst(t *testing.T) {
	d := drafted(t, shop, &scaffold.Options{Destructive: true, Targets: []scaffold.Target{{Name: "go", Command: []string{"./server", "${{ port }}"}, Env: [][2]string{{"A", "b c"}}}}})
	texts := map[string]string{}
	for _, f := range d.Scenarios {
		texts[f.Name] = string(f.Text)
	}
	want := map[string]string{
		"users/delete-order.yaml": `scenario: users/delete-order
why: DELETE /users/{id}/orders/{order} does the same on all targets
source: openapi.yaml, deleteOrder
steps:
  - http: POST /v1/users
    capture: {id: $.user.user_id}
  - http: POST /v1/users/${{ id }}/orders
    capture: {order: $.id}
  - http: DELETE /v1/users/${{ id }}/orders/${{ order }}
  - http: GET /v1/users/${{ id }}/orders/${{ order }}
`,
		"users/get-user.yaml": `scenario: users/get-user
why: "Gets a user: one"
source: openapi.yaml, getUser
tags: [user-admin]
steps:
  - http: POST /v1/users
    capture: {userId: $.user.user_id}
  - http: GET /v1/users/${{ userId }}
`,
		"users/get-users.yaml": `scenario: users/get-users
why: GET /users does the same on all targets
source: openapi.yaml, GET /users
isolate: fresh   # other scenarios would affect its response
steps:
  - http: POST /v1/users
  - http: GET /v1/users
`,
		"feed/feed.yaml": `scenario: feed/feed
why: GET /feed does the same on all targets
source: openapi.yaml, feed
isolate: fresh   # other scenarios would affect its response
steps:
  - open: stream
    sse: GET /v1/feed
  # Add a step that makes the server send an event, and await the event:
  # - await: stream
  #   match: {event: its-name}
  - close: stream
`,
	}
	const line = "# yaml-language-server: $schema=https://raw.githubusercontent.com/lockstep-dev/lockstep/main/harness/"
	for name, text := range want {
		if diff := cmp.Diff(line+"scenario/scenario.schema.json\n"+text, texts[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	const config = `contract: openapi.yaml
scenarios: scenarios
reference: go   # the target that is taken as correct

targets:
  go:
    command: ["./server", "${{ port }}"]
    env: {A: b c}
    ready: {get: /v1/ping, within: 60s}
    # headers: {Authorization: "Bearer …"}   # the contract requires credentials; sent with every request

compare:
  headers: [Content-Type]   # the header fields that must be equal
`
	if diff := cmp.Diff(line+"project/project.schema.json\n"+config, string(d.Config)); diff != "" {
		t.Errorf("lockstep.yaml (-want +got):\n%s", diff)
	}
}

// The line that a user completes is there for each document whose server may want credentials.
func TestCredentialsHaveALineToComplete(t *testing.T) {
	operation := func(status string) string {
		return "paths: {/a: {get: {responses: {'200': {description: x}, '" + status + "': {description: x}}}}}\n"
	}
	schemes := func(list string) string {
		return operation("404") + "components: {securitySchemes: {" + list + "}}\n"
	}
	const bearer = `Authorization: "Bearer …"`
	for _, tc := range []struct{ name, text, want string }{
		{"none", operation("404"), ""},
		{"a declared 401", operation("401"), bearer},
		{"a token", schemes("a: {type: http, scheme: bearer}"), bearer},
		{"a key", schemes("a: {type: http, scheme: bearer}, b: {type: apiKey, in: header, name: X-Secret-Key}"), `X-Secret-Key: "…"`},
		{"a key in a cookie", schemes("a: {type: apiKey, in: cookie, name: session}"), bearer},
		{"a name that is not plain", schemes(`a: {type: apiKey, in: header, name: "X}: {"}`), bearer},
	} {
		_, line, _ := strings.Cut(string(drafted(t, tc.text, &scaffold.Options{}).Config), "    # headers: {")
		if got, _, _ := strings.Cut(line, "}   # the contract requires credentials; sent with every request\n"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestTheProbeOfAReadyServer(t *testing.T) {
	const found, none = "'200': {description: x}", "'404': {description: x}"
	get := func(path, parameter, responses string) string {
		return "paths: {'" + path + "': {get: {parameters: [" + parameter + "], responses: {" + responses + "}}}}"
	}
	const id, query = "{name: id, in: path, required: true, schema: {type: string}}", "{name: q, in: query, required: true, schema: {type: string}}"
	const wild = "{get: /, status: 404}   # a guess: a request that shows that the server is ready\n"
	for name, tc := range map[string]struct{ document, want string }{
		"a GET that needs nothing":       {get("/a", "", found), "{get: /a}\n"},
		"what is not there":              {"servers: [{url: http://x/v1}]\n" + get("/a/{id}", id, found+", "+none), "{get: /v1/a/lockstep-ready, status: 404}\n"},
		"what nobody says is not there":  {get("/a/{id}", id, found), wild},
		"a number, which may be there":   {get("/a/{id}", strings.Replace(id, "string", "integer", 1), none), wild},
		"a shape, which nobody has":      {get("/a/{id}", strings.Replace(id, "string", "string, format: uuid", 1), none), wild},
		"what must be asked with a word": {get("/a/{id}", id+", "+query, none), wild},
	} {
		t.Run(name, func(t *testing.T) {
			d := drafted(t, tc.document, nil)
			if !strings.Contains(string(d.Config), "    ready: "+tc.want) {
				t.Errorf("want ready: %s\n%s", tc.want, d.Config)
			}
		})
	}
}

// started are targets that lockstep starts.
var started = []scaffold.Target{{Name: "go", Command: []string{"./server", "${{ port }}"}}}

// The same document gives the same project, and each of its scenarios can be read.
func TestDraftsOfRealDocuments(t *testing.T) {
	for _, file := range []string{"../../../openapi.yaml", "../../../examples/notes/openapi.yaml", "../../../internal/faux/project/openapi.yaml"} {
		data := testfile.Read(t, file)
		doc, err := contract.Parse(data, &contract.Options{KeepTree: true})
		if err != nil {
			t.Fatal(err)
		}
		var before *scaffold.Project
		for range 3 {
			d := scaffold.New(doc, &scaffold.Options{Destructive: true, Targets: started})
			if len(d.Scenarios) != len(doc.Operations()) {
				t.Fatalf("%d scenarios of %d operations", len(d.Scenarios), len(doc.Operations()))
			}
			for _, f := range d.Scenarios {
				if _, problems := scenario.Parse(f.Name, strings.TrimSuffix(f.Name, ".yaml"), f.Text); len(problems) > 0 || f.Missing != "" {
					t.Errorf("%s: %v: %s\n%s", file, problems, f.Missing, f.Text)
				}
			}
			if diff := cmp.Diff(before, d); before != nil && diff != "" {
				t.Errorf("%s makes another draft the second time:\n%s", file, diff)
			}
			before = d
		}
	}
}

func TestWhatMayDestroyIsSetAside(t *testing.T) {
	const operation = "    %s: {operationId: %s, responses: {'200': {description: ok}}}\n"
	for _, tc := range []struct {
		method, path, id string
		aside            bool
	}{
		{"delete", "/a", "x", true}, {"post", "/server/shutdown", "x", true}, {"post", "/a", "upgradeServer", true}, {"put", "/a/reset", "x", true},
		{"get", "/shutdown", "x", false}, {"post", "/a", "addA", false}, {"post", "/a/{deleted}", "x", false}, {"post", "/stopwatches", "x", false},
	} {
		parameters := ""
		if strings.Contains(tc.path, "{") {
			parameters = "    parameters: [{name: deleted, in: path, required: true, schema: {type: string}}]\n"
		}
		text := "paths:\n  " + tc.path + ":\n" + parameters + fmt.Sprintf(operation, tc.method, tc.id)
		for _, all := range []bool{false, true} {
			d := drafted(t, text, &scaffold.Options{Destructive: all})
			f := d.Scenarios[0]
			if aside := tc.aside && !all; (f.Missing != "") != aside || strings.HasSuffix(f.Name, ".todo") != aside ||
				strings.Contains(string(f.Text), "If that is no harm, rename it") != aside {
				t.Errorf("%s %s (%s), --destructive %t: %s\n%s", tc.method, tc.path, tc.id, all, f.Name, f.Text)
			}
		}
	}
}

// A list that no operation changes is the same for all scenarios.
func TestAListThatNothingChangesIsNotIsolated(t *testing.T) {
	const list = "  /%s:\n    get: {responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {}}}}}}}\n"
	d := drafted(t, "paths:\n"+fmt.Sprintf(list, "models")+fmt.Sprintf(list, "notes")+"    post: {responses: {'200': {description: ok}}}\n", &scaffold.Options{Targets: started})
	for i, isolated := range []bool{false, true} {
		if got := strings.Contains(string(d.Scenarios[i].Text), "isolate: fresh"); got != isolated {
			t.Errorf("%s: isolated %t, want %t", d.Scenarios[i].Operation, got, isolated)
		}
	}
}

// What shows the data of other scenarios is set aside when it cannot have servers of its own.
func TestWhatShowsOtherScenariosIsSetAside(t *testing.T) {
	const answer = "{responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {}}}}}}"
	paths := "paths:\n  /notes:\n    get: " + answer + "}\n    post: {responses: {'200': {description: ok}}}\n" +
		"  /notes/of:\n    get: " + answer + ", parameters: [{name: owner, in: query, required: true, schema: {type: string}}]}\n"
	d := drafted(t, paths, &scaffold.Options{})
	for name, aside := range map[string]bool{"GET /notes": true, "POST /notes": false, "GET /notes/of": false} {
		i := slices.IndexFunc(d.Scenarios, func(f scaffold.File) bool { return f.Operation == name })
		f := d.Scenarios[i]
		if got := strings.Contains(f.Missing, "what other scenarios do"); got != aside || strings.HasSuffix(f.Name, ".todo") != aside {
			t.Errorf("%s: set aside %t, want %t\n%s", name, got, aside, f.Text)
		}
	}
}
