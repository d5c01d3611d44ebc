package yamldoc

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const scenarioSchema = "../../harness/scenario/scenario.schema.json"

// schemas reads schemas; the first one is the main one.
func schemas(t testing.TB, files ...string) [][]byte {
	t.Helper()
	var out [][]byte
	for _, file := range files {
		text := testfile.Read(t, file)
		out = append(out, text)
	}
	return out
}

// people returns the paths of files that people wrote.
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

// inAnyOrder ignores the order of problems, because the library's follows the random order of Go's maps.
var inAnyOrder = cmpopts.SortSlices(func(a, b problem.Problem) bool { return a.Error() < b.Error() })

func TestFilesAreCheckedAsTheLibraryChecksThem(t *testing.T) {
	for _, tc := range []struct {
		texts [][]byte
		files []string
	}{
		{schemas(t, scenarioSchema), people(t, "../../scenarios", "../faux/project/scenarios", "../../examples/notes/scenarios")},
		{schemas(t, "../../harness/project/project.schema.json", scenarioSchema), []string{"../../lockstep.yaml", "../../examples/notes/lockstep.yaml"}},
		{schemas(t, "../../harness/verdict/waiver/waivers.schema.json"), []string{"../../lockstep.yaml"}},
		{schemas(t, "../../harness/verdict/baseline/baseline.schema.json"), []string{"../../lockstep.yaml"}},
	} {
		schema, library := MustSchema(tc.texts[0], tc.texts[1:]...), newLibrary(tc.texts)
		for _, file := range tc.files {
			text := testfile.Read(t, file)
			root, problems := Parse(file, text)
			if problems != nil {
				continue
			}
			if diff := cmp.Diff(library.problems(root), schema.Check("f", root), inAnyOrder); diff != "" {
				t.Errorf("%s (-library +ours):\n%s", file, diff)
			}
		}
	}
}

func TestMistakesAreFoundAsTheLibraryFindsThem(t *testing.T) {
	texts := schemas(t, scenarioSchema)
	schema, library := MustSchema(texts[0]), newLibrary(texts)
	dice := rand.New(rand.NewPCG(1, 2))
	held := 0
	for _, file := range people(t, "../../scenarios", "../faux/project/scenarios") {
		text := testfile.Read(t, file)
		root, problems := Parse(file, text)
		if problems != nil {
			continue
		}
		for range 4 {
			changed := clone(root)
			what := change(dice, changed)
			got := schema.Check("f", changed)
			if diff := cmp.Diff(library.problems(changed), got, inAnyOrder); diff != "" {
				t.Errorf("%s: with %s (-library +ours):\n%s", file, what, diff)
			}
			if len(got) > 0 {
				held++
			}
		}
	}
	if held == 0 {
		t.Error("no change was a mistake")
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

// change makes one random change to a tree, and says which.
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
		if n.Get(key) == nil { // a tree has no duplicate keys
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

func FuzzFilesAreCheckedAsTheLibraryChecksThem(f *testing.F) {
	texts := schemas(f, scenarioSchema)
	schema, library := MustSchema(texts[0]), newLibrary(texts)
	for _, file := range people(f, "../faux/project/scenarios") {
		text := testfile.Read(f, file)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, problems := Parse("f", data)
		if problems != nil {
			return
		}
		if diff := cmp.Diff(library.problems(root), schema.Check("f", root), inAnyOrder); diff != "" {
			t.Fatalf("(-library +ours):\n%s", diff)
		}
	})
}

func TestASchemaThatIsNotUnderstoodIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"$id": "https://example.test/s", "const": null}`,
		`{"$id": "https://example.test/s", "enum": [1, "1"]}`,
		`{"$id": "https://example.test/s", "not": {"type": "string"}}`,
		`{"$id": "https://example.test/s", "oneOf": [true]}`,
		`{"$id": "https://example.test/s", "if": {"type": "number"}, "then": true}`,
		`{"$id": "https://example.test/s", "$ref": "#/$defs/a"}`,
		`{"$id": "https://example.test/s", "type": "number", "pattern": "(?=a)"}`,
		`{"type": "number"}`,
	} {
		schema := MustSchema([]byte(text))
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "yamldoc: schema") {
					t.Errorf("%s: %q", text, said)
				}
			}()
			schema.Check("f", &Node{Kind: Number, Text: "1"})
		}()
	}
}
