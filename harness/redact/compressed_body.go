package redact

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// body removes secrets from a body in which they cannot be seen because it is compressed. An archive whose entries have
// secrets is packed again without them. A content that cannot be read may have secrets, and is withheld. part marks a
// part of a body (206).
func (r *Replacer) body(header *transcript.Header, body *transcript.Body, part bool) {
	if !body.Whole() {
		body.Bytes = r.bytesCut(body.Bytes)
	}
	if utf8.Valid(body.Bytes) { // a text is searched as it is
		return
	}
	if body.Undecoded(*header) || len(header.TransferCodings()) > 0 {
		unread, mistaken := body.Opaque(*header, part)
		body.Withhold(transcript.Withheld{Unread: unread, Mistaken: mistaken})
		return
	}
	if !archive.Is(header.ContentType()) {
		if r.compressed(body.Bytes) {
			body.Withhold(transcript.Withheld{})
		}
		return
	}
	made, err := archive.Replace(body.Bytes, r.entry)
	switch {
	case !body.Whole():
		body.Withhold(transcript.Withheld{})
	case err != nil:
		body.Withhold(transcript.Withheld{Archive: err.Error()})
	case made != nil:
		replaceBody(header, body, made)
	}
}

// replaceBody replaces an archive by its packed copy without secrets.
func replaceBody(header *transcript.Header, body *transcript.Body, made []byte) {
	was, is := strconv.FormatInt(body.Size, 10), strconv.Itoa(len(made))
	*header = slices.Clone(*header)
	for i, f := range *header {
		if strings.EqualFold(f.Name, "Content-Length") && f.Value == was {
			(*header)[i].Value = is
		}
	}
	*body = transcript.Body{Bytes: made, Size: int64(len(made)), Sent: body.Sent}
}

// entry removes secrets from an entry of an archive, which may be compressed again.
func (r *Replacer) entry(content string) string {
	if !r.compressed([]byte(content)) {
		return r.Text(content)
	}
	file := transcript.Body{Bytes: []byte(content)}
	file.Withhold(transcript.Withheld{})
	return string(file.Bytes)
}

// maxUnpacked limits how much of a file is unpacked to see whether it hides a secret.
const maxUnpacked = 16 << 20

// The first bytes by which compressed files are recognised.
const (
	zipBegins  = "PK\x03\x04"       // APPNOTE 4.3.7
	gzipBegins = "\x1f\x8b\x08"     // RFC 1952 §2.3.1
	zstdBegins = "\x28\xb5\x2f\xfd" // RFC 8878 §3.1.1
)

// compressed reports whether a compressed file may hide a secret. It does so for a file that cannot be read, or that
// has another compressed file inside.
func (r *Replacer) compressed(file []byte) bool {
	hides := func(content string) bool {
		_, found := r.replaceAll([]byte(content))
		return found || codingOf(content) != "" || strings.HasPrefix(content, zipBegins)
	}
	if bytes.HasPrefix(file, []byte(zipBegins)) {
		found := false
		_, err := archive.Replace(file, func(content string) string {
			found = found || hides(content)
			return content
		})
		return found || err != nil
	}
	name := codingOf(string(file[:min(len(file), len(zstdBegins))]))
	if name == "" {
		return false
	}
	content, err := transcript.DecodeCodings([]string{name}, bytes.NewReader(file), maxUnpacked)
	return err != nil || hides(string(content))
}

// codingOf returns the content coding of a file according to its first bytes, or "".
func codingOf(file string) string {
	switch {
	case strings.HasPrefix(file, gzipBegins):
		return "gzip"
	case strings.HasPrefix(file, zstdBegins):
		return "zstd"
	}
	return ""
}
