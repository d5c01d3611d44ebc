package transcript

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ContentCodings returns the content codings in the values of a Content-Encoding (RFC 9110 §8.4), in the order in which
// they were applied. They are in lower case, without identity, and have their current names.
func ContentCodings(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	var out []string
	for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if name = canonicalCoding(name); name != "" && name != "identity" {
			out = append(out, name)
		}
	}
	return out
}

// canonicalCoding returns the name of a coding in lower case. "A recipient SHOULD consider "x-gzip" to be equivalent to "gzip""
// (RFC 9110 §8.4.1.3), and "x-compress" to "compress" (§8.4.1.1).
func canonicalCoding(name string) string {
	name = strings.ToLower(strings.Trim(name, " \t\r\n"))
	if old, ok := strings.CutPrefix(name, "x-"); ok && (old == "gzip" || old == "compress") {
		return old
	}
	return name
}

// decodable lists the codings that can be decoded, for error messages: br is RFC 7932, and zstd RFC 8878.
const decodable = "gzip, deflate, br and zstd"

// maxCodings limits how many codings of one body are decoded.
const maxCodings = 3

// KnownCodings reports whether NewDecoder can decode all of these codings.
func KnownCodings(names []string) bool {
	return len(names) <= maxCodings && !slices.ContainsFunc(names, func(name string) bool { return decoders[name] == nil })
}

// A limitError means that a body is not decoded although it may be valid.
type limitError struct{ why string }

func (e *limitError) Error() string { return e.why }

// errTooLarge is returned for a body that contains more than the limit, or needs too much memory.
var errTooLarge = &limitError{"it holds more than is read of it"}

// isLimit reports whether an error of DecodeCodings or of a decoder is a limitError. Any other error means that the body is not
// valid in its codings, or comes from the underlying reader.
func isLimit(err error) bool {
	_, ok := errors.AsType[*limitError](err)
	return ok
}

// DecodeCodings decodes a body, up to a limit of bytes, because a small body can contain a lot of data.
func DecodeCodings(names []string, body io.Reader, limit int64) ([]byte, error) {
	r, err := NewDecoder(names, body, limit)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// checkCodings returns the error of DecodeCodings.
func checkCodings(names []string, body io.Reader, limit int64) error {
	r, err := NewDecoder(names, body, limit)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// NewDecoder returns a reader that decodes r. It does not read from r yet. What an event stream has flushed can be read
// at once. The limit applies to the bytes in each coding; 0 means no limit. The memory for a coding is limited.
func NewDecoder(names []string, r io.Reader, limit int64) (io.Reader, error) {
	if len(names) > maxCodings {
		return nil, &limitError{fmt.Sprintf("it is in %d codings, and at most %d are undone", len(names), maxCodings)}
	}
	for _, name := range slices.Backward(names) {
		open := decoders[name]
		if open == nil {
			open = func(io.Reader) (io.Reader, error) { // fails at the first Read, after the codings around it
				return nil, &limitError{fmt.Sprintf("it is in the coding %q, which is not among %s", name, decodable)}
			}
		}
		r = newDecoder(r, open, limit)
	}
	return r, nil
}
