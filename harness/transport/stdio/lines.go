package stdio

import (
	"bytes"
	"errors"
	"strings"
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
	max     int             // the limit of a line without its end
	partial strings.Builder // of a line that began in an earlier chunk
	usual   int             // the size of the last line that came in several chunks
	chunk   []byte          // what has not been returned yet
}

func (l *lines) add(chunk []byte) { l.chunk = chunk }

// next returns the next line that has ended. It returns false when the rest is only the beginning of a line. The error
// is errTooLong, after which nothing can be read.
func (l *lines) next() (line, framing string, ok bool, err error) {
	end := bytes.IndexByte(l.chunk, '\n')
	if end < 0 {
		if l.partial.Len()+len(l.chunk) > l.max+len("\r") {
			return "", "", false, errTooLong
		}
		l.keep(l.chunk)
		l.chunk = nil
		return "", "", false, nil
	}
	text := l.chunk[:end]
	l.chunk = l.chunk[end+1:]
	if l.partial.Len() == 0 {
		line = string(text)
	} else {
		l.keep(text)
		line = l.take()
	}
	framing = framingLF
	if rest, isCR := strings.CutSuffix(line, "\r"); isCR {
		line, framing = rest, framingCRLF
	}
	if len(line) > l.max {
		return "", "", false, errTooLong
	}
	return line, framing, true, nil
}

// keep adds to the line that has begun. Its memory becomes the line's, so that each byte is copied once. For that, the
// next line is assumed to be as long as the last one.
func (l *lines) keep(text []byte) {
	if l.partial.Len() == 0 && len(text) > 0 {
		l.partial.Grow(max(len(text), l.usual))
	}
	l.partial.Write(text)
}

// take returns the line that has begun, and begins a new one.
func (l *lines) take() string {
	line := l.partial.String()
	l.partial.Reset()
	l.usual = len(line)
	return line
}

// rest returns the last line when the stream has ended. It returns false when that line has an end.
func (l *lines) rest() (line, framing string, ok bool) {
	line = l.take()
	return line, framingEnd, line != ""
}
