package redact

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A content that cannot be searched is replaced by its length and checksum, together with what is known about it.
func TestWhatMayHideASecretIsWithheld(t *testing.T) {
	const secret = "hunter2-hunter2"
	packed := gzipped(strings.Repeat("lorem ipsum ", 20) + secret)
	field := func(name, value string) transcript.Header { return transcript.Header{{Name: name, Value: value}} }
	for _, c := range []struct {
		name    string
		header  transcript.Header
		content string
		status  int
		more    int64 // bytes of the body that did not arrive
		want    transcript.Withheld
	}{
		{name: "a coding that is not known", header: field("Content-Encoding", "foo"), content: packed, want: transcript.Withheld{Unread: `it is in the coding "foo", which is not among gzip, deflate, br and zstd`}},
		{name: "a coding that ends early", header: field("Content-Encoding", "gzip"), content: packed[:len(packed)-6], want: transcript.Withheld{Mistaken: "it ends too early"}},
		{name: "a coding with more behind it", header: field("Content-Encoding", "gzip"), content: packed + "more and more and more", want: transcript.Withheld{Mistaken: "gzip: invalid header"}},
		{name: "a part", status: 206, header: field("Content-Encoding", "gzip"), content: packed, want: transcript.Withheld{Unread: `it is a part of what is in the coding "gzip", and a part cannot be decoded by itself`}},
		{name: "a body that was cut", header: field("Content-Encoding", "gzip"), content: packed, more: 7},
		{name: "a transfer coding", header: field("Transfer-Encoding", "gzip, chunked"), content: packed, want: transcript.Withheld{Unread: `it is in the transfer coding "gzip", which is not decoded`}},
		{name: "an archive in none", header: field("Content-Type", "application/octet-stream"), content: zipped("a", secret)},
		{name: "a gzip file", header: field("Content-Type", "application/gzip"), content: packed},
		{name: "an archive with an entry twice", header: field("Content-Type", "application/zip"), content: zipped("a", secret, "a", secret), want: transcript.Withheld{Archive: `has the entry "a" twice`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			size := int64(len(c.content)) + c.more
			got := covered(secret, &transcript.Response{Status: c.status, Header: c.header, Body: transcript.Body{Bytes: []byte(c.content), Size: size}})
			if got.Withheld == nil || *got.Withheld != c.want {
				t.Fatalf("withheld: %+v, want %+v", got.Withheld, c.want)
			}
			if !strings.HasPrefix(string(got.Bytes), "‹") || got.Length() != size || got.Whole() != (c.more == 0) {
				t.Errorf("%q of %d bytes, all of them: %t", got.Bytes, got.Length(), got.Whole())
			}
			if unread, mistaken := got.Opaque(c.header, c.status == 206); unread != c.want.Unread || mistaken != c.want.Mistaken {
				t.Errorf("read again: %q and %q", unread, mistaken)
			}
		})
	}
}

func TestWhatHidesNoSecretIsKept(t *testing.T) {
	const secret = "hunter2-hunter2"
	for name, r := range map[string]*transcript.Response{
		"a text in a coding that it names": {Header: transcript.Header{{Name: "Content-Encoding", Value: "gzip"}}, Body: transcript.Body{Bytes: []byte("plain"), Size: 5}},
		"a gzip file":                      {Body: transcript.Body{Bytes: []byte(gzipped("plain"))}},
		"an archive":                       {Body: transcript.Body{Bytes: []byte(zipped("a", "plain"))}},
	} {
		if got := covered(secret, r); got.Withheld != nil || !bytes.Equal(got.Bytes, r.Body.Bytes) {
			t.Errorf("%s becomes %q", name, got.Bytes)
		}
	}
}

// An archive inside of an archive is compressed twice.
func TestSecretsAreInNoArchiveOfAnArchive(t *testing.T) {
	const secret = "hunter2-hunter2"
	for _, inner := range []string{zipped("a", secret), gzipped(secret), zipped("a", gzipped(secret))} {
		got := covered(secret, &transcript.Response{
			Header: transcript.Header{{Name: "Content-Type", Value: "application/zip"}}, Body: transcript.Body{Bytes: []byte(zipped("inner", inner)), Size: 1},
		})
		if bytes.Contains(got.Bytes, []byte(inner)) || got.Withheld != nil {
			t.Errorf("the archive becomes %q", got.Bytes)
		}
	}
}

// covered returns the body of a response with the secret removed.
func covered(secret string, r *transcript.Response) transcript.Body {
	if r.Body.Size <= 1 {
		r.Body.Size = int64(len(r.Body.Bytes))
	}
	ts := []*transcript.Transcript{{Steps: []transcript.Step{{Exchanges: []*transcript.Exchange{{Response: r}}}}}}
	Transcripts(ts, &Rules{Values: []string{secret}})
	return ts[0].Steps[0].Exchanges[0].Response.Body
}

func gzipped(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	return b.String()
}

// zipped returns an archive with these names and contents.
func zipped(entries ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for ; len(entries) > 0; entries = entries[2:] {
		to, _ := w.Create(entries[0])
		_, _ = to.Write([]byte(entries[1]))
	}
	_ = w.Close()
	return b.String()
}
