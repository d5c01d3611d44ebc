package contract

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

var documents = []string{"../../openapi.yaml", "../../internal/faux/project/openapi.yaml", "../../examples/notes/openapi.yaml"}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPlainDocumentsAreReadAsTheLoaderReadsThem(t *testing.T) {
	for _, file := range documents {
		data := readFile(t, file)
		got, ok := loadPlain(data)
		if !ok {
			t.Errorf("%s is not plain", file)
			continue
		}
		want, err := newLoader().LoadFromData(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the loader reads something else", file)
		}
	}
}

func TestPlainValuesAreReadAsTheLoaderReadsThem(t *testing.T) {
	plain := 0
	for _, value := range []string{
		"1", "1.0", "1.50", "-0", "1e3", "1E400", "0x1F", "017", "0o17", "1_000", ".5", "5.", "+1", ".inf", ".nan",
		"9007199254740993", "18446744073709551616", "true", "True", "TRUE", "yes", "on", "no", "null", "Null", "~", "",
		"2026-03-01", "2026-03-01T12:00:00Z", "12:30", "\"1\"", "'true'", "!!str 1", "!!int \"1\"", "&a 1", "[&a 1, *a]",
		"{a: 1, b: [x, null, {c: }]}", "{a: 1, a: 2}", "{1: a, 200: b}", "{0x10: a}", "{1.5: a}", "{true: a}", "{null: a}",
		"{2026-03-01: a}", "{? [a] : 1}", "{<<: {a: 1}}", "{\"\": 1}", "\"\\u00e9\\n\\x41\\/\"", "|\n  two\n  lines\n", ">-\n  a\n\n  b\n",
		"a: b: c", "[", "{$ref: x}", "é",
	} {
		data := []byte("openapi: 3.0.3\nx-value: " + value + "\n")
		got, ok := loadPlain(data)
		if !ok {
			continue
		}
		plain++
		want, err := newLoader().LoadFromData(data)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %v; the loader reads %v %v", value, got.Extensions, want, err)
		}
	}
	if plain < 20 {
		t.Errorf("only %d of these values are plain", plain)
	}
}

// The loader reads YAML 1.1 here, and breaks the one or refuses the other.
func TestPlainValuesAreReadAsYAML12(t *testing.T) {
	for value, want := range map[string]string{`"\ud83d\ude00"`: "😀", "a\u2028b": "a\u2028b", "'a\u0085b'": "a\u0085b"} {
		got, ok := loadPlain([]byte("openapi: 3.0.3\nx-value: " + value + "\n"))
		if !ok || got.Extensions["x-value"] != want {
			t.Errorf("%+q is read as %v (%t), want %+q", value, got, ok, want)
		}
	}
}

// Whatever is changed about a document, it is read as the loader reads it, or left to the loader.
func TestChangedDocumentsAreReadAsTheLoaderReadsThem(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for _, file := range documents {
		tree, ok := yamldoc.Plain(readFile(t, file))
		if !ok {
			t.Fatal(file)
		}
		for range 40 {
			changed := cloneTree(tree)
			what := changeTree(dice, changed)
			got, ok := decode(changed)
			if !ok {
				continue
			}
			plain++
			want := &openapi3.T{}
			if err := want.UnmarshalJSON([]byte(changed.String())); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: with %s, the loader reads something else, or nothing (%v)", file, what, err)
			}
		}
	}
	if plain == 0 {
		t.Error("every change was left to the loader")
	}
}

func cloneTree(n *jsontree.Node) *jsontree.Node {
	c := &jsontree.Node{Kind: n.Kind, Text: n.Text, Names: slices.Clone(n.Names), Items: slices.Clone(n.Items)}
	for i := range c.Items {
		c.Items[i] = cloneTree(c.Items[i])
	}
	return c
}

// changeTree makes one change, and says what it is.
func changeTree(dice *rand.Rand, root *jsontree.Node) string {
	var all []*jsontree.Node
	var walk func(*jsontree.Node)
	walk = func(n *jsontree.Node) {
		all = append(all, n)
		for _, item := range n.Items {
			walk(item)
		}
	}
	walk(root)
	n := all[dice.IntN(len(all))]
	other := cloneTree(all[dice.IntN(len(all))])
	switch names := len(n.Names); {
	case names > 0 && dice.IntN(3) == 0:
		i := dice.IntN(names)
		words := []string{"$ref", "x-y", "Description", "schema", "type", "required", "example", "nullable", "not", "content", "unknown", "case:strict"}
		word := words[dice.IntN(len(words))]
		if slices.Contains(n.Names, word) {
			return "nothing"
		}
		was := n.Names[i]
		n.Names[i] = word
		return fmt.Sprintf("%s for %s", word, was)
	case names > 0 && dice.IntN(2) == 0:
		i := dice.IntN(names)
		was := n.Names[i]
		n.Names, n.Items = slices.Delete(n.Names, i, i+1), slices.Delete(n.Items, i, i+1)
		return "without " + was
	case dice.IntN(2) == 0:
		scalars := []jsontree.Node{
			{Kind: jsontree.Null}, {Kind: jsontree.Boolean, Text: "true"}, {Kind: jsontree.Number, Text: "1"}, {Kind: jsontree.Number, Text: "-1.5"},
			{Kind: jsontree.String}, {Kind: jsontree.String, Text: "string"}, {Kind: jsontree.Object}, {Kind: jsontree.Array},
		}
		*n = scalars[dice.IntN(len(scalars))]
		return fmt.Sprintf("%s somewhere", n)
	default:
		*n = *other
		return "something from elsewhere"
	}
}

func FuzzPlainDocumentsAreReadAsTheLoaderReadsThem(f *testing.F) {
	f.Add([]byte("openapi: 3.0.3\ninfo: {title: x, version: 1}\npaths: {/: {get: {responses: {200: {description: y}}}}}\ncomponents: {schemas: {A: {type: string}}}\n"))
	f.Add(readFile(f, "../../examples/notes/openapi.yaml"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if depth(data) > maxDepth {
			return
		}
		got, ok := loadPlain(data)
		if !ok {
			return
		}
		want, err := newLoader().LoadFromData(data)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("the loader reads something else, or nothing (%v)", err)
		}
	})
}
