package contract

import (
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// FuzzCheck checks what must hold of any answer: nothing panics, the second judgement (from the cache) is the first,
// and every violation says what and where.
func FuzzCheck(f *testing.F) {
	d, _ := ours(f)
	loose := parse(f, returning("{$ref: '#/components/schemas/Pet'}", petSchemas))
	for _, body := range []string{`{}`, `{"error":"Unknown request ID"}`, `{"kind":"Puppy","bark":1}`, `{"a":1,"a":2}`, "\xff", `[1,[2,[3]]]`, ``,
		`{"type":"client-tool.failed","properties":{"sessionID":"a"}}`, `{"data":null,"error":[{"code":"invalid_union","errors":[]}],"success":false}`} {
		f.Add("POST", "/client-tools/result", 404, "application/json", body, "client-tool.failed", "no-cache")
		f.Add("GET", "/x", 200, "application/json", body, "", "")
		f.Add("GET", "/event?directory=%2F", 200, "text/event-stream", body, "ping", "no-cache")
	}
	f.Fuzz(func(t *testing.T, method, target string, status int, contentType, content, event, cacheControl string) {
		h := header("Content-Type", contentType, "Cache-Control", cacheControl, "Access-Control-Allow-Origin", "*")
		tr := answer(method, target, status, h, content)
		tr.Steps[0].Exchanges[0].Request.Header = h
		tr.Steps[0].Exchanges[0].Request.Body = body(content)
		stream := answer(method, target, status, h, "")
		stream.Steps[0].Exchanges[0].Stream = "s"
		stream.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: []transcript.Event{data(event, content), {Comment: true, Data: content}}}}
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
				c := doc.NewCoverage()
				c.Add(tr)
				if totals := c.Totals(); totals.Operations.Reached > 1 || totals.Operations.Declared != len(doc.ops) {
					t.Fatalf("Totals: %+v", totals)
				}
			}
		}
	})
}

// FuzzParse checks that no document makes Parse panic, and that what it takes can judge.
func FuzzParse(f *testing.F) {
	for _, doc := range []string{routesDoc, paramsDoc, bodiesDoc, coverageDoc, streaming(streamDoc), returning(`{$ref: '#/components/schemas/Pet'}`, petSchemas)} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		d, err := Parse([]byte(doc), nil)
		if err != nil {
			return
		}
		for _, op := range d.ops {
			for _, r := range op.responses {
				for _, m := range r.media {
					for _, content := range []string{`{}`, `{"kind":"Dog"}`, `null`, `[1]`, `"a"`} {
						d.judge(m.schema, jsonText, Response, []byte(content))
					}
				}
			}
		}
	})
}

func TestADocumentIsSafeForConcurrentUse(t *testing.T) {
	data, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
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
				d.NewCoverage().Add(transcripts[i])
			}
		})
	}
	wg.Wait()
}

// registered is a registration as our document has it, answered with this body.
func registered(answered string) *transcript.Transcript {
	tr := answer("POST", "/client-tools/register?directory=%2Fhome", 200,
		header("Content-Type", "application/json", "Access-Control-Allow-Origin", "*"), answered)
	tr.Steps[0].Exchanges[0].Request.Header = header("Content-Type", "application/json")
	tr.Steps[0].Exchanges[0].Request.Body = body(`{"clientID":"a","tools":[{"id":"b","description":"c","parameters":{"type":"object"}}]}`)
	return tr
}

func TestTheCacheForgetsWhatIsNotUsed(t *testing.T) {
	var c cache
	key := cacheKey{how: jsonText}
	content := make([]byte, cacheLimit)
	for i := range 4 * cacheBudget / cacheLimit {
		content[0], content[1] = byte(i), byte(i>>8)
		c.put(key, content, nil)
		if _, ok := c.get(key, content); !ok {
			t.Fatalf("the entry %d is not there", i)
		}
		if c.used > cacheBudget {
			t.Fatalf("%d bytes used, of %d", c.used, cacheBudget)
		}
		if _, ok := c.get(key, []byte("asked for all the time")); i > 0 && !ok {
			t.Fatalf("what is in use was forgotten at %d", i)
		}
		c.put(key, []byte("asked for all the time"), nil)
	}
	content[0], content[1] = 0, 0
	if _, ok := c.get(key, content); ok {
		t.Error("the first entry is still there")
	}
	c.put(key, make([]byte, cacheLimit+1), nil)
	if _, ok := c.get(key, make([]byte, cacheLimit+1)); ok {
		t.Error("a content beyond the limit is kept")
	}
}
