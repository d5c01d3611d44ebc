package websocket

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"unicode/utf8"
)

// These are the opcodes of frames (RFC 6455 §5.2).
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xA
)

// These are the codes with which the server begins a close (§7.4.1). noCode is for a close without one.
const (
	noCode        = 0
	goingAway     = 1001
	protocolError = 1002
	unsupported   = 1003
	notUTF8       = 1007
	tooLarge      = 1009
	tryAgainLater = 1013
)

const (
	maxControl = 125 // bytes of the payload of a control frame (§5.5)
	// MaxMessage is the maximum size in bytes of a message of a client (CT 7.1).
	MaxMessage = 16 << 20
	// smallMessage is how much of each message needs no room.
	smallMessage = 64 << 10
)

// A violation is the code with which the server closes because of what the client has sent.
type violation uint16

func (v violation) Error() string { return "the client has broken a rule of WebSockets" }

// Text returns the frame of a message, as a server sends it.
func Text(message []byte) []byte { return frame(opText, message) }

func frame(opcode byte, payload []byte) []byte {
	b := make([]byte, 0, len(payload)+10)
	b = append(b, 0x80|opcode)
	switch n := len(payload); {
	case n <= maxControl:
		b = append(b, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// closeFrame returns a close without a reason (decision S64).
func closeFrame(code uint16) []byte {
	if code == noCode {
		return frame(opClose, nil)
	}
	return frame(opClose, binary.BigEndian.AppendUint16(nil, code))
}

// A head is the head of one frame.
type head struct {
	first  byte // FIN, the reserved bits and the opcode
	masked bool
	key    [4]byte
	length uint64
}

func (h head) opcode() byte  { return h.first & 0xF }
func (h head) final() bool   { return h.first&0x80 != 0 }
func (h head) control() bool { return h.opcode() >= opClose }

// A reader reads the frames of a client.
type reader struct {
	in   *bufio.Reader
	left uint64 // bytes of the current frame's payload that were not read

	room    Room   // for what has arrived of the message
	open    bool   // a message has begun
	message []byte // what has arrived of it
}

// next returns the next complete message, or the next control frame. Its error is a [violation] or an error of the
// connection.
func (r *reader) next() (opcode byte, payload []byte, err error) {
	for {
		h, err := r.head()
		if err == nil {
			err = r.check(h)
		}
		if err != nil {
			return 0, nil, err
		}
		if h.control() {
			payload, err := r.payload(h, nil)
			return h.opcode(), payload, err
		}
		if r.message, err = r.payload(h, r.message); err != nil {
			return 0, nil, err
		}
		r.open = !h.final()
		if !r.open {
			message := r.message
			r.message = nil
			if !utf8.Valid(message) {
				return 0, nil, violation(notUTF8)
			}
			return opText, message, nil
		}
	}
}

func (r *reader) head() (h head, err error) {
	var two [2]byte
	if _, err := io.ReadFull(r.in, two[:]); err != nil {
		return h, err
	}
	h.first, h.masked, h.length = two[0], two[1]&0x80 != 0, uint64(two[1]&0x7F)
	if size := map[uint64]int{126: 2, 127: 8}[h.length]; size > 0 {
		var long [8]byte
		if _, err := io.ReadFull(r.in, long[8-size:]); err != nil {
			return h, err
		}
		h.length = binary.BigEndian.Uint64(long[:])
	}
	if h.masked {
		if _, err := io.ReadFull(r.in, h.key[:]); err != nil {
			return h, err
		}
	}
	r.left = h.length
	return h, nil
}

// check returns the violation of a frame that must not be read, or nil.
func (r *reader) check(h head) error {
	code := violation(protocolError)
	switch op := h.opcode(); {
	case h.first&0x70 != 0 || !h.masked || h.length > math.MaxInt64:
	case op == opClose || op == opPing || op == opPong:
		if h.final() && h.length <= maxControl {
			return nil
		}
	case op == opContinuation && r.open, op == opText && !r.open:
		if h.length <= MaxMessage-uint64(len(r.message)) {
			return nil
		}
		code = tooLarge
	case op == opBinary && !r.open:
		code = unsupported
	}
	return code
}

// payload appends the payload of a frame to b. Memory is allocated only for what arrives.
func (r *reader) payload(h head, b []byte) ([]byte, error) {
	for at := uint64(0); r.left > 0; {
		n := int(min(r.left, 64<<10))
		if len(b)+n > smallMessage && !r.room.Take(int64(n)) {
			return nil, violation(tryAgainLater)
		}
		start := len(b)
		b = append(b, make([]byte, n)...)
		got, err := io.ReadFull(r.in, b[start:])
		r.left -= uint64(got)
		if err != nil {
			return nil, err
		}
		for i := range b[start:] {
			b[start+i] ^= h.key[(at+uint64(i))%4]
		}
		at += uint64(n)
	}
	return b, nil
}

// discard reads and ignores frames until the client's close. After a violation the bytes may be no frames; then it
// reads until the end of the connection.
func (r *reader) discard() {
	r.message = nil
	r.room.Release()
	for {
		if _, err := io.CopyN(io.Discard, r.in, int64(min(r.left, math.MaxInt64))); err != nil {
			return
		}
		h, err := r.head()
		if err != nil || h.opcode() == opClose {
			return
		}
	}
}

// closeCode returns the code of a client's close, or the violation in it (decision S64).
func closeCode(payload []byte) (code uint16, err error) {
	if len(payload) == 0 {
		return noCode, nil
	}
	if len(payload) == 1 {
		return 0, violation(protocolError)
	}
	code = binary.BigEndian.Uint16(payload)
	switch {
	case code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006:
	case code >= 3000 && code <= 4999:
	default:
		return 0, violation(protocolError)
	}
	if !utf8.Valid(payload[2:]) {
		return 0, violation(notUTF8)
	}
	return code, nil
}
