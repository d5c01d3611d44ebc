package yamljson_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

const noLimit = 1 << 30

func TestJSONIsWrittenAsYAML(t *testing.T) {
	for in, want := range map[string]string{
		`{}`: "{}\n",
		`{"GOOSE_MODEL":"gpt-4o","N1":1.50,"on":true,"none":null,"list":["a",["b"],{"c":1,"d":{}}],"e":[]}`: "GOOSE_MODEL: gpt-4o\nN1: 1.50\n\"on\": true\nnone: null\nlist:\n- a\n- - b\n- c: 1\n  d: {}\ne: []\n",
		`{"host":"http://x:80/a","text":"two words","path":"/a/b.c"}`:                                       "host: \"http://x:80/a\"\ntext: two words\npath: /a/b.c\n",
		`["no","Yes","ON","off","y","N","null","TRUE","~","","1","1.5","0o7","1_000","<<","=","-"]`:         `- "no"` + "\n" + `- "Yes"` + "\n" + `- "ON"` + "\n" + `- "off"` + "\n" + `- "y"` + "\n" + `- "N"` + "\n" + `- "null"` + "\n" + `- "TRUE"` + "\n" + `- "~"` + "\n" + `- ""` + "\n" + `- "1"` + "\n" + `- "1.5"` + "\n" + `- "0o7"` + "\n" + `- "1_000"` + "\n" + `- "<<"` + "\n" + `- "="` + "\n" + `- "-"` + "\n",
		`[" \n","a: b","a:","a #b","a ","2001-01-01","12:30","{a","*a","\u0085\u2028"]`:                     `- " \n"` + "\n" + `- "a: b"` + "\n" + `- "a:"` + "\n" + `- "a #b"` + "\n" + `- "a "` + "\n" + `- "2001-01-01"` + "\n" + `- "12:30"` + "\n" + `- "{a"` + "\n" + `- "*a"` + "\n" + `- "\u0085\u2028"` + "\n",
		`[[[[[[[[[[{"a":1}]]]]]]]]]]`: "- - - - - - - - [[{a: 1}]]\n",
	} {
		value, err := jsonwire.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		got, err := yamljson.Format(value, noLimit)
		if err != nil || string(got) != want {
			t.Errorf("Format(%s):\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
}

// TestWhatIsWrittenIsReadBack checks decision G40 with random values.
func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := jsonwire.NewWriter(nil)
		drawObject(t, w, 0)
		readBack(t, w.Text())
	})
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(`{"a":["no"," \n","\u0085",{"k":1e5,"":-0.10}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if value, err := jsonwire.Parse(in); err == nil && !strings.Contains(string(value), `\ud`) && !strings.Contains(string(value), "-0") {
			readBack(t, value)
		}
	})
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func readBack(t fataler, value jsonwire.Text) {
	text, err := yamljson.Format(value, noLimit)
	if errors.Is(err, yamljson.ErrTooLarge) {
		return
	}
	if err != nil {
		t.Fatalf("Format(%s): %v", value, err)
	}
	if got, err := yamljson.Parse(text); err != nil || string(got) != string(value) {
		t.Fatalf("%s is written as\n%s\nand read as %s, %v", value, text, got, err)
	}
}

// These pieces make texts in which the syntax of YAML would be found, if it were not quoted.
var pieces = []string{
	"a", "A", "yes", "no", "~", "null", "0", "1", "-", "--", "---", "...", ".", ":", ": ", " :", " ", "  ", "\n", "\r", "\t", "#", " #", "&", "*", "!", "!!", "|", ">", "'", `"`, "%", "@", "`", "?", "? ",
	"{", "}", "[", "]", ",", "\\", "<<", "=", "/", "_", "+", "e", "0x", "0o", "é", "\u0000", "\u0007", "\u001b", "\u007f", "\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe", "\uffff", "😀", "\U0010ffff", strings.Repeat("k", 130), strings.Repeat("w ", 70),
}

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4).Draw(t, "text"), "")
}

func drawObject(t *rapid.T, w *jsonwire.Writer, depth int) {
	w.Open('{')
	seen := map[string]bool{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		if key := drawText(t); !seen[key] {
			seen[key] = true
			w.Key(key)
			drawValue(t, w, depth+1)
		}
	}
	w.Close('}')
}

func drawValue(t *rapid.T, w *jsonwire.Writer, depth int) {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case kind < 3 && depth < 12:
		drawObject(t, w, depth)
	case kind < 5 && depth < 12:
		w.Open('[')
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			drawValue(t, w, depth+1)
		}
		w.Close(']')
	case kind < 6:
		w.Raw([]byte(rapid.SampledFrom([]string{"null", "true", "false", "0", "-1", "10", "1.50", "-0.10", "1e5", "1E+400", "12345678901234567890123"}).Draw(t, "scalar")))
	default:
		w.String(drawText(t))
	}
}

// TestWhatIsTooLargeIsNotWritten has the bounds of TestADocumentIsBounded.
func TestWhatIsTooLargeIsNotWritten(t *testing.T) {
	times := strings.Repeat
	for name, tc := range map[string]struct {
		largest, tooLarge string
		limit             int
	}{
		"bytes":           {`{"a":"` + times("x", 96) + `"}`, `{"a":"` + times("x", 97) + `"}`, 100},
		"levels of lists": {times("[", 500) + times("]", 500), times("[", 501) + times("]", 501), noLimit},
		"levels":          {times(`{"a":`, 499) + "[]" + times("}", 499), times(`{"a":`, 500) + "[]" + times("}", 500), noLimit},
		"values":          {"[1]", "[" + times("1,", 999_999) + "1]", noLimit},
		"text":            {`{"` + times("k", 5<<20) + `":"` + times("v", 5<<20) + `"}`, `{"` + times("k", 5<<20) + `":"` + times("v", 5<<20+1) + `"}`, noLimit},
	} {
		if _, err := yamljson.Format(jsonwire.Text(tc.largest), tc.limit); err != nil {
			t.Errorf("%s: the largest value is not written: %v", name, err)
		}
		if _, err := yamljson.Format(jsonwire.Text(tc.tooLarge), tc.limit); !errors.Is(err, yamljson.ErrTooLarge) {
			t.Errorf("%s: a larger value: %v, want %v", name, err, yamljson.ErrTooLarge)
		}
	}
}

// TestAValueThatIsSmallInOneLineIsWrittenInOneLine has a value that is larger with a line for each element.
func TestAValueThatIsSmallInOneLineIsWrittenInOneLine(t *testing.T) {
	value := jsonwire.Text("[[" + strings.Repeat("[],", 299) + "[]]]")
	want := strings.ReplaceAll(string(value), ",", ", ") + "\n"
	if text, err := yamljson.Format(value, len(want)); err != nil || string(text) != want {
		t.Errorf("Format: %.60s, %v; want %.60s", text, err, want)
	}
	if _, err := yamljson.Format(value, len(want)-1); !errors.Is(err, yamljson.ErrTooLarge) {
		t.Errorf("Format with a lower limit: %v", err)
	}
}

// TestDeepValuesStaySmall checks that indentation does not make a value huge.
func TestDeepValuesStaySmall(t *testing.T) {
	var items []string
	for range 1000 {
		items = append(items, string(rune('a'+rand.IntN(26))))
	}
	value := strings.Repeat(`{"a":`, 400) + `["` + strings.Join(items, `","`) + `"]` + strings.Repeat("}", 400)
	if text, err := yamljson.Format(jsonwire.Text(value), noLimit); err != nil || len(text) > 2*len(value) {
		t.Errorf("%d bytes of JSON are %d bytes of YAML, %v", len(value), len(text), err)
	}
}
