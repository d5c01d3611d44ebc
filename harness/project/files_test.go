package project_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestTheFilesOfAProject(t *testing.T) {
	dir := t.TempDir()
	if err := faux.WriteProject(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"src/a.go", "src/deep/er/b.go", "src/c.js", "src/node_modules/d.go", "main.go", "Makefile", "scenarios/waivers.yaml", "scenarios/note.txt", "src/deep/x1.go"} {
		testfile.Write(t, filepath.Join(dir, name), "[]\n")
	}
	for _, tc := range []struct{ watch, want string }{
		{`["src/**/*.go"]`, "src/a.go src/deep/er/b.go src/deep/x1.go"},
		{`["**"]`, "Makefile lockstep.yaml main.go openapi.yaml scenarios/events/beats.yaml scenarios/events/bytes.yaml scenarios/events/end.yaml scenarios/events/story.yaml scenarios/items/every-step.yaml scenarios/items/story.yaml scenarios/note.txt scenarios/process/stop.yaml scenarios/waivers.yaml src/a.go src/c.js src/deep/er/b.go src/deep/x1.go"},
		{`[main.go, Makefile, none.go, "./src/*.js"]`, "Makefile main.go src/c.js"},
		{`["*.go", "src/*/?1.go", main.go]`, "main.go src/deep/x1.go"},
		{`["src/deep/**"]`, "src/deep/er/b.go src/deep/x1.go"},
		{`["nowhere/**/*.go"]`, ""},
	} {
		text := "contract: openapi.yaml\nscenarios: scenarios\nreference: right\ntargets:\n  right: {url: 'http://127.0.0.1:1', ready: {get: /health}, watch: " + tc.watch + "}\n"
		file := filepath.Join(dir, "lockstep.yaml")
		testfile.Write(t, file, text)
		p := fauxproject.Load(t, file)
		files := p.Files()
		if got := strings.ReplaceAll(strings.Join(files.Targets, " "), dir+"/", ""); got != tc.want {
			t.Errorf("watch %s: %s, want %s", tc.watch, got, tc.want)
		}
		if len(files.Scenarios) != 7 {
			t.Errorf("there are %d scenarios: %q", len(files.Scenarios), files.Scenarios)
		}
		want := []string{file, filepath.Join(dir, "openapi.yaml"), filepath.Join(dir, "scenarios/waivers.yaml")}
		if diff := cmp.Diff(want, files.Project); diff != "" {
			t.Errorf("the project's files (-want +got):\n%s", diff)
		}
	}
}

// Unless the project says otherwise, the files of a target are those that its command names.
func TestTheFilesOfACommand(t *testing.T) {
	dir := t.TempDir()
	if err := faux.WriteProject(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"src/server.py", "node", "src/deep/x.py"} {
		testfile.Write(t, filepath.Join(dir, name), "")
	}
	for name, tc := range map[string]struct{ target, want, unwatched string }{
		"a script":           {`command: [python3, src/server.py, "${{ port }}"]`, "src/server.py", ""},
		"from a folder":      {`command: [python3, server.py, "${{ port }}"], dir: src`, "src/server.py", ""},
		"a program of ours":  {`command: [./node, "${{ port }}"]`, "node", ""},
		"one in PATH":        {`command: [node, "${{ port }}"]`, "", "right"},
		"a folder":           {`command: [go, run, ./src, "${{ port }}"]`, "", "right"},
		"what is said":       {`command: [node, src/server.py, "${{ port }}"], watch: ["src/deep/*"]`, "src/deep/x.py", ""},
		"a server that runs": {`url: "http://127.0.0.1:1"`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "lockstep.yaml")
			text := "contract: openapi.yaml\nscenarios: scenarios\nreference: right\ntargets:\n  right: {" + tc.target + ", ready: {get: /health}}\n"
			testfile.Write(t, file, text)
			p := fauxproject.Load(t, file)
			files := p.Files()
			if got := strings.ReplaceAll(strings.Join(files.Targets, " "), dir+"/", ""); got != tc.want {
				t.Errorf("files %s, want %s", got, tc.want)
			}
			if got := strings.Join(files.Unwatched, " "); got != tc.unwatched {
				t.Errorf("unwatched %q, want %q", got, tc.unwatched)
			}
		})
	}
}

func TestAnInvalidPatternIsReported(t *testing.T) {
	dir := t.TempDir()
	if err := faux.WriteProject(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "lockstep.yaml")
	text := "contract: openapi.yaml\nscenarios: scenarios\nreference: right\ntargets:\n  right:\n    url: http://127.0.0.1:1\n    ready: {get: /health}\n    watch: ['src/[a']\n"
	testfile.Write(t, file, text)
	_, err := project.Load(file)
	want := file + ":8:13: \"src/[a\" is not a valid pattern: syntax error in pattern\n\tfix: write a path in which * stands for any name and ** for any folders, such as src/**/*.go"
	if err == nil || err.Error() != want {
		t.Errorf("Load: %v, want %s", err, want)
	}
}
