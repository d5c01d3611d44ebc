package project_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
)

// three are targets. One of them is called go-2, the name that a second "go" would get.
const three = `
  right: {url: "http://127.0.0.1:1", ready: {get: /health}}
  go: {command: [serve, "${{ port }}"], ready: {get: /health}}
  go-2: {command: [serve, "${{ port }}"], ready: {get: /health}}
`

func TestTargetsAreChosen(t *testing.T) {
	p := fauxproject.New(t, three)
	for _, tc := range []struct {
		name      string
		wishes    []string
		reference string
		want      []string
		alone     bool
	}{
		{"all of the project", nil, "", []string{"right http://127.0.0.1:1", "go", "go-2"}, false},
		{"another reference", nil, "go", []string{"go", "right http://127.0.0.1:1", "go-2"}, false},
		{"some, the reference is first", []string{"go", "right"}, "", []string{"right http://127.0.0.1:1", "go"}, false},
		{"without the project's reference, the first stands in", []string{"go-2", "go"}, "", []string{"go-2", "go"}, false},
		{"one alone", []string{"go"}, "", []string{"go"}, true},
		{"one alone, which is the reference", []string{"go"}, "go", []string{"go"}, true},
		{"one twice", []string{"go", "go"}, "", []string{"go", "go-3"}, false},
		{"one three times, and one that has such a name", []string{"go", "go", "go-2", "go"}, "", []string{"go", "go-3", "go-2", "go-4"}, false},
		{"the second of two is the reference", []string{"go", "go"}, "go-3", []string{"go-3", "go"}, false},
		{"another address", []string{"right=http://127.0.0.1:8", "go"}, "", []string{"right http://127.0.0.1:8", "go"}, false},
		{"another address instead of a command", []string{"right", "go=http://127.0.0.1:8/api"}, "", []string{"right http://127.0.0.1:1", "go http://127.0.0.1:8/api"}, false},
		{"a name of one's own", []string{"right", "live=https://example.org"}, "", []string{"right http://127.0.0.1:1", "live https://example.org"}, false},
		{"a name of one's own as the reference", []string{"right", "live=https://example.org"}, "live", []string{"live https://example.org", "right http://127.0.0.1:1"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, alone, err := p.Choose(tc.wishes, tc.reference)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || alone != tc.alone {
				t.Errorf("alone: %t, want %t; targets (-want +got):\n%s", alone, tc.alone, diff)
			}
		})
	}
}

func TestMistakesInTargetsHaveAFix(t *testing.T) {
	p := fauxproject.New(t, three)
	for _, tc := range []struct {
		name      string
		wishes    []string
		reference string
		want      string
	}{
		{"a slip of the finger", []string{"rihgt"}, "", "target \"rihgt\" is not in FILE\n\tfix: did you mean \"right\"?"},
		{"no such target", []string{"typescript"}, "", "target \"typescript\" is not in FILE\n\tfix: use one of: go, go-2, right"},
		{"an empty name", []string{""}, "", "target \"\" is not in FILE\n\tfix: use one of: go, go-2, right"},
		{"an address without a name", []string{"=http://127.0.0.1:8"}, "", "target \"=http://127.0.0.1:8\" has no name\n\tfix: write name=http://host:port"},
		{"a name without an address", []string{"go="}, "", "target go: \"\" is not the URL of a server\n\tfix: write name=http://host:port"},
		{"no scheme", []string{"go=127.0.0.1:8"}, "", "target go: \"127.0.0.1:8\" is not the URL of a server\n\tfix: write name=http://host:port"},
		{"another scheme", []string{"go=ws://127.0.0.1:8"}, "", "target go: \"ws://127.0.0.1:8\" is not the URL of a server\n\tfix: write name=http://host:port"},
		{"no host", []string{"go=http://:8"}, "", "target go: \"http://:8\" is not the URL of a server\n\tfix: write name=http://host:port"},
		{"a query", []string{"go=http://127.0.0.1:8/?a=b"}, "", "target go: \"http://127.0.0.1:8/?a=b\" is not the URL of a server\n\tfix: write name=http://host:port"},
		{"the same server twice", []string{"right", "live=http://127.0.0.1:1/"}, "", "targets \"right\" and \"live\" are the same server, http://127.0.0.1:1\n\tfix: give each target its own server"},
		{"a reference that is not among them", []string{"right", "go"}, "go-2", "reference \"go-2\" is not among the targets of this run\n\tfix: did you mean \"go\"?"},
		{"a reference that is not beside the only one", []string{"go"}, "right", "reference \"right\" is not among the targets of this run\n\tfix: use one of: go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := p.Choose(tc.wishes, tc.reference)
			want := strings.Replace(tc.want, "FILE", p.File, 1)
			if usage, ok := errors.AsType[*project.UsageError](err); !ok || !strings.HasPrefix(usage.Error(), want) {
				t.Errorf("Choose: %v\nwant a usage error: %s", err, want)
			}
		})
	}
}

func TestScenariosArePicked(t *testing.T) {
	type selection = project.Selection
	p := fauxproject.New(t, fauxproject.Running)
	dir := filepath.Dir(p.File)
	all := []string{"events/beats", "events/bytes", "events/end", "events/story", "items/every-step", "items/story", "process/stop"}
	for _, tc := range []struct {
		name string
		sel  selection
		want []string
	}{
		{"all", selection{}, all},
		{"one", selection{Paths: []string{"items/story"}}, []string{"items/story"}},
		{"two, in the order of their files", selection{Paths: []string{"items/story", "events/end"}}, []string{"events/end", "items/story"}},
		{"a folder", selection{Paths: []string{"items"}}, []string{"items/every-step", "items/story"}},
		{"a folder with its slash", selection{Paths: []string{"./items/"}}, []string{"items/every-step", "items/story"}},
		{"a folder and one in it", selection{Paths: []string{"items", "items/story"}}, []string{"items/every-step", "items/story"}},
		{"a file, wherever it is", selection{Paths: []string{filepath.Join(dir, "scenarios/items/story.yaml")}}, []string{"items/story"}},
		{"a file without its folder", selection{Paths: []string{"items/story.yaml"}}, []string{"items/story"}},
		{"a file without its extension", selection{Paths: []string{filepath.Join(dir, "scenarios/items/story")}}, []string{"items/story"}},
		{"a folder of files", selection{Paths: []string{filepath.Join(dir, "scenarios/items") + "/"}}, []string{"items/every-step", "items/story"}},
		{"all files", selection{Paths: []string{filepath.Join(dir, "scenarios")}}, all},
		{"a tag", selection{Tags: []string{"items"}}, []string{"items/every-step", "items/story"}},
		{"two tags at once", selection{Tags: []string{"events", "bytes"}}, []string{"events/bytes"}},
		{"all but two tags", selection{Skip: []string{"events", "process"}}, []string{"items/every-step", "items/story"}},
		{"a tag, but not another", selection{Tags: []string{"events"}, Skip: []string{"clock"}}, []string{"events/bytes", "events/end", "events/story"}},
		{"a text in the id", selection{Names: []string{"STORY"}}, []string{"events/story", "items/story"}},
		{"a text in the reason", selection{Names: []string{"byte for byte"}}, []string{"events/bytes"}},
		{"two texts at once", selection{Names: []string{"story", "watches"}}, []string{"events/story"}},
		{"everything at once", selection{Paths: []string{"events", "items"}, Tags: []string{"events"}, Skip: []string{"bytes"}, Names: []string{"story"}}, []string{"events/story"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := p.IDs(tc.sel)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("scenarios (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRowsOfATableArePickedByNameOrTogether(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "scenarios/items/rows.yaml", `
scenario: items/rows
why: Each row is one result
source: openapi.yaml
table: [{name: one}, {name: two}]
steps: [{http: GET /health}]
`)
	p := fauxproject.Load(t, file)
	for path, want := range map[string][]string{
		"items/rows":      {"items/rows[one]", "items/rows[two]"},
		"items/rows[two]": {"items/rows[two]"},
		filepath.Join(filepath.Dir(file), "scenarios/items/rows.yaml[two]"): {"items/rows[two]"},
	} {
		got, err := p.IDs(project.Selection{Paths: []string{path}})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v; scenarios (-want +got):\n%s", path, err, diff)
		}
	}
	for path, want := range map[string]string{
		"items/rows[three]": "items/rows has no row \"three\"\n\tfix: use one of: one, two",
		"items/rows[tow]":   "items/rows has no row \"tow\"\n\tfix: did you mean \"two\"?",
		"rows[one]":         "no scenario or folder is called \"rows[one]\"\n\tfix: did you mean \"items/rows\"?",
		"items/story[one]":  "no scenario or folder is called \"items/story[one]\"\n\tfix: did you mean \"items/story\"?",
	} {
		if _, err := p.IDs(project.Selection{Paths: []string{path}}); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
	}
}

func TestAProjectWithoutTags(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(sound, "scenarios: scenarios", "scenarios: few", 1))
	fauxproject.Add(t, file, "few/one.yaml", "scenario: one\nwhy: There is one\nsource: x\nsteps: [{http: GET /health}]\n")
	_, err := fauxproject.Load(t, file).IDs(project.Selection{Tags: []string{"nope"}})
	if want := "no scenario has the tag \"nope\"\n\tfix: leave it out: no scenario has tags"; err == nil || err.Error() != want {
		t.Errorf("Pick: %v\nwant %s", err, want)
	}
}

func TestMistakesInASelectionHaveAFix(t *testing.T) {
	type selection = project.Selection
	p := fauxproject.New(t, fauxproject.Running)
	for _, tc := range []struct {
		name string
		sel  selection
		want string
	}{
		{"a slip of the finger", selection{Paths: []string{"items/stroy"}}, "no scenario or folder is called \"items/stroy\"\n\tfix: did you mean \"items/story\"?"},
		{"no such path", selection{Paths: []string{"nothing/of/the/kind"}}, "no scenario or folder is called \"nothing/of/the/kind\"\n\tfix: name a scenario, a folder or a file, such as \"events/beats\""},
		{"no path", selection{Paths: []string{""}}, "no scenario or folder is called \"\"\n\tfix: name a scenario"},
		{"the beginning of a name", selection{Paths: []string{"items/st"}}, "no scenario or folder is called \"items/st\"\n\tfix: did you mean \"items/story\"?"},
		{"a name without its folder", selection{Paths: []string{"beats.yaml"}}, "no scenario or folder is called \"beats.yaml\"\n\tfix: did you mean \"events/beats\"?"},
		{"a name in two folders", selection{Paths: []string{"story"}}, "no scenario or folder is called \"story\"\n\tfix: use one of: events/story, items/story"},
		{"another extension", selection{Paths: []string{"scenarios/end.yml"}}, "no scenario or folder is called \"scenarios/end.yml\"\n\tfix: did you mean \"events/end\"?"},
		{"no such tag", selection{Tags: []string{"evnets"}}, "no scenario has the tag \"evnets\"\n\tfix: did you mean \"events\"?"},
		{"no tag like it", selection{Skip: []string{"websockets"}}, "no scenario has the tag \"websockets\"\n\tfix: use one of: bytes, clock, events, items, process"},
		{"too much at once", selection{Paths: []string{"items"}, Tags: []string{"events"}}, "no scenario is selected: --tag \"events\" fits none of the 2 that the other selectors leave\n\tfix: use fewer selectors: a scenario must fit all paths, tags and names"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := p.IDs(tc.sel)
			if usage, ok := errors.AsType[*project.UsageError](err); !ok || !strings.HasPrefix(usage.Error(), tc.want) {
				t.Errorf("Pick: %q, %v\nwant a usage error: %s", got, err, tc.want)
			}
		})
	}
}
