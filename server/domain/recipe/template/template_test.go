package template_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server/domain/recipe/template"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

var files = map[string]string{
	"hello.txt": "Hello {{ name }}!",
	"base.txt":  "<{% block a %}A{% endblock %}|{% block b %}B {{ name }}{% endblock %}>",
	"loop.txt":  `{% include "loop.txt" %}`,
	"bad.txt":   "{% nope %}",
}

func load(name string) (string, error) {
	text, ok := files[name]
	if !ok {
		return "", errors.New("no such file")
	}
	return text, nil
}

var variables = map[string]string{"name": "goose", "empty": "", "yes": "true", "quoted": `"q"`, "csv": "b,a"}

func render(text string) (string, error) {
	return renderWith(template.NewWork(context.Background()), text)
}

func renderWith(work *template.Work, text string) (string, error) {
	t, err := work.Parse(text)
	if err != nil {
		return "", err
	}
	return t.Render(work, variables, load)
}

func TestTextsAreRendered(t *testing.T) {
	for in, want := range map[string]string{
		"":                                         "",
		"plain { } {{ }}":                          "plain { } {{ }}",
		"{{name}} {{ name }}":                      "goose goose",
		"{{two words}} {{ a.b }} {{":               "{{two words}} {{ a.b }} {{",
		"{{ don't }} {{ name }} it's":              "{{ don't }} goose it's",
		`{{ "}}" }}{{ '{{' }}`:                     `{{ "}}" }}{{`,
		`{{ "a\"b\n\x" }}`:                         "a\"b\nx",
		"{# a comment {{ nope }} #}x":              "x",
		"{{ quoted }}":                             `"q"`,
		"a \n {{- name -}} \n b":                   "agooseb",
		"a {%- if yes -%} b {%- endif -%} c":       "abc",
		"{% raw %}{{ nope }}{% if %}{% endraw %}!": "{{ nope }}{% if %}!",
		"a {%- raw -%} {{ x }} {%- endraw -%} b":   "a{{ x }}b",

		"{% if yes == 'true' %}1{% elif nope %}2{% else %}3{% endif %}":                                                                                   "1",
		"{% if empty %}1{% elif name != \"goose\" %}2{% else %}3{% endif %}":                                                                              "3",
		"{% if not empty and (name or nope) %}1{% endif %}":                                                                                               "1",
		"{% if name is defined and nope is not defined and nope is undefined %}1{% endif %}":                                                              "1",
		"{% if 'oo' in name and 'x' not in name and 'a' in ['a', name] %}1{% endif %}":                                                                    "1",
		"{{ 1 in 'a1' }} {{ true in 'xtrue' }} {{ ['a', 1] in '[\"a\", 1]' }} {{ 1 in ['1'] }} {{ ['a'] in ['a'] }}":                                      "true true true false false",
		"{% if 2 < 10 and '2' > '10' and 1 <= 1 and 1 >= 1 %}1{% endif %}":                                                                                "1",
		"{% for x in csv|split(',') %}{{ x }};{% endfor %}{{ name }}":                                                                                     "b;a;goose",
		"{% set x = name ~ '!' %}{{ x|upper }}":                                                                                                           "GOOSE!",
		"{{ not name }} {{ not not name }} {{ not not not name }} {{ not not empty }}":                                                                    "false true false false",
		"{{ name|upper is defined }} {{ nope is defined is defined }} {{ 'a' is undefined }}":                                                             "true true false",
		"{{ name is not undefined }}":                                                                                                                     "{{ name is not undefined }}",
		"{{ 'yes' if empty else 'no' }}":                                                                                                                  "no",
		"{{ nope|default('d') }} {{ empty|default('d') }}|":                                                                                               "d |",
		"{{ '  a b '|trim|title }} {{ 'ABC'|capitalize }} {{ 'ABC'|lower }} {{ name|length }} {{ name|replace('o','0') }} {{ ['x', 1, true]|join('-') }}": "A B Abc abc 5 g00se x-1-true",
		"{{ ['x', 1, false] }} {{ true }} {{ 7 }}":                                                                                                        `["x", 1, false] true 7`,
		"{{ name|nope }} {{ name|upper(1) }}":                                                                                                             "{{ name|nope }} {{ name|upper(1) }}",
		`{% include "hello.txt" %}?`:                                                                                                                      "Hello goose!?",
		`{% extends "base.txt" %} not seen {% set name = "me" %}{% block b %}<{{ name }}>{% endblock %}`:                                                  "<A|<me>>",
	} {
		got, err := render(in)
		if err != nil || got != want {
			t.Errorf("%q:\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
}

func TestWhatCannotBeRendered(t *testing.T) {
	for in, want := range map[string]string{
		"{{ nope }}":               "undefined variable nope",
		"{% if nope %}{% endif %}": "undefined variable nope",
		"{% for x in csv|split(',') %}{% endfor %}{{ x }}": "undefined variable x",
		"{% raw %}{{ x }}":    "the tag endraw is missing",
		"{{ True }}":          "undefined variable True",
		"{% if yes %}":        "the tag endif is missing",
		"{% for x in csv %}":  "the tag endfor is missing",
		"{% endif %}":         `unknown tag "endif"`,
		"{% nope 1 %}":        `unknown tag "nope"`,
		"{% if %}{% endif %}": `the tag if is not complete: ""`,
		"{% if yes is not undefined %}{% endif %}":               `the tag if is not complete: "yes is not undefined"`,
		"{% if yes %}{% else %}{% else %}{% endif %}":            `unknown tag "else"`,
		"{% for x of csv %}{% endfor %}":                         `the tag for is not complete: "x of csv"`,
		"{% for x in csv %}{% endfor %}":                         "for: not a list",
		"{% set 1 = 2 %}":                                        `the tag set is not complete: "1 = 2"`,
		`{% include "../secret" %}`:                              `template "../secret": no such file`,
		`{% include "bad.txt" %}`:                                `template "bad.txt": unknown tag "nope"`,
		"{{ 1 < 'a' }}":                                          "these values cannot be compared",
		"{{ 'a' in 1 }}":                                         "these values cannot be compared",
		"{% block a %}{% block a %}{% endblock %}{% endblock %}": "the template is nested too deeply",
	} {
		if strings.Contains(in, "block a") {
			in = `{% extends "base.txt" %}` + in
		}
		if got, err := render(in); err == nil || err.Error() != want {
			t.Errorf("%q: %q, %v\nwant %s", in, got, err, want)
		}
	}
	for _, in := range []string{
		`{% include "loop.txt" %}`,
		"{% set l = 'aaaaaaaaaa'|replace('a', 'bbbbbbbbbb')|replace('b', 'cccccccccc')|split('') %}" + "{% for x in l %}{% for y in l %}{% if 'z' in l %}{% endif %}{% endfor %}{% endfor %}",
		"{% set a = 'aaaaaaaaaa' %}" + strings.Repeat("{% set a = a ~ a %}", 40) + "{{ a|length }}",
		"{% set a = ['a', 'b'] %}{% set a = [a, a] %}",
		"{% set a = 'aaaaaaaaaa'|replace('a', 'bbbbbbbbbb')|replace('b', 'cccccccccc') %}" + "{{ (a ~ a ~ a)|split('')|join(a ~ a ~ a ~ a ~ a) }}",
		strings.Repeat("{% if yes %}", 200) + strings.Repeat("{% endif %}", 200),
		"{% set a = csv|split('') %}" + strings.Repeat("{% for x in 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'|split('') %}", 6) + "x" + strings.Repeat("{% endfor %}", 6),
		"{% set a = 'aaaaaaaaaa' %}" + strings.Repeat("{% set a = a|replace('a', a) %}", 5) + "{{ a }}",
	} {
		if got, err := render(in); err == nil {
			t.Errorf("%.60q: %d bytes, want an error", in, len(got))
		}
	}
}

// TestParsingIsLinear parses texts that make naive parsers read everything repeatedly. A text that is 16 times as
// long may take some 16 times the searching and the memory, but not 256 times.
func TestParsingIsLinear(t *testing.T) {
	const n, times = 1 << 12, 16
	for _, unit := range []string{"{{", "{%", "{#", "{{ \\' }}", "{{ ' }}", "{{ \"' }}", "{% raw %}", "{% set a = 1 %}{{a}}", "{{ a", "{{-", "{% raw %}{%"} {
		for _, end := range []string{"", "}}%}"} {
			shortSearch, shortMemory := work(strings.Repeat(unit, n/len(unit)) + end)
			longSearch, longMemory := work(strings.Repeat(unit, times*n/len(unit)) + end)
			if longSearch > 4*times*(shortSearch+len(unit)) || longMemory > 4*times*shortMemory {
				t.Errorf("%q again and again, and %q: %d bytes searched became %d, and %d bytes allocated became %d",
					unit, end, shortSearch, longSearch, shortMemory, longMemory)
			}
		}
	}
}

// work returns how many bytes parsing a text searches, and how many it allocates.
func work(text string) (searched int, allocated uint64) {
	allocated = ratio.Allocated(func() {
		if parsed, err := template.NewWork(context.Background()).Parse(text); err == nil {
			parsed.Variables()
		}
	})
	return template.Searched(text), allocated
}

func TestVariablesAreThoseThatAreUsed(t *testing.T) {
	for in, want := range map[string][]string{
		"plain {{two words}} {# {{ c }} #}{% raw %}{{ r }}{% endraw %}":                       nil,
		"{{ b }} {{ a|upper }} {{ b }}":                                                       {"a", "b"},
		"{% if x is defined and y == z %}{{ p }}{% elif q %}{% else %}{{ r ~ s }}{% endif %}": {"p", "q", "r", "s", "x", "y", "z"},
		"{% for i in l %}{{ i }}{{ j }}{% endfor %}{{ i }}":                                   {"i", "j", "l"},
		"{% set a = b %}{{ a }}":                                                              {"b"},
		"{{ a }}{% set a = 1 %}":                                                              {"a"},
		"{{ a|default(b) if c else [d, not e] }}{% include f %}{% block g %}{{ h }}{% endblock %}{% extends k %}": {"a", "b", "c", "d", "e", "f", "h", "k"},
	} {
		parsed, err := template.NewWork(context.Background()).Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, parsed.Variables()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{"{{ a|default('x') }}", "{% for x in 'a b'|split(' ') %}{{ x }}{% endfor %}", "{%- raw -%}{{-", `{% extends "base.txt" %}{% block a %}{% block a %}`, "{% raw %}{%}", `{{ \' }}{#}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		work := template.NewWork(context.Background())
		parsed, err := work.Parse(in)
		if err != nil {
			return
		}
		parsed.Variables()
		parsed.Render(work, variables, load)
	})
}
