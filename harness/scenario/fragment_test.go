package scenario

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// folder writes the files of an archive, and returns their folder.
func folder(t *testing.T, archive string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		testfile.Write(t, filepath.Join(root, f.Name), f.Data)
	}
	return root
}

// loaded returns the scenarios of an archive, by id.
func loaded(t *testing.T, archive string) map[string]*Scenario {
	t.Helper()
	all, err := load(folder(t, archive))
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]*Scenario{}
	for _, s := range all {
		byID[s.ID] = s
	}
	return byID
}

// expanded returns the steps of a scenario with their values.
func expanded(s *Scenario) (out []string) {
	steps, _ := s.Written()
	for i, n := range steps {
		out = append(out, s.Script().Steps[i].ID+" "+string(Expand(n, constants{})))
	}
	return out
}

const basket = `
-- shop/basket.yaml --
fragment: shop/basket
why: A basket with something in it
parameters:
  item: {type: string}
  count: {type: integer, default: 1}
  notes: {type: object, default: {}}
steps:
  - http: POST /baskets
    capture: {basket: $.id}
  - http: PUT /baskets/${{ basket }}/items/${{ item }}
    json: {count: "${{ count }}", text: "${{ count }} of ${{ item }} in ${{ basket }}, $${{ item }}", notes: "${{ notes }}"}
`

func TestAFragmentIsReplacedByItsSteps(t *testing.T) {
	const head = "why: w\nsource: s\n"
	all := loaded(t, basket+`
-- short.yaml --
scenario: short
`+head+`vars: {name: "n-${{ unique }}"}
steps:
  - http: GET /
  - use: shop/basket
    with: {item: a/b}
  - parallel:
      left:
        - use: shop/basket
          with: {item: "${{ name }}", count: 2, notes: {a: [1]}}
          capture: {other: basket}
      right: [{http: GET /}]
  - http: GET /baskets/${{ basket }}/${{ other }}
-- long.yaml --
scenario: long
`+head+`vars: {name: "n-${{ unique }}"}
steps:
  - http: GET /
  - http: POST /baskets
    capture: {basket: $.id}
  - http: PUT /baskets/${{ basket }}/items/a%2Fb
    json: {count: 1, text: "1 of a/b in ${{ basket }}, $${{ item }}", notes: {}}
  - parallel:
      left:
        - http: POST /baskets
          capture: {other: $.id}
        - http: PUT /baskets/${{ other }}/items/${{ name }}
          json: {count: 2, text: "2 of ${{ name }} in ${{ other }}, $${{ item }}", notes: {a: [1]}}
      right: [{http: GET /}]
  - http: GET /baskets/${{ basket }}/${{ other }}
`)
	if len(all) != 2 {
		t.Errorf("%d scenarios, want 2: a fragment is none", len(all))
	}
	short, long := all["short"], all["long"]
	for range 2 { // first as it was read, then decoded again
		if diff := cmp.Diff(expanded(long), expanded(short)); diff != "" {
			t.Errorf("(-written out +with the fragment):\n%s", diff)
		}
		short.source.decoded = long.source.decoded
		short.source.decoded = weak.Pointer[Script]{}
	}
	if steps := short.Script().Steps; steps[1].Line != 7 || steps[2].Line != 7 {
		t.Errorf("its steps are in lines %d and %d, want that of use", steps[1].Line, steps[2].Line)
	}
	fragment := short.Fragments[0].Name
	if !short.IsMadeOf([]string{fragment}) || long.IsMadeOf([]string{fragment}) || !strings.Contains(string(short.Whole()), "A basket") || string(long.Whole()) != string(long.Text) {
		t.Error("a scenario is made of its file and of the fragments that it uses")
	}
}

func TestMistakesInTheUseOfFragments(t *testing.T) {
	for _, tc := range []struct{ doc, file, text, want string }{
		{"no such fragment", "x.yaml", "{use: shop/baskte, with: {item: a}}", `5:11: there is no fragment "shop/baskte" → did you mean "shop/basket"?`},
		{"a file elsewhere", "x.yaml", "{use: ../shop/basket, with: {item: a}}", `5:11: there is no fragment "../shop/basket" → did you mean "shop/basket"?`},
		{"a parameter that is missing", "x.yaml", "{use: shop/basket}", "5:11: the fragment shop/basket needs the parameter item → add with: {item: …}"},
		{"a parameter that there is not", "x.yaml", "{use: shop/basket, with: {item: a, cuont: 1}}", `5:40: the fragment shop/basket has no parameter cuont → did you mean "count"?`},
		{"another type", "x.yaml", "{use: shop/basket, with: {item: 5}}", "5:37: the parameter item has type string, but its value is a number → write a value of type string, or change the type in the fragment"},
		{"a fraction", "x.yaml", "{use: shop/basket, with: {item: a, count: 1.5}}", "5:47: the parameter count has type integer, but its value is a number → write a value of type integer, or change the type in the fragment"},
		{"a capture that there is not", "x.yaml", "{use: shop/basket, with: {item: a}, capture: {mine: bakset}}", `5:57: the fragment shop/basket does not capture bakset → did you mean "basket"?`},
		{"another key", "x.yaml", "{use: shop/basket, wiht: {item: a}}", `5:11: the fragment shop/basket needs the parameter item → add with: {item: …}|5:24: unknown key "wiht" → did you mean "with"?`},
		{"a name that nothing defines", "x.yaml", `{use: shop/basket, with: {item: "${{ nmae }}"}}`, "5:11: ${{ nmae }} is not defined here"},
	} {
		t.Run(tc.doc, func(t *testing.T) {
			_, err := load(folder(t, basket+"-- x.yaml --\nscenario: x\nwhy: w\nsource: s\nsteps:\n  - "+tc.text+"\n"))
			if got := briefly(err, tc.file); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestMistakesInFragments(t *testing.T) {
	for _, tc := range []struct{ doc, old, new, want string }{
		{"its name", "fragment: shop/basket", "fragment: basket", `1:11: the fragment is called "basket" → call it "shop/basket" like its file, or move the file`},
		{"a name that it has not", "${{ basket }}/items", "${{ session }}/items", "10:11: ${{ session }} is not defined here"},
		{"a parameter that nobody uses", "  item: {", "  more: {type: string}\n  item: {", "4:3: no step uses the parameter more → write ${{ more }} where its value is needed, or remove it"},
		{"a default of another type", "default: 1", "default: one", "5:35: the parameter count has type integer, but its value is a string → "},
		{"an unknown type", "type: integer", "type: int", `5:17: "type" is "int" → did you mean "integer"?`},
		{"an unknown key", "why: ", "source: s\nwhy: ", `2:1: unknown key "source"`},
		{"no JSONPath", "$.id", "$..", `9:23: "$.." is not a valid JSONPath`},
		{"another fragment", "steps:\n", "steps:\n  - use: shop/other\n", "8:5: a fragment cannot use another fragment → write the steps of shop/other here, or use it in the scenario"},
	} {
		t.Run(tc.doc, func(t *testing.T) {
			archive := strings.Replace(basket, tc.old, tc.new, 1)
			_, err := load(folder(t, archive+"-- x.yaml --\nscenario: x\nwhy: w\nsource: s\nsteps:\n  - {use: shop/basket, with: {item: a}}\n  - http: GET /${{ basket }}\n"))
			if got := briefly(err, "shop/basket.yaml"); !strings.HasPrefix(got, tc.want) || strings.Contains(got, "|") {
				t.Errorf("got  %s\nwant %s, and it alone", got, tc.want)
			}
		})
	}
}

// briefly returns mistakes without the folder and the file in which they are expected.
func briefly(err error, file string) string {
	problems, _ := err.(Problems)
	var out []string
	for _, p := range problems {
		line := strings.ReplaceAll(p.Error(), "\n\tfix: ", " → ")
		if _, rest, ok := strings.Cut(line, file+":"); ok {
			line = rest
		}
		out = append(out, line)
	}
	return strings.Join(out, "|")
}

func TestAWrongRowGeneratesOneRowForEachMistake(t *testing.T) {
	all, problems := Parse("f", "a/b", []byte(`scenario: a/b
why: w
source: s
table:
  - {name: own, n: 1, body: {}}
  - {name: item, n: 2, body: {a_b: x, on: true}, wrong: body}
steps: [{http: POST /items, json: "${{ row.body }}", malformed: true}]
`))
	if problems != nil {
		t.Fatal(problems)
	}
	var got []string
	for _, s := range all {
		body, err := s.Row["body"].Resolve(constants{})
		if err != nil || s.Generated != (s.Line == 6) {
			t.Errorf("%s: %v, generated %t in line %d", s.ID, err, s.Generated, s.Line)
		}
		got = append(got, strings.TrimPrefix(s.ID, "a/b")+" "+string(body))
	}
	want := []string{
		"[own] {}",
		"[item-null] null", "[item-number] 5", "[item-boolean] true", "[item-array] []", `[item-text] "x"`, `[item-object-in-a-list] [{"a_b":"x","on":true}]`,
		`[item-without-a-b] {"on":true}`,
		`[item-a-b-null] {"a_b":null,"on":true}`, `[item-a-b-number] {"a_b":5,"on":true}`, `[item-a-b-boolean] {"a_b":true,"on":true}`,
		`[item-a-b-array] {"a_b":[],"on":true}`, `[item-a-b-object] {"a_b":{},"on":true}`,
		`[item-without-on] {"a_b":"x"}`,
		`[item-on-null] {"a_b":"x","on":null}`, `[item-on-number] {"a_b":"x","on":5}`, `[item-on-array] {"a_b":"x","on":[]}`,
		`[item-on-object] {"a_b":"x","on":{}}`, `[item-on-text] {"a_b":"x","on":"x"}`,
		`[item-key-in-capitals] {"A_B":"x","ON":true}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestMistakesInRowsThatGenerateSeveral(t *testing.T) {
	for _, tc := range []struct{ row, want string }{
		{"{name: a, body: {}, wrong: bdoy}", `the row has no column "bdoy" → did you mean "body"?`},
		{"{name: a, body: {}, wrong: name}", `the row has no column "name"`},
		{"{name: a, body: {}, wrong: 5}", `the row has no column "5"`},
		{"{name: a, body: {x-y: 1, x_y: 2}, wrong: body}", `two rows are called "a-without-x-y" → give each row its own name`},
	} {
		_, problems := Parse("f", "a/b", []byte("scenario: a/b\nwhy: w\nsource: s\ntable:\n  - "+tc.row+"\nsteps: [{http: GET /}]\n"))
		if !slices.ContainsFunc(problems, func(p Problem) bool {
			return p.Line == 5 && p.Column > 4 && strings.Contains(strings.ReplaceAll(p.Error(), "\n\tfix: ", " → "), tc.want)
		}) {
			t.Errorf("%s: %v, want %s", tc.row, problems, tc.want)
		}
	}
}
