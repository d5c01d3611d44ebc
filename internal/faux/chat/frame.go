package chat

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf8"
)

// The opcodes of RFC 6455 §5.2.
const (
	opMore   = 0x0
	opText   = 0x1
	opBinary = 0x2
	opClose  = 0x8
	opPing   = 0x9
	opPong   = 0xA

	fin = 0x80
)

// frame returns a frame as a server sends it, with the first byte as given.
func frame(first byte, payload []byte) []byte {
	out := []byte{first}
	switch n := len(payload); {
	case n < 126:
		out = append(out, byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 127), uint64(n))
	}
	return append(out, payload...)
}

// closePayload returns the payload of a close frame. Without a code it is empty.
func closePayload(code int, reason string) []byte {
	if code == 0 {
		return nil
	}
	return append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...)
}

// A received frame or message of the client.
type received struct {
	op   byte
	data []byte
}

// A wrong is what the client does wrong, with the code to close the socket by (RFC 6455 §7.4.1).
type wrong struct {
	code int
	why  string
}

func (w *wrong) Error() string { return w.why }

const maxPayload = 1 << 20

// A reader reads the messages and the control frames of a client.
type reader struct {
	in      *bufio.Reader
	message *received // that is being received
}

// next returns the next message or control frame.
func (r *reader) next() (*received, error) {
	for {
		first, payload, err := r.frame()
		if err != nil {
			return nil, err
		}
		op := first & 0xF
		switch {
		case op >= opClose:
			return &received{op, payload}, nil
		case op == opMore && r.message == nil:
			return nil, &wrong{1002, "a continuation of nothing"}
		case op != opMore && r.message != nil:
			return nil, &wrong{1002, "a message inside a message"}
		case op == opMore:
			r.message.data = append(r.message.data, payload...)
		default:
			r.message = &received{op, payload}
		}
		if first&fin == 0 {
			continue
		}
		whole := r.message
		r.message = nil
		if whole.op == opText && !utf8.Valid(whole.data) {
			return nil, &wrong{1007, "a text that is not UTF-8"}
		}
		return whole, nil
	}
}

// frame reads one frame.
func (r *reader) frame() (first byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return 0, nil, err
	}
	first = head[0]
	op, short := first&0xF, head[1]&0x7F
	switch {
	case first&0x70 != 0:
		return 0, nil, &wrong{1002, "reserved bits"}
	case op > opBinary && op < opClose || op > opPong:
		return 0, nil, &wrong{1002, "a reserved opcode"}
	case head[1]&0x80 == 0:
		return 0, nil, &wrong{1002, "a frame without a mask"}
	case op >= opClose && (short > 125 || first&fin == 0):
		return 0, nil, &wrong{1002, "a control frame that is long or in pieces"}
	}
	size := uint64(short)
	if short >= 126 {
		ext := make([]byte, map[byte]int{126: 2, 127: 8}[short])
		if _, err := io.ReadFull(r.in, ext); err != nil {
			return 0, nil, err
		}
		size = 0
		for _, b := range ext {
			size = size<<8 | uint64(b)
		}
	}
	if size > maxPayload {
		return 0, nil, &wrong{1009, "a long frame"}
	}
	var key [4]byte
	payload = make([]byte, size)
	_, keyErr := io.ReadFull(r.in, key[:])
	_, err = io.ReadFull(r.in, payload)
	for i := range payload {
		payload[i] ^= key[i%4]
	}
	return first, payload, errors.Join(keyErr, err)
}
