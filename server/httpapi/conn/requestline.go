package conn

import (
	"bytes"
	"io"
)

// A requestLine passes the bytes of a connection on, and rewrites percent signs outside of escapes in request
// targets.
//
// It looks for a request line at the start of a connection, and after each call of [requestLine.next]: upper-case
// letters, a blank, and the start of a target. The bytes need not be a request line. If a client sends a request
// together with the end of the previous one (pipelining), both have been read already. net/http then answers an
// invalid escape in it with 400, and the next bytes may be its body.
type requestLine struct {
	part part
	held []byte // the start of a possible escape: "%" or "%" and a digit
	out  []byte // rewritten, and not yet returned
	err  error  // the error of the last read, returned after out

	fields fields // tracks the fields after the line
}

// A part is a part of the input. The parts are in their order.
type part int

const (
	beginning part = iota
	method         // after at least one letter
	scheme         // before the first byte of the target
	target
	rest // passed on unchanged
)

// next expects a request line in the bytes that follow.
func (l *requestLine) next() {
	l.part = beginning
	l.fields.at = beforeFields
}

func (l *requestLine) read(from io.Reader, p []byte) (int, error) {
	for len(l.out) == 0 {
		if l.err != nil {
			err := l.err
			l.err = nil
			return 0, err
		}
		if l.part == rest || len(p) == 0 {
			n, err := from.Read(p)
			l.fields.see(p[:n])
			return n, err
		}
		n, err := from.Read(p)
		l.out = l.rewrite(l.out, p[:n])
		if err != nil {
			l.out, l.err = append(l.out, l.release()...), err
		}
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	if len(l.out) == 0 {
		l.out = nil // free the buffer, which is rarely needed again
	}
	return n, nil
}

// rewrite appends to dst the rewritten form of the bytes in.
func (l *requestLine) rewrite(dst, in []byte) []byte {
	for i, c := range in {
		before := l.part
		l.part = before.after(c)
		switch {
		case len(l.held) > 0 && bytes.IndexByte([]byte("0123456789abcdefABCDEF"), c) >= 0:
			if l.held = append(l.held, c); len(l.held) == 3 {
				dst, l.held = append(dst, l.held...), l.held[:0]
			}
			continue
		case l.part == target && c == '%':
			dst = append(dst, l.release()...)
			l.held = append(l.held, c)
			continue
		}
		dst = append(dst, l.release()...)
		if l.part == rest {
			if before == target {
				l.fields.begin()
				l.fields.see(in[i:])
			}
			return append(dst, in[i:]...)
		}
		dst = append(dst, c)
	}
	return dst
}

// after returns the part of a byte c that follows a byte of part p. The blank after the method counts as method, and
// the end of the target as rest.
func (p part) after(c byte) part {
	switch p {
	case beginning, method:
		if 'A' <= c && c <= 'Z' || p == method && c == '-' {
			return method
		}
		if p == method && c == ' ' {
			return scheme
		}
	case scheme: // origin form or absolute form
		if c == '/' || c == 'h' || c == 'H' {
			return target
		}
	case target:
		if c != ' ' && c != '\n' {
			return target
		}
	}
	return rest
}

// release returns the held bytes, which turned out not to be an escape.
func (l *requestLine) release() []byte {
	if len(l.held) == 0 {
		return nil
	}
	released := append([]byte("%25"), l.held[1:]...)
	l.held = l.held[:0]
	return released
}
