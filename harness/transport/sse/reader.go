// Package sse reads event streams by WHATWG HTML 9.2.5 and 9.2.6, and keeps everything that a browser ignores.
//
// A Reader turns bytes into events. A Watch reads a stream in the background and lets others wait for events.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// ErrTooLong is returned by Reader.Next when a block is longer than Options.MaxEvent.
var ErrTooLong = errors.New("event is too long")

// Options are the limits of a Reader.
type Options struct {
	// MaxEvent is the maximum size of a block in bytes, with all fields, comments and line ends; 0 means 16 MiB. A
	// Reader needs at most a few times as much memory.
	MaxEvent int
}

const defaultMaxEvent = 16 << 20

// A Reader reads the blocks of an event stream.
//
// A block is the lines up to a blank line, and the blank line. Next returns each block, in one of three forms:
//
//   - An event has at least one data field. Type, ID and Retry are those of this block only; a browser would remember
//     those of earlier blocks. When a field occurs twice, the last one counts. An id with a NUL, and a retry that does not
//     consist of digits, do not count (WHATWG HTML 9.2.6).
//   - A comment is a line before the fields of a block, and has Comment set. Data has its text.
//   - Any other block is Undispatched: a browser reads it and dispatches no event. It may still set an id or a
//     reconnection time. A single blank line is such a block. Some servers send it to keep a connection alive.
//
// Framing is the block as it was written, with "•" for each value that the Event has. Everything else (unknown fields,
// fields that do not count, comments between fields, a byte order mark) is in Framing literally, with each "•" doubled.
// So Framing and the values determine the received bytes; render, in the tests, restores them.
//
// Values are bytes that are not decoded. If one contains a U+FFFD, the server has sent it.
//
// A line may end with LF, CR or CRLF. When a blank line ends with CR, only the next byte shows whether an LF belongs to
// it. A server that uses CR may send that byte with the next event. So Next does not wait for it, unless the previous
// line ended with CRLF: then the LF must follow. An unexpected LF is put at the beginning of the next block's Framing.
type Reader struct {
	src io.Reader
	max int
	err error // why src ended; set once

	// buf[start:end] is the current block and the bytes after it. Lines before pos have been read. There is no LF in
	// buf[pos:lf] and no CR in buf[pos:cr], so bytes are searched only once.
	buf             []byte
	start, pos, end int
	lf, cr          int

	expectBOM bool    // nothing has been read so far, so a byte order mark may come
	expectLF  bool    // the last block ended with a CR, and an LF may follow
	lastEnd   lineEnd // of the last line
	comment   bool    // the last block was a comment, which a blank line may follow

	block    block
	framings framings
}

// A Reader begins with a buffer of bufferSize. It drops a buffer larger than keepBuffer as soon as that is empty.
const (
	bufferSize = 32 << 10
	keepBuffer = 1 << 20
)

// NewReader returns a Reader of r. It reads only as far as Next needs. Nil options mean the zero options.
func NewReader(r io.Reader, opts *Options) *Reader {
	size := defaultMaxEvent
	if opts != nil && opts.MaxEvent > 0 {
		size = opts.MaxEvent
	}
	return &Reader{src: r, max: size, buf: make([]byte, bufferSize), expectBOM: true, lastEnd: crlf}
}

// Next returns the next block. Its At and Name are not set.
//
// A comment before the fields of a block is returned as soon as its line ends, because many servers send no blank line
// after a keep-alive. If a blank line follows, it is returned next, as an undispatched comment that only has a framing.
//
// The error is io.EOF at the end of the stream, ErrTooLong, or that of the underlying reader. Later calls return the
// same error. Complete blocks before the error are returned first. Like a browser (WHATWG HTML 9.2.6), Next drops an
// incomplete one: see Unfinished.
func (r *Reader) Next() (ev transcript.Event, err error) {
	for r.err != ErrTooLong {
		complete := r.scan()
		if complete && r.pos-r.start > r.max || !complete && r.end-r.start > r.max {
			r.err = ErrTooLong
			break
		}
		if complete {
			r.take(&ev)
			return ev, nil
		}
		if r.err != nil {
			return ev, r.err
		}
		r.fill()
	}
	return ev, r.err
}

// Unfinished returns the bytes of the block that was incomplete when Next returned an error. It returns nil when the
// error occurred between two blocks. Of a block that is too long, it returns the first MaxEvent bytes.
func (r *Reader) Unfinished() []byte {
	if r.pos == r.end && r.block.shape == empty {
		return nil // at most a byte order mark, or the LF of a CRLF
	}
	return bytes.Clone(r.buf[r.start:min(r.end, r.start+r.max)])
}

var bom = []byte("\xef\xbb\xbf")

// begin reads a byte order mark or LF before the first line of a block. It reports whether enough bytes have arrived to
// decide.
func (r *Reader) begin() bool {
	if !r.expectBOM && !r.expectLF {
		return true
	}
	head := r.buf[r.start:r.end]
	if len(head) == 0 || r.expectBOM && len(head) < len(bom) && bytes.HasPrefix(bom, head) && r.err == nil {
		return false
	}
	switch {
	case r.expectLF && head[0] == '\n':
		r.pos++
	case r.expectBOM && bytes.HasPrefix(head, bom):
		// "The UTF-8 decode algorithm strips one leading UTF-8 Byte Order Mark (BOM), if any."
		r.pos += len(bom)
	}
	r.expectBOM, r.expectLF = false, false
	r.block.begin(r.pos - r.start)
	return true
}

// scan reads the lines in the buffer. It reports whether one of them ended the block: a blank line, or a comment before
// any field.
func (r *Reader) scan() bool {
	if !r.begin() {
		return false
	}
	for {
		eol := r.nextEnd()
		if eol == r.end {
			return false
		}
		end, next, blank := lf, eol+1, eol == r.pos
		if r.buf[eol] == '\r' {
			end = cr
			switch {
			case blank && r.lastEnd != crlf:
				r.expectLF = true
			case next == r.end && r.err == nil:
				return false
			case next < r.end && r.buf[next] == '\n':
				end = crlf
				next++
			}
		}
		if blank {
			if r.comment && r.block.shape == empty {
				r.block.shape = ending
			}
			r.block.blank(end)
		} else {
			r.block.line(r.buf[r.start:eol], r.pos-r.start, eol-r.start, end)
		}
		r.lastEnd, r.pos = end, next
		if blank || r.block.shape == comments {
			return true
		}
	}
}

// nextEnd returns the index of the first LF or CR from pos on, or end.
func (r *Reader) nextEnd() int {
	r.lf = r.search('\n', max(r.lf, r.pos))
	if r.cr < r.lf { // otherwise the LF comes first, and there is no need to search for the CR
		r.cr = r.search('\r', max(r.cr, r.pos))
	}
	return min(r.lf, r.cr)
}

// search returns the index of the first c from i on, or end.
func (r *Reader) search(c byte, i int) int {
	if n := bytes.IndexByte(r.buf[i:r.end], c); n >= 0 {
		return i + n
	}
	return r.end
}

// take puts the block that ends at pos into ev, and begins the next one.
func (r *Reader) take(ev *transcript.Event) {
	raw := r.buf[r.start:r.pos]
	r.block.finish(raw, ev)
	ev.Framing = r.framings.of(&r.block, raw)
	r.comment = r.block.shape == comments
	r.block.reset()
	r.start = r.pos
}

// maxEmptyReads is how often a reader may return nothing and no error before it counts as broken, as in bufio.
const maxEmptyReads = 100

// fill reads more bytes, or sets err.
func (r *Reader) fill() {
	r.makeRoom()
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			panic(fmt.Sprintf("sse: a Read into %d bytes returned %d", len(r.buf)-r.end, n))
		}
		r.end += n
		if err != nil {
			r.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom makes space after end. The block is moved at most once each time it doubles or a buffer is read, so reading
// takes linear time.
func (r *Reader) makeRoom() {
	size := r.end - r.start
	switch {
	case size == 0 && len(r.buf) > keepBuffer:
		r.move(make([]byte, bufferSize))
	case size == 0 || r.end == len(r.buf) && size <= len(r.buf)/2:
		r.move(r.buf)
	case r.end == len(r.buf):
		r.move(make([]byte, 2*len(r.buf)))
	}
}

// move puts the block at the beginning of buf, which may be its current buffer.
func (r *Reader) move(buf []byte) {
	copy(buf, r.buf[r.start:r.end])
	r.buf = buf
	r.pos -= r.start
	r.lf = max(r.lf-r.start, 0)
	r.cr = max(r.cr-r.start, 0)
	r.end -= r.start
	r.start = 0
}
