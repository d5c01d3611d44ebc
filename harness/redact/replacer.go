package redact

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// A Replacer replaces secrets by texts that are made like them.
type Replacer struct {
	search *search
	blanks bool // a secret has one, which forms write as a plus sign
	ascii  bool // all secrets are of printable ASCII and line ends
}

// deepest is how many notations are looked through in each other: JSON in a text of JSON in Base64 are three.
const deepest = 8

// NewReplacer returns a replacer of these secrets; nil when none of them is long enough to be looked for. Of a secret with
// several lines, each is looked for by itself as well, since logs have lines.
func NewReplacer(secrets []string) *Replacer {
	r := &Replacer{ascii: true}
	var wanted []stand
	seen := map[string]bool{}
	add := func(secret string) {
		for _, s := range forms([]byte(secret)) {
			if len(s.secret) < shortest || seen[string(s.secret)] || bytes.Equal(s.secret, s.alias) {
				continue
			}
			seen[string(s.secret)] = true
			wanted = append(wanted, s)
			r.blanks = r.blanks || bytes.IndexByte(s.secret, ' ') >= 0
			r.ascii = r.ascii && !bytes.ContainsFunc(s.secret, func(c rune) bool { return c > '~' || c < ' ' && !strings.ContainsRune("\t\r\n", c) })
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

// forms returns a secret, and what it says when its own escapes are read, with what stands in the place of each.
func forms(secret []byte) []stand {
	if d := unescape(secret, allMarks); d != nil && len(d.text) < len(secret) {
		inner := forms(d.text)
		made := bytes.Clone(secret)
		d.writeBack(made, inner[0].alias)
		return append([]stand{{secret, made}}, inner...)
	}
	return []stand{{secret, []byte(alias(string(secret)))}}
}

// Text returns a text without secrets. A nil Replacer returns it as it is.
func (r *Replacer) Text(s string) string {
	if r == nil || len(s) < leastPart {
		return s
	}
	if made, changed := r.cover([]byte(s)); changed {
		s = string(made)
	}
	if strings.Contains(s, ellipsis) {
		return r.beforeMarks(s)
	}
	return s
}

// Bytes returns bytes without secrets, which are those it is given when there is none in them.
func (r *Replacer) Bytes(b []byte) []byte {
	made, _ := r.cover(b)
	return made
}

// cover replaces secrets in a text as it stands, and in what the text says in other notations. The text that it returns is as
// long, and a new one if it has changed.
func (r *Replacer) cover(text []byte) (made []byte, changed bool) {
	c := cover{r: r, text: text, depth: deepest, clean: new([][]byte)}
	c.look(nil)
	return c.text, c.changed
}

// A cover is a text from which secrets are being taken.
type cover struct {
	r       *Replacer
	text    []byte
	changed bool      // and so it is ours
	cut     bool      // at its end, where a secret may have begun
	depth   int       // of the notations that are left
	clean   *[][]byte // what has been decoded, and has no secret; different notations often say the same
}

// look looks through a text that was decoded from another one; nil for one as it came.
func (c *cover) look(of *decoded) {
	for at, found := c.r.search.next(c.text, 0); found != nil; at, found = c.r.search.next(c.text, at+len(found.secret)) {
		copy(c.own()[at:], found.alias)
	}
	if c.cut {
		c.tail()
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
	if c.r.blanks && bytes.IndexByte(c.text, '+') >= 0 {
		c.unescape(formMarks)
	}
	c.unescape(voidMarks)
	c.unescape(mailMarks)
	_, file := files.next(c.text, 0)
	for _, p := range packings {
		for from, to := range p.runs(c.text) {
			if of == nil || of.between(from, to) {
				if file != nil {
					c.scramble(p, from, to)
				}
				c.unpack(p, from, to)
			}
		}
	}
}

func (c *cover) own() []byte {
	if !c.changed {
		c.text, c.changed = bytes.Clone(c.text), true
	}
	return c.text
}

// inside looks through what has been decoded; cut says that it ends where the text was cut.
func (c *cover) inside(text []byte, of *decoded, cut bool) (made []byte, changed bool) {
	inner := cover{r: c.r, text: text, depth: c.depth - 1, clean: c.clean, cut: cut}
	inner.look(of)
	return inner.text, inner.changed
}

// unescape looks through what a text says when the escapes with some marks are read. It returns the marks that there are.
func (c *cover) unescape(marks string) (kinds string) {
	d := unescape(c.text, marks)
	if d == nil {
		return ""
	}
	if slices.ContainsFunc(*c.clean, func(other []byte) bool { return bytes.Equal(other, d.text) }) {
		return d.kinds
	}
	if made, changed := c.inside(d.text, d, c.cut); changed {
		d.writeBack(c.own(), made)
	} else {
		*c.clean = append(*c.clean, d.text)
	}
	return d.kinds
}

// unpack looks through a run of packed bytes.
func (c *cover) unpack(p *packing, from, to int) {
	read := func(at int) int {
		unpacked, n := p.read(c.text[from+at:to], c.r.ascii)
		if made, changed := c.inside(unpacked, nil, c.cut && from+at+n == len(c.text)); changed {
			run := c.own()[from:to]
			p.writeBack(run[at:], made, p.digits(run))
		}
		return at + n
	}
	if c.r.ascii {
		p.stretches(c.text[from:to], read)
		return
	}
	for at, lane := from, 0; at < to && lane < p.lanes; at++ {
		if p.value[c.text[at]] != lineEnd {
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
