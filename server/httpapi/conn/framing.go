package conn

import "net/http"

// A Framing says how the head of a request announces its body.
type Framing int

// The framings. Unseen is that of a request that came in one piece with the one before it: net/http had read it before
// it was known where it begins.
const (
	Unseen Framing = iota
	Plain
	Ambiguous // it has a Transfer-Encoding and a Content-Length (RFC 9112 §6.3), or is one of HTTP/1.0 (§6.1)
)

// FramingOf returns the framing of a request, Plain without a connection in its context. The handler has to ask before it
// reads of the body. net/http itself says nothing: it removes the length, or the coding from HTTP/1.0.
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

// fields follows the fields of one head as they go by.
type fields struct {
	at             place
	name           []byte // of the field, in small letters, up to its 32nd byte
	length, coding bool
}

// A place is one in a head.
type place int

const (
	beforeFields place = iota
	inLine             // what is not the name of a field
	inName
	behindFields
)

// begin says that what is seen next is the rest of a request line.
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
