package yamljson

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// ErrTooLarge says that a value would make a larger document than [Parse] or the caller allows.
var ErrTooLarge = errors.New("too large for a YAML file")

// blockDepth is how many levels are indented. Deeper ones are in one line, because indentation could make a small value
// huge.
const blockDepth = 8

// Format returns the YAML of a JSON value, which [Parse] reads as the same value (decision G40). Numbers keep their
// digits, except that -0 is read as 0. The YAML has at most limit bytes; if need be, it is in one line.
//
// The library is not used: it does not keep every text, does not quote what other readers take for something else than
// a text, and needs a gigabyte for two megabytes of numbers.
func Format(value jsonwire.Text, limit int) ([]byte, error) {
	text, err := format(value, limit, blockDepth)
	if errors.Is(err, ErrTooLarge) && len(value) <= limit {
		text, err = format(value, limit, 0)
	}
	return text, err
}

// format indents some of the levels.
func format(value jsonwire.Text, limit, indented int) ([]byte, error) {
	f := formatter{in: jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true)), limit: limit, indented: indented}
	f.value(0, 0, false)
	f.write("\n")
	return f.out, f.err
}

// A formatter copies a JSON value as YAML. Its methods do nothing after an error.
type formatter struct {
	in       *jsontext.Decoder
	out      []byte
	err      error
	limit    int // bytes of out
	indented int // how many levels are indented
	size     size
}

// value writes a value behind a key or a dash. The lines of an array, and those of an object behind a dash, begin at the
// given column; those of an object behind a key two columns further.
func (f *formatter) value(depth, column int, behindKey bool) {
	kind := f.in.PeekKind()
	isCollection := kind == '{' || kind == '['
	if isCollection {
		f.open(depth)
	}
	isBlock := isCollection && depth < f.indented && f.more()
	switch {
	case behindKey && !isBlock:
		f.write(" ")
	case behindKey && kind == '{':
		column += 2
		fallthrough
	case behindKey:
		f.newLine(column)
	}
	switch {
	case isBlock:
		f.block(kind, depth, column)
	case isCollection:
		f.line(kind, depth)
	default:
		f.scalar()
	}
}

// open reads the beginning of an object or an array.
func (f *formatter) open(depth int) {
	f.token()
	if depth == maxDepth || !f.size.add(1, "") {
		f.fail(ErrTooLarge)
	}
}

// more reports whether the object or array that is being read goes on.
func (f *formatter) more() bool {
	kind := f.in.PeekKind()
	return f.err == nil && kind != '}' && kind != ']'
}

// block writes the content of an object or an array, and each entry in a line of its own. The first one begins where
// the output ends.
func (f *formatter) block(kind jsontext.Kind, depth, column int) {
	for first := true; f.more(); first = false {
		if !first {
			f.newLine(column)
		}
		switch {
		case kind == '[':
			f.write("- ")
			f.value(depth+1, column+2, false)
		case f.key():
			f.write(":")
			f.value(depth+1, column, true)
		default:
			f.newLine(column)
			f.write(": ")
			f.inLine(depth + 1)
		}
	}
	f.token()
}

// inLine writes a value in one line.
func (f *formatter) inLine(depth int) {
	kind := f.in.PeekKind()
	if kind != '{' && kind != '[' {
		f.scalar()
		return
	}
	f.open(depth)
	f.line(kind, depth)
}

// line writes the content of an object or an array, and its brackets.
func (f *formatter) line(kind jsontext.Kind, depth int) {
	f.write(string(kind))
	for first := true; f.more(); first = false {
		if !first {
			f.write(", ")
		}
		if kind == '{' {
			f.key()
			f.write(": ")
		}
		f.inLine(depth + 1)
	}
	f.write(string(f.token().Kind()))
}

// maxImplicit is the size of the largest key without a question mark. Readers accept about 1,000 characters.
const maxImplicit = 128

// key writes a key. It returns false if its value must not be on the same line, because the key is long.
func (f *formatter) key() (implicit bool) {
	name := f.token().String()
	if !f.size.add(0, name) {
		f.fail(ErrTooLarge)
	}
	text := quoted(name)
	if len(text) <= maxImplicit {
		f.write(text)
		return true
	}
	f.write("? ")
	f.write(text)
	return false
}

func (f *formatter) scalar() {
	token := f.token()
	text := token.String()
	if !f.size.add(1, text) {
		f.fail(ErrTooLarge)
	}
	if token.Kind() == '"' {
		text = quoted(text)
	}
	f.write(text)
}

func (f *formatter) token() jsontext.Token {
	token, err := f.in.ReadToken()
	f.fail(err)
	return token
}

func (f *formatter) newLine(column int) {
	f.write("\n")
	for range column {
		f.write(" ")
	}
}

func (f *formatter) write(text string) {
	if len(f.out)+len(text) > f.limit {
		f.fail(ErrTooLarge)
	}
	if f.err == nil {
		f.out = append(f.out, text...)
	}
}

// fail keeps the first error.
func (f *formatter) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

var (
	// words are the texts that every version of YAML takes for texts everywhere: they begin with a letter or a slash.
	words = regexp.MustCompile(`^[A-Za-z/_][-+./@\w]*(?: [-+./@\w]+)*$`)
	// exceptions are words that YAML 1.1 or 1.2 takes for something else.
	exceptions = regexp.MustCompile(`(?i)^(?:y|yes|n|no|true|false|on|off|null)$`)
	// unprintable are the characters that JSON allows in a string and YAML does not, or takes for line breaks.
	unprintable = regexp.MustCompile(`[\x7f-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffe}\x{ffff}]`)
)

// quoted returns a text as YAML, in quotes if it needs them. A JSON string is a YAML string, too.
func quoted(text string) string {
	if words.MatchString(text) && !exceptions.MatchString(text) {
		return text
	}
	return string(unprintable.ReplaceAllFunc(jsonwire.AppendQuoted(nil, text), func(character []byte) []byte {
		r, _ := utf8.DecodeRune(character)
		return fmt.Appendf(nil, `\u%04x`, r)
	}))
}
