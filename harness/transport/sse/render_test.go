package sse

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// render returns the bytes from which an event was read: its Framing with the values inserted.
func render(ev *transcript.Event, first bool) []byte {
	raw, from := []byte(ev.Framing), 0
	if first && bytes.HasPrefix(raw, bom) {
		from = len(bom)
	}
	out := append([]byte(nil), raw[:from]...)
	text := strings.Split(ev.Data, "\n")
	for from < len(raw) {
		end, next := lineEndFrom(raw, from)
		f := parseLine(raw, span{from, end})
		name, framed := f.name(), string(f.value.of(raw)) == placeholder
		value := ""
		switch {
		case name == data, name == comment && ev.Comment:
			value, text = text[0], text[1:]
		case name == event && framed:
			value = ev.Type
		case name == id && framed:
			value = ev.ID
		case name == retry && framed:
			value = ev.Retry
		default:
			out = append(out, bytes.ReplaceAll(raw[from:next], []byte("••"), []byte("•"))...)
			from = next
			continue
		}
		out = append(out, raw[from:f.value.from]...)
		out = append(out, value...)
		out = append(out, raw[end:next]...)
		from = next
	}
	return out
}

func TestFramingAndValuesAreTheBytesThatCame(t *testing.T) {
	for _, tc := range readerCases {
		checkRoundTrip(t, []byte(tc.stream))
	}
}

// checkRoundTrip reads a stream in one piece, and checks that its bytes can be restored from what was read.
func checkRoundTrip(t *testing.T, stream []byte) (events, []byte) {
	t.Helper()
	r := NewReader(bytes.NewReader(stream), nil)
	got, err := readAll(r)
	if err != io.EOF {
		t.Fatalf("%q: Next: %v, want EOF", stream, err)
	}
	var back []byte
	for i := range got {
		back = append(back, render(&got[i], i == 0)...)
	}
	back = append(back, r.Unfinished()...)
	// The start of a line that never came is not reported: a byte order mark, and the LF after a CR.
	rest, ok := bytes.CutPrefix(stream, back)
	if !ok || len(rest) > 0 && string(rest) != "\n" && !bytes.Equal(rest, bom) {
		t.Fatalf("the stream %q\nreads as    %q", stream, back)
	}
	return got, r.Unfinished()
}

func FuzzReader(f *testing.F) {
	for i, tc := range readerCases {
		f.Add([]byte(tc.stream), uint64(i))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want, rest := checkRoundTrip(t, stream)
		for _, ev := range want {
			if strings.ContainsAny(ev.Type+ev.ID+ev.Retry, "\r\n") || strings.Contains(ev.Data, "\r") {
				t.Fatalf("a line end in a value of %+v", ev)
			}
			if ev.Undispatched && (ev.Data != "" || ev.Comment) {
				t.Fatalf("an undispatched block with data: %+v", ev)
			}
		}
		r := NewReader(&chunks{stream, seed}, nil)
		got, err := readAll(r)
		if err != io.EOF {
			t.Fatalf("in chunks: Next: %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("events depend on how they arrive (-whole +chunks):\n%s", diff)
		}
		if got := r.Unfinished(); !bytes.Equal(got, rest) {
			t.Fatalf("Unfinished() = %q in chunks, %q in one piece", got, rest)
		}
		const small = 16
		bounded, err := readAll(NewReader(&chunks{stream, seed}, &Options{MaxEvent: small}))
		for i, ev := range want {
			raw := render(&ev, i == 0)
			if ev.Comment { // the blank line after it has its own limit
				late := len(raw) - len(bytes.TrimPrefix(raw, []byte("\n"))) // of a CRLF before it
				_, next := lineEndFrom(raw, late)
				raw = raw[:next]
			}
			if tooLong := len(raw) > small; tooLong != (i >= len(bounded)) {
				t.Fatalf("MaxEvent %d: %d events and %v of %s", small, len(bounded), err, fmt.Sprintf("%+v", want))
			} else if tooLong {
				break
			}
		}
	})
}

// chunks delivers bytes in pieces of 1 to 8, depending on the seed.
type chunks struct {
	rest []byte
	seed uint64
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	c.seed = c.seed*6364136223846793005 + 1442695040888963407
	n := copy(p, c.rest[:min(len(c.rest), int(c.seed>>61)+1)])
	c.rest = c.rest[n:]
	return n, nil
}
