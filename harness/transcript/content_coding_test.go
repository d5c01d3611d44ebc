package transcript

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// A flusher writes a coding.
type flusher interface {
	io.WriteCloser
	Flush() error
}

var writers = map[string]func(io.Writer) flusher{
	"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
	"br":      func(w io.Writer) flusher { return brotli.NewWriter(w) },
	"zstd":    func(w io.Writer) flusher { z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); return z },
}

// in returns a text in codings, applied in their order.
func in(text string, names ...string) []byte {
	content := []byte(text)
	for _, name := range names {
		var b bytes.Buffer
		w := writers[name](&b)
		_, _ = w.Write(content)
		_ = w.Close()
		content = b.Bytes()
	}
	return content
}

func TestContentCodingsHaveSeveralNames(t *testing.T) {
	for _, tc := range []struct {
		values []string
		want   []string
	}{
		{nil, nil},
		{[]string{"identity", "", " , ,"}, nil},
		{[]string{"GZip"}, []string{"gzip"}},
		{[]string{"x-GZIP", " br\t, Identity ,zstd"}, []string{"gzip", "br", "zstd"}},
		{[]string{"x-compress, x-else"}, []string{"compress", "x-else"}},
	} {
		if got := ContentCodings(tc.values); !slices.Equal(got, tc.want) {
			t.Errorf("ContentCodings(%q) = %q, want %q", tc.values, got, tc.want)
		}
	}
}

func TestContentCodingsAreDecoded(t *testing.T) {
	text := strings.Repeat("All that was said, and said again. ", 5000)
	var bare bytes.Buffer
	w, _ := flate.NewWriter(&bare, 5)
	_, _ = io.WriteString(w, text)
	w.Close()
	for _, tc := range []struct {
		name  string
		names []string
		body  []byte
	}{
		{"gzip", []string{"gzip"}, in(text, "gzip")},
		{"two members of gzip", []string{"gzip"}, append(in(text[:100], "gzip"), in(text[100:], "gzip")...)},
		{"deflate", []string{"deflate"}, in(text, "deflate")},
		{"deflate as some send it", []string{"deflate"}, bare.Bytes()},
		{"br", []string{"br"}, in(text, "br")},
		{"zstd", []string{"zstd"}, in(text, "zstd")},
		{"two frames of zstd", []string{"zstd"}, append(in(text[:100], "zstd"), in(text[100:], "zstd")...)},
		{"two codings", []string{"gzip", "br"}, in(text, "gzip", "br")},
		{"three codings", []string{"zstd", "deflate", "zstd"}, in(text, "zstd", "deflate", "zstd")},
		{"none", nil, []byte(text)},
		{"nothing", []string{"br", "gzip"}, nil},
	} {
		got, err := DecodeCodings(tc.names, bytes.NewReader(tc.body), int64(len(text)))
		text := text[:min(len(text), len(text)*len(tc.body))]
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", tc.name, len(got), err)
		}
		got, err = DecodeCodings(tc.names, iotest.OneByteReader(bytes.NewReader(tc.body)), 0)
		if err != nil || string(got) != text {
			t.Errorf("%s, byte by byte: %d bytes, %v", tc.name, len(got), err)
		}
	}
}

func TestAnUnreadableBodyIsNotDecodedFurther(t *testing.T) {
	const text = "All that was said, and said again. All that was said."
	small := int64(len(text))
	zeros := strings.Repeat("\x00", 2<<20)
	var wide bytes.Buffer
	z, _ := zstd.NewWriter(&wide, zstd.WithWindowSize(16<<20), zstd.WithEncoderConcurrency(1))
	_, _ = io.WriteString(z, zeros)
	z.Close()
	for _, tc := range []struct {
		name    string
		names   string
		body    []byte
		most    int64
		limited bool
		says    string
	}{
		{"an unknown coding", "compress", []byte(text), small, true, `"compress"`},
		{"an unknown one within a known one", "compress, gzip", in(text, "gzip"), small, true, `"compress"`},
		{"an unknown one within one that it is not in", "compress, gzip", []byte(text), small, false, "gzip: invalid header"},
		{"too many", "gzip, gzip, gzip, gzip", in(text, "gzip", "gzip", "gzip", "gzip"), small, true, "in 4 codings, and at most 3"},
		{"more than may be", "gzip", in(text, "gzip"), small - 1, true, "more than is read"},
		{"much more", "br", in(zeros, "br"), 1 << 20, true, "more than is read"},
		{"much more in between", "gzip, gzip", in(strings.Repeat(string(in("", "gzip")), 1<<20), "gzip"), 1 << 20, true, "more than is read"},
		{"more memory than a client has", "zstd", wide.Bytes(), 64 << 20, true, "more than is read"},
		{"no gzip", "gzip", []byte(text), small, false, "gzip: invalid header"},
		{"no deflate", "deflate", []byte(text), small, false, "flate"},
		{"no br", "br", []byte(text), small, false, "brotli"},
		{"no zstd", "zstd", []byte(text), small, false, "magic number"},
		{"one coding less than it says", "gzip, br", in(text, "br"), small, false, "gzip: invalid header"},
		{"the other order", "br, gzip", in(text, "gzip", "br"), small, false, "gzip: invalid header"},
	} {
		_, err := DecodeCodings(strings.Split(tc.names, ", "), bytes.NewReader(tc.body), tc.most)
		if err == nil || isLimit(err) != tc.limited || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, limited %t, want %t and %q", tc.name, err, isLimit(err), tc.limited, tc.says)
		}
		if check := checkCodings(strings.Split(tc.names, ", "), bytes.NewReader(tc.body), tc.most); check == nil || check.Error() != err.Error() {
			t.Errorf("%s: Check says %v, and Decode %v", tc.name, check, err)
		}
	}
}

func TestTruncatedAndOverlongBodiesAreInvalid(t *testing.T) {
	long := strings.Repeat("All that was said. ", 9000)
	for name := range writers {
		for _, text := range []string{"hello hello hello", long} {
			body := in(text, name)
			for cut := 1; cut < len(body); cut += 1 + len(body)/60 {
				if _, err := DecodeCodings([]string{name}, bytes.NewReader(body[:cut]), 1<<20); err == nil || isLimit(err) {
					t.Errorf("%s: %d bytes of %d are read: %v", name, cut, len(body), err)
				}
			}
			for _, more := range []string{"\x00", "x", "more", strings.Repeat("and more", 9000)} {
				if _, err := DecodeCodings([]string{name}, bytes.NewReader(append(bytes.Clone(body), more...)), 1<<20); err == nil || isLimit(err) {
					t.Errorf("%s: with %d bytes behind it, it is read: %v", name, len(more), err)
				}
				later := io.MultiReader(bytes.NewReader(body), strings.NewReader(more))
				if _, err := DecodeCodings([]string{name}, later, 1<<20); err == nil || isLimit(err) {
					t.Errorf("%s: with %d bytes later, it is read: %v", name, len(more), err)
				}
			}
		}
	}
}

// What a server flushes is an event for which its client waits.
func TestWhatWasFlushedIsReadAtOnce(t *testing.T) {
	for name, writer := range writers {
		from, to := io.Pipe()
		r, err := NewDecoder([]string{name}, from, 0)
		if err != nil {
			t.Fatal(err)
		}
		next, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			w := writer(to)
			for range 3 {
				_, _ = io.WriteString(w, "data: 1\n\n")
				_ = w.Flush()
				<-next
			}
			_ = w.Close()
			_ = to.Close()
		}()
		for range 3 {
			got := make([]byte, len("data: 1\n\n"))
			if _, err := io.ReadFull(r, got); err != nil || string(got) != "data: 1\n\n" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			next <- struct{}{}
		}
		if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
			t.Errorf("%s: %q and %v at the end", name, rest, err)
		}
		<-done
	}
}
