package contract

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// parse reads a document that has no mistakes.
func parse(t testing.TB, doc string) *Document {
	t.Helper()
	d, err := Parse([]byte(doc), &Options{File: "api.yaml"})
	if err != nil {
		t.Fatalf("Parse:\n%v\n\n%s", err, numbered(doc))
	}
	return d
}

func ours(t testing.TB) (*Document, []byte) {
	t.Helper()
	data, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(data, &Options{File: "openapi.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return d, data
}

const head = "openapi: 3.0.3\ninfo: {title: test, version: '1'}\n"

// api returns a document with these paths and, if there is a second text, these component schemas, both indented by two.
func api(paths string, schemas ...string) string {
	doc := head + "paths:\n" + strings.Trim(paths, "\n") + "\n"
	for _, s := range schemas {
		doc += "components:\n  schemas:\n" + strings.Trim(s, "\n") + "\n"
	}
	return doc
}

// returning returns a document where GET /x answers 200 with JSON of this schema, written in flow style.
func returning(schema string, schemas ...string) string {
	return api(`
  /x:
    get:
      responses:
        '200':
          description: ok
          content:
            application/json:
              schema: `+schema, schemas...)
}

// taking returns a document where POST /x takes JSON of this schema.
func taking(schema string) string {
	return api(`
  /x:
    post:
      requestBody:
        content:
          application/json:
            schema: ` + schema + `
      responses:
        '204': {description: ok}`)
}

// streaming returns a document where GET /x is an event stream with this x-events, indented by sixteen.
func streaming(events string) string {
	return api(`
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

func header(pairs ...string) (h transcript.Header) {
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, transcript.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return h
}

func body(s string) transcript.Body { return transcript.Body{Bytes: []byte(s), Size: int64(len(s))} }

// answer is a transcript with one exchange.
func answer(method, target string, status int, h transcript.Header, content string) *transcript.Transcript {
	return &transcript.Transcript{Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{{
		Request:  transcript.Request{Method: method, Target: target},
		Response: &transcript.Response{Status: status, Header: h, Body: body(content)},
	}}}}}
}

// answerJSON is GET /x answered with 200 and a JSON body.
func answerJSON(content string) *transcript.Transcript {
	return answer("GET", "/x", 200, header("Content-Type", "application/json"), content)
}

// asked is a transcript with one request, which was answered with 204.
func asked(method, target string, h transcript.Header, content string) *transcript.Transcript {
	t := answer(method, target, 204, nil, "")
	t.Steps[0].Exchanges[0].Request.Header = h
	t.Steps[0].Exchanges[0].Request.Body = body(content)
	return t
}

func askedJSON(content string) *transcript.Transcript {
	return asked("POST", "/x", header("Content-Type", "application/json"), content)
}

// streamed is GET /x answered with an event stream.
func streamed(events ...transcript.Event) *transcript.Transcript {
	t := answer("GET", "/x", 200, header("Content-Type", "text/event-stream"), "")
	t.Steps[0].Exchanges[0].Stream = "s"
	t.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: events}}
	return t
}

func data(name, data string) transcript.Event { return transcript.Event{Type: name, Data: data} }

// short writes violations as "place kind", one to a line.
func short(vs []Violation) string {
	lines := make([]string, len(vs))
	for i, v := range vs {
		lines[i] = v.Place + " " + string(v.Kind)
	}
	return strings.Join(lines, "\n")
}

// long writes them for a failing test.
func long(vs []Violation) string {
	var b strings.Builder
	for _, v := range vs {
		fmt.Fprintf(&b, "%s %s %s: %s (%s, line %d)\n", v.Side, v.Place, v.Kind, v.Text, v.Schema, v.Line)
	}
	return b.String()
}

func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", i+1, line)
	}
	return b.String()
}
