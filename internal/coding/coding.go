// Package coding reads what is in a content coding (RFC 9110 §8.4): gzip, deflate, br (RFC 7932) and zstd (RFC 8878).
package coding

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Of returns the content codings that the values of a Content-Encoding name, in the order in which they were applied, as
// Decode knows them: in lower case, without identity, which is none, and by their new names.
func Of(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	var out []string
	for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if name = canonical(name); name != "" && name != "identity" {
			out = append(out, name)
		}
	}
	return out
}

// canonical returns the name of a coding in lower case. "A recipient SHOULD consider "x-gzip" to be equivalent to "gzip""
// (RFC 9110 §8.4.1.3), and "x-compress" to "compress" (§8.4.1.1).
func canonical(name string) string {
	name = strings.ToLower(strings.Trim(name, " \t\r\n"))
	if old, ok := strings.CutPrefix(name, "x-"); ok && (old == "gzip" || old == "compress") {
		return old
	}
	return name
}

// known are the codings that can be read, as a person reads them.
const known = "gzip, deflate, br and zstd"

// mostCodings is how many codings in a row are undone.
const mostCodings = 3

// Known reports whether NewReader reads all of these codings.
func Known(names []string) bool {
	return len(names) <= mostCodings && !slices.ContainsFunc(names, func(name string) bool { return readers[name] == nil })
}

// A LimitError says that something is not decoded although it may well be in its codings.
type LimitError struct{ why string }

func (e *LimitError) Error() string { return e.why }

// errTooLarge is returned for what holds more than is read of it, or wants more memory.
var errTooLarge = &LimitError{"it holds more than is read of it"}

// Limited reports whether an error of Decode or of a Reader is that what it reads goes beyond what is decoded here. Any other
// says that it is not in the codings it was said to be in, or is the error of what it was read from.
func Limited(err error) bool {
	_, ok := errors.AsType[*LimitError](err)
	return ok
}

// Decode returns what is in a body, of at most so many bytes: a small body can hold very much.
func Decode(names []string, body io.Reader, most int64) ([]byte, error) {
	r, err := NewReader(names, body, most)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Check returns the error that Decode would.
func Check(names []string, body io.Reader, most int64) error {
	r, err := NewReader(names, body, most)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// NewReader returns a reader of what is in r, which is not read yet. What an event stream has flushed can be read at once. No
// coding may hold more than so many bytes; 0 means that there is no such bound. The memory that a coding wants is bounded.
func NewReader(names []string, r io.Reader, most int64) (io.Reader, error) {
	if len(names) > mostCodings {
		return nil, &LimitError{fmt.Sprintf("it is in %d codings, and at most %d are undone", len(names), mostCodings)}
	}
	for _, name := range slices.Backward(names) {
		open := readers[name]
		if open == nil {
			open = func(io.Reader) (io.Reader, error) { // a reader has looked into the codings around it before
				return nil, &LimitError{fmt.Sprintf("it is in the coding %q, which is not among %s", name, known)}
			}
		}
		r = newReader(r, open, most)
	}
	return r, nil
}
