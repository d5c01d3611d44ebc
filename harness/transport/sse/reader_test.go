package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

type events = []transcript.Event

// readerCases are streams and their blocks.
var readerCases = []struct {
	name       string
	stream     string
	want       events
	unfinished string
}{
	// WHATWG HTML 9.2.6: what a browser dispatches.
	{"an event", "data: x\n\n", events{{Data: "x", Framing: "data: •\n\n"}}, ""},
	{"the examples of the standard", "data: YHOO\ndata: +2\ndata: 10\n\n", events{
		{Data: "YHOO\n+2\n10", Framing: "data: •\ndata: •\ndata: •\n\n"},
	}, ""},
	{"a comment, an id that is set, an id that is cleared", ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n", events{
		{Comment: true, Data: "test stream", Framing: ": •\n\n"},
		{Data: "first event", ID: "1", Framing: "data: •\nid: •\n\n"},
		{Data: "second event", Framing: "data:•\nid\n\n"},
		{Data: " third event", Framing: "data: •\n\n"},
	}, ""},
	{"data alone is empty data", "data\n\ndata\ndata\n\ndata:", events{
		{Framing: "data\n\n"},
		{Data: "\n", Framing: "data\ndata\n\n"},
	}, "data:"},
	{"empty data with a colon, and with a space", "data:\n\ndata: \n\n", events{
		{Framing: "data:•\n\n"}, {Framing: "data: •\n\n"},
	}, ""},
	{"one space is dropped, not two, and no tab", "data:test\n\ndata: test\n\ndata:  test\n\ndata:\ttest\n\n", events{
		{Data: "test", Framing: "data:•\n\n"}, {Data: "test", Framing: "data: •\n\n"},
		{Data: " test", Framing: "data: •\n\n"}, {Data: "\ttest", Framing: "data:•\n\n"},
	}, ""},
	{"all fields, in the order that was sent", "retry: 10\nid: 7\nevent: add\ndata: {}\n\n", events{
		{Type: "add", Data: "{}", ID: "7", Retry: "10", Framing: "retry: •\nid: •\nevent: •\ndata: •\n\n"},
	}, ""},
	{"the first colon separates", "data:a:b: c\n\n", events{{Data: "a:b: c", Framing: "data:•\n\n"}}, ""},
	{"empty lines of data", "data:\ndata: x\ndata\n\n", events{{Data: "\nx\n", Framing: "data:•\ndata: •\ndata\n\n"}}, ""},
	{"a type and an id are those of the block", "event: a\nid: 1\ndata: x\n\ndata: y\n\n", events{
		{Type: "a", ID: "1", Data: "x", Framing: "event: •\nid: •\ndata: •\n\n"},
		{Data: "y", Framing: "data: •\n\n"},
	}, ""},
	{"U+2028, U+0085 and VT end no line", "data: a\u2028b\u0085c\vd\n\n", events{{Data: "a\u2028b\u0085c\vd", Framing: "data: •\n\n"}}, ""},
	{"NUL in data and in a type", "event: a\x00\ndata: b\x00\n\n", events{{Type: "a\x00", Data: "b\x00", Framing: "event: •\ndata: •\n\n"}}, ""},
	{"bytes that are not UTF-8", "data: \xff\xc3\n\n", events{{Data: "\xff\xc3", Framing: "data: •\n\n"}}, ""},
	{"a lone placeholder as a value", "data: •\nid:•\n\n", events{{Data: "•", ID: "•", Framing: "data: •\nid:•\n\n"}}, ""},

	// What a browser reads without dispatching an event.
	{"a type without data", "event: x\n\ndata: y\n\n", events{
		{Type: "x", Undispatched: true, Framing: "event: •\n\n"}, {Data: "y", Framing: "data: •\n\n"},
	}, ""},
	{"an id, a retry alone", "id: 1\n\nid\n\nretry: 5\n\n", events{
		{ID: "1", Undispatched: true, Framing: "id: •\n\n"},
		{Undispatched: true, Framing: "id\n\n"},
		{Retry: "5", Undispatched: true, Framing: "retry: •\n\n"},
	}, ""},
	{"an unknown field alone", "json: {}\n\n", events{{Undispatched: true, Framing: "json: {}\n\n"}}, ""},
	{"blank lines", "\n\ndata: x\n\n\n", events{
		{Undispatched: true, Framing: "\n"}, {Undispatched: true, Framing: "\n"},
		{Data: "x", Framing: "data: •\n\n"}, {Undispatched: true, Framing: "\n"},
	}, ""},
	{"an id with NUL does not count", "id: 1\x002\ndata: x\n\n", events{{Data: "x", Framing: "id: 1\x002\ndata: •\n\n"}}, ""},
	{"a retry that is no number", "retry: 1s\nretry:\nretry: -1\nretry: ٣\ndata: x\n\n", events{
		{Data: "x", Framing: "retry: 1s\nretry:\nretry: -1\nretry: ٣\ndata: •\n\n"},
	}, ""},
	{"leading zeros and spaces of a retry", "retry: 007\ndata\n\nretry:  7\ndata\n\n", events{
		{Retry: "007", Framing: "retry: •\ndata\n\n"}, {Framing: "retry:  7\ndata\n\n"},
	}, ""},
	{"names are exact", "Data: a\n data: b\ndata : c\ndatax: d\nevents: e\nids: f\nretrying: 1\nd\ndata: x\n\n", events{
		{Data: "x", Framing: "Data: a\n data: b\ndata : c\ndatax: d\nevents: e\nids: f\nretrying: 1\nd\ndata: •\n\n"},
	}, ""},
	{"of a field that stands twice the last counts", "event: a\nid: 1\nevent: b\nretry: 1\nid: 2\nretry: 2\ndata: x\nevent\n\n", events{
		{Data: "x", ID: "2", Retry: "2", Framing: "event: a\nid: 1\nevent: b\nretry: 1\nid: •\nretry: •\ndata: •\nevent\n\n"},
	}, ""},
	{"of a field that stands twice one does not count", "id: 1\nid: \x00\nretry: 1\nretry: x\ndata\n\n", events{
		{ID: "1", Retry: "1", Framing: "id: •\nid: \x00\nretry: •\nretry: x\ndata\n\n"},
	}, ""},
	{"a placeholder in what does not count is doubled", "event: •\nx: a•\nevent: b\nretry: •\nretry: 1\ndata: •\n: ••\n\n", events{
		{Type: "b", Retry: "1", Data: "•", Framing: "event: ••\nx: a••\nevent: •\nretry: ••\nretry: •\ndata: •\n: ••••\n\n"},
	}, ""},

	{"keep-alives", ":\n\n: ping\n\n:ping\n\n::\n\n", events{
		{Comment: true, Framing: ":•\n\n"}, {Comment: true, Data: "ping", Framing: ": •\n\n"},
		{Comment: true, Data: "ping", Framing: ":•\n\n"}, {Comment: true, Data: ":", Framing: ":•\n\n"},
	}, ""},
	{"several comments in a block", ":a\n: b\n:\n\n", events{
		{Comment: true, Data: "a", Framing: ":•\n"}, {Comment: true, Data: "b", Framing: ": •\n"}, {Comment: true, Framing: ":•\n\n"},
	}, ""},
	{"comments among fields", ":a\n: •\ndata: x\n:b\n\n:c\nid: 1\n\n", events{
		{Comment: true, Data: "a", Framing: ":•\n"}, {Comment: true, Data: "•", Framing: ": •\n"},
		{Data: "x", Framing: "data: •\n:b\n\n"},
		{Comment: true, Data: "c", Framing: ":•\n"}, {ID: "1", Undispatched: true, Framing: "id: •\n\n"},
	}, ""},
	{"keep-alives without a blank line", ": ping\n: ping\n\n\n", events{
		{Comment: true, Data: "ping", Framing: ": •\n"}, {Comment: true, Data: "ping", Framing: ": •\n\n"},
		{Undispatched: true, Framing: "\n"},
	}, ""},
	{"a comment at the end needs no blank line", "data: x\n\n: bye\n", events{
		{Data: "x", Framing: "data: •\n\n"}, {Comment: true, Data: "bye", Framing: ": •\n"},
	}, ""},

	{"CRLF", "data: x\r\nid: 1\r\n\r\ndata: y\r\n\r\n", events{
		{Data: "x", ID: "1", Framing: "data: •\r\nid: •\r\n\r\n"}, {Data: "y", Framing: "data: •\r\n\r\n"},
	}, ""},
	{"CR", "data: x\rid: 1\r\rdata: y\r\r", events{
		{Data: "x", ID: "1", Framing: "data: •\rid: •\r\r"}, {Data: "y", Framing: "data: •\r\r"},
	}, ""},
	{"mixed", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\n", events{
		{Data: "a\nb\nc", Framing: "data: •\r\ndata: •\rdata: •\n\r"},
		{Data: "d", Framing: "\ndata: •\n\n"},
	}, ""},
	{"CR, then CRLF at the end of the stream", "data: x\r\r\n", events{{Data: "x", Framing: "data: •\r\r"}}, ""},
	{"CR, then CRLF, then LF", "data: x\r\r\n\n", events{
		{Data: "x", Framing: "data: •\r\r"}, {Undispatched: true, Framing: "\n\n"},
	}, ""},
	{"CRLF, then CR", "data: x\r\n\rdata: y\r\n\r", events{
		{Data: "x", Framing: "data: •\r\n\r"}, {Data: "y", Framing: "data: •\r\n\r"},
	}, ""},
	{"CRLF, then LF", "data: x\r\n\n", events{{Data: "x", Framing: "data: •\r\n\n"}}, ""},
	{"blank CRLF lines", "\r\n\r\ndata: x\r\n\r\n\r\n", events{
		{Undispatched: true, Framing: "\r\n"}, {Undispatched: true, Framing: "\r\n"},
		{Data: "x", Framing: "data: •\r\n\r\n"}, {Undispatched: true, Framing: "\r\n"},
	}, ""},

	{"a byte order mark", "\ufeffdata: x\n\n", events{{Data: "x", Framing: "\ufeffdata: •\n\n"}}, ""},
	{"two byte order marks", "\ufeff\ufeffdata: x\n\n", events{{Undispatched: true, Framing: "\ufeff\ufeffdata: x\n\n"}}, ""},
	{"a byte order mark later", "data: x\n\n\ufeffdata: y\n\n", events{
		{Data: "x", Framing: "data: •\n\n"}, {Undispatched: true, Framing: "\ufeffdata: y\n\n"},
	}, ""},
	{"a byte order mark and a blank line", "\ufeff\ndata\n\n", events{{Undispatched: true, Framing: "\ufeff\n"}, {Framing: "data\n\n"}}, ""},
	{"a byte order mark, a comment and data", "\ufeff:a\ndata: x\n\n", events{{Comment: true, Data: "a", Framing: "\ufeff:•\n"}, {Data: "x", Framing: "data: •\n\n"}}, ""},
	{"a byte order mark and a comment", "\ufeff: a\n\n", events{{Comment: true, Data: "a", Framing: "\ufeff: •\n\n"}}, ""},
	{"half a byte order mark", "\xef\xbbdata: x\n\n", events{{Undispatched: true, Framing: "\xef\xbbdata: x\n\n"}}, ""},

	{"nothing", "", nil, ""},
	{"nothing but a byte order mark", "\ufeff", nil, ""},
	{"less than a byte order mark", "\xef\xbb", nil, "\xef\xbb"},
	{"no blank line at the end", "data: x\n\ndata: y\n", events{{Data: "x", Framing: "data: •\n\n"}}, "data: y\n"},
	{"no line end", "data: x\n\ndata: y", events{{Data: "x", Framing: "data: •\n\n"}}, "data: y"},
	{"no blank line after CR", "data: y\r", nil, "data: y\r"},
	{"half a comment", ": x\n: y", events{{Comment: true, Data: "x", Framing: ": •\n"}}, ": y"},
	{"an unfinished block after a late LF", "data\r\r\ndata: x", events{{Framing: "data\r\r"}}, "\ndata: x"},
}

func TestReaderReadsEveryBlockHoweverItArrives(t *testing.T) {
	for _, tc := range readerCases {
		t.Run(tc.name, func(t *testing.T) {
			check := func(how string, src io.Reader) {
				t.Helper()
				r := NewReader(src, nil)
				got, err := readAll(r)
				if err != io.EOF {
					t.Fatalf("%s: Next: %v, want EOF", how, err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Fatalf("%s: events (-want +got):\n%s", how, diff)
				}
				if got := string(r.Unfinished()); got != tc.unfinished {
					t.Fatalf("%s: Unfinished() = %q, want %q", how, got, tc.unfinished)
				}
			}
			check("whole", strings.NewReader(tc.stream))
			check("whole, with EOF", iotest.DataErrReader(strings.NewReader(tc.stream)))
			check("one byte at a time", iotest.OneByteReader(strings.NewReader(tc.stream)))
			for i := range len(tc.stream) {
				check("split", io.MultiReader(strings.NewReader(tc.stream[:i]), strings.NewReader(tc.stream[i:])))
			}
		})
	}
}

func TestNextReturnsAnEventAsSoonAsItIsComplete(t *testing.T) {
	for name, stream := range map[string]string{
		"LF":            "data: x\n\n",
		"CR":            "data: x\r\r",
		"CRLF":          "data: x\r\n\r\n",
		"LF, then CR":   "data: x\n\r",
		"CRLF, then LF": "data: x\r\n\n",
	} {
		silent := readerFunc(func([]byte) (int, error) {
			t.Fatalf("%s: Next wants more than the event", name)
			return 0, nil
		})
		r := NewReader(io.MultiReader(iotest.OneByteReader(strings.NewReader(stream)), silent), nil)
		if ev, err := r.Next(); err != nil || ev.Data != "x" {
			t.Errorf("%s: Next: %+v, %v", name, ev, err)
		}
	}
}

func TestNextRefusesABlockThatIsTooLong(t *testing.T) {
	const most = 64
	pad := func(n int) string { return strings.Repeat("x", n) }
	for _, tc := range []struct {
		name, stream string
		events       int
		err          error
	}{
		{"as long as can be", "data: " + pad(most-8) + "\n\n", 1, io.EOF},
		{"one byte longer", "data: " + pad(most-7) + "\n\n", 0, ErrTooLong},
		{"many that are as long as can be", strings.Repeat("data: "+pad(most-8)+"\n\n", 9), 9, io.EOF},
		{"a line without end", "data: x\n\ndata: " + pad(most), 1, ErrTooLong},
		{"a comment without end", ":" + pad(most), 0, ErrTooLong},
		{"comments without end", strings.Repeat(":x\n", 3*most), 3 * most, io.EOF},
		{"comments between data", strings.Repeat("data: x\n:x\n", most), 0, ErrTooLong},
		{"unknown fields without end", strings.Repeat("x\n", most), 0, ErrTooLong},
		{"CRs without end", strings.Repeat("x\r", most), 0, ErrTooLong},
		{"blank lines without end", strings.Repeat("\n", 3*most), 3 * most, io.EOF},
	} {
		for how, src := range map[string]io.Reader{
			"whole":              strings.NewReader(tc.stream),
			"whole, with EOF":    iotest.DataErrReader(strings.NewReader(tc.stream)),
			"one byte at a time": iotest.OneByteReader(strings.NewReader(tc.stream)),
		} {
			r := NewReader(src, &Options{MaxEvent: most})
			got, err := readAll(r)
			if len(got) != tc.events || err != tc.err {
				t.Errorf("%s, %s: %d events and %v, want %d and %v", tc.name, how, len(got), err, tc.events, tc.err)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("%s, %s: Next after %v: %v", tc.name, how, err, again)
			}
			if n := len(r.Unfinished()); n > most {
				t.Errorf("%s, %s: %d unfinished bytes, want no more than %d", tc.name, how, n, most)
			}
		}
	}
}

func TestNextReadsAHugeEventAndGivesTheMemoryBack(t *testing.T) {
	huge := strings.Repeat("0123456789abcdef", 10<<16)
	r := NewReader(strings.NewReader("data: "+huge+"\ndata: "+huge[:5]+"\n\ndata: x\n\n"), nil)
	ev, err := r.Next()
	if want := huge + "\n" + huge[:5]; err != nil || ev.Data != want {
		t.Fatalf("Next: %d bytes and %v, want %d", len(ev.Data), err, len(want))
	}
	if ev, err = r.Next(); err != nil || ev.Data != "x" {
		t.Fatalf("Next: %.40q and %v, want x", ev.Data, err)
	}
	if _, err = r.Next(); err != io.EOF {
		t.Fatalf("Next: %v, want EOF", err)
	}
	if len(r.buf) > keepBuffer || cap(r.block.text) > keepScratch {
		t.Errorf("the reader keeps %d and %d bytes", len(r.buf), cap(r.block.text))
	}
}

func TestNextReturnsTheErrorOfTheStreamAfterItsEvents(t *testing.T) {
	broken := errors.New("cable cut")
	src := io.MultiReader(strings.NewReader("data: x\n\n: c\n"), iotest.ErrReader(broken))
	r := NewReader(src, nil)
	got, err := readAll(r)
	if len(got) != 2 || !errors.Is(err, broken) {
		t.Errorf("%d events and %v, want 2 and %v", len(got), err, broken)
	}
	if got := string(r.Unfinished()); got != "" {
		t.Errorf("Unfinished() = %q", got)
	}
}

func TestNextGivesUpOnAReaderWithoutProgress(t *testing.T) {
	r := NewReader(readerFunc(func([]byte) (int, error) { return 0, nil }), nil)
	if _, err := r.Next(); err != io.ErrNoProgress {
		t.Errorf("Next: %v, want %v", err, io.ErrNoProgress)
	}
}

func TestEventsWithTheSameFramingShareOneString(t *testing.T) {
	stream := []byte(strings.Repeat("id: 1\ndata: x\n\n: ping\n\n", 1000))
	src := bytes.NewReader(stream)
	r := NewReader(src, nil)
	readAll := func() {
		src.Reset(stream)
		r.err = nil
		for {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	}
	readAll()
	if got := testing.AllocsPerRun(5, readAll); got > 2000 {
		t.Errorf("%g allocations for 2000 events, want one for the values of each", got)
	}
}

func TestFramingsAreForgottenWhenTheyNeverRepeat(t *testing.T) {
	const n = 10 * maxFramings
	var stream strings.Builder
	for i := range n {
		for bit := range 12 {
			stream.WriteString([]string{"data\n", "data:\n"}[i>>bit&1])
		}
		stream.WriteString("\n")
	}
	r := NewReader(strings.NewReader(stream.String()), nil)
	if got, err := readAll(r); len(got) != n || err != io.EOF {
		t.Fatalf("%d events and %v", len(got), err)
	}
	if len(r.framings.known) > maxFramings {
		t.Errorf("the reader keeps %d framings", len(r.framings.known))
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readAll returns all events. Each comment includes the blank line after it.
func readAll(r *Reader) (events, error) {
	var out events
	for {
		ev, err := r.Next()
		if err != nil {
			return out, err
		}
		if n := len(out); ev.Comment && ev.Undispatched {
			out[n-1].Framing += ev.Framing
			continue
		}
		out = append(out, ev)
	}
}
