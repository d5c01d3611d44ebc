package ws

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Message is what Send sends: a message, a control frame, a frame of any kind, or bytes.
type Message struct {
	Item transcript.Item // text, binary, ping, pong, close or bytes
	// Data is the payload. It need not be UTF-8. A close has none, because its Code and its Reason are its payload.
	Data []byte
	// Fragments splits a text or binary message into frames. It has the size of each frame except the last, which has
	// the rest.
	Fragments []int
	Code      uint16 // of a close; 0 means that it has neither code nor reason
	Reason    string
	Frame     *Frame // sends bytes as the payload of this frame
	Malformed bool   // is kept as Event.Malformed
}

// event returns how a message is recorded.
func (m *Message) event() transcript.Event {
	ev := transcript.Event{Item: m.Item, Data: string(m.Data), Malformed: m.Malformed}
	switch {
	case m.Item == transcript.ItemClose:
		if ev.Data = "{}"; m.Code != 0 {
			ev.Data = closeData(m.Code, m.Reason)
		}
		ev.Framing = string(appendFraming(nil, m.Item, true, len(m.closePayload())))
	case m.Frame != nil:
		ev.Framing = m.Frame.framing(len(m.Data))
	case m.Item != transcript.ItemBytes:
		var framing []byte
		for fin, piece := range m.pieces() {
			framing = appendFraming(framing, m.Item, fin, len(piece))
		}
		ev.Framing = string(framing)
	}
	return ev
}

// check returns an error for a message that cannot be sent.
func (m *Message) check() error {
	opcode := slices.Index(items[:], m.Item)
	isControl := opcode >= opClose
	switch {
	case m.Item == "" || opcode < 0 && m.Item != transcript.ItemBytes:
		return fmt.Errorf("a socket cannot send %q: use text, binary, ping, pong, close or bytes", m.Item)
	case m.Frame != nil && m.Item != transcript.ItemBytes:
		return fmt.Errorf("a frame for the item %s: use bytes", m.Item)
	case m.Frame != nil:
		return m.Frame.check()
	case m.Item == transcript.ItemClose:
		return m.checkClose()
	case isControl && len(m.Data) > maxControl:
		return fmt.Errorf("a %s of %d bytes: use %d at most, or a frame with opcode %d (RFC 6455 §5.5)", m.Item, len(m.Data), maxControl, opcode)
	case len(m.Fragments) > 0 && (isControl || m.Item == transcript.ItemBytes):
		return fmt.Errorf("%s in fragments: use frames", m.Item)
	}
	left := len(m.Data)
	for _, n := range m.Fragments {
		if n < 0 || n > left {
			return fmt.Errorf("the fragments %v do not fit a message of %d bytes", m.Fragments, len(m.Data))
		}
		left -= n
	}
	return nil
}

func (m *Message) checkClose() error {
	switch {
	case len(m.Data) > 0:
		return errors.New("a close with data: use a code and a reason, or a frame with opcode 8")
	case m.Code == 0 && m.Reason != "":
		return errors.New("a close with a reason, but without a code: add a code (RFC 6455 §5.5.1)")
	case len(m.closePayload()) > maxControl:
		return fmt.Errorf("a close with a reason of %d bytes: use %d at most, or a frame with opcode 8 (RFC 6455 §5.5)", len(m.Reason), maxControl-2)
	case !utf8.ValidString(m.Reason):
		return fmt.Errorf("a close with the reason %q, which is not UTF-8: use a frame with opcode 8 (RFC 6455 §5.5.1)", m.Reason)
	}
	return nil
}

func (m *Message) closePayload() []byte {
	if m.Code == 0 {
		return nil
	}
	return append(binary.BigEndian.AppendUint16(nil, m.Code), m.Reason...)
}

// closes reports whether a message is a close frame.
func (m *Message) closes() bool {
	return m.Item == transcript.ItemClose || m.Frame != nil && m.Frame.Opcode == opClose
}

// pieces ranges over the payloads of the message's frames. fin is set for the last one.
func (m *Message) pieces() func(yield func(fin bool, payload []byte) bool) {
	return func(yield func(bool, []byte) bool) {
		rest := m.Data
		for _, n := range m.Fragments {
			if !yield(false, rest[:n]) {
				return
			}
			rest = rest[n:]
		}
		yield(true, rest)
	}
}

// append appends the bytes of a message on the wire to b, as a side sends it.
func (m *Message) append(b []byte, from side) []byte {
	switch opcode := byte(slices.Index(items[:], m.Item)); {
	case m.Frame != nil:
		return m.Frame.append(b, m.Data)
	case m.Item == transcript.ItemBytes:
		return append(b, m.Data...)
	case m.Item == transcript.ItemClose:
		return (&Frame{Opcode: opClose, Fin: true, Unmasked: from == server}).append(b, m.closePayload())
	default:
		for fin, piece := range m.pieces() {
			b = (&Frame{Opcode: opcode, Fin: fin, Unmasked: from == server}).append(b, piece)
			opcode = opContinuation
		}
		return b
	}
}

// closeData returns the Data of a close frame with a code, as transcript.ItemClose says.
func closeData(code uint16, reason string) string {
	quoted, _ := jsontext.AppendQuote(nil, reason) // the reason is UTF-8
	return fmt.Sprintf(`{"code":%d,"reason":%s}`, code, quoted)
}
