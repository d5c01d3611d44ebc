package redact

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

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
