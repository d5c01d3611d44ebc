// Package coding reads bodies that are in a content coding (RFC 9110 §8.4): gzip and deflate.
package coding

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"
)

// Of returns the content codings that the values of a Content-Encoding name, in the order in which they were applied, in
// lower case and without identity, which is none.
func Of(values []string) []string {
	var out []string
	for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
			out = append(out, name)
		}
	}
	return out
}

// Known reports whether Decode can read a coding.
func Known(name string) bool { return slices.Contains([]string{"gzip", "x-gzip", "deflate"}, name) }

// ErrTooLarge is returned by Decode for what holds more than it may.
var ErrTooLarge = errors.New("it holds more than is read of it")

// Decode returns what is in a body that is in a known coding, of at most so many bytes: a small body can hold very much.
func Decode(name string, body []byte, most int64) ([]byte, error) {
	if name != "deflate" {
		r, err := gzip.NewReader(bytes.NewReader(body))
		return read(r, err, most)
	}
	r, err := zlib.NewReader(bytes.NewReader(body))
	out, err := read(r, err, most)
	if err == nil || errors.Is(err, ErrTooLarge) {
		return out, err
	}
	// "Some non-conformant implementations send the "deflate" compressed data without the zlib wrapper" (§8.4.1.2).
	if bare, bareErr := read(flate.NewReader(bytes.NewReader(body)), nil, most); bareErr == nil {
		return bare, nil
	}
	return nil, err
}

func read(r io.Reader, err error, most int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(out)) > most {
		return nil, ErrTooLarge
	}
	return out, err
}
