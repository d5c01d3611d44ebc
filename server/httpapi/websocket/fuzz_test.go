package websocket

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/httpapi/body"
)

// FuzzReader checks that a client's bytes end with a violation or the end of the connection, that every message is
// valid, and that the cuts of the input do not matter.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x81\x85\x00\x00\x00\x00hello\x88\x80\x01\x02\x03\x04"))
	f.Add([]byte("\x01\x81\x01\x00\x00\x00a\x89\x80\x01\x02\x03\x04\x80\x81\x01\x00\x00\x00a"))
	f.Add([]byte("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	read := func(t *testing.T, in io.Reader) (messages [][]byte, end error) {
		r := reader{in: bufio.NewReader(in), room: body.NewInFlight(1).Share()}
		for {
			opcode, payload, err := r.next()
			if err != nil {
				if code := violation(0); !errors.As(err, &code) && err != io.EOF && err != io.ErrUnexpectedEOF {
					t.Fatalf("the end is %v", err)
				}
				r.discard()
				return messages, err
			}
			if opcode == opText && !utf8.Valid(payload) || opcode >= opClose && len(payload) > maxControl {
				t.Fatalf("opcode %d with %q", opcode, payload)
			}
			messages = append(messages, payload)
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		whole, end := read(t, bytes.NewReader(sent))
		cut, cutEnd := read(t, iotest.OneByteReader(bytes.NewReader(sent)))
		if len(whole) != len(cut) || end != cutEnd {
			t.Fatalf("%q: %d messages, then %v; byte by byte %d, then %v", sent, len(whole), end, len(cut), cutEnd)
		}
		for i := range whole {
			if !bytes.Equal(whole[i], cut[i]) {
				t.Errorf("message %d is %q, byte by byte %q", i, whole[i], cut[i])
			}
		}
	})
}
