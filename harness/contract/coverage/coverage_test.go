package coverage

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const coverageDoc = sample.Head + `paths:
  /z:
    get:
      operationId: watch
      responses:
        '200':
          description: ok
          content:
            text/event-stream:
              schema: {type: string}
              x-events: {events: {tock: {schema: {}}, tick: {schema: {}}}}
            application/json: {schema: {}}
        default: {description: other}
        4XX: {description: refused}
  /a:
    get:
      responses: {'200': {description: ok, content: {text/event-stream: {schema: {type: string}}}}}
    head:
      responses: {'204': {description: ok}}
`

// plain compares what a coverage writes to a report.
var plain = cmp.Options{
	cmpopts.IgnoreUnexported(Coverage{}), cmpopts.IgnoreFields(Operation{}, "Line"),
	cmpopts.IgnoreFields(Status{}, "Line"), cmpopts.IgnoreFields(Event{}, "Line"),
}

func TestCoverageCountsWhatWasReached(t *testing.T) {
	d := sample.Parse(t, coverageDoc)
	c := New(d)
	if got, want := c.Totals().String(), "operations 0/3 · statuses 0/5 · events 0/2 · streams not described 1"; got != want {
		t.Errorf("nothing reached: %s, want %s", got, want)
	}
	stream := sample.Response("GET", "/z", 200, sample.Header("Content-Type", "text/event-stream"), "")
	stream.Steps[0].Exchanges[0].Stream = "s"
	stream.Steps[0].Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailCanceled} // the scenario closed the stream
	stream.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: []transcript.Event{
		sample.Event("tick", "1"), sample.Event("tick", "2"), sample.Event("tack", "3"), {Comment: true}, {Type: "tock", Undispatched: true},
	}}}
	noAnswer := sample.Response("GET", "/z", 200, nil, "")
	noAnswer.Steps[0].Exchanges[0].Response = nil
	for _, tr := range []*transcript.Transcript{
		stream,
		sample.Response("GET", "/z", 404, nil, ""),
		sample.Response("GET", "/z", 200, sample.Header("Content-Type", "text/html"), "x"),
		sample.Response("GET", "/a", 500, nil, ""),
		sample.Response("HEAD", "/a", 204, nil, ""),
		// These transcripts reach nothing.
		noAnswer,
		sample.CutShort(sample.Response("GET", "/z", 500, nil, "")),
		sample.Response("HEAD", "/z", 500, nil, ""),
		sample.Response("OPTIONS", "/z", 204, nil, ""),
		sample.Response("GET", "/nope?x=1", 404, nil, ""),
		sample.Response("GET", "/nope?x=2", 404, nil, ""),
	} {
		c.Add(tr)
	}
	want := Coverage{
		Operations: []Operation{
			{ID: "watch", Method: "GET", Path: "/z", Reached: 3, Statuses: []Status{
				{Status: "200", Reached: 2, Media: []Media{
					{Type: "application/json"},
					{Type: "text/event-stream", Reached: 1, Stream: &Stream{Described: true, Events: []Event{
						{Name: "tock"}, {Name: "tick", Reached: 2},
					}}},
				}},
				{Status: "4XX", Reached: 1},
				{Status: "default"},
			}},
			{Method: "GET", Path: "/a", Reached: 1, Statuses: []Status{
				{Status: "200", Media: []Media{{Type: "text/event-stream", Stream: &Stream{}}}},
			}},
			{Method: "HEAD", Path: "/a", Reached: 1, Statuses: []Status{{Status: "204", Reached: 1}}},
		},
		Undocumented: []Undocumented{
			{Kind: spec.UndocumentedEvent, What: "GET /z: tack", Count: 1},
			{Kind: spec.UndocumentedMediaType, What: "GET /z: text/html", Count: 1},
			{Kind: spec.UndocumentedOperation, What: "GET /nope", Count: 2, Statuses: []StatusCount{{404, 2}}},
			{Kind: spec.UndocumentedStatus, What: "GET /a: 500", Count: 1},
		},
	}
	if diff := cmp.Diff(&want, c, plain); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if got, want := c.Totals().String(), "operations 3/3 · statuses 3/5 · events 1/2 · streams not described 1 · undocumented 4"; got != want {
		t.Errorf("Totals: %s, want %s", got, want)
	}
}

func TestCoverageOfOurDocument(t *testing.T) {
	d, _ := ours(t)
	c := New(d)
	c.Add(sample.Response("GET", "/status", 200, sample.Header("Content-Type", "text/plain", "Access-Control-Allow-Origin", "*"), "ok"))
	if got, want := c.Totals().String(), "operations 1/59 · statuses 1/361 · events 0/39"; got != want {
		t.Errorf("Totals: %s, want %s", got, want)
	}
}

func TestAddNeedsADocument(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "New") {
			t.Errorf("Add to an empty coverage: %q", text)
		}
	}()
	new(Coverage).Add(&transcript.Transcript{})
}

// FuzzAdd checks that any response can be counted and reaches at most one operation.
func FuzzAdd(f *testing.F) {
	d, _ := ours(f)
	for _, body := range []string{`{}`, `{"error":"Unknown request ID"}`, "\xff", `[1,[2,[3]]]`, ``, `{"type":"client-tool.failed","properties":{"sessionID":"a"}}`} {
		f.Add("POST", "/client-tools/result", 404, "application/json", body, "client-tool.failed")
		f.Add("GET", "/event?directory=%2F", 200, "text/event-stream", body, "ping")
	}
	f.Fuzz(func(t *testing.T, method, target string, status int, contentType, content, event string) {
		tr := sample.Response(method, target, status, sample.Header("Content-Type", contentType), content)
		stream := sample.Response(method, target, status, sample.Header("Content-Type", contentType), content)
		stream.Steps[0].Exchanges[0].Stream = "s"
		stream.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: []transcript.Event{sample.Event(event, content), {Comment: true, Data: content}}}}
		for _, tr := range []*transcript.Transcript{tr, stream} {
			c := New(d)
			c.Add(tr)
			if totals := c.Totals(); totals.Operations.Reached > 1 || totals.Operations.Declared != len(d.Operations()) {
				t.Fatalf("Totals: %+v", totals)
			}
		}
	})
}

func TestCoveragesOfADocumentAreIndependent(t *testing.T) {
	d, _ := ours(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				New(d).Add(sample.Response("GET", "/event?directory=%2F", 200, sample.Header("Content-Type", "text/event-stream"), ""))
			}
		})
	}
	wg.Wait()
}

// If a part of a document is missing or has another type, the rest can still be counted.
func TestHalfDocumentsCanBeCounted(t *testing.T) {
	lines := strings.Split(coverageDoc, "\n")
	for i := range lines {
		d, problems := spec.Read("api.yaml", []byte(strings.Join(append(lines[:i:i], lines[i+1:]...), "\n")))
		if len(problems) == 0 {
			New(d).Add(sample.Stream(sample.Event("a", "b")))
		}
	}
}
