package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// An eventReader reads the messages of an event stream (WHATWG HTML 9.2.6). It keeps the last event's ID and the
// reconnection time for the next stream.
type eventReader struct {
	max     int // of a message
	lines   *bufio.Scanner
	afterCR bool // the last line ended with CR, so a line feed belongs to it
	started bool

	id    string
	retry time.Duration // 0 if the stream did not set it
}

// aroundMessage is how many bytes an event or line may have in addition to its message.
const aroundMessage = 1 << 10

var errLargeEvent = errors.New("an event is too large")

// follow switches the reader to another stream.
func (r *eventReader) follow(body io.Reader) {
	r.lines = bufio.NewScanner(body)
	r.lines.Buffer(nil, r.max+aroundMessage)
	r.lines.Split(r.split)
	r.afterCR, r.started = false, false
}

// next returns the data of the next message. The error at the end of the stream is [io.EOF]. It ignores an incomplete
// event there.
func (r *eventReader) next() ([]byte, error) {
	var data []byte
	var name string
	id := r.id
	for r.lines.Scan() {
		line := r.lines.Bytes()
		if len(line) == 0 {
			r.id = id
			if len(data) > 1 && (name == "" || name == "message") { // an event with only an ID is not a message
				return data[:len(data)-1], nil // without the last line feed
			}
			data, name = nil, ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if len(data)+len(value) > r.max { // len(data) is 0, or includes a line feed
				return nil, errLargeEvent
			}
			data = append(append(data, value...), '\n')
		case "event":
			name = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				r.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errLargeEvent
	case err != nil:
		return nil, err
	}
	return nil, io.EOF
}

// split splits lines, which end with CR LF, LF or CR. It ignores an incomplete line at the end of the stream.
func (r *eventReader) split(text []byte, atEnd bool) (advance int, line []byte, err error) {
	skipped := 0
	if !r.started && len(text) > 0 {
		if len(text) < len(bom) && !atEnd && bytes.HasPrefix([]byte(bom), text) {
			return 0, nil, nil
		}
		r.started = true
		if bytes.HasPrefix(text, []byte(bom)) {
			skipped = len(bom)
		}
	}
	if r.afterCR && len(text) > 0 {
		r.afterCR = false
		if text[0] == '\n' {
			skipped = 1
		}
	}
	end := bytes.IndexAny(text[skipped:], "\r\n")
	if end < 0 {
		return skipped, nil, nil
	}
	end += skipped
	r.afterCR = text[end] == '\r'
	return end + 1, text[skipped:end:end], nil
}

const bom = "\uFEFF"
