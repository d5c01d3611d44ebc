package contract

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// requested is the data of an event in this repository's contract, 288 bytes.
const requested = `{"type":"client-tool.request","properties":{"clientID":"my-client","request":{"type":"client-tool-request",` +
	`"requestID":"my-client_call_1_1765000000000","sessionID":"ses_1","messageID":"msg_1","callID":"call_1",` +
	`"tool":"client_my-client_search-docs","input":{"query":"streams","n":12345}}}}`

func BenchmarkParse(b *testing.B) {
	data := testfile.Read(b, "../../openapi.yaml")
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(data, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("loader alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := openapi3.NewLoader().LoadFromData(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("loader with lines", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			loader := openapi3.NewLoader()
			loader.IncludeOrigin = true
			if _, err := loader.LoadFromData(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	d, data := ours(b)
	s := d.Operations()[7].Responses[0].Media[0].Events.Received.Events["client-tool.request"].Schema
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(requested)))
		for b.Loop() {
			if found := (&check{doc: d}).judge(s, spec.JSON, Event, []byte(requested)); len(found) > 0 {
				b.Fatal(found)
			}
		}
	})
	b.Run("reading alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := jsontree.Parse([]byte(requested)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("kin-openapi", func(b *testing.B) {
		loaded, err := openapi3.NewLoader().LoadFromData(data)
		if err != nil {
			b.Fatal(err)
		}
		kin := loaded.Components.Schemas["ClientToolRequestEvent"].Value
		b.ReportAllocs()
		for b.Loop() {
			n, _, err := jsontree.Parse([]byte(requested))
			if err == nil {
				err = kin.VisitJSON(n.Value(), openapi3.VisitAsResponse(), openapi3.MultiErrors())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for _, bm := range []struct {
		name string
		t    *transcript.Transcript
		want int
	}{
		{"a good exchange", registered(`{"registered":["client_a_b"]}`), 0},
		{"a bad exchange", registered(`{"registered":["b"],"x":1}`), 2},
	} {
		b.Run(bm.name, func(b *testing.B) {
			d, _ := ours(b)
			b.ReportAllocs()
			for b.Loop() {
				if vs := d.Check(bm.t); len(vs) != bm.want {
					b.Fatal(long(vs))
				}
			}
		})
	}
}

func BenchmarkOperation(b *testing.B) {
	d, _ := ours(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := d.Operation("GET", "/client-tools/tools/my-client?directory=x"); !ok {
			b.Fatal("not found")
		}
	}
}
