package client

import (
	"bytes"
	"errors"
	"io"
)

var errLineInMessage = errors.New("a line ends within a message")

// A lineReader reads messages of one line each, as MCP requires on standard input and output: "Messages are delimited
// by newlines, and MUST NOT contain embedded newlines" (2025-03-26, stdio). A message that continues after the end of
// its line is an error.
//
// The library would ignore that line end as white space, and wait for the rest of the message. It would then read the
// next message as that rest. It detects all other errors itself.
type lineReader struct {
	r io.Reader

	depth   int // of open objects and arrays
	inText  bool
	escaped bool // the next byte of a string is escaped
	err     error
}

func (l *lineReader) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	if good := l.follow(p[:n]); good < n {
		l.err = errLineInMessage
		return good, l.err
	}
	return n, err
}

// follow returns how many bytes come before a line end inside a message.
func (l *lineReader) follow(text []byte) int {
	for i := 0; i < len(text); i++ {
		if l.inText && !l.escaped { // fast path for long strings
			next := bytes.IndexAny(text[i:], "\"\\\n")
			if next < 0 {
				return len(text)
			}
			i += next
		}
		switch c := text[i]; {
		case c == '\n' && (l.depth > 0 || l.inText):
			return i
		case l.escaped:
			l.escaped = false
		case l.inText:
			l.escaped, l.inText = c == '\\', c != '"'
		case c == '"':
			l.inText = true
		case c == '{', c == '[':
			l.depth++
		case c == '}', c == ']':
			l.depth--
		}
	}
	return len(text)
}
