package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// review checks a document that the scanner found suspicious. It returns why it is not JSON, or its defects in
// document order.
func review(text string) ([]Defect, error) {
	var r reviewer
	if rest, ok := strings.CutPrefix(text, bom); ok {
		r.defect(ByteOrderMark, "", "the document begins with a byte order mark (RFC 8259 §8.1)")
		text = rest
	}
	r.data = []byte(text)
	r.invalid = !utf8.Valid(r.data)
	r.dec = jsontext.NewDecoder(bytes.NewBuffer(r.data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for first := true; first || r.dec.StackDepth() > 0; first = false {
		if err := r.token(); err != nil {
			return r.defects, explain(err)
		}
	}
	if rest := bytes.Trim(r.data[r.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		r.defect(TrailingText, "", fmt.Sprintf("text follows the value: %s", excerpt(rest)))
	}
	return r.defects, nil
}

// A reviewer reads a document token by token.
type reviewer struct {
	dec     *jsontext.Decoder
	data    []byte // the decoder's input
	defects []Defect
	invalid bool              // some bytes are not UTF-8, and no defect reports it yet
	names   []map[string]bool // the names of each open object; nil for arrays
}

func (r *reviewer) defect(kind DefectKind, pointer, text string) {
	r.defects = append(r.defects, Defect{kind, pointer, text})
}

func (r *reviewer) token() error {
	from := r.dec.InputOffset()
	tok, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case '{':
		r.names = append(r.names, map[string]bool{})
	case '[':
		r.names = append(r.names, nil)
	case '}', ']':
		r.names = r.names[:len(r.names)-1]
	case '"':
		r.text(bytes.TrimLeft(r.data[from:r.dec.InputOffset()], ":, \t\r\n"))
	}
	return nil
}

// text checks a string, which is a name in an object or a value, in its quoted form.
func (r *reviewer) text(quoted []byte) {
	if r.invalid && !utf8.Valid(quoted) {
		r.defect(InvalidUTF8, string(r.dec.StackPointer()), "bytes are not UTF-8 (RFC 8259 §8.1)")
		r.invalid = false // it is reported once
	}
	kind, read := r.dec.StackIndex(r.dec.StackDepth())
	if kind != '{' || read%2 == 0 {
		return
	}
	name, names := unquote(string(quoted)), r.names[len(r.names)-1]
	if names[name] {
		r.defect(DuplicateName, string(r.dec.StackPointer()), fmt.Sprintf("the name %q stands twice in one object", name))
	}
	names[name] = true
}

// explain removes the package name from an error of the decoder.
func explain(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the document is empty")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the document ends before its value does")
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("offset %d: %w", syntax.ByteOffset, syntax.Err)
	}
	return err
}

// excerpt returns the first bytes of b, quoted.
func excerpt(b []byte) string {
	const maxExcerpt = 40
	if len(b) > maxExcerpt {
		return strconv.Quote(string(b[:maxExcerpt])) + "…"
	}
	return strconv.Quote(string(b))
}
