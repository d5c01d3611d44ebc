package yamldoc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/problem"
)

// told returns "line:column: what" of each problem.
func told(ps problem.Problems) []string {
	var out []string
	for _, p := range ps {
		first, _, _ := strings.Cut(strings.TrimPrefix(p.Error(), "f:"), "\n")
		out = append(out, first)
	}
	return out
}

func TestValuesAreThoseOfJSON(t *testing.T) {
	root, problems := Parse("f", []byte(`
yes: yes
no: no
on: on
true: true
date: 2026-03-01
time: 2026-03-01T12:00:00Z
version: 1.10
big: 12345678901234567890123
exp: 1e400
neg: -0
quoted: "1"
empty:
tilde: ~
list: [1, {a: b}, []]
block: |
  two
  lines
404: text
`))
	if problems != nil {
		t.Fatal(problems)
	}
	want := map[string]any{
		"yes": "yes", "no": "no", "on": "on", "true": true, "date": "2026-03-01", "time": "2026-03-01T12:00:00Z",
		"version": json.Number("1.10"), "big": json.Number("12345678901234567890123"), "exp": json.Number("1e400"),
		"neg": json.Number("-0"), "quoted": "1", "empty": nil, "tilde": nil,
		"list": []any{json.Number("1"), map[string]any{"a": "b"}, []any{}}, "block": "two\nlines\n", "404": "text",
	}
	if diff := cmp.Diff(want, root.Value()); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	if n := root.Get("list").Items[1].Get("a"); n.Line != 15 || n.Column != 15 {
		t.Errorf("place %d:%d, want 15:15", n.Line, n.Column)
	}
	if k, _ := root.Entry("list"); k.Line != 15 || k.Column != 1 {
		t.Errorf("place of the key %d:%d, want 15:1", k.Line, k.Column)
	}
}

// TestOnlyLineFeedsBreakLines: only LF and CR break lines (YAML 1.2.2 §5.4). The library folds three more characters,
// and counts a line for each.
func TestOnlyLineFeedsBreakLines(t *testing.T) {
	for _, c := range []string{"\u0085", "\u2028", "\u2029"} {
		text := "a: x" + c + "y # z" + c + "\nb: \"x" + c + " y\"\nc: 'x" + c + "\ue000'\nd: |\n  x" + c + "  y\ne: 0x1F\n"
		_, problems := Parse("f", []byte(text))
		if len(problems) != 1 || problems[0].Line != 6 || problems[0].Column != 4 {
			t.Errorf("%+q: %v, want one problem at 6:4", c, problems)
		}
		root, problems := Parse("f", []byte(strings.Replace(text, "0x1F", "1", 1)))
		if problems != nil {
			t.Fatal(problems)
		}
		want := map[string]any{"a": "x" + c + "y", "b": "x" + c + " y", "c": "x" + c + "\ue000", "d": "x" + c + "  y\n", "e": json.Number("1")}
		if diff := cmp.Diff(want, root.Value()); diff != "" {
			t.Errorf("%+q: value (-want +got):\n%s", c, diff)
		}
	}
}

// TestEscapesOfSurrogatesAreJoined: JSON writes characters above U+FFFF as two escapes, and YAML 1.2 reads JSON.
// There are escapes only in double quotes, and not after an escaped backslash.
func TestEscapesOfSurrogatesAreJoined(t *testing.T) {
	text := `{"a": "x\ud83d\uDE00y", "b": '\ud83d\ude00', "c": "\\ud83d \\\ud83d\ude00", d\ud83d: "\ue000\ud834\udd1e", "\ud83d\ude00": 1}`
	want := map[string]any{"a": "x😀y", "b": `\ud83d\ude00`, "c": `\ud83d \😀`, `d\ud83d`: "\ue000𝄞", "😀": json.Number("1")}
	root, problems := Parse("f", []byte(text))
	if problems != nil {
		t.Fatal(problems)
	}
	if diff := cmp.Diff(want, root.Value()); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	for _, half := range []string{`\ud83d`, `\ude00`, `\ud83d\ud83d`, `\ude00\ud83d`, `\ud83dx\ude00`, `\ud83d\ud83d\ude00`} {
		if _, problems := Parse("f", []byte("a: 1\nb: \""+half+"\"\n")); len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "f:2:4: not YAML: the text has half of a surrogate pair") {
			t.Errorf("%s: %v", half, problems)
		}
	}
}

func TestSurprisingYAMLIsRejected(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{" the file is empty"}},
		{"only a comment", "# hi\n", []string{" the file is empty"}},
		{"no YAML", "a: [1", []string{"1:4: not YAML: the [ is not closed"}},
		{"a flow that does not end", "a: 1\nb:\n  - {c: 1\n  - d\n", []string{"3:5: not YAML: the { is not closed"}},
		{"a key too far to the left", "a: 1\nb:\n    c: 1\n  d: 2\n", []string{"4:3: not YAML: the line is indented by 2"}},
		{"a key of an item too far to the left", "a:\n  - b: 1\n    c: 2\n   d: 3\ne: 5\n", []string{"4:4: not YAML: the line is indented by 3"}},
		{"a key too far to the left, after a block", "a:\n    b: |\n       x\n      y\n    c: 1\n  d: 1\n", []string{"6:3: not YAML: the line is indented by 2"}},
		{"a key too far to the left of an inner list", "a:\n  - - b: 1\n      c: 1\n   d: 1\n", []string{"4:4: not YAML: the line is indented by 3"}},
		{"a key too far to the right", "a: 1\n b: 2\n", []string{"2:2: not YAML: mapping values are not allowed in this context"}},
		{"an item among keys", "a: 1\n- b\n", []string{"2:1: not YAML: did not find expected key"}},
		{"a tab", "a: 1\nb:\n\tc: 1\n", []string{"3:1: not YAML: a tab"}},
		{"a second document", "a: 1\n---\nb: 2\n", []string{"2:1: a second document begins"}},
		{"an alias", "a: &x 1\nb: *x\n", []string{"2:4: alias *x"}},
		{"a merge", "a: &x {b: 1}\nc: {<<: *x}\n", []string{"2:5: merge key <<"}},
		{"a tag", "a: !!str 1\n", []string{"1:4: tag !!str"}},
		{"a key twice", "a: 1\nb: 2\na: 3\n", []string{`3:1: duplicate key "a", first in line 1`}},
		{"a list as a key", "? [a]\n: 1\n", []string{"1:3: a key that is not a word"}},
		{"an octal number", "a: 0o17\n", []string{"1:4: number 0o17 is not written as JSON writes numbers"}},
		{"an old octal number", "a: 017\n", []string{"1:4: number 017 is not written as JSON writes numbers"}},
		{"a hexadecimal number", "a: 0x1F\n", []string{"1:4: number 0x1F is not written as JSON writes numbers"}},
		{"underscores", "a: 1_000\n", []string{"1:4: number 1_000 is not written as JSON writes numbers"}},
		{"infinity", "a: .inf\n", []string{"1:4: number .inf is not written as JSON writes numbers"}},
		{"a bare point", "a: .5\n", []string{"1:4: number .5 is not written as JSON writes numbers"}},
		{"an alias to nothing", "b: *x\n", []string{"1:4: alias *x"}},
		{"several", "a: 0x1\nb: !!int 2\na: 1\n", []string{"1:4: number 0x1 is not written as JSON writes numbers", "2:4: tag !!int", `3:1: duplicate key "a", first in line 1`}},
		{"too deep", strings.Repeat("[", 102) + strings.Repeat("]", 102), []string{"1:102: values are nested too deep"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, problems := Parse("f", []byte(tc.text))
			if diff := cmp.Diff(tc.want, told(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if root != nil {
				t.Error("there is a tree beside the problems")
			}
		})
	}
	if _, problems := Parse("f", make([]byte, maxBytes+1)); len(problems) != 1 {
		t.Errorf("a file that is too large: %v", problems)
	}
}

const personSchema = `{
  "$id": "https://example.test/person.json", "type": "object", "additionalProperties": false, "required": ["name"],
  "properties": {
    "name": {"description": "What to call them.", "type": "string", "minLength": 1},
    "age": {"type": "integer"},
    "size": {"$ref": "defs.json#/$defs/size"},
    "pet": {"enum": ["cat", "dog"]},
    "child": {"$ref": "#"},
    "teeth": {"type": "object", "propertyNames": {"pattern": "^[0-9]+$", "x-fix": "count them"}},
    "toys": {"type": "object", "propertyNames": {"$ref": "defs.json#/$defs/size"}},
    "wish": {"anyOf": [{"required": ["toy"]}, {"required": ["book"]}], "x-fix": "wish for a toy or a book", "type": "object"},
    "list": {"type": "array", "items": {"type": "object", "required": ["size"], "properties": {"size": {"$ref": "defs.json#/$defs/size"}}}}
  }
}`

const defsSchema = `{
  "$id": "https://example.test/defs.json",
  "$defs": {"size": {"description": "How tall, with its unit.", "type": "string", "pattern": "^[0-9]+cm$", "x-fix": "write 180cm"}}
}`

func TestTheSchemaNamesThePlaceAndTheFix(t *testing.T) {
	schema := MustSchema([]byte(personSchema), []byte(defsSchema))
	for _, tc := range []struct{ name, text, want string }{
		{"fine", "{name: a, age: 1, size: 1cm, pet: cat, child: {name: b}, wish: {toy: x}}", ""},
		{"a key is missing", "age: 1", "1:1: the file has no \"name\"\n\tfix: add it: name, what to call them"},
		{"a key is missing and misspelt", "nmae: a", "1:1: unknown key \"nmae\"\n\tfix: did you mean \"name\"?"},
		{"a key is missing in a list", "name: a\nlist:\n  - {}\n", "3:5: item 1 of \"list\" has no \"size\"\n\tfix: add it: size, how tall, with its unit"},
		{"an unknown key", "name: a\naeg: 1", "2:1: unknown key \"aeg\"\n\tfix: did you mean \"age\"?"},
		{"an unknown key like no other", "name: a\nzzzzzz: 1", "2:1: unknown key \"zzzzzz\"\n\tfix: use one of: age, child, list, name, pet, size, teeth, toys, wish"},
		{"a wrong type", "name: [a]", "1:7: \"name\" is a list\n\tfix: make it a string"},
		{"a wrong type, and what is right", "{name: a, age: old}", "1:16: \"age\" is a string\n\tfix: make it a whole number"},
		{"a pattern in another file", "{name: a, size: tall}", "1:17: \"size\" is \"tall\"\n\tfix: write 180cm"},
		{"a key of another kind", "name: a\nteeth: {1: ok, b: loose}", "2:16: key \"b\" is not a valid name\n\tfix: count them"},
		{"a key of another kind, as another file has it", "name: a\ntoys:\n  big: bear", "3:3: key \"big\" is not a valid name\n\tfix: write 180cm"},
		{"a choice of words", "{name: a, pet: cta}", "1:16: \"pet\" is \"cta\"\n\tfix: did you mean \"cat\"?"},
		{"a choice of keys", "{name: a, wish: {}}", "1:17: \"wish\" is not allowed here\n\tfix: wish for a toy or a book"},
		{"a choice of keys, misspelt", "{name: a, wish: {bok: 1}}", "1:17: \"wish\" is not allowed here\n\tfix: did you mean \"book\" where you wrote \"bok\"?"},
		{"too short", `{name: ""}`, "1:8: \"name\" is too short\n\tfix: fill it in"},
		{"deep", "{name: a, child: {name: b, child: {name: c, agee: 1}}}", "1:45: unknown key \"agee\"\n\tfix: did you mean \"age\"?"},
		{"not even a map", "[]", "1:1: the file is a list\n\tfix: make it a map"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, problems := Parse("f", []byte(tc.text))
			if problems != nil {
				t.Fatal(problems)
			}
			got := strings.TrimPrefix(schema.Check("f", root).Error(), "f:")
			if got != tc.want {
				t.Errorf("problems:\n%s\nwant:\n%s", got, tc.want)
			}
		})
	}
	root, _ := Parse("f", []byte("{aeg: 1, size: x, pet: 3}"))
	if got := schema.Check("f", root); len(got) != 4 {
		t.Errorf("%d problems, want all 4:\n%v", len(got), got)
	}
}

func TestUnambiguousTextsArePlain(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [x, 1.50, true, ~, 2026-03-01]\n200:\n  \"c\": |\n    d\n": `{"a":1,"b":["x",1.50,true,null,"2026-03-01"],"200":{"c":"d\n"}}`,
		`{"a": [1.0, "\u00e9"]}`: `{"a":[1.0,"é"]}`,
		`a: "\ud83d\ude00"`:      `{"a":"😀"}`,
		`a: "\ud83d"`:            "",
		"a: yes":                 `{"a":"yes"}`,
		"a: &x 1":                `{"a":1}`,
		"a: &x 1\nb: *x":         "",
		"a: !!str 1":             "",
		"a: {<<: {b: 1}}":        "",
		"a: 1\na: 1":             "",
		"a: 0x1F":                "",
		"a: 1_000":               "",
		"a: .inf":                "",
		"1.5: a":                 "",
		"? [a]\n: b":             "",
		"a: 1\n---\nb: 1":        "",
		"a: [":                   "",
		"":                       "",
		`{"a": 1, "a": 1}`:       "",
	} {
		got, ok := Read("f", []byte(text)).PlainJSON()
		switch {
		case ok != (want != ""):
			t.Errorf("%q: plain is %t", text, ok)
		case ok && string(got) != want:
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "a: &x [*x]", "? {}\n: 1", "- !!set {a}", "\"\\", "\"\\ud83d\\ude00\"", "a: \u2028b", "a:\n\t- b", "--- a\n...\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, problems := Parse("f", data)
		if (root == nil) == (len(problems) == 0) {
			t.Fatalf("a tree or problems, not both and not neither: %v", problems)
		}
		if root != nil {
			if _, err := json.Marshal(root.Value()); err != nil {
				t.Fatalf("the value is no JSON: %v", err)
			}
		}
	})
}
