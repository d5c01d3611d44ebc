// Package sample builds OpenAPI documents and transcripts for the tests of package contract and of the packages below
// it.
package sample

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

// Head is the beginning of every document.
const Head = "openapi: 3.0.3\ninfo: {title: test, version: '1'}\n"

// Parse parses a document without mistakes.
func Parse(t testing.TB, doc string) *spec.Document {
	t.Helper()
	d, problems := spec.Read("api.yaml", []byte(doc))
	if len(problems) > 0 {
		t.Fatalf("Read:\n%v\n\n%s", problems, Numbered(doc))
	}
	return d
}

// Numbered puts its number before each line of a text.
func Numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", i+1, line)
	}
	return b.String()
}

// API returns a document with these paths and, with a second text, these component schemas. Both are indented by two.
func API(paths string, schemas ...string) string {
	doc := Head + "paths:\n" + strings.Trim(paths, "\n") + "\n"
	for _, s := range schemas {
		doc += "components:\n  schemas:\n" + strings.Trim(s, "\n") + "\n"
	}
	return doc
}

// Returning returns a document whose GET /x responds with 200 and JSON of this schema, written in flow style.
func Returning(schema string, schemas ...string) string {
	return API(`
  /x:
    get:
      responses:
        '200':
          description: ok
          content:
            application/json:
              schema: `+schema, schemas...)
}

// Taking returns a document whose POST /x accepts JSON of this schema.
func Taking(schema string) string {
	return API(`
  /x:
    post:
      requestBody:
        content:
          application/json:
            schema: ` + schema + `
      responses:
        '204': {description: ok}`)
}

// Streaming returns a document whose GET /x is an event stream with this x-events, indented by sixteen.
func Streaming(events string) string {
	return API(`
  /x:
    get:
      responses:
        '200':
          description: ok
          content:
            text/event-stream:
              schema: {type: string}
              x-events:
` + strings.Trim(events, "\n"))
}
