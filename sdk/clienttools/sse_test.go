package clienttools

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll returns "name: data" for each event, and the error that ended the stream.
func readAll(r io.Reader) (all []string, err error) {
	for events := newEventReader(r); ; {
		name, data, err := events.next()
		if err != nil {
			return all, err
		}
		all = append(all, name+": "+string(data))
	}
}

func TestEventStreamsAreReadAsTheStandardSays(t *testing.T) {
	for stream, want := range map[string][]string{
		"event: ping\ndata: \n\n":                         {"ping: "},
		"\ufeffdata: a\n\n\ufeffdata: b\n\ndata:c\n\n":    {": a", ": c"},
		"event: x\r\ndata: 1\r\ndata: 2\r\n\r\n":          {"x: 1\n2"},
		"event: x\rdata: 1\r\rdata: 2\r\r":                {"x: 1", ": 2"},
		": comment\n\nid: 1\nretry: 5\ndata:  a:b\n\n":    {":  a:b"},
		"event: lost\n\ndata: x\n\ndata: incomplete\n":    {": x"},
		"event: a\nevent: b\ndata\nother\n\n":             {"b: "},
		"data: " + strings.Repeat("x", 10000) + "\n\n: x": {": " + strings.Repeat("x", 10000)},
	} {
		for name, r := range map[string]io.Reader{"at once": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream))} {
			got, err := readAll(r)
			if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%.60q %s: %v (-want +got):\n%s", stream, name, err, diff)
			}
		}
	}
}

// S60: an event may have 16 MiB, in one line or in many.
func TestEventsAreBounded(t *testing.T) {
	half := strings.Repeat("x", maxMessage/2-len("data:"))
	for _, tt := range []struct {
		stream string
		want   error
	}{
		{"data:" + half + "\ndata:" + half + "\n\ndata:" + half + half + "\n\n", io.EOF},
		{"data:" + half + "\ndata:" + half + "x\n\n", errTooLong},
		{"data:" + half + half + strings.Repeat("x", 6) + "\n\n", errTooLong},
	} {
		events, err := readAll(strings.NewReader(tt.stream))
		if !errors.Is(err, tt.want) {
			t.Errorf("%d events, then %v, want %v", len(events), err, tt.want)
		}
	}
}

// FuzzEvents checks that the pieces in which a stream arrives do not matter.
func FuzzEvents(f *testing.F) {
	f.Add("\ufeffevent: x\r\ndata: 1\n\r\rdata\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		want, _ := readAll(strings.NewReader(stream))
		got, _ := readAll(iotest.OneByteReader(strings.NewReader(stream)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("byte by byte, other events (-at once +byte by byte):\n%s", diff)
		}
	})
}
