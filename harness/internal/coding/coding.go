// Package coding decodes content codings (RFC 9110 §8.4): gzip, deflate, br (RFC 7932) and zstd (RFC 8878).
package coding

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Of returns the content codings in the values of a Content-Encoding, in the order in which they were applied. They are
// in lower case, without identity, and have their current names.
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

// known lists the codings that can be decoded, for error messages.
const known = "gzip, deflate, br and zstd"

// maxCodings limits how many codings of one body are decoded.
const maxCodings = 3

// Known reports whether NewReader can decode all of these codings.
func Known(names []string) bool {
	return len(names) <= maxCodings && !slices.ContainsFunc(names, func(name string) bool { return readers[name] == nil })
}

// A LimitError means that a body is not decoded although it may be valid.
type LimitError struct{ why string }

func (e *LimitError) Error() string { return e.why }

// errTooLarge is returned for a body that contains more than the limit, or needs too much memory.
var errTooLarge = &LimitError{"it holds more than is read of it"}

// Limited reports whether an error of Decode or of a Reader is a LimitError. Any other error means that the body is not
// valid in its codings, or comes from the underlying reader.
func Limited(err error) bool {
	_, ok := errors.AsType[*LimitError](err)
	return ok
}

// Decode decodes a body, up to a limit of bytes, because a small body can contain a lot of data.
func Decode(names []string, body io.Reader, limit int64) ([]byte, error) {
	r, err := NewReader(names, body, limit)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Check returns the error of Decode.
func Check(names []string, body io.Reader, limit int64) error {
	r, err := NewReader(names, body, limit)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// NewReader returns a reader that decodes r. It does not read from r yet. What an event stream has flushed can be read
// at once. The limit applies to the bytes in each coding; 0 means no limit. The memory for a coding is limited.
func NewReader(names []string, r io.Reader, limit int64) (io.Reader, error) {
	if len(names) > maxCodings {
		return nil, &LimitError{fmt.Sprintf("it is in %d codings, and at most %d are undone", len(names), maxCodings)}
	}
	for _, name := range slices.Backward(names) {
		open := readers[name]
		if open == nil {
			open = func(io.Reader) (io.Reader, error) { // fails at the first Read, after the codings around it
				return nil, &LimitError{fmt.Sprintf("it is in the coding %q, which is not among %s", name, known)}
			}
		}
		r = newReader(r, open, limit)
	}
	return r, nil
}
