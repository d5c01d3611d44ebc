package plainjson

import "testing"

func TestNothingIsEscapedForHTML(t *testing.T) {
	if got := string(Encode(map[string]any{"a": "<b> & c", "n": nil})); got != `{"a":"<b> & c","n":null}` {
		t.Errorf("Encode: %s", got)
	}
}
