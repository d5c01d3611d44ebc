package clienttools

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

const bom = "\ufeff"

var errTooLong = errors.New("an event has more than 16 MiB")

// An eventReader reads an event stream (WHATWG HTML 9.2.6).
type eventReader struct {
	in      *bufio.Reader
	afterCR bool
}

func newEventReader(body io.Reader) *eventReader {
	in := bufio.NewReaderSize(body, 64<<10)
	if start, _ := in.Peek(len(bom)); string(start) == bom {
		_, _ = in.Discard(len(bom)) // it is buffered
	}
	return &eventReader{in: in}
}

// next returns the name and data of the next event that has data. An event without its blank line is not one.
func (r *eventReader) next() (name string, data []byte, err error) {
	hasData := false
	left := maxMessage
	for {
		line, err := r.line(left)
		if err != nil {
			return "", nil, err
		}
		field, value, _ := strings.Cut(line, ":")
		if field == "" && line != "" {
			continue // a comment
		}
		left -= len(line)
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && hasData:
			return name, data, nil
		case line == "":
			name, left = "", maxMessage
		case field == "event":
			name = value
		case field == "data":
			if hasData {
				data = append(data, '\n')
			}
			data, hasData = append(data, value...), true
		}
	}
}

// line returns a line, which ends with CR, LF or both. A CR ends it at once, whatever follows.
func (r *eventReader) line(limit int) (string, error) {
	var line []byte
	for {
		if _, err := r.in.Peek(1); err != nil {
			return "", err
		}
		chunk, _ := r.in.Peek(r.in.Buffered())
		if r.afterCR && chunk[0] == '\n' {
			r.afterCR = false
			_, _ = r.in.Discard(1)
			continue
		}
		end := bytes.IndexAny(chunk, "\r\n")
		n := end
		if end < 0 {
			n = len(chunk)
		}
		if len(line)+n > limit {
			return "", errTooLong
		}
		line = append(line, chunk[:n]...)
		r.afterCR = end >= 0 && chunk[end] == '\r'
		_, _ = r.in.Discard(min(n+1, len(chunk))) // it is buffered
		if end >= 0 {
			return string(line), nil
		}
	}
}
