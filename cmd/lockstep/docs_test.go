//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// documentation returns the texts of README.md and docs/, by their names.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		data := testfile.Text(t, file)
		out[strings.TrimPrefix(file, root+"/")] = data
	}
	return out
}

var (
	fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")
	// shownBlock matches a command line in a code block: at the start of a line, or after the syntax of a CI file.
	shownBlock = regexp.MustCompile(`(?m)(?:^|[ '"(&])(?:\S*/bin/|bin/|\./|go run \./cmd/)?lockstep ([a-z-][^\n]*)`)
	// shownInline matches a command line in a sentence.
	shownInline = regexp.MustCompile("`(?:bin/|go run \\./cmd/)?lockstep ([a-z-][^`\n]*)`")
	// endOfCommand matches where a command line in a block ends and something else follows.
	endOfCommand = regexp.MustCompile(` \|\|? | && | &$| > |  `)
)

// notCommands are messages of the program that look like commands in a sentence.
var notCommands = []string{"itself failed"}

// shownCommands returns the command lines of lockstep in a document, without the word lockstep.
func shownCommands(text string) (out []string) {
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		for _, m := range shownBlock.FindAllStringSubmatch(block[2], -1) {
			line := m[1]
			if at := endOfCommand.FindStringIndex(line); at != nil {
				line = line[:at[0]]
			}
			if strings.Count(line, "'")%2 == 1 { // the unmatched quote belongs to the text around the command
				line = line[:strings.LastIndex(line, "'")]
			}
			out = append(out, line)
		}
	}
	for _, m := range shownInline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		if !slices.Contains(notCommands, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// taken reports why the program rejects a command line.
func taken(line string) error {
	args := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
	for i, a := range args {
		args[i] = strings.Trim(a, `'"`)
	}
	cmd, rest, err := rootCommand(&environment{}).Find(args)
	if err != nil {
		return err
	}
	if !cmd.HasParent() {
		return knownCommand(cmd, rest)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if len(rest) == 0 {
		return nil // the command is only mentioned
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func TestCommandsInTheDocumentationExist(t *testing.T) {
	commands := 0
	for name, text := range documentation(t) {
		for _, line := range shownCommands(text) {
			commands++
			if err := taken(line); err != nil {
				t.Errorf("%s shows lockstep %s, but %v", name, line, err)
			}
		}
	}
	if commands < 60 {
		t.Errorf("only %d commands were found", commands)
	}
}

// TestCommandsThatDoNotExistAreFound checks the search itself: it finds commands in all notations, and reports wrong
// ones.
func TestCommandsThatDoNotExistAreFound(t *testing.T) {
	text := "`lockstep rnu` and `lockstep run --taget go` and `lockstep itself failed`\n\n```yaml\n- run: make build && bin/lockstep lint x || true\n" +
		"  steps { sh 'bin/lockstep judge a b' }\nlockstep mutate --al   # all\nlockstep view &\n  command: [sh, -c, 'bin/lockstep run --shard auto --reports \"/s/$I\" || [ $? -eq 1 ]']\n```\n"
	want := []string{"lint x", "judge a b", "mutate --al", "view", `run --shard auto --reports "/s/$I"`, "rnu", "run --taget go"}
	got := shownCommands(text)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	for _, line := range got {
		if err := taken(line); (err == nil) != (line == "view" || line == "lint x" || strings.HasPrefix(line, "run --shard")) {
			t.Errorf("lockstep %s: %v", line, err)
		}
	}
}

// TestYAMLInTheDocumentationIsYAML parses every YAML block of the documentation, without the lines that stand for
// others.
func TestYAMLInTheDocumentationIsYAML(t *testing.T) {
	blocks := 0
	for name, text := range documentation(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if block[1] != "yaml" {
				continue
			}
			for _, document := range regexp.MustCompile(`(?m)^---\n`).Split(block[2], -1) {
				blocks++
				if problems := yamldoc.Read(name, []byte(document)).Mistakes; len(problems) > 0 {
					t.Errorf("%v\n%s", problems, document)
				}
			}
		}
	}
	if blocks < 15 {
		t.Errorf("only %d blocks were found", blocks)
	}
}

// recipes returns the YAML blocks of docs/ci.md that have a key at the top level or in their first element.
func recipes(t *testing.T, key string) (out []*yamldoc.Node) {
	t.Helper()
	for _, block := range fence.FindAllStringSubmatch(documentation(t)["docs/ci.md"], -1) {
		if block[1] != "yaml" {
			continue
		}
		if n, problems := yamldoc.Parse("docs/ci.md", []byte(block[2])); len(problems) == 0 && n.Get(key) != nil {
			out = append(out, n)
		}
	}
	return out
}

func TestTheRecipesFitTheirCI(t *testing.T) {
	github := recipes(t, "jobs")
	if len(github) == 0 {
		t.Fatal("there is no recipe for GitHub")
	}
	inputs := action(t).Get("inputs")
	used := false
	for _, n := range github {
		for name, job := range n.Get("jobs").Entries() {
			for _, step := range job.Get("steps").Elements() {
				if !strings.HasPrefix(step.Get("uses").Str(), "lockstep-dev/lockstep@") {
					continue
				}
				used = true
				for key := range step.Get("with").Entries() {
					if inputs.Get(key.Text) == nil {
						t.Errorf("job %s: the action has no input %q", name.Text, key.Text)
					}
				}
			}
		}
	}
	if !used {
		t.Error("no recipe uses the action")
	}
	gitlab := recipes(t, "parity")
	if len(gitlab) != 1 || gitlab[0].Get("parity").Get("artifacts").Get("reports").Get("junit").Str() != "reports/junit.xml" || gitlab[0].Get("parity").Get("script").Str() == "" {
		t.Errorf("%d recipes for GitLab", len(gitlab))
	}
}

// action parses action.yml.
func action(t *testing.T) *yamldoc.Node {
	t.Helper()
	data := testfile.Read(t, filepath.Join(root, "action.yml"))
	n, problems := yamldoc.Parse("action.yml", data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return n
}

func TestTheActionIsWellFormed(t *testing.T) {
	a := action(t)
	for _, name := range []string{"config", "args", "version", "artifact"} {
		if in := a.Get("inputs").Get(name); in.Get("description").Str() == "" || in.Get("default") == nil {
			t.Errorf("input %s has no description, or no default", name)
		}
	}
	if a.Get("runs").Get("using").Str() != "composite" || a.Get("name").Str() == "" || a.Get("description").Str() == "" {
		t.Error("it is no composite action with a name and a description")
	}
	kept := false
	for i, step := range a.Get("runs").Get("steps").Elements() {
		script, uses := step.Get("run").Str(), step.Get("uses").Str()
		switch {
		case (script == "") == (uses == ""):
			t.Errorf("step %d has to run something, or to use something", i+1)
		case script != "" && step.Get("shell").Str() != "bash":
			t.Errorf("step %d has no shell", i+1)
		case strings.Contains(script, "${{"):
			t.Errorf("step %d puts an expression into its script, where it would be run:\n%s", i+1, script)
		case strings.HasPrefix(uses, "actions/upload-artifact@"):
			kept = strings.HasPrefix(step.Get("if").Str(), "always()")
		}
	}
	if !kept {
		t.Error("the reports of a red run are not kept")
	}
}

// TestTheActionBuildsOnlyWhatIsNew checks that the name of the cached program depends on the files of the action and on
// nothing else, and that nothing is built when there is one.
func TestTheActionBuildsOnlyWhatIsNew(t *testing.T) {
	steps := map[string]*yamldoc.Node{}
	for _, step := range action(t).Get("runs").Get("steps").Elements() {
		steps[step.Get("id").Str()+step.Get("name").Str()] = step
	}
	if key := steps["cache"].Get("with").Get("key").Str(); key != "lockstep-${{ runner.os }}-${{ runner.arch }}-${{ steps.version.outputs.id }}" {
		t.Errorf("the key is %s", key)
	}
	if when := steps["Build lockstep"].Get("if").Str(); when != "steps.cache.outputs.cache-hit != 'true'" {
		t.Errorf("lockstep is built if %s", when)
	}
	id := func(files map[string]string) string {
		t.Helper()
		p, output := testProject{dir: t.TempDir()}, filepath.Join(t.TempDir(), "output")
		for name, text := range files {
			p.write(t, name, text)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps["versionFind lockstep's version"].Get("run").Str())
		cmd.Env = append(os.Environ(), "VERSION=", "SOURCE="+p.dir, "GITHUB_OUTPUT="+output)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return testfile.Text(t, output)
	}
	first := id(map[string]string{"go.mod": "module a\n", "cmd/a b.go": "package main\n"})
	if !regexp.MustCompile("^id=[0-9a-f]{40}\n$").MatchString(first) {
		t.Errorf("the version is %q", first)
	}
	for _, tc := range []struct {
		files map[string]string
		same  bool
	}{
		{map[string]string{"go.mod": "module a\n", "cmd/a b.go": "package main\n", ".git/HEAD": "x\n"}, true},
		{map[string]string{"go.mod": "module a\n", "cmd/a b.go": "package main \n"}, false},
		{map[string]string{"go.mod": "module a\n", "cmd/c.go": "package main\n"}, false},
	} {
		if got := id(tc.files); (got == first) != tc.same {
			t.Errorf("%v: %s, the first was %s", tc.files, got, first)
		}
	}
}

// TestActionsArePinned checks that the action and the workflows of this repository use other actions at a commit, with
// the version beside it.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("workflows: %q, %v", files, err)
	}
	text := ""
	for _, file := range append(files, filepath.Join(root, "action.yml")) {
		text += testfile.Text(t, file)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "uses:") && !regexp.MustCompile(`uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n$`).MatchString(line) {
			t.Errorf("not pinned: %s", line)
		}
	}
}

// TestTheActionPassesOnItsArguments checks that the action passes each argument to lockstep unchanged, and never runs
// its content.
func TestTheActionPassesOnItsArguments(t *testing.T) {
	var script string
	for _, step := range action(t).Get("runs").Get("steps").Elements() {
		if step.Get("id").Str() == "run" {
			script = step.Get("run").Str()
		}
	}
	for args, want := range map[string]string{
		"":                               "",
		"--tag sse  --jobs 2":            "--tag|sse|--jobs|2|",
		`--name 'two words' "a b" $(id)`: "--name|two words|a b|$(id)|",
		"; touch stolen":                 ";|touch|stolen|",
	} {
		dir := t.TempDir()
		p := testProject{dir: dir}
		p.write(t, "lockstep/lockstep", "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 1\n")
		if err := os.Chmod(filepath.Join(dir, "lockstep/lockstep"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+filepath.Join(dir, "output"), "CONFIG=e2e/my file.yaml", "ARGS="+args)
		out, err := cmd.Output()
		if got := string(out); got != "run|--config|e2e/my file.yaml|--format|github|"+want || err == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("args %q: lockstep gets %q, exit status %d; want %q and its own status", args, got, cmd.ProcessState.ExitCode(), want)
		}
		if got := p.read("output"); got != "reports=e2e/reports\n" || p.read("stolen") != "" {
			t.Errorf("args %q: the output is %q", args, got)
		}
	}
}
