package ws

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// readAll reads, as a side does, the frames of the other one from r.
func readAll(by side, r io.Reader) ([]transcript.Event, *transcript.Failure) {
	s := &source{side: by, end: nobody{}, conn: r, opts: Options{NoPong: true, NoClose: true, MaxMessage: 1 << 20}, begun: true}
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

// nobody is the end of a source that answers nothing.
type nobody struct{ end }

func (nobody) handshaken() {}

func (nobody) halfClosed() bool { return false }

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
		for _, by := range []side{client, server} {
			bytesAreRead(t, by, data)
		}
		sentIsRead(t, data)
	})
}

// bytesAreRead reads data as a side does.
func bytesAreRead(t *testing.T, by side, data []byte) {
	events, failure := readAll(by, bytes.NewReader(data))
	again, same := readAll(by, iotest.OneByteReader(bytes.NewReader(data)))
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
}

// sentIsRead sends messages that are made of data, and reads them.
func sentIsRead(t *testing.T, data []byte) {
	cut := func(n int) []byte {
		n = min(n, len(data))
		piece := data[:n]
		data = data[n:]
		return piece
	}
	var messages []*Message
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
		messages, want = append(messages, m), append(want, m.event())
	}
	last := &Message{Item: transcript.ItemClose, Code: 3000, Reason: strconv.Itoa(len(want))}
	messages, want = append(messages, last), append(want, last.event())
	for _, from := range []side{client, server} {
		var wire []byte
		for _, m := range messages {
			wire = m.append(wire, from)
		}
		got, failure := readAll(!from, bytes.NewReader(wire))
		if diff := cmp.Diff(want, got); diff != "" || failure != nil {
			t.Errorf("from the %s: failure %+v; messages (-sent +read):\n%s", from, failure, diff)
		}
		if _, failure = readAll(from, bytes.NewReader(wire)); failure == nil || !strings.Contains(failure.Text, "§5.1") {
			t.Errorf("the %s accepts frames of its own side: %+v", from, failure)
		}
	}
}

func TestMaskingKeysDiffer(t *testing.T) {
	var keys []string
	for range 100 {
		b := (&Message{Item: transcript.ItemText, Data: []byte("x")}).append(nil, client)
		keys = append(keys, string(b[2:6]))
	}
	slices.Sort(keys)
	if n := len(slices.Compact(keys)); n < 99 {
		t.Errorf("100 frames have %d masking keys", n)
	}
}
