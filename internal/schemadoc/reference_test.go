package schemadoc

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

//go:generate go test -count=1 -run TestTheReferenceIsUpToDate . -update

var update = flag.Bool("update", false, "write docs/reference.md")

// preamble is the start of docs/reference.md.
const preamble = `# Reference

This page lists every key of the files that you write. ` + "`make generate`" + ` makes it from the JSON Schemas; edit the text
there: [scenarios](../harness/scenario/scenario.schema.json), [fragments](../harness/scenario/fragment.schema.json),
[lockstep.yaml](../harness/project/project.schema.json), [waivers.yaml](../harness/verdict/waiver/waivers.schema.json).
[scenarios.md](scenarios.md), [rules.md](rules.md), [project.md](project.md) and [waivers.md](waivers.md) explain how
to use the keys together.

`

// described returns the files that the reference describes.
func described(t *testing.T) []File {
	t.Helper()
	read := func(file string) []byte {
		data, err := os.ReadFile(filepath.Join("../../harness", file))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return []File{
		{"Scenario", read("scenario/scenario.schema.json")},
		{"Fragment", read("scenario/fragment.schema.json")},
		{"lockstep.yaml", read("project/project.schema.json")},
		{"waivers.yaml", read("verdict/waiver/waivers.schema.json")},
	}
}

func TestTheReferenceIsUpToDate(t *testing.T) {
	const file = "../../docs/reference.md"
	text, err := Markdown(described(t))
	if err != nil {
		t.Fatal(err)
	}
	want := preamble + text
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference.md is not what the schemas make; run make generate (-want +got):\n%s", diff)
	}
}

// TestTheReferenceHasEveryKeyOfTheSchemas finds keys that the generator misses. It looks for keys without following
// references.
func TestTheReferenceHasEveryKeyOfTheSchemas(t *testing.T) {
	files := described(t)
	text, err := Markdown(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		root, _, err := jsontree.Parse(f.Schema)
		if err != nil {
			t.Fatal(err)
		}
		all := keys(root)
		for _, k := range all {
			key, description := k[0], k[1]
			if row := "`" + key + "` | "; !strings.Contains(text, row) {
				t.Errorf("%s: the reference has no key %q", f.Title, key)
			}
			if !strings.Contains(text, cell(description)) {
				t.Errorf("%s: the reference does not say of %q: %s", f.Title, key, description)
			}
		}
		if len(all) < 6 {
			t.Errorf("%s: %d keys were looked for", f.Title, len(all))
		}
	}
}

// keys returns every key of every object in a schema with its description, which is "" if it is elsewhere.
func keys(n *jsontree.Node) [][2]string {
	var out [][2]string
	for i, item := range n.Items {
		inside := []*jsontree.Node{item}
		if len(n.Names) > 0 && n.Names[i] == "properties" {
			inside = item.Items
			for j, key := range item.Names {
				out = append(out, [2]string{key, text(item.Items[j], "description")})
			}
		}
		for _, s := range inside {
			out = append(out, keys(s)...)
		}
	}
	return out
}
