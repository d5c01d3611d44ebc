package redact

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// A Replacer replaces secrets by texts that are made like them.
type Replacer struct {
	search   *search
	hasBlank bool // a secret has one, which forms write as a plus sign
	isASCII  bool // all secrets are of printable ASCII and line ends
}

// maxDepth is how many notations are looked through in each other: JSON in a text of JSON in Base64 are three.
const maxDepth = 8

// NewReplacer returns a replacer of these secrets; nil when none of them is long enough to be looked for. Of a secret with
// several lines, each is looked for by itself as well, since logs have lines.
func NewReplacer(secrets []string) *Replacer {
	r := &Replacer{isASCII: true}
	var wanted []replacement
	seen := map[string]bool{}
	add := func(secret string) {
		for _, s := range replacementsOf([]byte(secret)) {
			if len(s.secret) < minSecret || seen[string(s.secret)] || bytes.Equal(s.secret, s.alias) {
				continue
			}
			seen[string(s.secret)] = true
			wanted = append(wanted, s)
			r.hasBlank = r.hasBlank || bytes.IndexByte(s.secret, ' ') >= 0
			r.isASCII = r.isASCII && !bytes.ContainsFunc(s.secret, func(c rune) bool { return c > '~' || c < ' ' && !strings.ContainsRune("\t\r\n", c) })
		}
	}
	for _, secret := range secrets {
		add(secret)
	}
	for _, secret := range secrets {
		if strings.ContainsAny(secret, "\r\n") {
			for line := range strings.Lines(secret) {
				add(strings.TrimRight(line, "\r\n"))
			}
		}
	}
	if wanted == nil {
		return nil
	}
	r.search = newSearch(wanted)
	return r
}

// replacementsOf returns a secret, and what it says when its own escapes are read, with the replacement of each.
func replacementsOf(secret []byte) []replacement {
	if d := unescape(secret, allMarks); d != nil && len(d.text) < len(secret) {
		inner := replacementsOf(d.text)
		made := bytes.Clone(secret)
		d.writeBack(made, inner[0].alias)
		return append([]replacement{{secret, made}}, inner...)
	}
	return []replacement{{secret, []byte(alias(string(secret)))}}
}

// Text returns a text without secrets. A nil Replacer returns it as it is.
func (r *Replacer) Text(s string) string {
	if r == nil || len(s) < minPrefix {
		return s
	}
	if made, changed := r.replaceAll([]byte(s)); changed {
		s = string(made)
	}
	if strings.Contains(s, ellipsis) {
		return r.beforeEllipses(s)
	}
	return s
}

// Bytes returns bytes without secrets: the same ones when there is none in them.
func (r *Replacer) Bytes(b []byte) []byte {
	made, _ := r.replaceAll(b)
	return made
}

// replaceAll replaces secrets in a text as it is, and in what the text says in other notations. The text that it returns is as
// long, and a new one if it has changed.
func (r *Replacer) replaceAll(text []byte) (made []byte, changed bool) {
	c := scan{r: r, text: text, depth: maxDepth, seenClean: new([][]byte)}
	c.run(nil)
	return c.text, c.changed
}

// A scan is a text from which secrets are being taken.
type scan struct {
	r         *Replacer
	text      []byte
	changed   bool      // and so it is ours
	cut       bool      // at its end, where a secret may have begun
	depth     int       // of the notations that are left
	seenClean *[][]byte // what has been decoded, and has no secret; different notations often say the same
}

// run looks through a text that was decoded from another one; nil for one as it came.
func (c *scan) run(of *decoded) {
	for at, found := c.r.search.next(c.text, 0); found != nil; at, found = c.r.search.next(c.text, at+len(found.secret)) {
		copy(c.writable()[at:], found.alias)
	}
	if c.cut {
		c.replacePrefixAtEnd()
	}
	if c.depth == 0 {
		return
	}
	if kinds := c.unescape(allMarks); len(kinds) > 1 { // of JSON in HTML, HTML is read first, and of a URL in JSON, JSON
		each := []string{webMarks, `\`, "%", "&"}
		if len(kinds) < len(allMarks) && strings.Contains(kinds, `\`) {
			each = each[:2] // the web's marks are of one kind
		}
		for _, marks := range each {
			c.unescape(marks)
		}
	}
	if c.r.hasBlank && bytes.IndexByte(c.text, '+') >= 0 {
		c.unescape(formMarks)
	}
	c.unescape(ignoredMarks)
	c.unescape(quotedPrintableMarks)
	_, file := fileStarts.next(c.text, 0)
	for _, p := range byteEncodings {
		for from, to := range p.runs(c.text) {
			if of == nil || of.hasEscapeIn(from, to) {
				if file != nil {
					c.withholdFiles(p, from, to)
				}
				c.decodeRun(p, from, to)
			}
		}
	}
}

func (c *scan) writable() []byte {
	if !c.changed {
		c.text, c.changed = bytes.Clone(c.text), true
	}
	return c.text
}

// nested looks through what has been decoded; cut says that it ends where the text was cut.
func (c *scan) nested(text []byte, of *decoded, cut bool) (made []byte, changed bool) {
	inner := scan{r: c.r, text: text, depth: c.depth - 1, seenClean: c.seenClean, cut: cut}
	inner.run(of)
	return inner.text, inner.changed
}

// unescape looks through what a text says when the escapes with some marks are read. It returns the marks that there are.
func (c *scan) unescape(marks string) (kinds string) {
	d := unescape(c.text, marks)
	if d == nil {
		return ""
	}
	if slices.ContainsFunc(*c.seenClean, func(other []byte) bool { return bytes.Equal(other, d.text) }) {
		return d.kinds
	}
	if made, changed := c.nested(d.text, d, c.cut); changed {
		d.writeBack(c.writable(), made)
	} else {
		*c.seenClean = append(*c.seenClean, d.text)
	}
	return d.kinds
}

// decodeRun looks through a run of packed bytes.
func (c *scan) decodeRun(p *byteEncoding, from, to int) {
	read := func(at int) int {
		unpacked, n := p.decode(c.text[from+at:to], c.r.isASCII)
		if made, changed := c.nested(unpacked, nil, c.cut && from+at+n == len(c.text)); changed {
			run := c.writable()[from:to]
			p.encode(run[at:], made, p.digits(run))
		}
		return at + n
	}
	if c.r.isASCII {
		p.asciiRuns(c.text[from:to], read)
		return
	}
	for at, lane := from, 0; at < to && lane < p.alignments; at++ {
		if p.value[c.text[at]] != ignored {
			read(at - from)
			lane++
		}
	}
}

// Writer returns a writer without secrets, for what is written in whole lines. A nil Replacer returns the writer itself.
func (r *Replacer) Writer(w io.Writer) io.Writer {
	if r == nil {
		return w
	}
	return writer{r, w}
}

type writer struct {
	r *Replacer
	w io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.r.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
