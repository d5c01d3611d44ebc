package compare

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// coded is a body in a content coding.
func coded(t *testing.T, text string, writer func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := writer(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestABodyIsInTheCodingThatItNames(t *testing.T) {
	const text = `{"a":1,"text":"hello hello hello"}`
	gzipped := coded(t, text, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	zlibbed := coded(t, text, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	deflated := coded(t, text, func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 5); return f })
	answered := func(body []byte, codings ...string) *transcript.Transcript {
		out := sends(body)
		h := transcript.Header{{Name: "Content-Type", Value: "application/json"}}
		for _, c := range codings {
			h = append(h, transcript.Field{Name: "content-encoding", Value: c})
		}
		out.Steps[0].Exchanges[0].Response.Header = h
		return out
	}
	changed := func(change func(*transcript.Exchange)) *transcript.Transcript {
		out := answered([]byte(text), "gzip")
		change(out.Steps[0].Exchanges[0])
		return out
	}
	for _, tc := range []struct {
		name string
		t    *transcript.Transcript
		want string
	}{
		{"no coding", answered([]byte(text)), ""},
		{"identity", answered([]byte(text), "identity"), ""},
		{"gzip", answered(gzipped, "gzip"), ""},
		{"gzip by its old name, in capitals", answered(gzipped, "X-GZIP"), ""},
		{"deflate", answered(zlibbed, "deflate"), ""},
		{"deflate as some send it", answered(deflated, "deflate"), ""},
		{"one of two", answered(gzipped, "br", "gzip"), ""},
		{"one that nobody here reads", answered([]byte(text), "br"), ""},
		{"plain text that is called gzip", answered([]byte(text), "gzip"), "gzip, as Content-Encoding says: gzip: invalid header"},
		{"plain text that is called so in a list", answered([]byte(text), "br, gzip"), "gzip, as Content-Encoding says: gzip: invalid header"},
		{"plain text that is called deflate", answered([]byte(text), "deflate"), "deflate, as Content-Encoding says: zlib: invalid header"},
		{"half of one", answered(gzipped[:len(gzipped)-6], "gzip"), "gzip, as Content-Encoding says: unexpected EOF"},
		{"one with more behind it", answered(append(bytes.Clone(gzipped), text...), "gzip"), "gzip, as Content-Encoding says: gzip: invalid header"},
		{"no body", answered(nil, "gzip"), ""},
		{"an error", changed(func(x *transcript.Exchange) { x.Response.Status = 500 }), "gzip, as Content-Encoding says: gzip: invalid header"},
		{"a part of a body", changed(func(x *transcript.Exchange) { x.Response.Status = 206 }), ""},
		{"an answer to HEAD", changed(func(x *transcript.Exchange) { x.Request.Method = "HEAD" }), ""},
		{"one that was not kept whole", changed(func(x *transcript.Exchange) { x.Response.Body.Size++ }), ""},
		{"one that was cut, which is told already", changed(func(x *transcript.Exchange) {
			x.Failure = &transcript.Failure{Phase: transcript.PhaseBody, Text: "cut", Kind: transcript.FailReset}
		}), ""},
	} {
		var got string
		for _, f := range Shortfalls(tc.t, &Rules{}) {
			if f.Kind == CodingMistaken {
				got += f.Want + ": " + f.Got
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestAStreamIsInTheCodingThatItNames(t *testing.T) {
	for _, tc := range []struct {
		name, coding string
		event        transcript.Event
		want         int
	}{
		{"no coding", "", transcript.Event{Name: "a", Data: "{}"}, 0},
		{"identity", "identity", transcript.Event{Name: "a", Data: "{}"}, 0},
		{"an event that was never compressed", "gzip", transcript.Event{Name: "a", Data: "{}"}, 1},
		{"one in a coding that nobody here reads", "br", transcript.Event{Name: "a", Data: "{}"}, 1},
		{"what may be compressed bytes", "gzip", transcript.Event{Undispatched: true}, 0},
	} {
		head := transcript.Header{{Name: "Content-Type", Value: "text/event-stream"}}
		if tc.coding != "" {
			head = append(head, transcript.Field{Name: "Content-Encoding", Value: tc.coding})
		}
		opened := &transcript.Exchange{Stream: "bus", Response: &transcript.Response{Status: 200, Header: head}}
		side := &transcript.Transcript{
			Steps:   []transcript.Step{{ID: "1"}, {ID: "2", Exchanges: []*transcript.Exchange{opened}}},
			Streams: []*transcript.Stream{{Name: "bus", Step: "2", Events: []transcript.Event{tc.event}, Ended: transcript.EndedByServer}},
		}
		got := 0
		for _, f := range Shortfalls(side, &Rules{}) {
			if f.Kind == CodingMistaken {
				got++
			}
		}
		if got != tc.want {
			t.Errorf("%s: %d shortfalls, want %d", tc.name, got, tc.want)
		}
	}
}
