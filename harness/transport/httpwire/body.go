package httpwire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A framing is the way in which a message marks the end of its body.
type framing byte

const (
	noBody framing = iota
	byLength
	chunked
	untilClose
	upgraded // another protocol follows the head
)

// framingOf decides how the body of a response is framed, by the rules of RFC 9112 §6.3 in their order. length is set
// only for byLength.
func framingOf(method string, resp *transcript.Response) (f framing, length int64, err error) {
	// 1. "Any response to a HEAD request and any response with a 1xx (Informational), 204 (No Content), or 304 (Not
	// Modified) status code is always terminated by the first empty line after the header fields"
	if method == "HEAD" || resp.Status/100 == 1 || resp.Status == 204 || resp.Status == 304 {
		return noBody, 0, nil
	}
	// 2. "Any 2xx (Successful) response to a CONNECT request implies that the connection will become a tunnel"
	if method == "CONNECT" && resp.Status/100 == 2 {
		return noBody, 0, nil
	}
	if _, ok := resp.Header.Get("Transfer-Encoding"); ok {
		f, err := transferFraming(resp)
		return f, 0, err
	}
	return lengthFraming(resp.Header.Values("Content-Length"))
}

// transferFraming implements rules 3 and 4.
func transferFraming(resp *transcript.Response) (framing, error) {
	// 3. "Such a message might indicate an attempt to perform request smuggling […] or response splitting […] and ought
	// to be handled as an error."
	if length, ok := resp.Header.Get("Content-Length"); ok {
		return 0, malformed(transcript.PhaseHead, "both Transfer-Encoding and Content-Length: %s", quote(length))
	}
	// §6.1: "A server or client that receives an HTTP/1.0 message containing a Transfer-Encoding header field MUST treat
	// the message as if the framing is faulty"
	if resp.Proto == "HTTP/1.0" {
		return 0, malformed(transcript.PhaseHead, "Transfer-Encoding in a response of HTTP/1.0")
	}
	codings := resp.Header.Elements("Transfer-Encoding")
	for i, c := range codings {
		if !strings.EqualFold(c, "chunked") {
			continue
		}
		if i+1 == len(codings) {
			return chunked, nil // other codings, such as gzip, are not decoded here
		}
		// §6.1: "A sender MUST NOT apply the chunked transfer coding more than once to a message body"
		if strings.EqualFold(codings[len(codings)-1], "chunked") {
			return 0, malformed(transcript.PhaseHead, "chunked twice in Transfer-Encoding: %s", quote(strings.Join(codings, ", ")))
		}
	}
	// 4. "If a Transfer-Encoding header field is present in a response and the chunked transfer coding is not the final
	// encoding, the message body length is determined by reading the connection until it is closed by the server."
	return untilClose, nil
}

// lengthFraming implements rules 5, 6 and 8. An invalid Content-Length is "an unrecoverable error, unless the field
// value can be successfully parsed as a comma-separated list […], all values in the list are valid, and all values in
// the list are the same".
func lengthFraming(values []string) (framing, int64, error) {
	if len(values) == 0 {
		return untilClose, 0, nil
	}
	length := int64(-1)
	for v := range strings.SplitSeq(strings.Join(values, ","), ",") {
		n, err := parseLength(strings.Trim(v, " \t\r\n"))
		if err != nil || length >= 0 && n != length {
			return 0, 0, malformed(transcript.PhaseHead, "malformed Content-Length: %s", quote(strings.Join(values, ", ")))
		}
		length = n
	}
	return byLength, length, nil
}

// parseLength parses 1*DIGIT. "A recipient MUST anticipate potentially large decimal numerals" (RFC 9110 §8.6): a
// number that is too large for an int64 becomes the largest int64.
func parseLength(s string) (int64, error) {
	for i := range len(s) {
		if !isDigit(s[i]) { // strconv would accept a sign
			return 0, strconv.ErrSyntax
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt64, nil
	}
	return n, err
}

func quote(s string) string { return excerpt([]byte(s)) }

// A body reads the content of a response, without its transfer coding.
type body struct {
	cn      *conn
	framing framing
	left    int64             // bytes left of the body (byLength) or of the chunk (chunked)
	begun   bool              // a chunk was read
	trailer int               // maximum size of the trailer section
	fields  transcript.Header // of the trailer section
	read    int64             // number of bytes that were read
	err     error             // why there is no more
	one     [1]byte
}

// Read implements io.Reader. At the end of the body, the error is io.EOF; any other error is a wireError.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.readSome(p)
	b.read += int64(n)
	if err != nil {
		b.err = err
	}
	return n, err
}

func (b *body) readSome(p []byte) (int, error) {
	switch b.framing {
	case noBody:
		return 0, b.end()
	case byLength:
		if b.left == 0 {
			return 0, b.end()
		}
		return b.readLeft(p)
	case chunked:
		if b.left > 0 {
			return b.readLeft(p)
		}
		if err := b.nextChunk(); err != nil {
			return 0, err
		}
		return b.readLeft(p)
	default:
		n, err := b.cn.read(p)
		if err != nil && err != io.EOF {
			err = ioFailure(err, transcript.PhaseBody, b.progress())
		}
		return n, err
	}
}

// readLeft reads some of the rest of the body or chunk. It reads the last byte through the connection's buffer. Then
// the buffer also has the bytes that follow the body, if any.
func (b *body) readLeft(p []byte) (int, error) {
	p = p[:min(int64(len(p)), max(b.left-1, 1))]
	n, err := b.cn.read(p)
	b.left -= int64(n)
	if err != nil {
		err = ioFailure(err, transcript.PhaseBody, b.progress())
	}
	return n, err
}

// progress says how much of the body was received.
func (b *body) progress() string {
	switch b.framing {
	case byLength:
		return fmt.Sprintf("after %d of %d bytes of the body", b.read, b.read+b.left)
	case upgraded: // only the other protocol knows
		return ""
	}
	return fmt.Sprintf("after %d bytes of the body", b.read)
}

// end returns the error at the end of the body: io.EOF, unless bytes follow. No bytes may follow, because a request is
// sent only after the previous response has been read. "If the final response to the last request on a connection has
// been completely received and there remains additional data to read, a user agent MAY discard the remaining data or
// attempt to determine if that data belongs as part of the prior message body" (RFC 9112 §6.3).
//
// It checks only what was received until now. Client.Late checks what follows later.
func (b *body) end() error {
	if rest := b.cn.buffered(); len(rest) > 0 {
		return bytesFollow(rest)
	}
	return io.EOF
}

func bytesFollow(rest []byte) error {
	return malformed(transcript.PhaseBody, "%d bytes follow the response: %s", len(rest), excerpt(rest))
}

// readAll reads the body, up to a limit, and returns what was received.
func (b *body) readAll(limit int64) (transcript.Body, error) {
	data := make([]byte, 0, b.estimate(limit))
	for {
		p := data[len(data):min(int64(cap(data)), limit)]
		if len(p) > 0 {
			n, err := b.Read(p)
			data = data[:len(data)+n]
			if err != nil {
				return completeBody(data), unlessEOF(err)
			}
			continue
		}
		// The buffer is full. Read one more byte before it grows, because the body may end here.
		n, err := b.Read(b.one[:])
		switch {
		case err != nil:
			return completeBody(data), unlessEOF(err)
		case n == 0:
		case int64(len(data)) == limit:
			err := wireErrorf(transcript.FailLimit, transcript.PhaseBody, "the body is larger than %d bytes", limit)
			return transcript.Body{Bytes: data, Size: limit + 1}, err
		default:
			data = append(slices.Grow(data, int(min(int64(len(data))+minGrowth, limit-int64(len(data))))), b.one[0])
		}
	}
}

func completeBody(data []byte) transcript.Body {
	return transcript.Body{Bytes: data, Size: int64(len(data))}
}

func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// minGrowth is the minimum growth of the buffer when a body is longer than expected.
const minGrowth = 512

// estimate returns the size of the first buffer for the body.
func (b *body) estimate(limit int64) int64 {
	const maxTrusted = 1 << 20 // a server may announce a terabyte and send nothing
	switch b.framing {
	case noBody:
		return 0
	case byLength:
		return min(b.left, limit, maxTrusted)
	default:
		return min(max(int64(len(b.cn.buffered())), minGrowth), limit)
	}
}
