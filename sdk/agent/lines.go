package agentsdk

import (
	"bytes"
	"errors"
	"io"
)

// errTooLong means that a line exceeds the limit.
var errTooLong = errors.New("the line is too long")

// readSize is the size of a read. Longer lines are collected in chunks and joined once, so that a line of 30 MB needs
// two times its size while it is read, and not four times as with a buffer that doubles.
const readSize = 64 << 10

// A lineReader splits a stream at each LF, and nowhere else: U+2028 may be inside of a string. It trims blanks, and skips
// lines that are blank. A last line without an LF is a line.
type lineReader struct {
	from io.Reader
	max  int // the limit of a line in bytes; negative means none

	scratch []byte   // for reads
	buffer  []byte   // what has not been returned yet, in scratch
	chunks  [][]byte // the beginning of the line that is being read
	size    int      // of chunks
	err     error    // of the stream
}

// next returns the next line, which the caller owns, and whether it ended with an LF. At the end of the stream it returns
// io.EOF.
func (l *lineReader) next() (line []byte, complete bool, err error) {
	for {
		end := bytes.IndexByte(l.buffer, '\n')
		if end >= 0 {
			line, err = l.take(l.buffer[:end])
			l.buffer = l.buffer[end+1:]
			if err != nil || len(line) > 0 {
				return line, true, err
			}
			continue
		}
		if l.err != nil {
			rest, err := l.take(l.buffer)
			l.buffer = nil
			if err != nil || len(rest) > 0 {
				return rest, false, err
			}
			return nil, false, l.err
		}
		if l.tooLong(len(l.buffer)) {
			return nil, false, errTooLong
		}
		l.fill()
	}
}

// fill keeps what is left as the beginning of a line, and reads once.
func (l *lineReader) fill() {
	if len(l.buffer) > 0 {
		l.chunks, l.size = append(l.chunks, bytes.Clone(l.buffer)), l.size+len(l.buffer)
	}
	if l.scratch == nil {
		l.scratch = make([]byte, readSize)
	}
	var n int
	n, l.err = l.from.Read(l.scratch)
	l.buffer = l.scratch[:n]
}

// take joins the beginning of a line with its end. The caller may change and keep the result.
func (l *lineReader) take(end []byte) ([]byte, error) {
	if l.tooLong(len(end)) {
		return nil, errTooLong
	}
	line := make([]byte, 0, l.size+len(end))
	for i, chunk := range l.chunks {
		line = append(line, chunk...)
		l.chunks[i] = nil
	}
	line = append(line, end...)
	l.chunks, l.size = nil, 0
	return bytes.TrimSpace(line), nil
}

func (l *lineReader) tooLong(more int) bool { return l.max >= 0 && l.size+more > l.max }
