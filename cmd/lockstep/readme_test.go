//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const root = "../.."

// A block is a code block of README.md below a comment about it.
type block struct{ what, of, text string }

var (
	fenced  = regexp.MustCompile("(?s)<!-- (file|output): ([^\n]*) -->\n```[a-z]*\n(.*?)```\n")
	comment = regexp.MustCompile(`<!-- *(file|output)`)
)

// blocks returns the blocks of README.md that are files, or outputs of commands. A malformed block fails the test,
// because it would not be checked.
func blocks(t *testing.T, what string) (readme string, found []block) {
	t.Helper()
	data := testfile.Text(t, filepath.Join(root, "README.md"))
	all := fenced.FindAllStringSubmatch(data, -1)
	if n := len(comment.FindAllString(data, -1)); n != len(all) {
		t.Fatalf("README.md has %d comments that announce a block, and %d blocks behind them", n, len(all))
	}
	for _, m := range all {
		if m[1] == what {
			found = append(found, block{m[1], m[2], m[3]})
		}
	}
	if len(found) == 0 {
		t.Fatalf("README.md has no block that is marked <!-- %s: … -->", what)
	}
	return data, found
}

func TestTheFilesInTheReadmeAreThoseOfTheExample(t *testing.T) {
	_, files := blocks(t, "file")
	for _, b := range files {
		data, err := os.ReadFile(filepath.Join(root, b.of))
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(string(data), b.text); diff != "" {
			t.Errorf("README.md shows %s otherwise than it is (-file +README):\n%s", b.of, diff)
		}
	}
}

// TestTheExampleInTheReadmeIsTrue runs the example as the README says. It must end and print as the README says.
func TestTheExampleInTheReadmeIsTrue(t *testing.T) {
	for _, program := range []string{"node", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the example has a server in Node and one in Go, and %s is not there: %v", program, err)
		}
	}
	readExample(t)
	readme, outputs := blocks(t, "output")
	for _, b := range outputs {
		if sentence := "`" + b.of + "` finds it and exits with 1:"; !strings.Contains(readme, sentence) {
			t.Errorf("README.md does not say: %s", sentence)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		args := strings.Fields(b.of)
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		var stdout, stderr syncbuffer.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = root, &stdout, &stderr
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.HasSuffix(stderr.String(), "exit status 1\n") {
			t.Errorf("%s: %v, want exit status 1; stderr:\n%s", b.of, err, &stderr) // go run exits with 1 for every status but 0
		}
		if diff := cmp.Diff(predictable(stdout.String()), predictable(b.text)); diff != "" {
			t.Errorf("README.md does not show what %s prints (-printed +README):\n%s", b.of, diff)
		}
	}
}

// wholeRun matches the block of README.md that shows a run of all scenarios.
var wholeRun = regexp.MustCompile("(?s)(<!-- parity -->\n```\n)(.*?)(```\n)")

// TestTheReadmeShowsTheWholeRun compares README.md with the last run, if that was green and had all scenarios: the lines
// must be the same, apart from numbers.
func TestTheReadmeShowsTheWholeRun(t *testing.T) {
	t.Chdir(root)
	o := lockstep(t, "judge", "--reports", "-")
	if o.code != exitMatch || strings.Contains(o.stdout, " scenarios were selected\n") {
		t.Skip("reports has no green run of all scenarios; make parity makes one")
	}
	readme := testfile.Text(t, "README.md")
	m := wholeRun.FindStringSubmatch(readme)
	if m == nil {
		t.Fatal("README.md shows no run of all scenarios")
	}
	if *update {
		testfile.Write(t, "README.md", strings.Replace(readme, m[0], m[1]+o.stdout+m[3], 1))
		return
	}
	numbers := regexp.MustCompile(`[0-9][0-9.]*`)
	if diff := cmp.Diff(numbers.ReplaceAllString(o.stdout, "0"), numbers.ReplaceAllString(m[2], "0")); diff != "" {
		t.Errorf("README.md does not show the last run; run go test -update (-printed +README):\n%s", diff)
	}
}

// readExample reads every file of the example, so that Go does not reuse a cached test result after one has changed.
func readExample(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, "examples", "notes"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "reports":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		_, err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
