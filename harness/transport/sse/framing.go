package sse

import "bytes"

// placeholder replaces a value of the event in a framing. A literal "•" is doubled.
const placeholder = "•"

// framings are the framings of one stream. A server writes its blocks in few ways, so events share the strings.
type framings struct {
	style []byte // of the last block without a literal framing
	last  string // its framing
	known map[string]string

	literal string // the last framing with literal text
}

// Beyond these limits, framings are not shared.
const (
	maxFramings     = 256
	maxFramingLines = 64
)

// of returns the framing of the block, whose bytes are raw. It makes a new string only for a new style.
func (f *framings) of(b *block, raw []byte) string {
	if b.literal {
		if framing := writeFraming(b, raw); string(framing) != f.literal {
			f.literal = string(framing)
		}
		return f.literal
	}
	if f.last != "" && bytes.Equal(b.style, f.style) {
		return f.last
	}
	framing, ok := f.known[string(b.style)]
	if !ok {
		framing = string(writeFraming(b, raw))
		if len(b.style) > maxFramingLines {
			return framing
		}
		if f.known == nil || len(f.known) == maxFramings {
			f.known = make(map[string]string)
		}
		f.known[string(b.style)] = framing
	}
	f.style = append(f.style[:0], b.style...)
	f.last = framing
	return framing
}

// writeFraming returns a block with placeholders for the values of its event.
func writeFraming(b *block, raw []byte) []byte {
	out := bytes.Clone(raw[:b.prefix])
	for from := b.prefix; from < len(raw); {
		to, next := lineEndFrom(raw, from)
		f := parseLine(raw, span{from, to})
		if b.isValue(f) {
			out = append(out, raw[from:f.value.from]...)
			if f.style&(colon|colonSpace) != 0 { // without a colon, the line has no value
				out = append(out, placeholder...)
			}
			out = append(out, raw[to:next]...)
		} else {
			out = append(out, bytes.ReplaceAll(raw[from:next], []byte(placeholder), []byte(placeholder+placeholder))...)
		}
		from = next
	}
	return out
}

// isValue reports whether the value of a field is a value of the event.
func (b *block) isValue(f field) bool {
	switch f.name() {
	case comment:
		return b.shape == comments
	case data:
		return true
	case event:
		return f.value == b.event
	case id:
		return f.value == b.id
	case retry:
		return f.value == b.retry
	default:
		return false
	}
}

// lineEndFrom returns where the line that begins at from ends, and where the next one begins.
func lineEndFrom(raw []byte, from int) (end, next int) {
	n := bytes.IndexAny(raw[from:], "\r\n")
	if n < 0 {
		return len(raw), len(raw)
	}
	end = from + n
	if bytes.HasPrefix(raw[end:], []byte("\r\n")) {
		return end, end + 2
	}
	return end, end + 1
}
