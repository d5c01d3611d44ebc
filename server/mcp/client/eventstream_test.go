package client

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMessagesOfAnEventStream checks the rules of WHATWG HTML 9.2.6.
func TestMessagesOfAnEventStream(t *testing.T) {
	for stream, want := range map[string][]string{
		"data: a\n\ndata:b\r\n\r\ndata:  c\r\r":                       {"a", "b", " c"},
		"data: a\ndata: b\ndata\n\n":                                  {"a\nb\n"},
		"\uFEFFdata: a\n\n\uFEFFdata: b\n\n":                          {"a"},
		"event: message\ndata: a\n\nevent: x\ndata: b\n\ndata: c\n\n": {"a", "c"},
		": comment\ndata: a\n: b\n\n\n\n":                             {"a"},
		"id: 1\ndata:\n\nid: 2\n\n":                                   nil,
		"data: a\n\ndata: b\n":                                        {"a"},
		"data: a\n\ndata: b":                                          {"a"},
		"data: a\u2028b\n\nnonsense\n\n":                              {"a\u2028b"},
		"":                                                            nil,
		"\xEF\xBB":                                                    nil,
	} {
		for name, body := range map[string]io.Reader{"whole": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream))} {
			r := &eventReader{max: 1000}
			r.follow(body)
			var got []string
			message, err := r.next()
			for ; err == nil; message, err = r.next() {
				got = append(got, string(message))
			}
			if diff := cmp.Diff(want, got); err != io.EOF || diff != "" {
				t.Errorf("%q, %s: %v (-want +got):\n%s", stream, name, err, diff)
			}
		}
	}
}

func TestWhatTheNextStreamNeedsToKnow(t *testing.T) {
	r := &eventReader{max: 1000}
	for _, tc := range []struct {
		stream, id string
		retry      time.Duration
	}{
		{"data: a\n\n", "", 0},
		{"id: 1\ndata: a\n\nid: 2\n\nid: 3", "2", 0},
		{"retry: 1500\nretry: -1\nretry: x\nretry:\n\n", "2", 1500 * time.Millisecond},
		{"id: 4\x00\n\n", "2", 1500 * time.Millisecond},
		{"id\n\n", "", 1500 * time.Millisecond},
	} {
		r.follow(strings.NewReader(tc.stream))
		for err := error(nil); err == nil; {
			_, err = r.next()
		}
		if r.id != tc.id || r.retry != tc.retry {
			t.Errorf("after %q: id %q and %s, want %q and %s", tc.stream, r.id, r.retry, tc.id, tc.retry)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	const max = 100_000
	most := strings.Repeat("x", max)
	half := strings.Repeat("x", max/2)
	for name, tc := range map[string]struct {
		stream string
		want   error
	}{
		"the largest":           {"id: 1\ndata: " + most + "\n\n", nil},
		"larger":                {"data: " + most + "x\n\n", errLargeEvent},
		"larger by its lines":   {"data: " + half + "\ndata: " + half + "\n\n", errLargeEvent},
		"an endless line":       {strings.Repeat("x", max+2*aroundMessage), errLargeEvent},
		"comments do not count": {strings.Repeat(": "+half+"\n", 3) + "data: a\n\n", nil},
	} {
		r := &eventReader{max: max}
		r.follow(strings.NewReader(tc.stream))
		if _, err := r.next(); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}
