package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// published is written as such documents are: the alternatives of a union have no names, and share fields through
// allOf.
const published = `
openapi: 3.0.3
info: {title: published, version: "1"}
paths:
  /items:
    get:
      parameters:
        - {name: limit, in: query, schema: {type: integer}}
      responses:
        "200":
          description: ok
          content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Item"}}}}
        "404": {description: none}
    post:
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/NewItem"}}}
      responses: {"200": {description: ok}}
  /items/{id}:
    delete:
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
      responses: {"200": {description: ok}}
  /other/thing:
    get:
      responses:
        "200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
components:
  schemas:
    Thing: {type: object}
    Color: {type: string, enum: [red, green]}
    NewItem:
      type: object
      required: [name, size]
      properties:
        name: {type: string}
        size: {type: string, enum: [big, small]}
        note: {type: string}
    Item:
      type: object
      required: [name, shape]
      properties:
        name: {type: string}
        color: {$ref: "#/components/schemas/Color"}
        shape:
          oneOf:
            - allOf:
                - type: object
                  required: [radius]
                  properties: {radius: {type: integer}}
                - type: object
                  required: [kind]
                  properties: {kind: {type: string, enum: [circle]}}
            - type: object
              required: [kind, width]
              properties: {kind: {type: string, enum: [square]}, width: {type: integer}, tilt: {type: integer}}
          discriminator: {propertyName: kind}
`

// contract has the same content, with names for the alternatives.
const contract = `
openapi: 3.0.3
info: {title: contract, version: "1"}
paths:
  /items:
    get:
      parameters:
        - {name: limit, in: query, schema: {type: integer}}
      responses:
        "200":
          description: ok
          content: {application/json: {schema: {$ref: "#/components/schemas/ItemList"}}}
        "404": {description: none}
    post:
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/NewItem"}}}
      responses: {"200": {description: ok}}
  /items/{id}:
    delete:
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
      responses: {"200": {description: ok}}
components:
  schemas:
    ItemList: {type: array, items: {$ref: "#/components/schemas/Item"}}
    Color: {type: string, enum: [red, green]}
    NewItem:
      type: object
      required: [name, size]
      properties:
        name: {type: string}
        size: {type: string, enum: [big, small]}
        note: {type: string}
    Item:
      type: object
      required: [name, shape]
      properties:
        name: {type: string}
        color: {$ref: "#/components/schemas/Color"}
        shape: {$ref: "#/components/schemas/Shape"}
    Shape:
      oneOf:
        - {$ref: "#/components/schemas/Square"}
        - {$ref: "#/components/schemas/Circle"}
      discriminator:
        propertyName: kind
        mapping: {circle: "#/components/schemas/Circle", square: "#/components/schemas/Square"}
    Circle:
      type: object
      required: [kind, radius]
      properties: {kind: {type: string, enum: [circle]}, radius: {type: integer}}
    Square:
      type: object
      required: [kind, width]
      properties: {kind: {type: string, enum: [square]}, width: {type: integer}, tilt: {type: integer}}
`

const noExceptions = `
later: [{path: /other, because: not built}]
except: []
`

func TestWhatIsMissingIsFound(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"a path", "  /items/{id}:\n    delete:\n", "  /goods/{id}:\n    delete:\n", "DELETE /items/{id}: api-path-removed-without-deprecation"},
		{"a method", "    delete:\n", "    put:\n", "DELETE /items/{id}: api-removed-without-deprecation"},
		{"a parameter", "        - {name: limit, in: query, schema: {type: integer}}\n", "        - {name: most, in: query, schema: {type: integer}}\n", "GET /items: request-parameter-removed"},
		{"a required field of a request", "[name, size]", "[name]", "POST /items: request-property-became-optional"},
		{"one more required field of a request", "[name, size]", "[name, size, note]", "POST /items: request-property-became-required"},
		{"a field of a request", "        note: {type: string}\n", "", "POST /items: request-property-removed"},
		{"a required field of an answer", "[name, shape]", "[shape]", "GET /items: response-property-became-optional"},
		{"a field of an answer", "        color: {$ref: \"#/components/schemas/Color\"}\n", "", "GET /items: response-optional-property-removed"},
		{"an enum value of a request", "[big, small]", "[big]", "POST /items: request-property-enum-value-removed"},
		{"an enum value of an answer", "[red, green]", "[red]", "GET /items: response-property-enum-value-removed"},
		{"the type of a field of a request", "note: {type: string}", "note: {type: integer}", "POST /items: request-property-type-changed"},
		{"the type of a field of an answer", "name: {type: string}\n        color", "name: {type: integer}\n        color", "GET /items: response-property-type-changed"},
		{"the type of a field of an alternative", "radius: {type: integer}", "radius: {type: string}", "GET /items: response-property-type-changed"},
		{"a required field of an alternative", "[kind, width]", "[kind]", "GET /items: response-property-became-optional"},
		{"a field of an alternative", ", tilt: {type: integer}", "", "GET /items: response-optional-property-removed"},
		{"an alternative", "        - {$ref: \"#/components/schemas/Circle\"}\n", "", "GET /items: response-property-one-of-removed"},
		{"the name of a schema", "Color", "Colour", "api-schema-removed"},
		{"a status", "        \"404\": {description: none}\n", "", "GET /items: response-non-success-status-removed"},
		{"a body", "      requestBody:\n        required: true\n        content: {application/json: {schema: {$ref: \"#/components/schemas/NewItem\"}}}\n", "", "POST /items: request-body-removed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.ReplaceAll(contract, tc.old, tc.new)
			if changed == contract {
				t.Fatalf("%q is not in the contract", tc.old)
			}
			r, err := compare(write(t, published, changed, noExceptions))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range r.changes {
				got = append(got, strings.TrimPrefix(c.operation+": "+c.id, ": "))
			}
			if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+tc.want+"\n") {
				t.Errorf("found %q, want %q", r.changes, tc.want)
			}
		})
	}
}

func TestWhatIsTheSameIsNotFound(t *testing.T) {
	r, err := compare(write(t, published, contract, noExceptions))
	if err != nil || r.differs() || r.operations != 3 {
		t.Errorf("%+v, %v; want three operations and no difference", r, err)
	}
}

// TestATagMayBeWrittenInSeveralWays checks that an alternative is recognised if requests may write its tag in a
// second way.
func TestATagMayBeWrittenInSeveralWays(t *testing.T) {
	r, err := compare(write(t, published, strings.Replace(contract, "enum: [circle]", "enum: [circle, Circle]", 1), noExceptions))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.changes) != 1 || r.changes[0].id != "response-property-enum-value-added" {
		t.Errorf("found %q, want the one value", r.changes)
	}
}

func TestExceptions(t *testing.T) {
	less := strings.NewReplacer("        \"404\": {description: none}\n", "", "[kind, width]", "[kind]").Replace(contract)
	const (
		status = `  - {change: response-non-success-status-removed, operation: GET /items, at: "404", because: never sent}` + "\n"
		width  = `  - {change: response-property-became-optional, at: "oneOf[*: square]/width", because: may be missing}` + "\n"
	)
	for _, tc := range []struct {
		name, contract, exceptions string
		excepted, found            int
		stale                      []string
	}{
		{"all covered", less, "later: [{path: /other, because: not built}]\nexcept:\n" + status + width, 2, 0, nil},
		{"one left", less, "later: [{path: /other, because: not built}]\nexcept:\n" + status, 1, 1, nil},
		{"another operation, another place", less, "later: [{path: /other, because: not built}]\nexcept:\n" +
			strings.Replace(status, "GET", "POST", 1) + strings.Replace(width, "width", "tilt", 1), 0, 2, []string{
			"exceptions.yaml:3: the exception for response-non-success-status-removed is not needed: there is no such difference",
			"exceptions.yaml:4: the exception for response-property-became-optional is not needed: there is no such difference",
		}},
		{"not needed any more", contract, "later: [{path: /other, because: not built}]\nexcept:\n" + status, 0, 0, []string{
			"exceptions.yaml:3: the exception for response-non-success-status-removed is not needed: there is no such difference",
		}},
		{"for later, and built", strings.Replace(contract, "paths:\n", "paths:\n  /other/thing:\n    get: {responses: {\"200\": {description: ok}}}\n", 1),
			noExceptions, 0, 0, []string{"exceptions.yaml:2: /other is for later, and the contract has /other/thing"}},
		{"for later, and nowhere", contract, "later:\n  - {path: /other, because: not built}\n  - {path: /oth, because: not built}\nexcept: []\n", 0, 0, []string{
			"exceptions.yaml:3: /oth is for later, and the published document does not have it",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := write(t, published, tc.contract, tc.exceptions)
			r, err := compare(in)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.stale {
				r.stale[i] = strings.TrimPrefix(r.stale[i], filepath.Dir(in.exceptions)+"/")
			}
			if diff := cmp.Diff(tc.stale, r.stale); diff != "" || r.excepted != tc.excepted || len(r.changes) != tc.found {
				t.Errorf("%d excepted, found %q, want %d and %d; stale (-want +got):\n%s", r.excepted, r.changes, tc.excepted, tc.found, diff)
			}
		})
	}
}

func TestRun(t *testing.T) {
	in := write(t, published, contract, noExceptions)
	other := write(t, published, strings.Replace(contract, "    delete:\n", "    put:\n", 1), noExceptions)
	broken := write(t, "paths: [", "openapi: 3.0.3", "later: 1\nexcept: [{chnge: x, because: y}]\n")
	for _, tc := range []struct {
		name           string
		in             files
		code           int
		stdout, stderr string
	}{
		{"agrees", in, exitAgree, "3 operations compared: 0 differences without a reason, 0 with one, 0 stale exceptions\n", ""},
		{"differs", other, exitDiffer, "DELETE /items/{id}: ", ""},
		{"no published document", files{filepath.Join(t.TempDir(), "none.json"), in.contract, in.exceptions}, exitUsage, "", "set GOOSE_OPENAPI"},
		{"no path of it", files{"", in.contract, in.exceptions}, exitUsage, "", "-published is required"},
		{"an unreadable published document", files{broken.published, in.contract, in.exceptions}, exitUsage, "", "read " + broken.published},
		{"an unreadable contract", files{in.published, broken.contract, in.exceptions}, exitUsage, "", "read " + broken.contract},
		{"unreadable exceptions", files{in.published, in.contract, broken.exceptions}, exitUsage, "", `unknown key "chnge"`},
		{"nothing to compare", files{in.published, in.contract, write(t, "", "", "later: [{path: /items, because: x}, {path: /other, because: x}]\nexcept: []\n").exceptions},
			exitUsage, "", "no operation that is to be compared"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run([]string{"-published", tc.in.published, "-contract", tc.in.contract, "-exceptions", tc.in.exceptions}, &stdout, &stderr)
			if code != tc.code || !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("%d, %q, %q; want %d, %q, %q", code, &stdout, &stderr, tc.code, tc.stdout, tc.stderr)
			}
		})
	}
}

// write writes the three files that are compared.
func write(t *testing.T, published, contract, exceptions string) files {
	t.Helper()
	dir := t.TempDir()
	path := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return files{path("published.yaml", published), path("contract.yaml", contract), path("exceptions.yaml", exceptions)}
}
