package conn

import "net/http"

// A Framing says how the head of a request announces the length of its body.
type Framing int

// These are the framings. Unseen means that the head arrived together with the previous request (pipelining), and
// net/http read it before its beginning was known.
const (
	Unseen Framing = iota
	Plain
	Ambiguous // Transfer-Encoding and Content-Length together (RFC 9112 §6.3), or Transfer-Encoding in HTTP/1.0 (§6.1)
)

// FramingOf returns the framing of a request, or Plain if its context has no connection. The handler must call it
// before reading the body. net/http does not report the framing: it removes the length, or the coding from HTTP/1.0.
func FramingOf(r *http.Request) Framing {
	c, ok := r.Context().Value(contextKey{}).(*Conn)
	switch {
	case !ok:
		return Plain
	case c.line.fields.at != behindFields:
		return Unseen
	case c.line.fields.coding && (c.line.fields.length || !r.ProtoAtLeast(1, 1)):
		return Ambiguous
	}
	return Plain
}

// fields tracks the header fields of one head while it is read.
type fields struct {
	at             place
	name           []byte // the lower-case name of the field, up to 32 bytes
	length, coding bool
}

// A place is a position in a head.
type place int

const (
	beforeFields place = iota
	inLine             // outside of a field name
	inName
	behindFields
)

// begin starts with the rest of a request line.
func (f *fields) begin() { *f = fields{at: inLine, name: f.name[:0]} }

func (f *fields) see(in []byte) {
	for _, c := range in {
		switch f.at {
		case inLine:
			if c == '\n' {
				f.at, f.name = inName, f.name[:0]
			}
		case inName:
			f.seeName(c)
		default:
			return
		}
	}
}

func (f *fields) seeName(c byte) {
	switch {
	case c == ':':
		f.length = f.length || string(f.name) == "content-length"
		f.coding = f.coding || string(f.name) == "transfer-encoding"
		f.at = inLine
	case c == '\n' && len(f.name) == 0:
		f.at = behindFields
	case c == '\n':
		f.name = f.name[:0]
	case c != '\r' && len(f.name) < 32:
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		f.name = append(f.name, c)
	}
}
