package contract

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// FuzzCheck checks what must hold for any response: nothing panics, judging it twice gives the same result, and every
// violation says what and where.
func FuzzCheck(f *testing.F) {
	d, _ := ours(f)
	loose := parse(f, sample.Returning("{$ref: '#/components/schemas/Pet'}", petSchemas))
	for _, body := range []string{`{}`, `{"error":"Unknown request ID"}`, `{"kind":"Puppy","bark":1}`, `{"a":1,"a":2}`, "\xff", `[1,[2,[3]]]`, ``,
		`{"type":"client-tool.failed","properties":{"sessionID":"a"}}`, `{"data":null,"error":[{"code":"invalid_union","errors":[]}],"success":false}`} {
		f.Add("POST", "/client-tools/result", 404, "application/json", body, "client-tool.failed", "no-cache")
		f.Add("GET", "/x", 200, "application/json", body, "", "")
		f.Add("GET", "/event?directory=%2F", 200, "text/event-stream", body, "ping", "no-cache")
	}
	f.Fuzz(func(t *testing.T, method, target string, status int, contentType, content, event, cacheControl string) {
		h := sample.Header("Content-Type", contentType, "Cache-Control", cacheControl, "Access-Control-Allow-Origin", "*")
		tr := sample.Response(method, target, status, h, content)
		tr.Steps[0].Exchanges[0].Request.Header = h
		tr.Steps[0].Exchanges[0].Request.Body = sample.Body(content)
		stream := sample.Response(method, target, status, h, "")
		stream.Steps[0].Exchanges[0].Stream = "s"
		stream.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: []transcript.Event{sample.Event(event, content), {Comment: true, Data: content}}}}
		for _, doc := range []*Document{d, loose} {
			for _, tr := range []*transcript.Transcript{tr, stream} {
				first := doc.Check(tr)
				if diff := cmp.Diff(first, doc.Check(tr)); diff != "" {
					t.Fatalf("two judgements differ:\n%s", diff)
				}
				for _, v := range first {
					if v.Kind == "" || v.Text == "" || v.Place == "" || v.Side == "" || v.Schema == "" || len(v.Text) > 4000 {
						t.Fatalf("a violation without all it should say: %+v", v)
					}
				}
			}
		}
	})
}

// FuzzParse checks that no document makes Parse panic, and that every accepted document can judge.
func FuzzParse(f *testing.F) {
	for _, doc := range []string{routesDoc, paramsDoc, bodiesDoc, sample.Streaming(streamDoc), sample.Messaging(chatDoc), sample.Returning(`{$ref: '#/components/schemas/Pet'}`, petSchemas)} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		d, err := Parse([]byte(doc), nil)
		if err != nil {
			return
		}
		for _, op := range d.Operations() {
			for _, r := range op.Responses {
				for _, m := range r.Media {
					for _, content := range []string{`{}`, `{"kind":"Dog"}`, `null`, `[1]`, `"a"`} {
						(&check{doc: d}).judge(m.Schema, spec.JSON, Response, []byte(content))
					}
				}
			}
		}
	})
}

func TestADocumentIsSafeForConcurrentUse(t *testing.T) {
	data := testfile.Read(t, "../../openapi.yaml")
	d, err := Parse(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	transcripts := []*transcript.Transcript{registered(`{"registered":["client_a_b"]}`), registered(`{"registered":["b"],"x":1}`), registered(`{`)}
	want := make([][]Violation, len(transcripts))
	for i, tr := range transcripts {
		fresh, err := Parse(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		want[i] = fresh.Check(tr)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for round := range 20 {
				i := round % len(transcripts)
				if diff := cmp.Diff(want[i], d.Check(transcripts[i])); diff != "" {
					t.Errorf("Check (-alone +together):\n%s", diff)
				}
			}
		})
	}
	wg.Wait()
}

// registered is a valid registration under this repository's contract, with this body as the response.
func registered(answered string) *transcript.Transcript {
	tr := sample.Response("POST", "/client-tools/register?directory=%2Fhome", 200,
		sample.Header("Content-Type", "application/json", "Access-Control-Allow-Origin", "*"), answered)
	tr.Steps[0].Exchanges[0].Request.Header = sample.Header("Content-Type", "application/json")
	tr.Steps[0].Exchanges[0].Request.Body = sample.Body(`{"clientID":"a","tools":[{"id":"b","description":"c","parameters":{"type":"object"}}]}`)
	return tr
}
