package ws

import (
	"bytes"
	"encoding/binary"
	"io"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// readAll reads frames from r.
func readAll(r io.Reader) ([]transcript.Event, *transcript.Failure) {
	s := &source{socket: new(Socket), conn: r, opts: Options{NoPong: true, NoClose: true, MaxMessage: 1 << 20}, begun: true}
	var events []transcript.Event
	for {
		ev, ok := s.Next()
		if !ok {
			_, failure := s.End()
			return events, failure
		}
		ev.At = 0
		events = append(events, ev)
	}
}

var sizes = regexp.MustCompile(`\d+`)

// FuzzFrames checks that any bytes are read, in the same way however they arrive, and that the payloads of a message's
// frames are its data. Then it sends the bytes as messages, and reads these back.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		"", "\x81\x05hello\x88\x05\x03\xe8bye", "\x01\x03hel\x89\x00\x00\x00\x80\x02lo", "\x82\x7e\x00\x7e" + string(make([]byte, 126)),
		"\x81\x85\x00\x00\x00\x00hello", "\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00", "\x88\x02\x03\xed", "\xc1\x00", "\x81\x02\xff\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events, failure := readAll(bytes.NewReader(data))
		again, same := readAll(iotest.OneByteReader(bytes.NewReader(data)))
		if diff := cmp.Diff(events, again) + cmp.Diff(failure, same); diff != "" {
			t.Fatalf("read byte by byte (-at once +byte by byte):\n%s", diff)
		}
		closed := false
		for _, ev := range events {
			if closed = closed || ev.Item == transcript.ItemClose; ev.Item == transcript.ItemClose {
				continue
			}
			sum := 0
			for _, size := range sizes.FindAllString(ev.Framing, -1) {
				n, _ := strconv.Atoi(size)
				sum += n
			}
			if sum != len(ev.Data) {
				t.Errorf("the frames %q have %d bytes, and the data %d", ev.Framing, sum, len(ev.Data))
			}
		}
		if failure == nil && !closed {
			t.Error("an end without a close frame is no failure")
		}
		sentIsRead(t, data)
	})
}

// sentIsRead sends messages that are made of data, and reads them.
func sentIsRead(t *testing.T, data []byte) {
	cut := func(n int) []byte {
		n = min(n, len(data))
		piece := data[:n]
		data = data[n:]
		return piece
	}
	var wire []byte
	var want []transcript.Event
	for len(data) > 2 {
		head := cut(2)
		m := &Message{Item: items[opBinary]}
		switch size := int(head[1]); head[0] % 4 {
		case 0:
			m.Data = cut(min(size, maxControl))
			m.Item = transcript.ItemPing
		case 1:
			m.Data = cut(4 * size)
			m.Fragments = []int{len(m.Data) / 3, 0, len(m.Data) / 2}
		case 2:
			if m.Data = cut(size); utf8.Valid(m.Data) {
				m.Item = transcript.ItemText
			}
		default:
			m.Data = bytes.Repeat(cut(size), 300)
		}
		if err := m.check(); err != nil {
			t.Fatalf("check: %v", err)
		}
		wire, want = m.append(wire), append(want, m.event())
	}
	last := &Message{Item: transcript.ItemClose, Code: 3000, Reason: strconv.Itoa(len(want))}
	wire, want = last.append(wire), append(want, last.event())
	got, failure := readAll(bytes.NewReader(unmask(t, wire)))
	if diff := cmp.Diff(want, got); diff != "" || failure != nil {
		t.Errorf("failure %+v; messages (-sent +read):\n%s", failure, diff)
	}
}

// unmask returns frames of a client as a server would send them.
func unmask(t *testing.T, wire []byte) []byte {
	var out []byte
	for r := bytes.NewReader(wire); r.Len() > 0; {
		first, masked, payload, err := readFrame(r)
		if err != nil || !masked {
			t.Fatalf("the client has sent a frame that is masked: %t, %v", masked, err)
		}
		out = append(out, first)
		switch n := len(payload); {
		case n > 0xFFFF:
			out = binary.BigEndian.AppendUint64(append(out, 127), uint64(n))
		case n > 125:
			out = binary.BigEndian.AppendUint16(append(out, 126), uint16(n))
		default:
			out = append(out, byte(n))
		}
		out = append(out, payload...)
	}
	return out
}

func TestMaskingKeysDiffer(t *testing.T) {
	var keys []string
	for range 100 {
		b := (&Message{Item: transcript.ItemText, Data: []byte("x")}).append(nil)
		keys = append(keys, string(b[2:6]))
	}
	slices.Sort(keys)
	if n := len(slices.Compact(keys)); n < 99 {
		t.Errorf("100 frames have %d masking keys", n)
	}
}
