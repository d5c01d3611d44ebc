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

// ellipsis stands wherever this program cuts a text.
const ellipsis = "…"

// leastPart is how long the beginning of a secret must be to be replaced. A shorter one says little, and many words end so.
const leastPart = 4

// beforeMarks replaces the beginnings of secrets in front of each ellipsis, and of the quotation mark before it.
func (r *Replacer) beforeMarks(text string) string {
	parts := strings.Split(text, ellipsis)
	for i, part := range parts[:len(parts)-1] {
		shown := strings.TrimSuffix(part, `"`)
		parts[i] = string(r.cut([]byte(shown))) + part[len(shown):]
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
			rest = string(r.cut([]byte(rest[at:])))
			break
		}
		inside := string(r.cut([]byte(quote[1 : len(quote)-1])))
		if came, _ := strconv.Unquote(quote); r.withoutFile(came) != came {
			inside = strings.Trim(strconv.Quote(r.Text(r.withoutFile(came))), `"`)
		}
		out.WriteString(rest[:at] + `"` + inside + `"`)
		rest = rest[at+len(quote):]
	}
	*text = out.String() + rest
}

// unfinished replaces the beginning of a secret at the end of a body of which more was to come.
func (r *Replacer) unfinished(x *transcript.Exchange) {
	x.Request.Body.Bytes = r.cut(x.Request.Body.Bytes)
	if x.Response != nil {
		answer := *x.Response // it may be another target's
		answer.Body.Bytes = r.cut(answer.Body.Bytes)
		x.Response = &answer
	}
}

// cut is Bytes for a text that was cut at its end.
func (r *Replacer) cut(text []byte) []byte {
	c := cover{r: r, text: text, depth: deepest, clean: new([][]byte), cut: true}
	c.look(nil)
	return c.text
}

// tail replaces the longest beginning of a secret that the text ends in. An escape that was cut itself may stand behind it.
func (c *cover) tail() {
	ends := []int{len(c.text), len(bytes.TrimSuffix(c.text, []byte(string(utf8.RuneError))))}
	const longestEscape = len(`\ud83d\udc0`)
	for at := len(c.text) - 1; at >= 0 && at >= len(c.text)-longestEscape; at-- {
		if isMark[c.text[at]] {
			ends = append(ends, at)
		}
	}
	for _, end := range ends {
		if found, n := c.r.search.beginning(c.text[:end]); found != nil {
			copy(c.own()[end-n:end], found.alias)
			return
		}
	}
}

// beginning returns the secret of which a text ends in the longest beginning, and how long that is.
func (s *search) beginning(text []byte) (found *stand, most int) {
	most = leastPart - 1
	for i := range s.wanted {
		w := &s.wanted[i]
		for n := min(len(w.secret)-1, len(text)); n > most; n-- {
			if bytes.HasSuffix(text, w.secret[:n]) {
				found, most = w, n
			}
		}
	}
	return found, most
}
