package stdio

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// split returns the lines of a text that comes in chunks, each as its framing with its value.
func split(max int, chunks ...string) (got []string, err error) {
	l := lines{max: max}
	shown := func(line, framing string) { got = append(got, strings.Replace(framing, "•", line, 1)) }
	for _, chunk := range chunks {
		l.add([]byte(chunk))
		for {
			line, framing, ok, err := l.next()
			if err != nil {
				return got, err
			}
			if !ok {
				break
			}
			shown(line, framing)
		}
	}
	if line, framing, ok := l.rest(); ok {
		shown(line, framing)
	}
	return got, nil
}

func TestLinesKeepTheirEnds(t *testing.T) {
	for _, tc := range []struct {
		chunks, want []string
	}{
		{[]string{"a\nb\n"}, []string{"a\n", "b\n"}},
		{[]string{"a\r\nb"}, []string{"a\r\n", "b"}},
		{[]string{"a\r", "\nb\r", "c\n", "\r"}, []string{"a\r\n", "b\rc\n", "\r"}},
		{[]string{"\n\r\n\r\r\n"}, []string{"\n", "\r\n", "\r\r\n"}},
		{[]string{"a", "b", "", "c\nd", "e\n"}, []string{"abc\n", "de\n"}},
		{[]string{"\xff\x00\n•\n"}, []string{"\xff\x00\n", "•\n"}},
		{nil, nil},
	} {
		got, err := split(4, tc.chunks...)
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", tc.chunks, err, diff)
		}
	}
}

func TestALineIsLimitedWhereverItIsCut(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int // lines before the error; -1 without an error
	}{
		{"1234\n1234\r\n1234", -1}, {"a\n12345\n", 1}, {"12345\r\n", 0}, {"a\nb\n123456", 2},
	} {
		for cut := range len(tc.text) {
			got, err := split(4, tc.text[:cut], tc.text[cut:])
			if tc.want < 0 && err != nil || tc.want >= 0 && (!errors.Is(err, errTooLong) || len(got) != tc.want) {
				t.Errorf("%q and %q: %q, %v", tc.text[:cut], tc.text[cut:], got, err)
			}
		}
	}
}

// FuzzLines checks that the lines with their framings are the input, however it is cut.
func FuzzLines(f *testing.F) {
	f.Add("a\r\nb\n\nc", uint64(1))
	f.Add("\r\r\n\r", uint64(2))
	f.Add("• \xff\x00\n", uint64(3))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		var chunks []string
		for rest := text; rest != ""; {
			n := 1 + random.IntN(len(rest))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		got, err := split(len(text), chunks...)
		if err != nil {
			t.Fatal(err)
		}
		if joined := strings.Join(got, ""); joined != text {
			t.Errorf("%q: the lines are %q", chunks, got)
		}
		for i, line := range got {
			body := strings.TrimSuffix(line, "\n")
			if strings.Contains(body, "\n") || body == line && (i < len(got)-1 || line == "") {
				t.Errorf("%q: %q is not a line", chunks, line)
			}
		}
		if len(text) > 0 {
			max := random.IntN(len(text))
			got, err := split(max, chunks...)
			for _, line := range got {
				if size := len(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); size > max && strings.HasSuffix(line, "\n") {
					t.Errorf("%q: a line of %d bytes, at most %d: %v", chunks, size, max, err)
				}
			}
		}
	})
}
