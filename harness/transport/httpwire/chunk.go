package httpwire

import (
	"bytes"
	"math"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Chunked bodies (RFC 9112 §7.1) must be exact. The tolerance of §2.2 applies only to "the start-line and fields", and
// a chunk that two recipients read differently allows request smuggling.

// maxChunkLine limits the length of a line with a chunk's size and extensions.
const maxChunkLine = 4 << 10

// nextChunk reads up to the next chunk's data. At the end of the body, it returns the result of end.
func (b *body) nextChunk() error {
	if b.begun {
		if err := b.expectLineEnd(); err != nil {
			return err
		}
	}
	size, err := b.readChunkLine()
	if err != nil {
		return err
	}
	b.left, b.begun = size, true
	if size > 0 {
		return nil
	}
	// "A recipient that removes the chunked coding from a message MAY selectively retain or discard the received
	// trailer fields" (§7.1.2). lockstep retains them, separately from the header fields.
	n, err := b.cn.readSection(section{"trailer section", transcript.PhaseBody, b.trailer})
	if err != nil {
		return err
	}
	if len(b.cn.fields) > 0 {
		b.fields = b.cn.header(string(b.cn.buffered()[:n]))
	}
	b.cn.r += n
	return b.end()
}

// expectLineEnd reads the CRLF after a chunk's data.
func (b *body) expectLineEnd() error {
	const crlf = "\r\n"
	for {
		got := b.cn.buffered()
		n := min(len(got), len(crlf))
		if string(got[:n]) != crlf[:n] {
			return malformed(transcript.PhaseBody, "no CRLF behind a chunk, after %d bytes of the body: %s", b.read, excerpt(got))
		}
		if n == len(crlf) {
			b.cn.r += n
			return nil
		}
		if err := b.cn.fill(); err != nil {
			return ioFailure(err, transcript.PhaseBody, b.progress())
		}
	}
}

// readChunkLine reads a line with the size of a chunk, and returns the size.
func (b *body) readChunkLine() (int64, error) {
	searched := 0
	for {
		got := b.cn.buffered()
		if len(got) > 0 && !isHexDigit(got[0]) {
			return 0, b.badChunkLine(got)
		}
		n := bytes.IndexByte(got[searched:], '\n')
		if n >= 0 && searched+n < maxChunkLine {
			line := got[:searched+n]
			size, ok := parseChunkLine(line)
			if !ok {
				return 0, b.badChunkLine(line)
			}
			b.cn.r += len(line) + 1
			return size, nil
		}
		if searched = len(got); n >= 0 || searched > maxChunkLine {
			return 0, wireErrorf(transcript.FailLimit, transcript.PhaseBody,
				"the line before a chunk is larger than %d bytes: %s", maxChunkLine, excerpt(got))
		}
		if err := b.cn.fill(); err != nil {
			return 0, ioFailure(err, transcript.PhaseBody, b.progress())
		}
	}
}

func (b *body) badChunkLine(line []byte) error {
	return malformed(transcript.PhaseBody, "malformed size of a chunk, after %d bytes of the body: %s", b.read, excerpt(line))
}

// parseChunkLine parses a line without its LF: a size, optional extensions, and a CR. Extensions are ignored: "A
// recipient MUST ignore unrecognized chunk extensions" (§7.1.1), and lockstep recognises none.
func parseChunkLine(line []byte) (size int64, ok bool) {
	line, ok = bytes.CutSuffix(line, []byte("\r"))
	if !ok || hasForbidden(line) {
		return 0, false
	}
	n := 0
	for n < len(line) && isHexDigit(line[n]) {
		n++
	}
	if rest := line[n:]; n == 0 || len(rest) > 0 && !bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte(";")) {
		return 0, false
	}
	digits := bytes.TrimLeft(line[:n], "0")
	if len(digits) == 0 {
		return 0, true
	}
	size, err := strconv.ParseInt(string(digits), 16, 64)
	if err != nil {
		// "Recipients MUST anticipate potentially large hexadecimal numerals" (§7.1).
		size = math.MaxInt64
	}
	return size, true
}

func isHexDigit(b byte) bool {
	return isDigit(b) || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}
