package conn

import (
	"bytes"
	"io"
)

// A requestLine passes the bytes of a connection on and rewrites percent signs in request targets that begin no escape.
//
// It looks at the beginning of a connection, and again at whatever comes after [requestLine.next]: upper-case letters, a
// blank and something that begins like a target. What comes does not have to be a request line. If a client sends a
// request in one piece with the end of the previous one (pipelining), that request has been read together with the
// previous one, net/http answers an invalid escape in it with 400, and its body may be what comes next.
type requestLine struct {
	part part
	held []byte // the beginning of what may be an escape: "%" or "%" and a digit
	out  []byte // rewritten and not yet passed on
	err  error  // what reading ended with, passed on after out

	fields fields // what follows the line
}

// A part of the input, in the order in which they come.
type part int

const (
	beginning part = iota
	method         // at least one letter of it
	scheme         // the first byte of the target
	target
	rest // passed through
)

// next makes the line look at the bytes that come next.
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
		l.out = nil // rarely needed again
	}
	return n, nil
}

// rewrite appends to dst what is to be passed on of the bytes that were read.
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

// after returns the part that c belongs to when it follows a byte of part p. The blank behind the method counts as the
// method, the end of the target as the rest.
func (p part) after(c byte) part {
	switch p {
	case beginning, method:
		if 'A' <= c && c <= 'Z' || p == method && c == '-' {
			return method
		}
		if p == method && c == ' ' {
			return scheme
		}
	case scheme: // origin form, or absolute form
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

// release returns what was held, which turned out to begin no escape.
func (l *requestLine) release() []byte {
	if len(l.held) == 0 {
		return nil
	}
	released := append([]byte("%25"), l.held[1:]...)
	l.held = l.held[:0]
	return released
}
