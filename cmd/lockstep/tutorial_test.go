//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var update = flag.Bool("update", false, "write what commands print into the guides and README.md")

// part matches a code block of a guide that the test uses: a file, text to append to a file, an edit of a file, a file
// of the repository that is quoted, or a session of commands with their output.
var part = regexp.MustCompile("(?ms)^(?:<!-- (file|append|edit|quote): (\\S+) -->\n)?^```([a-z]*)\n(.*?)^```\n")

// guides are the documents that a reader can follow from start to end, with the least number of their commands, and what
// the reader has in addition to lockstep.
var guides = map[string]struct {
	commands int
	prepare  func(t *testing.T, r *reader, text string)
}{
	"tutorial.md":  {commands: 15},
	"wires.md":     {commands: 3},
	"drivers.md":   {commands: 3},
	"sdk.md":       {commands: 12, prepare: prepareSDK},
	"agent-sdk.md": {commands: 12, prepare: prepareAgentSDK},
}

// TestTheTutorialIsTrue follows the guides from start to end, and checks that everything is as they say.
func TestTheTutorialIsTrue(t *testing.T) {
	for _, program := range []string{"node", "go", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the guides need %s: %v", program, err)
		}
	}
	for name, guide := range guides {
		t.Run(name, func(t *testing.T) { follow(t, "docs/"+name, guide.commands, guide.prepare) })
	}
}

// follow does what a guide says.
func follow(t *testing.T, name string, commands int, prepare func(*testing.T, *reader, string)) {
	file := filepath.Join(root, name)
	text := testfile.Text(t, file)
	if a, b := strings.Count(text, "<!--"), len(regexp.MustCompile("<!-- (?:file|append|edit|quote): \\S+ -->\n```").FindAllString(text, -1)); a != b {
		t.Fatalf("%s has %d comments, and %d of them are before a block", name, a, b)
	}
	for _, m := range regexp.MustCompile(`(?s)([^\n]+\n(?:[^\n]+\n)*)\n<!-- (?:file|append|edit): (\S+) -->`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "`"+m[2]+"`") {
			t.Errorf("the text before a block does not name its file, %s: %s", m[2], m[1])
		}
	}
	r := newReader(t)
	if prepare != nil {
		prepare(t, r, text)
	}
	done := part.ReplaceAllStringFunc(text, func(whole string) string {
		m := part.FindStringSubmatch(whole)
		switch {
		case m[1] == "quote":
			return strings.Replace(whole, m[4]+"```", testfile.Text(t, filepath.Join(root, m[2]))+"```", 1)
		case m[3] != "console":
			r.write(t, m[1], m[2], m[4])
			return whole
		}
		got, problems := r.session(t, m[4])
		for _, p := range problems {
			t.Error(p)
		}
		return strings.Replace(whole, m[4], got, 1)
	})
	if r.commands < commands {
		t.Errorf("only %d commands were run", r.commands)
	}
	if *update {
		testfile.Write(t, file, done)
		return
	}
	if diff := cmp.Diff(drawn(done), drawn(text)); diff != "" {
		t.Errorf("%s does not show what its commands print; run go test -update (-printed +shown):\n%s", name, diff)
	}
}

// A reader follows a document's instructions in a folder.
type reader struct {
	dir, bin string
	env      []string // further variables
	status   int      // of the last command
	commands int
}

// newReader returns a reader that has this program in its PATH.
func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{dir: t.TempDir(), bin: t.TempDir()}
	script := fmt.Sprintf("#!/bin/sh\n%s=lockstep GORACE=atexit_sleep_ms=0 exec '%s' \"$@\"\n", roleVariable, os.Args[0])
	if err := os.WriteFile(filepath.Join(r.bin, "lockstep"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// write does what the comment above a block says.
func (r *reader) write(t *testing.T, what, name, text string) {
	t.Helper()
	p, name := testProject{dir: r.dir}, filepath.FromSlash(name)
	switch what {
	case "file":
		p.write(t, name, text)
	case "append":
		p.write(t, name, p.read(name)+text)
	case "edit":
		before, after := edit(text)
		if n := strings.Count(p.read(name), before); n != 1 {
			t.Fatalf("the lines of an edit stand %d times in %s:\n%s\n%s", n, name, before, p.read(name))
		}
		p.write(t, name, strings.Replace(p.read(name), before, after, 1))
	}
}

// edit returns the texts before and after a diff.
func edit(diff string) (before, after string) {
	for line := range strings.Lines(diff) {
		switch line[0] {
		case '-':
			before += line[1:]
		case '+':
			after += line[1:]
		default:
			before, after = before+line[1:], after+line[1:]
		}
	}
	return before, after
}

// session runs commands, and returns them with their output: standard output, or standard error if that is empty. A
// failing command must be followed by one that shows its status; otherwise session returns a problem.
func (r *reader) session(t *testing.T, text string) (printed string, problems []string) {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue // output
		}
		if r.status != 0 && command != "echo $?\n" {
			problems = append(problems, fmt.Sprintf("the command before %q ends with %d, and nobody says so", command, r.status))
		}
		out.WriteString(line)
		out.WriteString(r.run(t, command))
	}
	if r.status != 0 {
		problems = append(problems, fmt.Sprintf("a session ends with %d, and nobody says so:\n%s", r.status, text))
	}
	return out.String(), problems
}

func (r *reader) run(t *testing.T, command string) string {
	t.Helper()
	r.commands++
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", fmt.Sprintf("(exit %d)\n%s", r.status, command))
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+r.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, r.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatalf("%s: %v", command, err)
	}
	r.status = cmd.ProcessState.ExitCode()
	if stdout.Len() > 0 {
		return stdout.String()
	}
	return stderr.String()
}

// lots are values that the servers of the guides generate, with replacements.
var lots = []struct{ pattern, name string }{
	{`"[A-Z]{5}"`, `"‹ticket›"`},
	{`/ticket: the texts differ \[value [0-9a-f]{8}\]`, `/ticket: the texts differ [value ‹fingerprint›]`},
	{`expires in \d+ days`, `expires in ‹some› days`},
	{`\d\d\d\d-\d\d-\d\d`, `‹day›`},
}

// drawn replaces everything that differs from run to run in a guide.
func drawn(text string) string {
	text = predictable(text)
	for _, l := range lots {
		text = regexp.MustCompile(l.pattern).ReplaceAllLiteralString(text, l.name)
	}
	return text
}

// TestASessionIsCheckedAgainstItsOutput checks that a session which differs from its description is reported.
func TestASessionIsCheckedAgainstItsOutput(t *testing.T) {
	for _, tc := range []struct {
		session, want string
		problems      int
	}{
		{"$ echo a\nb\n", "$ echo a\na\n", 0},
		{"$ echo a; echo b >&2\n", "$ echo a; echo b >&2\na\n", 0},
		{"$ echo b >&2\n", "$ echo b >&2\nb\n", 0},
		{"$ exit 3\n$ echo $?\n0\n", "$ exit 3\n$ echo $?\n3\n", 0},
		{"$ exit 3\n", "$ exit 3\n", 1},
		{"$ exit 3\n$ true\n", "$ exit 3\n$ true\n", 1},
		{"$ lockstep version\n", "$ lockstep version\nlockstep " + engine.Version + "\n", 0},
	} {
		got, problems := newReader(t).session(t, tc.session)
		if got != tc.want || len(problems) != tc.problems {
			t.Errorf("%q: %q, %q; want %q and %d problems", tc.session, got, problems, tc.want, tc.problems)
		}
	}
	if drawn("new  \"ABCDE\"") != drawn("new  \"XBCDF\"") || drawn("statuses differ [status 12345678]") == drawn("statuses differ [status 12345679]") {
		t.Error("what is drawn by lot is not told from what is said")
	}
}
