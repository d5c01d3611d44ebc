package redact

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Texts are cut before secrets are searched for. A failure shows the first bytes of a response, and a body and a line
// of a log have a maximum length. A cut text may end with the beginning of a secret, which a search for the whole
// secret would miss.

// ellipsis marks where lockstep has cut a text.
const ellipsis = "…"

// minPrefix is the minimum length of the beginning of a secret that is replaced. A shorter one reveals little, and many
// words end with it.
const minPrefix = 4

// beforeEllipses replaces the beginning of a secret before each ellipsis, also when a quotation mark is in between.
func (r *Replacer) beforeEllipses(text string) string {
	parts := strings.Split(text, ellipsis)
	for i, part := range parts[:len(parts)-1] {
		shown := strings.TrimSuffix(part, `"`)
		parts[i] = string(r.bytesCut([]byte(shown))) + part[len(shown):]
	}
	return strings.Join(parts, ellipsis)
}

// quoted replaces secrets, and beginnings of secrets, in the quotations of a sentence that lockstep wrote. It may quote
// the received part of an incomplete message, without an ellipsis.
func (r *Replacer) quoted(text *string) {
	var out strings.Builder
	rest := *text
	for {
		at := strings.IndexByte(rest, '"')
		if at < 0 {
			break
		}
		quote, err := strconv.QuotedPrefix(rest[at:])
		if err != nil { // the quotation was cut as well
			out.WriteString(rest[:at])
			rest = string(r.bytesCut([]byte(rest[at:])))
			break
		}
		inside := string(r.bytesCut([]byte(quote[1 : len(quote)-1])))
		if came, _ := strconv.Unquote(quote); r.withoutFile(came) != came {
			inside = strings.Trim(strconv.Quote(r.Text(r.withoutFile(came))), `"`)
		}
		out.WriteString(rest[:at] + `"` + inside + `"`)
		rest = rest[at+len(quote):]
	}
	*text = out.String() + rest
}

// incomplete replaces the beginning of a secret at the end of an incomplete body.
func (r *Replacer) incomplete(x *transcript.Exchange) {
	x.Request.Body.Bytes = r.bytesCut(x.Request.Body.Bytes)
	if x.Response != nil {
		answer := *x.Response // it may be shared with another target
		answer.Body.Bytes = r.bytesCut(answer.Body.Bytes)
		x.Response = &answer
	}
}

// bytesCut is Bytes for a text that was cut at its end.
func (r *Replacer) bytesCut(text []byte) []byte {
	c := scan{r: r, text: text, depth: maxDepth, seenClean: new([][]byte), cut: true}
	c.run(nil)
	return c.text
}

// replacePrefixAtEnd replaces the longest beginning of a secret at the end of the text. A cut escape may follow it.
func (c *scan) replacePrefixAtEnd() {
	ends := []int{len(c.text), len(bytes.TrimSuffix(c.text, []byte(string(utf8.RuneError))))}
	const longestEscape = len(`\ud83d\udc0`)
	for at := len(c.text) - 1; at >= 0 && at >= len(c.text)-longestEscape; at-- {
		if isMark[c.text[at]] {
			ends = append(ends, at)
		}
	}
	for _, end := range ends {
		if found, n := c.r.search.prefixAtEnd(c.text[:end]); found != nil {
			copy(c.writable()[end-n:end], found.alias)
			return
		}
	}
}

// prefixAtEnd returns the secret whose beginning is at the end of a text, and the length of that beginning. The longest
// one wins.
func (s *search) prefixAtEnd(text []byte) (found *replacement, most int) {
	most = minPrefix - 1
	for i := range s.replacements {
		w := &s.replacements[i]
		for n := min(len(w.secret)-1, len(text)); n > most; n-- {
			if bytes.HasSuffix(text, w.secret[:n]) {
				found, most = w, n
			}
		}
	}
	return found, most
}
