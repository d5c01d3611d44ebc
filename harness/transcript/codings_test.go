package transcript

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
)

func TestABodyIsDecoded(t *testing.T) {
	const text = `{"a":"hello hello hello"}`
	in := func(writer func(io.Writer) io.WriteCloser) []byte {
		var b bytes.Buffer
		w := writer(&b)
		io.WriteString(w, text)
		w.Close()
		return b.Bytes()
	}
	gzipped := in(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	zlibbed := in(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	deflated := in(func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 5); return f })
	brotlied := in(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	zstandard := in(func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })
	var twice bytes.Buffer
	outer := brotli.NewWriter(&twice)
	outer.Write(gzipped)
	outer.Close()
	empty := Body{Bytes: []byte{}}
	for _, tc := range []struct {
		name   string
		coding string
		body   Body
		most   int64
		want   bool
	}{
		{"gzip", "gzip", whole(gzipped), 100, true},
		{"gzip by its old name, in capitals", "X-GZIP", whole(gzipped), 100, true},
		{"deflate", "deflate", whole(zlibbed), 100, true},
		{"deflate as some send it", "deflate", whole(deflated), 100, true},
		{"br", "br", whole(brotlied), 100, true},
		{"zstd", "zstd", whole(zstandard), 100, true},
		{"two, beside what is none", "gzip, identity, br", whole(twice.Bytes()), 100, true},
		{"two in the other order", "br, gzip", whole(twice.Bytes()), 100, false},
		{"none", "identity", whole(gzipped), 100, false},
		{"one of two", "gzip, gzip", whole(gzipped), 100, false},
		{"one that nobody here reads", "compress", whole(gzipped), 100, false},
		{"one that it is not in", "gzip", whole(zlibbed), 100, false},
		{"half of it", "gzip", whole(gzipped[:10]), 100, false},
		{"more in it than is kept", "gzip", whole(gzipped), int64(len(text) - 1), false},
		{"as much in it as is kept", "gzip", whole(gzipped), int64(len(text)), true},
		{"a body that was not kept whole", "gzip", Body{Bytes: gzipped, Size: 1000}, 100, false},
		{"no body", "gzip", empty, 100, false},
	} {
		want := tc.body
		if tc.want {
			want = Body{Bytes: []byte(text), Size: int64(len(text)), Sent: tc.body.Size}
		}
		got := tc.body
		got.Decode(Header{{Name: "content-encoding", Value: tc.coding}}, tc.most)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Body{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if got.Decoded() != tc.want || got.Length() != tc.body.Size {
			t.Errorf("%s: decoded %t, and %d bytes were sent", tc.name, got.Decoded(), got.Length())
		}
	}
}

func TestARunFileHasTheNumberOfBytesSent(t *testing.T) {
	for _, body := range []Body{{Bytes: []byte("{}"), Size: 2, Sent: 22}, {Sent: 20}, {Bytes: []byte("‹20 bytes›"), Size: 14, Sent: 20, Withheld: &Withheld{Mistaken: "it ends too early"}}} {
		tr := sample("ref")
		tr.Steps[0].Exchanges[0].Response.Body = body
		_, got, err := read(write(t, tr))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(body, got[0].Steps[0].Exchanges[0].Response.Body, cmpopts.IgnoreUnexported(Body{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	}
}

func whole(data []byte) Body { return Body{Bytes: data, Size: int64(len(data))} }
