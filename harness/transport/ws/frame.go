package ws

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The opcodes of frames (RFC 6455 §5.2). Those from 8 on are control frames.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xA
)

// items has the Item of each opcode that begins a message.
var items = [16]transcript.Item{
	opText: transcript.ItemText, opBinary: transcript.ItemBinary,
	opClose: transcript.ItemClose, opPing: transcript.ItemPing, opPong: transcript.ItemPong,
}

const (
	maxControl = 125 // the largest payload of a control frame (§5.5)
	maxOpcode  = 0xF
	maxRSV     = 0x7
	maxHead    = 14 // bytes of the largest head: two, the length, the key
)

// A Frame is one frame as it is sent, whether or not RFC 6455 allows it.
type Frame struct {
	Opcode   byte // 0 to 15
	Fin      bool
	RSV      byte // the reserved bits as a number; 4 is RSV1
	Unmasked bool
	// Announced is the length in the frame's head. Nil means the real one.
	Announced *uint64
}

// check returns an error for a frame that has no place for its values.
func (f *Frame) check() error {
	switch {
	case f.Opcode > maxOpcode:
		return fmt.Errorf("a frame with opcode %d: use 0 to %d", f.Opcode, maxOpcode)
	case f.RSV > maxRSV:
		return fmt.Errorf("a frame with the reserved bits %d: use 0 to %d", f.RSV, maxRSV)
	}
	return nil
}

// append appends a frame with its payload to b.
func (f *Frame) append(b, payload []byte) []byte {
	first := f.RSV<<4 | f.Opcode
	if f.Fin {
		first |= 0x80
	}
	size := uint64(len(payload))
	if f.Announced != nil {
		size = *f.Announced
	}
	var mask byte
	if !f.Unmasked {
		mask = 0x80
	}
	b = append(b, first)
	switch {
	case size <= maxControl:
		b = append(b, mask|byte(size))
	case size <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, mask|126), uint16(size))
	default:
		b = binary.BigEndian.AppendUint64(append(b, mask|127), size)
	}
	if f.Unmasked {
		return append(b, payload...)
	}
	// "The masking key needs to be unpredictable" (§5.3).
	var key [4]byte
	_, _ = rand.Read(key[:]) // it never fails
	b = append(append(b, key[:]...), payload...)
	applyMask(b[len(b)-len(payload):], key)
	return b
}

// applyMask masks a payload (§5.3): byte i is combined with byte i mod 4 of the key.
func applyMask(b []byte, key [4]byte) {
	word := uint64(binary.LittleEndian.Uint32(key[:]))
	word |= word << 32
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^word)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= key[i%4]
	}
}

// framing describes a frame with a payload of a size, as in transcript.Event.Framing.
func (f *Frame) framing(size int) string {
	text := "opcode " + strconv.Itoa(int(f.Opcode))
	if f.Fin {
		text += ", fin"
	}
	if f.RSV != 0 {
		text += ", rsv " + strconv.Itoa(int(f.RSV))
	}
	if f.Unmasked {
		text += ", unmasked"
	}
	text += ", " + strconv.Itoa(size)
	if f.Announced != nil && *f.Announced != uint64(size) {
		text += " of " + strconv.FormatUint(*f.Announced, 10)
	}
	return text
}

// appendFraming appends a frame of a message to the message's framing, as in transcript.Event.Framing.
func appendFraming(b []byte, item transcript.Item, fin bool, size int) []byte {
	name := string(item)
	switch {
	case len(b) == 0:
	case fin:
		name = "end"
	default:
		name = "continuation"
	}
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	return strconv.AppendInt(append(append(b, name...), ' '), int64(size), 10)
}
