package legible

import (
	"strings"
	"testing"
)

func TestWriter(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain: a::b # ü\tx\n", "plain: a::b # ü\tx\n"},
		{"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n"},
		{"a\x1b[2Jb\x1b]8;;http://x\x07c\n", `a\x1b[2Jb\x1b]8;;http://x\ac` + "\n"},
		{"a\rb\b\x7f\u202e\u009b\u2028\n", `a\rb\b\x7f\u202e\u009b\u2028` + "\n"},
		{"\r   \r", "\r   \r"},
		{"::error::x\n  ::add-mask::y\n\t::z\nsay ::w\n", `\x3a:error::x` + "\n  " + `\x3a:add-mask::y` + "\n\t" + `\x3a:z` + "\nsay ::w\n"},
		{"a ##[error]b\n", `a \x23#[error]b` + "\n"},
	} {
		for _, step := range []int{len(tc.in), 1} {
			if step == 1 && strings.ContainsAny(tc.in, "\r\x1b\u202e#") { // recognised only within one write
				continue
			}
			var b strings.Builder
			w := NewWriter(&b)
			for i := 0; i < len(tc.in); i += step {
				if n, err := w.Write([]byte(tc.in[i : i+step])); n != step || err != nil {
					t.Fatalf("Write: %d, %v", n, err)
				}
			}
			if b.String() != tc.want {
				t.Errorf("%q in steps of %d became %q, want %q", tc.in, step, b.String(), tc.want)
			}
		}
	}
}

func TestText(t *testing.T) {
	if got, want := Text("a\n\x1b[1m\u202e\xff"), `a\n\x1b[1m\u202e\xff`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
