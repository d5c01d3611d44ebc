package redact

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Texts are cut before secrets are looked for: a failure shows the first bytes of an answer, a body ends at its limit, a
// line of a log at its own. What is left may end in the beginning of a secret, which no search for the whole would find.

// ellipsis marks where this program has cut a text.
const ellipsis = "…"

// minPrefix is how long the beginning of a secret must be to be replaced. A shorter one says little, and many words end so.
const minPrefix = 4

// beforeEllipses replaces the beginnings of secrets in front of each ellipsis, and of the quotation mark before it.
func (r *Replacer) beforeEllipses(text string) string {
	parts := strings.Split(text, ellipsis)
	for i, part := range parts[:len(parts)-1] {
		shown := strings.TrimSuffix(part, `"`)
		parts[i] = string(r.bytesCut([]byte(shown))) + part[len(shown):]
	}
	return strings.Join(parts, ellipsis)
}

// quoted replaces secrets, and beginnings of them, in what a sentence of this program quotes. It quotes what has come of a
// message that is not complete, which has no ellipsis.
func (r *Replacer) quoted(text *string) {
	var out strings.Builder
	rest := *text
	for {
		at := strings.IndexByte(rest, '"')
		if at < 0 {
			break
		}
		quote, err := strconv.QuotedPrefix(rest[at:])
		if err != nil { // it was cut as well
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

// incomplete replaces the beginning of a secret at the end of a body of which more was to come.
func (r *Replacer) incomplete(x *transcript.Exchange) {
	x.Request.Body.Bytes = r.bytesCut(x.Request.Body.Bytes)
	if x.Response != nil {
		answer := *x.Response // it may be another target's
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

// replacePrefixAtEnd replaces the longest beginning of a secret that the text ends in. An escape that was cut itself may follow it.
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

// prefixAtEnd returns the secret of which a text ends in the longest beginning, and how long that is.
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
