package redact

import (
	"bytes"
	"crypto/sha256"
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

// A text can contain compressed bytes: in an event, in the quotation of a failure, and in Base64 or hexadecimal digits.

// withoutFile withholds a compressed file in a text if it may hide a secret.
func (r *Replacer) withoutFile(text string) string {
	if utf8.ValidString(text) && !strings.Contains(text, zipBegins) {
		return text
	}
	for _, begin := range [...]string{gzipBegins, zipBegins, zstdBegins} {
		if at := strings.Index(text, begin); at >= 0 && r.compressed([]byte(text[at:])) {
			return text[:at] + withheld(text[at:])
		}
	}
	return text
}

func withheld(text string) string {
	file := transcript.Body{Bytes: []byte(text)}
	file.Withhold(transcript.Withheld{})
	return string(file.Bytes)
}

// withholdCoded withholds texts that are not valid UTF-8 from streams in a content coding that was not decoded.
func withholdCoded(t *transcript.Transcript) {
	coded := map[string]bool{}
	for s := range t.AllSteps() {
		for _, x := range s.Exchanges {
			if x.Stream != "" && x.Response != nil && len(x.Response.Header.Codings()) > 0 {
				coded[x.Stream] = true
			}
		}
	}
	t.Streams = slices.Clone(t.Streams)
	for i, s := range t.Streams {
		if s.Decoded || !coded[s.Name] {
			continue
		}
		own := *s
		own.Events = slices.Clone(s.Events)
		for k := range own.Events {
			ev := &own.Events[k]
			for _, text := range [...]*string{&ev.Name, &ev.Type, &ev.Data, &ev.ID, &ev.Framing} {
				if !utf8.ValidString(*text) {
					*text = withheld(*text)
				}
			}
		}
		t.Streams[i] = &own
	}
}

// fileStarts finds the first characters of packed files. Few texts have any.
var fileStarts = func() *search {
	var wanted []replacement
	for _, p := range byteEncodings {
		for _, begin := range p.fileStarts {
			wanted = append(wanted, replacement{secret: []byte(begin)})
		}
	}
	return newSearch(wanted)
}()

// withholdFiles removes files that hide a secret from a run of packed bytes. It overwrites everything after the first
// characters of each file, up to the end of the run. The new characters depend only on the old ones, so that equal runs
// stay equal. A run that continues after an escape is skipped: it is handled when the escape is decoded.
func (c *scan) withholdFiles(p *byteEncoding, from, to int) {
	if to < len(c.text) && strings.IndexByte(allMarks, c.text[to]) >= 0 {
		if _, width := readEscape(c.text[to:], nil); width > 0 {
			return
		}
	}
	for _, begin := range p.fileStarts {
		for at := from; ; at += len(begin) {
			n := bytes.Index(c.text[at:to], []byte(begin))
			if n < 0 {
				break
			}
			at += n
			if file, _ := p.decode(c.text[at:to], false); !c.r.compressed(file) {
				continue
			}
			run := c.writable()[at+len(begin) : to]
			block, digits := sha256.Sum256(run), p.digits(c.text[from:to])
			for i, char := range run {
				if p.value[char] != ignored {
					run[i] = digits[block[i%len(block)]&(1<<p.bits-1)]
				}
				if i%len(block) == len(block)-1 {
					block = sha256.Sum256(block[:])
				}
			}
			break
		}
	}
}
