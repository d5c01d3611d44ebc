package yamldoc

import (
	"strings"
	"testing"
)

func TestMistakesInYAMLHaveTheirPlacesAndFixes(t *testing.T) {
	const general = "indent items of one level equally, and put texts with special characters in quotes"
	for _, tc := range []struct{ name, text, want string }{
		{"a tab behind blanks", "steps:\n  - http: GET /\n  \tjson: {}\n", "3:3: not YAML: a tab → indent with spaces"},
		{"a tab below an item", "steps:\n  - http: GET /\n\t  json: {}\n", "3:1: not YAML: a tab → indent with spaces"},
		{"an expression", "json: {customer: ${{ customer }}}\n", `1:18: not YAML: ${{ customer }} is in brackets without quotes → put "${{ customer }}" in quotes`},
		{"every expression", "a: {b: x-${{ x }}-y, c: 1}\n# {${{ no }}\nd: ${{ fine }}\ne: [1,\n  ${{ z }},\n  \"${{ q }}\"]\n", `1:8: not YAML: x-${{ x }}-y is in brackets without quotes → put "x-${{ x }}-y" in quotes` + "\n" +
			`5:3: not YAML: ${{ z }} is in brackets without quotes → put "${{ z }}" in quotes`},
		{"a query", "{http: GET /x?a=b}\n", `1:8: not YAML: GET /x?a=b is in brackets without quotes → put "GET /x?a=b" in quotes`},
		{"a second colon", "a: 1\nwhy: it works: always\n", "2:6: not YAML: a second colon in the line → put the value in quotes"},
		{"an open bracket", "ä: 1\nb: {c: [1, 2}\nd: 3\n", "2:13: not YAML: } closes a [ → close it with ]"},
		{"a bracket that is never closed", "a: 1\nb: [1, {c: 2}\nd: 3\n", "2:4: not YAML: the [ is not closed → close it with ]"},
		{"a bracket too many", "a: {b: 1}}\n", "1:10: not YAML: there is more text after the last } → remove it, or put all of the text in quotes"},
		{"an open quote", "a: 'it''s\nb: 1\n", "1:4: not YAML: the quote is not closed → close it with '"},
		{"an escaped quote", "a: \"x\\\"\nb: 1\n", "1:4: not YAML: the quote is not closed → close it with \""},
		{"what begins no text", "a: @x\n", "1:4: not YAML: a text without quotes cannot begin with @ → put the text in quotes"},
		{"a control character", "a: 1\nbü: x\ay\n", `2:6: not YAML: the control character U+0007 → leave it out, or write "\u0007" in double quotes`},
		{"another encoding", "a: 1\nb: \xfc\n", "2:4: not YAML: the byte 0xfc is not UTF-8 → save the file as UTF-8"},
		{"a word among keys", "a: |\n  {[\"'\nfoo\nb: 2\n", "3:1: not YAML: could not find expected ':' → " + general},
		{"an escape in the first line", "a: \"\\q\"\n", "1:1: not YAML: found unknown escape character → " + general},
	} {
		_, problems := Parse("f", []byte(tc.text))
		var got []string
		for _, p := range problems {
			got = append(got, strings.ReplaceAll(strings.TrimPrefix(p.Error(), "f:"), "\n\tfix: ", " → "))
		}
		if text := strings.Join(got, "\n"); text != tc.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tc.name, text, tc.want)
		}
	}
}

func TestWhatIsYAMLHasNoMistakes(t *testing.T) {
	for _, text := range []string{"", "a: 1\n", "a: &x 1\nb: *x\n---\n{c: !!str 2}\n", "{\"a\": [1]}"} {
		if problems := Read("f", []byte(text)).Mistakes; problems != nil {
			t.Errorf("%q: %v", text, problems)
		}
	}
	for _, text := range []string{"a: [", "a: 1\n---\nb: [\n"} {
		if problems := Read("f", []byte(text)).Mistakes; len(problems) != 1 || problems[0].File != "f" {
			t.Errorf("%q: %v, want one problem", text, problems)
		}
	}
}

// TestAFileFullOfMistakesIsReadOnce checks that a file of a megabyte is not read again for each of its mistakes.
func TestAFileFullOfMistakesIsReadOnce(t *testing.T) {
	for _, unit := range []string{"@\n", "{a: ${{ x }}}\n", "{{", "[a,", "\"\n", "a: b: c\n", "{{ x", "|\n", "]", "\t\n"} {
		text := "a: [\n" + strings.Repeat(unit, 1<<20/len(unit))
		if _, problems := Parse("f", []byte(text)); len(problems) == 0 {
			t.Errorf("nothing is wrong with many of %q", unit)
		}
	}
}
