package httpwire

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A span is a part of the head that is being read.
type span struct{ from, to int }

// readHead reads the head of the final response, and those of the interim ones (1xx) before it: "A client MUST be able
// to parse one or more 1xx responses received prior to a final response, even if the client does not expect one" (RFC
// 9110 §15.2).
func (cn *conn) readHead(max int) (interim []transcript.Interim, final *transcript.Response, err error) {
	const maxInterim = 32
	for range maxInterim {
		resp, err := cn.readOneHead(max)
		// 101 is final: another protocol follows it (RFC 9110 §15.2.2).
		if err != nil || resp.Status/100 != 1 || resp.Status == 101 {
			return interim, resp, err
		}
		interim = append(interim, transcript.Interim{Status: resp.Status, Header: resp.Header})
	}
	return interim, nil, wireErrorf(transcript.FailLimit, transcript.PhaseHead, "more than %d interim responses came", maxInterim)
}

func (cn *conn) readOneHead(max int) (*transcript.Response, error) {
	n, err := cn.readSection(section{"head", transcript.PhaseHead, max})
	if err != nil {
		return nil, err
	}
	resp := cn.response(string(cn.buffered()[:n]))
	cn.r += n
	return resp, nil
}

// A section is a part of a message that consists of lines and ends with an empty one (RFC 9112 §2.1): a head, or the
// trailer section of a chunked body.
type section struct {
	name  string
	phase transcript.Phase
	max   int
}

// readSection reads until a section is in the buffer, and returns its length. It checks each line as soon as that is
// complete, because a server with another protocol may wait for the client after its first line.
func (cn *conn) readSection(s section) (int, error) {
	cn.fields = cn.fields[:0]
	from, searched := 0, 0 // the beginning of the line, and how far it was searched for its end
	for {
		got := cn.buffered()
		if s.phase == transcript.PhaseHead && from == 0 && !mayBegin(got) {
			return 0, malformed(s.phase, "not HTTP: %s", excerpt(got))
		}
		n := bytes.IndexByte(got[searched:], '\n')
		if n < 0 {
			searched = len(got)
			if len(got) > s.max {
				return 0, s.tooLarge()
			}
			if err := cn.fill(); err != nil {
				return 0, ioFailure(err, s.phase, s.progress(cn.buffered()))
			}
			continue
		}
		next := searched + n + 1
		if next > s.max {
			return 0, s.tooLarge()
		}
		// "a recipient MAY recognize a single LF as a line terminator and ignore any preceding CR" (RFC 9112 §2.2).
		to := next - 1
		if to > from && got[to-1] == '\r' {
			to--
		}
		var err error
		switch {
		case s.phase == transcript.PhaseHead && from == 0:
			err = checkStatusLine(got[:to])
		case to == from:
			return next, nil
		default:
			err = cn.addField(s, got, from, to)
		}
		if err != nil {
			return 0, err
		}
		from, searched = next, next
	}
}

// progress says how much of the section was received.
func (s section) progress(got []byte) string {
	if len(got) == 0 {
		return "before the " + s.name
	}
	return "in the " + s.name + ", after " + excerpt(got)
}

func (s section) tooLarge() error {
	return wireErrorf(transcript.FailLimit, s.phase, "the %s is larger than %d bytes", s.name, s.max)
}

const httpName = "HTTP/1."

// mayBegin reports whether b is the beginning of a response, or can become one.
func mayBegin(b []byte) bool {
	n := min(len(b), len(httpName))
	return string(b[:n]) == httpName[:n]
}

// checkStatusLine checks a line that mayBegin accepts for the form "HTTP/1.1 200 OK" (RFC 9112 §4). "A server MUST send
// the space that separates the status-code from the reason-phrase even when the reason-phrase is absent", but a line
// without it is not ambiguous.
func checkStatusLine(line []byte) error {
	const version, status = len(httpName), len("HTTP/1.1 ")
	switch rest := line[min(status+3, len(line)):]; {
	case len(line) < status+3,
		!isDigit(line[version]) || line[version+1] != ' ',
		!isDigit(line[status]) || !isDigit(line[status+1]) || !isDigit(line[status+2]),
		len(rest) > 0 && rest[0] != ' ',
		hasForbidden(rest):
		return malformed(transcript.PhaseHead, "malformed status line %s", excerpt(line))
	}
	return nil
}

// hasForbidden reports whether b has a CR or NUL. "[A] recipient of CR, LF, or NUL within a field value MUST either
// reject the message or replace each of those characters with SP" (RFC 9110 §5.5; for a single CR, RFC 9112 §2.2
// extends that to the whole head). lockstep rejects the message, because clients differ. Other control characters are
// kept.
func hasForbidden(b []byte) bool {
	return bytes.IndexByte(b, '\r') >= 0 || bytes.IndexByte(b, 0) >= 0
}

// addField adds the name and the value of the field line at b[from:to] to cn.fields (RFC 9112 §5).
func (cn *conn) addField(s section, b []byte, from, to int) error {
	line := b[from:to]
	if hasForbidden(line) {
		return malformed(s.phase, "a CR or NUL in the field line %s", excerpt(line))
	}
	for to > from && isBlank(b[to-1]) {
		to--
	}
	if isBlank(line[0]) {
		return cn.unfold(s, line, to)
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return malformed(s.phase, "a field line without a colon: %s", excerpt(line))
	}
	// "No whitespace is allowed between the field name and colon" (RFC 9112 §5.1), and a token contains none.
	if !isToken(line[:colon]) {
		return malformed(s.phase, "a field name that is not a token: %s", excerpt(line))
	}
	name := span{from, from + colon}
	for from += colon + 1; from < to && isBlank(b[from]); {
		from++
	}
	cn.fields = append(cn.fields, name, span{from, max(from, to)})
	return nil
}

// unfold appends a line that begins with white space, and ends at to, to the previous field (obs-fold).
//
// "A user agent that receives an obs-fold in a response message […] MUST replace each received obs-fold with one or
// more SP octets prior to interpreting the field value" (RFC 9112 §5.2). So folding is not a failure, and elements
// reads it as a space. But the recorded value keeps the line end, because a server that folds differs from one that
// does not.
func (cn *conn) unfold(s section, line []byte, to int) error {
	if len(cn.fields) == 0 {
		// "A recipient that receives whitespace between the start-line and the first header field MUST either reject the
		// message as invalid or …" (RFC 9112 §2.2)
		return malformed(s.phase, "white space before the first field: %s", excerpt(line))
	}
	cn.fields[len(cn.fields)-1].to = to
	return nil
}

// response returns a head whose fields are in cn.fields. Its strings are parts of head.
func (cn *conn) response(head string) *transcript.Response {
	const status = len("HTTP/1.1 ")
	return &transcript.Response{
		Proto:  head[:status-1],
		Status: int(head[status]-'0')*100 + int(head[status+1]-'0')*10 + int(head[status+2]-'0'),
		Header: cn.header(head),
	}
}

// header returns the fields of a section.
func (cn *conn) header(section string) transcript.Header {
	out := make(transcript.Header, len(cn.fields)/2)
	for i := range out {
		name, value := cn.fields[2*i], cn.fields[2*i+1]
		out[i] = transcript.Field{Name: section[name.from:name.to], Value: section[value.from:value.to]}
	}
	return out
}
