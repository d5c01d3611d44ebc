package jsonwire_test

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestWellFormedReplacesLoneSurrogatesOnly(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: `"a"`, `"\ud83d\ude00\udead\ud83d"`: "\"😀\uFFFD\uFFFD\"", `"\\ud800\u0001\""`: `"\\ud800\u0001\""`, `"\\\ud800\\"`: "\"\\\\\uFFFD\\\\\"",
		`{"\ud800":1,"\ud801":{"b":"\udfff"}}`: "{\"\uFFFD\":{\"b\":\"\uFFFD\"}}",
	} {
		text, err := jsonwire.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(text.WellFormed()); got != want {
			t.Errorf("WellFormed of %s is %s, want %s", in, got, want)
		}
	}
	if got := jsonwire.WellFormed("a\xed\xa0\x80\\ud800"); got != "a\uFFFD\\ud800" {
		t.Errorf("WellFormed of a string is %q", got)
	}
}

func TestLevels(t *testing.T) {
	for in, want := range map[string]int{`1`: 0, `"[["`: 0, `{}`: 1, `[[],{"a":[1]},"]"]`: 3, strings.Repeat("[", 9000) + strings.Repeat("]", 9000): 9000} {
		if got := jsonwire.Text(in).Levels(); got != want {
			t.Errorf("%.20s has %d levels, want %d", in, got, want)
		}
	}
}
