package client

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLinesThatEndWithinAMessage(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
		broken           bool
	}{
		{"a message", `{"a":[1,{}]}` + "\n", `{"a":[1,{}]}` + "\n", false},
		{"two, and an empty line", "{}\n\r\n[]\n", "{}\n\r\n[]\n", false},
		{"brackets in a text", `{"a":"[{\\\"[{\u000a"}` + "\n{}\n", `{"a":"[{\\\"[{\u000a"}` + "\n{}\n", false},
		{"no end", `{"a":`, `{"a":`, false},
		{"half a message", "{}\n{\"a\":\n1}\n", "{}\n{\"a\":", true},
		{"half a list", "[1,\n2]\n", "[1,", true},
		{"half a text", "\"a\n", "\"a", true},
		{"behind a backslash", "{\"a\\\n\"}\n", "{\"a\\", true},
	} {
		for _, reader := range []io.Reader{strings.NewReader(tc.text), iotest.OneByteReader(strings.NewReader(tc.text)), iotest.DataErrReader(strings.NewReader(tc.text))} {
			l := &lineReader{r: reader}
			got, err := io.ReadAll(l)
			if string(got) != tc.want || errors.Is(err, errLineInMessage) != tc.broken || !tc.broken && err != nil {
				t.Errorf("%s: %q, %v, want %q", tc.name, got, err, tc.want)
			}
			if n, err := l.Read(make([]byte, 1)); tc.broken && (n != 0 || !errors.Is(err, errLineInMessage)) {
				t.Errorf("%s: reads on: %d, %v", tc.name, n, err)
			}
		}
	}
}
