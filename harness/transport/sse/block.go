package sse

import (
	"bytes"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A shape is the kind of a block, as far as it has been read.
type shape byte

const (
	empty    shape = iota // no line so far
	comments              // a comment, which is an event of its own
	ending                // the blank line after a comment
	fields                // at least one line that is not a comment
)

// A block collects the lines of one block. Values are spans of the block's bytes until it is complete. Only several
// lines of data, or of comment, are copied.
type block struct {
	shape  shape
	prefix int // the number of bytes before the first line

	lines int  // of data, or of comment when there are no fields
	first span // the first of these lines
	text  []byte

	event, id, retry span // the last one that counts; from is 0 without one, because a value is never at the beginning of a block

	style   []byte // the style of each line
	literal bool   // the styles do not describe the framing completely
}

// A span is a part of a block's bytes.
type span struct{ from, to int }

func (s span) of(raw []byte) []byte { return raw[s.from:s.to] }

// keepScratch limits the memory that a block keeps for the next one.
const keepScratch = 64 << 10

func (b *block) reset() {
	b.shape, b.prefix, b.lines, b.literal = empty, 0, 0, false
	b.event, b.id, b.retry = span{}, span{}, span{}
	if b.text = b.text[:0]; cap(b.text) > keepScratch {
		b.text = nil
	}
	if b.style = b.style[:0]; cap(b.style) > keepScratch {
		b.style = nil
	}
}

// begin sets the number of bytes before the first line.
func (b *block) begin(prefix int) { b.prefix, b.literal = prefix, prefix > 0 }

// line adds the line raw[from:to], which is not blank.
func (b *block) line(raw []byte, from, to int, end lineEnd) {
	f := parseLine(raw, span{from, to})
	b.style = append(b.style, f.style|byte(end))
	if b.shape != fields && f.name() == comment {
		b.shape = comments
		b.addText(raw, f.value)
		return
	}
	b.shape = fields
	switch f.name() {
	case data:
		b.addText(raw, f.value)
	case event:
		b.set(&b.event, f.value, true)
	case id: // "If the field value does not contain U+0000 NULL, then set the last event ID buffer to the field value."
		b.set(&b.id, f.value, bytes.IndexByte(f.value.of(raw), 0) < 0)
	case retry: // "If the field value consists of only ASCII digits …"
		b.set(&b.retry, f.value, isDigits(f.value.of(raw)))
	default:
		b.literal = true
	}
}

// addText adds a line of data or comment. "Append the field value to the data buffer, then append a single U+000A LINE
// FEED (LF) character to the data buffer". A browser removes the last LF at the end; here it is never added.
func (b *block) addText(raw []byte, v span) {
	switch b.lines++; b.lines {
	case 1:
		b.first = v
		return
	case 2:
		b.text = append(b.text, b.first.of(raw)...)
	}
	b.text = append(b.text, '\n')
	b.text = append(b.text, v.of(raw)...)
}

// set adds a field. The last value that counts becomes a value of the event. All others are part of the framing.
func (b *block) set(last *span, v span, counts bool) {
	if last.from > 0 || !counts {
		b.literal = true
	}
	if counts {
		*last = v
	}
}

// blank adds the blank line that ends the block.
func (b *block) blank(end lineEnd) { b.style = append(b.style, byte(end)) }

// finish puts the values of the block, whose bytes are raw, into ev. They share one string.
func (b *block) finish(raw []byte, ev *transcript.Event) {
	text := b.text
	if b.lines == 1 {
		text = b.first.of(raw)
	}
	typ, id, retry := b.event.of(raw), b.id.of(raw), b.retry.of(raw)
	var all strings.Builder
	all.Grow(len(text) + len(typ) + len(id) + len(retry))
	all.Write(text)
	all.Write(typ)
	all.Write(id)
	all.Write(retry)
	rest := all.String()
	ev.Data, rest = rest[:len(text)], rest[len(text):]
	ev.Type, rest = rest[:len(typ)], rest[len(typ):]
	ev.ID, ev.Retry = rest[:len(id)], rest[len(id):]
	ev.Comment = b.shape == comments || b.shape == ending
	ev.Undispatched = b.shape != comments && b.lines == 0
}

// A field is a line split into its parts.
type field struct {
	style byte // the name, the separator and the lineEnd: the whole line except for the value
	value span
}

// A name is the known part of a line before its colon. It takes three bits of a style.
type name byte

const (
	unknown name = iota // or the blank line
	comment
	data
	event
	id
	retry
)

func (f field) name() name { return name(f.style & 0b111) }

// The separator between name and value, and the line end, take two bits of a style each.
const (
	noColon    = 0b00 << 3 // the value is empty
	colon      = 0b01 << 3
	colonSpace = 0b10 << 3
)

type lineEnd byte

const (
	lf   lineEnd = 0b00 << 5
	cr   lineEnd = 0b01 << 5
	crlf lineEnd = 0b10 << 5
)

// parseLine splits a line at its first colon. "If value starts with a U+0020 SPACE character, remove it from value."
// Without a colon, "process the field […] using the whole line as the field name, and the empty string as the field
// value".
func parseLine(raw []byte, line span) field {
	l := line.of(raw)
	n, length := unknown, 0
	switch {
	case len(l) >= 1 && l[0] == ':':
		n = comment
	case len(l) >= 4 && string(l[:4]) == "data":
		n, length = data, 4
	case len(l) >= 5 && string(l[:5]) == "event":
		n, length = event, 5
	case len(l) >= 2 && string(l[:2]) == "id":
		n, length = id, 2
	case len(l) >= 5 && string(l[:5]) == "retry":
		n, length = retry, 5
	default:
		return field{}
	}
	switch {
	case len(l) == length:
		return field{byte(n) | noColon, span{line.to, line.to}}
	case l[length] != ':':
		return field{}
	case len(l) > length+1 && l[length+1] == ' ':
		return field{byte(n) | colonSpace, span{line.from + length + 2, line.to}}
	default:
		return field{byte(n) | colon, span{line.from + length + 1, line.to}}
	}
}

// isDigits reports whether b is a number. An empty value "consists of only ASCII digits" too, but cannot be interpreted
// "as an integer in base ten".
func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
