package jsontree

import "testing"

func TestAHalfOfASurrogatePairIsATextOfItsOwn(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string
		equal      bool
	}{
		{"two halves", `"\ud83d"`, `"\ud83e"`, false},
		{"a first and a second half", `"\ud83d"`, `"\ude00"`, false},
		{"a half and what replaces it", `"\ud83d"`, `"\ufffd"`, false},
		{"a half and the character that replaces it", `"a\ud83db"`, "\"a\ufffdb\"", false},
		{"halves the wrong way round", `"\ude00\ud83d"`, `"\ud83d\ude00"`, false},
		{"a half before a pair", `"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`, false},
		{"a half in a name", `{"\ud83d":1}`, `{"\ufffd":1}`, false},
		{"a half that is written in capitals", `"\ud83d"`, `"\uD83D"`, true},
		{"a pair and its character", `"\ud83d\ude00"`, `"😀"`, true},
		{"a backslash and the letters of an escape", `"\\ud83d\ufffd"`, `"\u005cud83d\ufffd"`, true},
		{"a half beside other escapes", `"\n\ud83d\"\\"`, `"\u000a\uD83D\u0022\u005c"`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := parsed(t, tc.a), parsed(t, tc.b)
			if got := Equal(a, b, EqualNumbers); got != tc.equal {
				t.Errorf("Equal(%s, %s) = %v, want %v", tc.a, tc.b, got, tc.equal)
			}
			for _, n := range []*Node{a, b} {
				if again := parsed(t, n.String()); !Equal(n, again, EqualNumbers) {
					t.Errorf("written as %s, which is read as %s", n, again)
				}
			}
		})
	}
}

func parsed(t *testing.T, text string) *Node {
	t.Helper()
	n, defects, err := Parse([]byte(text))
	if err != nil || len(defects) > 0 {
		t.Fatalf("Parse(%s): %v, defects %v", text, err, defects)
	}
	return n
}

func TestAHalfIsWrittenAsItsEscape(t *testing.T) {
	const text = `{"a\ud83d":["\ud83d","x\ude00y","\ud83d\ud83d","�"]}`
	if got := parsed(t, text).String(); got != text {
		t.Errorf("written as %s, want %s", got, text)
	}
}

func TestJoinRestoresASplitCharacter(t *testing.T) {
	first, second := parsed(t, `"x\ud83d"`).Text, parsed(t, `"\ude00y"`).Text
	if got := Join(first, second); got != "x😀y" {
		t.Errorf("Join = %q, want x😀y", got)
	}
	if got, want := Join(second, first), second+first; got != want {
		t.Errorf("Join of halves that are no pair = %q, want %q", got, want)
	}
	if got := Join("fünf ", "✓"); got != "fünf ✓" {
		t.Errorf("Join = %q", got)
	}
}

func TestLengthCountsAHalfAsOne(t *testing.T) {
	for text, want := range map[string]int{`"fün"`: 3, `"\ud83d\ude00"`: 1, `"a\ud83db"`: 3, `"\ud83d\ud83d"`: 2} {
		if got := Length(parsed(t, text).Text); got != want {
			t.Errorf("Length of %s = %d, want %d", text, got, want)
		}
	}
}

func TestBytesThatAreNotUTF8AreNoHalf(t *testing.T) {
	n, defects, err := Parse([]byte("[\"\xed\xa0\xbd\", \"\\ud83d\", \"\ufffd\"]"))
	if err != nil || len(defects) != 1 || defects[0].Kind != InvalidUTF8 || defects[0].Pointer != "/0" {
		t.Fatalf("Parse: %v, defects %v, want one invalid-utf8 at /0", err, defects)
	}
	if Equal(n.Items[0], n.Items[1], EqualNumbers) {
		t.Error("the bytes of a half are read as one")
	}
	if n.Items[2].Text != "\ufffd" {
		t.Errorf("U+FFFD is read as %q", n.Items[2].Text)
	}
}
