package stdio

import (
	"bytes"
	"errors"
)

// errTooLong means that a line exceeds the limit.
var errTooLong = errors.New("the line is too long")

// The framings of a line: the value, and what ended it.
const (
	framingLF   = "•\n"
	framingCRLF = "•\r\n"
	framingEnd  = "•" // the last line of a stream, without a line end
)

// lines splits what one stream of a program wrote into lines. A CR before the LF belongs to the line end, and any other
// CR to the line.
//
// Chunks are added one by one. Before the next one is added, next must have returned false.
type lines struct {
	max     int    // the limit of a line without its end
	partial []byte // of a line that began in an earlier chunk
	chunk   []byte // what has not been returned yet
}

func (l *lines) add(chunk []byte) { l.chunk = chunk }

// next returns the next line that has ended. It returns false when the rest is only the beginning of a line. The error
// is errTooLong, after which nothing can be read.
func (l *lines) next() (line, framing string, ok bool, err error) {
	end := bytes.IndexByte(l.chunk, '\n')
	if end < 0 {
		if len(l.partial)+len(l.chunk) > l.max+len("\r") {
			return "", "", false, errTooLong
		}
		l.partial, l.chunk = append(l.partial, l.chunk...), nil
		return "", "", false, nil
	}
	first, text := l.partial, l.chunk[:end]
	l.partial, l.chunk = l.partial[:0], l.chunk[end+1:]
	last := &text
	if len(text) == 0 { // the CR can have come before
		last = &first
	}
	framing = framingLF
	if rest, isCR := bytes.CutSuffix(*last, []byte("\r")); isCR {
		*last, framing = rest, framingCRLF
	}
	if len(first)+len(text) > l.max {
		return "", "", false, errTooLong
	}
	return string(first) + string(text), framing, true, nil
}

// rest returns the last line when the stream has ended. It returns false when that line has an end.
func (l *lines) rest() (line, framing string, ok bool) {
	line, l.partial = string(l.partial), nil
	return line, framingEnd, line != ""
}
