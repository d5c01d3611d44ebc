package jsontree

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestUnescapeReadsAsTheDecoderDoes(t *testing.T) {
	for _, quoted := range []string{
		`""`, `"a"`, `"\n"`, `"a\nb"`, `"\"\\\/\b\f\n\r\t"`, `"\\n"`, `"a\\"`, `"\u0041"`, `"\n\u00e9\n"`, `"\ud83d\ude00"`,
		`"é\t€"`, `"\x"`, `"a\'b"`, `"\ud83d"`, `"\u00"`,
	} {
		want, wantErr := jsontext.AppendUnquote([]byte("before "), quoted)
		got, err := unescape([]byte("before "), quoted)
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != string(want) {
			t.Errorf("unescape(%s) = %q, %v; want %q, %v", quoted, got, err, want, wantErr)
		}
	}
}
