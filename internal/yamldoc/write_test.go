package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

func TestBlock(t *testing.T) {
	for _, tc := range []struct{ json, want string }{
		{`"milk"`, "  milk\n"},
		{`{}`, "  {}\n"},
		{`{"a": [], "b": {}, "c": null, "d": -1.50}`, "  a: []\n  b: {}\n  c: null\n  d: -1.50\n"},
		{`{"text": "two words", "yes": "no", "id": "${{ id }}", "n": "12", "": " "}`, "  text: two words\n  \"yes\": \"no\"\n  id: \"${{ id }}\"\n  \"n\": \"12\"\n  \"\": \" \"\n"},
		{`{"short": {"a": [1, 2]}, "long": {"first": "aaaaaaaaaaaaaaaa", "second": ["bbbbbbbbbbbbbbbbbbbb"]}}`,
			"  short: {a: [1, 2]}\n  long:\n    first: aaaaaaaaaaaaaaaa\n    second: [bbbbbbbbbbbbbbbbbbbb]\n"},
		{`[{"name": "aaaaaaaaaaaaaaaaaaaaaaaa", "of": "bbbbbbbbbbbbbbbbbbb"}, 1]`, "  - name: aaaaaaaaaaaaaaaaaaaaaaaa\n    of: bbbbbbbbbbbbbbbbbbb\n  - 1\n"},
	} {
		tree, _, err := jsontree.Parse([]byte(tc.json))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, yamldoc.Block(tree, 2, 40)); diff != "" {
			t.Errorf("Block(%s) (-want +got):\n%s", tc.json, diff)
		}
	}
}

func TestLine(t *testing.T) {
	for s, want := range map[string]string{
		"http://127.0.0.1:1": "http://127.0.0.1:1", "GET /notes/{id} does, too": "GET /notes/{id} does, too", "a: b": `"a: b"`, "a #b": `"a #b"`,
		"a:": `"a:"`, "": `""`, "null": `"null"`, "- a": `"- a"`, "a ": `"a "`, "2026-01-01": `"2026-01-01"`, "'a'": `"'a'"`, "ü": `"ü"`,
	} {
		got := yamldoc.Line(s)
		root, problems := yamldoc.Parse("x", []byte("key: "+got+"\n"))
		if got != want || len(problems) > 0 || root.Get("key").Kind != yamldoc.String || root.Get("key").Str() != s {
			t.Errorf("Line(%q) is %s, want %s; it is read as %v, %v", s, got, want, root.Get("key").Str(), problems)
		}
	}
}

// FuzzWhatIsWrittenIsReadBack checks that every value is read back unchanged, from one line and from many.
func FuzzWhatIsWrittenIsReadBack(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, {"b": "x: y", "c": "# no"}], "- d": "\u0000\ud83d\ude00"}`, `["0x1", "1e3", "~", "2026-01-01", "a b", "a  b", "- a", "a:", "@", "` + "`" + `", "%", "&a", "*a", "!t", "'", "\"", "|", ">"]`,
		`"multi\nline"`, `[[[]], [{}], [[1]]]`, `{"null": "null", "y": "N", "1": 1}`, `"\u2028\ufeff\u0085"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, defects, err := jsontree.Parse([]byte(text))
		if err != nil || len(defects) > 0 || strings.ContainsRune(text, '\ufffd') {
			return
		}
		for _, written := range []string{yamldoc.Flow(tree) + "\n", yamldoc.Block(tree, 0, 20), yamldoc.Block(tree, 4, 1)} {
			root, problems := yamldoc.Parse("x", []byte(written))
			if len(problems) > 0 {
				for _, p := range problems { // Parse may reject such numbers and such depth
					if strings.Contains(p.What, "number") || strings.Contains(p.What, "deep") {
						return
					}
				}
				t.Fatalf("%q\n%s\n%v", text, written, problems)
			}
			if diff := cmp.Diff(tree.Value(), root.Value()); diff != "" {
				t.Fatalf("%q\n%s\n(-wrote +read):\n%s", text, written, diff)
			}
		}
	})
}
