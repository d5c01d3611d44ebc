package yamldoc

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const scenarioSchema = "../../harness/scenario/scenario.schema.json"

// texts of schemas, the first of which is meant.
func schemas(t testing.TB, files ...string) [][]byte {
	t.Helper()
	var out [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	return out
}

// people are files that people have written.
func people(t testing.TB, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".yaml" {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestTheSieveLetsPassWhatTheLibraryLetsPass(t *testing.T) {
	for _, tc := range []struct {
		texts [][]byte
		files []string
	}{
		{schemas(t, scenarioSchema), people(t, "../../scenarios", "../faux/project/scenarios", "../../examples/notes/scenarios")},
		{schemas(t, "../../harness/project.schema.json", scenarioSchema), []string{"../../lockstep.yaml", "../../examples/notes/lockstep.yaml"}},
	} {
		sieve, library := newSieve(tc.texts), newLibrary(tc.texts)
		for _, file := range tc.files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root, problems := Parse(file, text)
			if problems != nil {
				continue
			}
			if err := library.compiled.Validate(root.Value()); err == nil && !sieve.passes(root) {
				t.Errorf("%s is held back", file)
			}
		}
	}
}

func TestTheSieveHoldsBackEveryMistake(t *testing.T) {
	texts := schemas(t, scenarioSchema)
	sieve, library := newSieve(texts), newLibrary(texts)
	dice := rand.New(rand.NewPCG(1, 2))
	held := 0
	for _, file := range people(t, "../../scenarios", "../faux/project/scenarios") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		root, problems := Parse(file, text)
		if problems != nil {
			continue
		}
		for range 4 {
			changed := clone(root)
			what := change(dice, changed)
			passes := sieve.passes(changed)
			if err := library.compiled.Validate(changed.Value()); err != nil && passes {
				t.Errorf("%s: the sieve lets pass %s: %v", file, what, err)
			}
			if !passes {
				held++
			}
		}
	}
	if held == 0 {
		t.Error("no change was held back, so none was a mistake")
	}
}

func clone(n *Node) *Node {
	c := *n
	c.Keys, c.Items = slices.Clone(n.Keys), slices.Clone(n.Items)
	for i := range c.Items {
		c.Items[i] = clone(c.Items[i])
	}
	for i := range c.Keys {
		c.Keys[i] = clone(c.Keys[i])
	}
	return &c
}

// change makes one change somewhere in a tree, and says what it is.
func change(dice *rand.Rand, root *Node) string {
	var all []*Node
	var walk func(*Node)
	walk = func(n *Node) {
		all = append(all, n)
		for _, item := range n.Items {
			walk(item)
		}
	}
	walk(root)
	n := all[dice.IntN(len(all))]
	i := 0
	if len(n.Items) > 0 {
		i = dice.IntN(len(n.Items))
	}
	words := []string{"", "x", "GET /", "POST /x", "2s", "$.a", "server", "fresh", "a b", "é"}
	switch what := dice.IntN(5); {
	case what == 0 && len(n.Items) > 0:
		n.Items = slices.Delete(n.Items, i, i+1)
		if n.Kind == Map {
			n.Keys = slices.Delete(n.Keys, i, i+1)
		}
		return "one thing less"
	case what == 1 && n.Kind == Map && len(n.Keys) > 0:
		known := []string{"expect", "status", "json", "match", "within", "end", "name", "steps", "every", "raw", "base64", "only", "é"}
		key := known[dice.IntN(len(known))]
		if n.Get(key) == nil { // a tree has no key twice
			n.Keys[i].Text = key
		}
		return "another key: " + key
	case what == 2:
		*n = Node{Kind: String, Text: words[dice.IntN(len(words))]}
		return "a string: " + n.Text
	case what == 3:
		numbers := []string{"0", "-1", "1", "200", "2e2", "200.0", "1.5", "600", "99999999999999999999"}
		*n = Node{Kind: Number, Text: numbers[dice.IntN(len(numbers))]}
		return "a number: " + n.Text
	default:
		*n = *clone(all[dice.IntN(len(all))])
		return "something from elsewhere"
	}
}

func FuzzTheSieveHoldsBackEveryMistake(f *testing.F) {
	texts := schemas(f, scenarioSchema)
	sieve, library := newSieve(texts), newLibrary(texts)
	for _, file := range people(f, "../faux/project/scenarios") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, problems := Parse("f", data)
		if problems != nil || !sieve.passes(root) {
			return
		}
		if err := library.compiled.Validate(root.Value()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTheSieveHoldsBackWhatItDoesNotUnderstand(t *testing.T) {
	for _, schema := range []string{
		`{"$id": "https://example.test/s", "const": 1}`,
		`{"$id": "https://example.test/s", "enum": [1]}`,
		`{"$id": "https://example.test/s", "not": {"type": "string"}}`,
		`{"$id": "https://example.test/s", "oneOf": [true]}`,
		`{"$id": "https://example.test/s", "if": {"type": "number"}, "then": true}`,
		`{"$id": "https://example.test/s", "minimum": 0.5}`,
		`{"$id": "https://example.test/s", "$ref": "#/$defs/a~1b", "$defs": {"a/b": true}}`,
		`{"$id": "https://example.test/s", "type": "number", "pattern": "(?=a)"}`,
	} {
		if newSieve([][]byte{[]byte(schema)}).passes(&Node{Kind: Number, Text: "1"}) {
			t.Errorf("%s lets 1 pass, which is right, but cannot be known", schema)
		}
	}
}
