package coverage

import (
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// parse reads a document that has no mistakes.
func parse(t testing.TB, doc string) *spec.Document {
	t.Helper()
	d, problems := spec.Read("api.yaml", []byte(doc))
	if len(problems) > 0 {
		t.Fatalf("Read:\n%v\n\n%s", problems, doc)
	}
	return d
}

func ours(t testing.TB) (*spec.Document, []byte) {
	t.Helper()
	data, err := os.ReadFile("../../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data)), data
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

// streamed is GET /x answered with an event stream.
func streamed(events ...transcript.Event) *transcript.Transcript {
	t := answer("GET", "/x", 200, header("Content-Type", "text/event-stream"), "")
	t.Steps[0].Exchanges[0].Stream = "s"
	t.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: events}}
	return t
}

func data(name, data string) transcript.Event { return transcript.Event{Type: name, Data: data} }

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

// asked is a transcript with one request, which was answered with 204.
func asked(method, target string, h transcript.Header, content string) *transcript.Transcript {
	t := answer(method, target, 204, nil, "")
	t.Steps[0].Exchanges[0].Request.Header = h
	t.Steps[0].Exchanges[0].Request.Body = body(content)
	return t
}

func mustTree(t testing.TB, text string) *jsontree.Node {
	t.Helper()
	n, _, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func withFailure(t *transcript.Transcript) *transcript.Transcript {
	t.Steps[0].Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseBody}
	return t
}
