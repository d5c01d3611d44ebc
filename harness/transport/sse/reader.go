// Package sse reads an event stream the way a judge needs it: as WHATWG HTML 9.2.5 and 9.2.6 say, and with everything
// that a browser passes over.
//
// A Reader turns bytes into events. A Watch reads a stream in the background and lets others wait for what comes.
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

// Options are the bounds of a Reader.
type Options struct {
	// MaxEvent is the size of the longest block, in bytes as it was written: fields, comments and line ends together,
	// so that nothing a server adds can walk past it. 0 means 16 MiB. A Reader needs a few times as much at worst.
	MaxEvent int
}

const defaultMaxEvent = 16 << 20

// A Reader reads the blocks of an event stream.
//
// A block is what stands before a blank line, and the blank line. Each one is returned, in one of three shapes:
//
//   - An event has at least one data field. Type, ID and Retry are those of this block alone: what a browser would
//     carry over from an earlier one is not repeated. Of a field that stands twice the last one counts; an id with a NUL
//     and a retry that is not all digits do not count (WHATWG HTML 9.2.6).
//   - A comment is a line before the fields of a block, and has Comment set. Data holds its text.
//   - Anything else is Undispatched: a browser reads it and dispatches nothing. It may still have set an id or a
//     reconnection time. A blank line by itself is such a block, since some servers keep a connection alive with it.
//
// Framing is the block as it was written, with "•" for each value that the Event carries. Whatever the Event does not
// carry (unknown fields, fields that do not count, comments between fields, a byte order mark) stands in Framing
// literally, except that a "•" in it is doubled. Framing and values together are the bytes that came; the test's
// render puts them together again.
//
// Values are bytes: they are not decoded, so a U+FFFD in them was sent as such.
//
// A line may end in LF, CR or CRLF. When a blank line ends in CR, only the next byte tells whether an LF belongs to it,
// and a server that uses CR may not send that byte before the next event. Next therefore does not wait for it, unless
// the line before ended in CRLF, for then it is on its way. An LF that comes unexpectedly is put at the beginning of the
// next block's Framing.
type Reader struct {
	src io.Reader
	max int
	err error // what ended src; set once

	// buf[start:end] is the block being read and what came after it. Lines before pos have been read. No LF stands in
	// buf[pos:lf] and no CR in buf[pos:cr]: bytes are searched once, however they arrive.
	buf             []byte
	start, pos, end int
	lf, cr          int

	mark    bool    // a byte order mark may come: nothing has been read so far
	lateLF  bool    // the last block ended in a CR, and an LF may follow
	lastEnd lineEnd // of the last line
	comment bool    // the last block was a comment, which a blank line may follow

	block    block
	framings framings
}

// A Reader begins with a buffer of bufferSize, and gives one that grew beyond keepBuffer back as soon as it is empty.
const (
	bufferSize = 32 << 10
	keepBuffer = 1 << 20
)

// NewReader returns a Reader of r, which it reads no further than it must to return the next block. Nil options are the
// zero options.
func NewReader(r io.Reader, opts *Options) *Reader {
	size := defaultMaxEvent
	if opts != nil && opts.MaxEvent > 0 {
		size = opts.MaxEvent
	}
	return &Reader{src: r, max: size, buf: make([]byte, bufferSize), mark: true, lastEnd: crlf}
}

// Next returns the next block. Its At and Name are not set.
//
// A comment before the fields of a block is an event by itself, as soon as its line ends: many servers send no blank line
// behind a keep-alive. If one follows, it comes next, as an undispatched comment that is nothing but framing.
//
// The error is io.EOF at the end of the stream, ErrTooLong, or that of the underlying reader; it stays the same from
// then on. Blocks that were complete before the error are returned first. A browser drops a block that was not
// (WHATWG HTML 9.2.6), and so does Next: see Unfinished.
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

// Unfinished returns the bytes of the block that was being read when Next returned an error, and nil when that was
// between two blocks. Of a block that is too long it returns the first MaxEvent bytes.
func (r *Reader) Unfinished() []byte {
	if r.pos == r.end && r.block.shape == empty {
		return nil // at most a byte order mark, or the late half of a CRLF
	}
	return bytes.Clone(r.buf[r.start:min(r.end, r.start+r.max)])
}

var bom = []byte("\xef\xbb\xbf")

// begin takes what can stand before the first line of a block. It reports whether that is settled.
func (r *Reader) begin() bool {
	if !r.mark && !r.lateLF {
		return true
	}
	head := r.buf[r.start:r.end]
	if len(head) == 0 || r.mark && len(head) < len(bom) && bytes.HasPrefix(bom, head) && r.err == nil {
		return false
	}
	switch {
	case r.lateLF && head[0] == '\n':
		r.pos++
	case r.mark && bytes.HasPrefix(head, bom):
		// "The UTF-8 decode algorithm strips one leading UTF-8 Byte Order Mark (BOM), if any."
		r.pos += len(bom)
	}
	r.mark, r.lateLF = false, false
	r.block.begin(r.pos - r.start)
	return true
}

// scan reads the lines that have come. It reports whether one of them ended the block: a blank one, or a comment before any
// field.
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
				r.lateLF = true
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
	if r.cr < r.lf { // otherwise the LF comes first, and the CR can wait
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

// maxEmptyReads is how often a reader may return nothing and no error before it counts as broken; bufio has the same.
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

// makeRoom sees to it that there is space behind end. The block is moved at most once for each doubling of it or each
// buffer read, so that reading stays linear in what comes.
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

// move puts the block at the beginning of buf, which may be the buffer it is in.
func (r *Reader) move(buf []byte) {
	copy(buf, r.buf[r.start:r.end])
	r.buf = buf
	r.pos -= r.start
	r.lf = max(r.lf-r.start, 0)
	r.cr = max(r.cr-r.start, 0)
	r.end -= r.start
	r.start = 0
}
