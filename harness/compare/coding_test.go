package compare

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// coded encodes a text in a content coding.
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
		{"two", answered(coded(t, string(gzipped), brotlied), "x-gzip", "br"), ""},
		{"one of two", answered(gzipped, "br", "gzip"), "br, gzip, as Content-Encoding says: brotli: PADDING_2"},
		{"one that nobody here reads", answered([]byte(text), "compress"), ""},
		{"plain text that is called br", answered([]byte(text), "br"), "br, as Content-Encoding says: brotli: PADDING_2"},
		{"plain text that is called gzip", answered([]byte(text), "gzip"), "gzip, as Content-Encoding says: gzip: invalid header"},
		{"plain text that is called so in a list", answered([]byte(text), "br, gzip"), "br, gzip, as Content-Encoding says: gzip: invalid header"},
		{"plain text that is called deflate", answered([]byte(text), "deflate"), "deflate, as Content-Encoding says: flate: corrupt input before offset 17"},
		{"half of one", answered(gzipped[:len(gzipped)-6], "gzip"), "gzip, as Content-Encoding says: it ends too early"},
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
		for _, f := range AllUnmet(nil, tc.t, &Rules{}) {
			if f.Kind == CodingMistaken {
				got += f.Want + ": " + f.Got
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func brotlied(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }

// answersIn returns a transcript with one response in the given codings.
func answersIn(body transcript.Body, status int, accepts string, codings string) *transcript.Transcript {
	out := sends(nil)
	x := out.Steps[0].Exchanges[0]
	if accepts != "" {
		x.Request.Header = transcript.Header{{Name: "accept-encoding", Value: accepts}}
	}
	x.Response = &transcript.Response{Proto: "HTTP/1.1", Status: status, Body: body, Header: transcript.Header{{Name: "Content-Type", Value: "text/plain"}}}
	if codings != "" {
		x.Response.Header = append(x.Response.Header, transcript.Field{Name: "Content-Encoding", Value: codings})
	}
	return out
}

func TestAnUnreadableBodyIsNotJudged(t *testing.T) {
	whole := func(data []byte) transcript.Body { return transcript.Body{Bytes: data, Size: int64(len(data))} }
	gzipper := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	gzipped := coded(t, "hello", gzipper)
	bomb := bytes.Repeat(coded(t, strings.Repeat("\x00", 1<<20), gzipper), 65) // 65 members in one gzip file
	chunked := answersIn(whole([]byte("hello")), 200, "", "")
	chunked.Steps[0].Exchanges[0].Response.Header = transcript.Header{{Name: "Transfer-Encoding", Value: "gzip, chunked"}}
	asked := answersIn(whole(nil), 200, "", "")
	asked.Upstream = []transcript.Step{{ID: "models.chat", Exchanges: []*transcript.Exchange{{
		Request: transcript.Request{Method: "POST", Header: transcript.Header{{Name: "Content-Encoding", Value: "compress"}}, Body: whole([]byte("hello"))},
	}}}}
	for _, tc := range []struct {
		name string
		t    *transcript.Transcript
		want string // a part of the text
	}{
		{"an unknown coding", answersIn(whole([]byte("hello")), 200, "*", "compress"), `the body of the answer cannot be judged: it is in the coding "compress"`},
		{"too many codings", answersIn(whole(gzipped), 200, "*", "gzip, gzip, br, zstd"), "in 4 codings"},
		{"more than is decoded", answersIn(whole(bomb), 200, "*", "gzip"), "it holds more than is read of it"},
		{"more than was kept in the run", answersIn(whole(gzipped), 200, "*", "gzip"), "limits.body"},
		{"a part of a body", answersIn(whole(gzipped), 206, "*", "gzip"), "a part cannot be decoded by itself"},
		{"a transfer coding", chunked, `the transfer coding "gzip"`},
		{"a request to an upstream", asked, `the request to the upstream cannot be judged: it is in the coding "compress"`},
		{"one that is in none, which is a finding", answersIn(whole([]byte("hello")), 200, "*", "gzip"), ""},
		{"what was decoded", answersIn(transcript.Body{Bytes: []byte("hello"), Size: 5, Sent: 29}, 200, "*", "br"), ""},
		{"a part of what is in no coding", answersIn(whole([]byte("hello")), 206, "", ""), ""},
		{"no body", answersIn(whole(nil), 200, "*", "compress"), ""},
	} {
		got := Unreadable(tc.t)
		if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.Contains(got[0].Text, tc.want)) {
			t.Errorf("%s: %+v, want %q", tc.name, got, tc.want)
		}
		result := Transcripts(nil, tc.t, tc.t, &Rules{})
		if compared := result.NotCompared["a body in a coding that cannot be read"] == 0; compared != (tc.want == "") && len(tc.t.Upstream) == 0 {
			t.Errorf("%s: the bodies are compared: %t", tc.name, compared)
		}
	}
}

// What is inside a body that could not be decoded is not judged.
func TestAnUnreadBodyLacksNothing(t *testing.T) {
	yes := "hello"
	tr := answersIn(transcript.Body{Bytes: []byte("?"), Size: 1}, 200, "*", "compress")
	tr.Steps[0].Unmet = &transcript.Unmet{Kind: "capture", What: "id from $.id", Why: "the body is no JSON"}
	tr.Steps[0].Expect = &transcript.Expect{Status: 201, Body: &yes}
	var got []string
	for _, f := range AllUnmet(nil, tr, &Rules{}) {
		got = append(got, string(f.Kind)+" "+f.Place)
	}
	if want := []string{"expectation status"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestACodingIsAskedFor(t *testing.T) {
	for _, tc := range []struct{ accepts, codings, want string }{
		{"", "", ""},
		{"", "identity", ""},
		{"", "gzip", "gzip"},
		{"gzip", "gzip", ""},
		{"GZIP;q=0.5, br", "x-gzip", ""},
		{"x-gzip", "gzip", ""},
		{"gzip", "br", "br"},
		{"gzip", "gzip, br", "br"},
		{"gzip, br", "gzip, br", ""},
		{"gzip;q=0", "gzip", "gzip"},
		{"gzip; Q=0.000, *", "gzip", "gzip"},
		{"*", "gzip", ""},
		{"*;q=0", "gzip", "gzip"},
		{"*;q=0, gzip", "gzip", ""},
		{"identity", "gzip", "gzip"},
	} {
		body := transcript.Body{Bytes: []byte("hello"), Size: 5, Sent: 29}
		tr := answersIn(body, 200, tc.accepts, tc.codings)
		var got string
		for _, f := range AllUnmet(nil, tr, &Rules{}) {
			if f.Kind == CodingUnasked {
				got += f.Got
			}
		}
		if got != tc.want {
			t.Errorf("%q for Accept-Encoding: %q: %q is not asked for, want %q", tc.codings, tc.accepts, got, tc.want)
		}
	}
}

// Clients see the same body, whether it is in a coding or not. But the servers differ.
func TestACodingThatOneSideUsesIsADifference(t *testing.T) {
	body := transcript.Body{Bytes: []byte("hello"), Size: 5, Sent: 29}
	plain := transcript.Body{Bytes: []byte("hello"), Size: 5}
	for _, tc := range []struct {
		name                     string
		accepts, ref, cand, want string
		headers                  []string
	}{
		{"one side", "*", "gzip", "", "header-missing", nil},
		{"the other side", "*", "", "gzip", "header-extra", nil},
		{"two codings", "*", "br", "gzip", "header-value", nil},
		{"two orders", "*", "br, gzip", "gzip, br", "header-value", nil},
		{"the same in other words", "*", "GZIP", "x-gzip", "", []string{"Content-Encoding"}},
		{"what is none", "*", "identity", "", "", nil},
		{"one that is not asked for, which is told of its side", "", "gzip", "", "", nil},
		{"one that is not asked for, in a field that is named", "", "gzip", "", "", []string{"content-encoding"}},
		{"named", "*", "gzip", "", "header-missing", []string{"content-encoding"}},
	} {
		of := map[bool]transcript.Body{true: plain, false: body}
		ref, cand := answersIn(of[tc.ref == ""], 200, tc.accepts, tc.ref), answersIn(of[tc.cand == ""], 200, tc.accepts, tc.cand)
		got := ""
		for _, d := range Transcripts(nil, ref, cand, &Rules{Headers: tc.headers}).Differences {
			got += string(d.Kind)
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
		decoded      bool
		want, unread int
	}{
		{"no coding", "", transcript.Event{Name: "a", Data: "{}"}, false, 0, 0},
		{"identity", "identity", transcript.Event{Name: "a", Data: "{}"}, false, 0, 0},
		{"an event that was never compressed", "gzip", transcript.Event{Name: "a", Data: "{}"}, false, 1, 0},
		{"an event that was decoded", "gzip", transcript.Event{Name: "a", Data: "{}"}, true, 0, 0},
		{"one in a coding that nobody here reads", "compress", transcript.Event{Name: "a", Data: "{}"}, false, 1, 0},
		{"what may be compressed bytes", "compress", transcript.Event{Undispatched: true}, false, 0, 1},
	} {
		head := transcript.Header{{Name: "Content-Type", Value: "text/event-stream"}}
		if tc.coding != "" {
			head = append(head, transcript.Field{Name: "Content-Encoding", Value: tc.coding})
		}
		opened := &transcript.Exchange{Stream: "bus", Response: &transcript.Response{Status: 200, Header: head}}
		side := &transcript.Transcript{
			Steps:   []transcript.Step{{ID: "1"}, {ID: "2", Exchanges: []*transcript.Exchange{opened}}},
			Streams: []*transcript.Stream{{Name: "bus", Step: "2", Decoded: tc.decoded, Events: []transcript.Event{tc.event}, Ended: transcript.EndedByServer}},
		}
		got := 0
		for _, f := range AllUnmet(nil, side, &Rules{}) {
			if f.Kind == CodingMistaken {
				got++
			}
		}
		if got != tc.want {
			t.Errorf("%s: %d shortfalls, want %d", tc.name, got, tc.want)
		}
		if got := Unreadable(side); len(got) != tc.unread {
			t.Errorf("%s: %+v cannot be read, want %d", tc.name, got, tc.unread)
		}
		if got := Transcripts(nil, side, side, &Rules{}); got.Events == 0 && tc.unread == 0 {
			t.Errorf("%s: no event is compared", tc.name)
		}
	}
}
