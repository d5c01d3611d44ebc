package transport

import (
	"bytes"
	"errors"
	"io"
)

var errLineInMessage = errors.New("a line ends within a message")

// A lineReader reads messages that have a line each, as MCP has it over standard input and output: "Messages are delimited
// by newlines, and MUST NOT contain embedded newlines" (2025-03-26, stdio). A message that goes on behind the end of its
// line is an error.
//
// The library would take the end of the line for white space, wait for the rest of the message, and take the next one for
// that. It finds all else that is wrong itself.
type lineReader struct {
	r io.Reader

	depth   int // of the objects and lists that are open
	inText  bool
	escaped bool // the next byte of a text
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

// follow returns how many of the bytes come before a line that ends within a message.
func (l *lineReader) follow(text []byte) int {
	for i := 0; i < len(text); i++ {
		if l.inText && !l.escaped { // most of a long message
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
