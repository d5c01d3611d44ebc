// Package examples checks the examples, and runs those that test other people's libraries.
package examples

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var update = flag.Bool("update", false, "write what the examples find into their findings.txt")

// programs are the examples of other people's libraries, with what their program in Go is called.
var programs = map[string]string{"mcp": "server", "chat": "server", "clients": "driver"}

// findingsFile has what an example finds. Its README explains each fingerprint.
const findingsFile = "findings.txt"

func TestTheExamplesHaveNoMistakes(t *testing.T) {
	for name := range programs {
		if _, err := harness.Load(name + "/lockstep.yaml"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var fingerprint = regexp.MustCompile(`\b[0-9a-f]{8}\b`)

// TestEachFindingIsExplained compares the fingerprints in the findings of an example with those in its README.
func TestEachFindingIsExplained(t *testing.T) {
	for name := range programs {
		found, explained := fingerprints(t, name+"/"+findingsFile), fingerprints(t, name+"/README.md")
		if diff := cmp.Diff(found, explained); diff != "" || len(found) == 0 {
			t.Errorf("%s: %d findings, and README.md explains others (-found +explained):\n%s", name, len(found), diff)
		}
	}
}

func fingerprints(t *testing.T, file string) []string {
	all := fingerprint.FindAllString(testfile.Text(t, file), -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// TestDriversAreSmall counts the lines with code, because a driver must not become a second library.
func TestDriversAreSmall(t *testing.T) {
	drivers := map[string]string{}
	for _, file := range []string{"clients/node/driver.mjs", "clients/go/main.go"} {
		drivers[file] = testfile.Text(t, file)
	}
	for _, m := range regexp.MustCompile("(?s)```(js|go)\n(.*?)```").FindAllStringSubmatch(testfile.Text(t, "../docs/drivers.md"), -1) {
		drivers["docs/drivers.md "+m[1]] = m[2]
	}
	if len(drivers) != 4 {
		t.Fatalf("%d drivers", len(drivers))
	}
	for name, text := range drivers {
		lines := 0
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
		if lines < 20 || lines > 60 {
			t.Errorf("%s has %d lines of code, want 60 at most", name, lines)
		}
	}
}

// TestTheExamplesFindWhatTheySay installs the libraries in a folder, runs each example there, and compares what it finds
// with its findings.txt. An example whose libraries cannot be downloaded is skipped, and the output says so.
func TestTheExamplesFindWhatTheySay(t *testing.T) {
	cache := os.Getenv("LOCKSTEP_EXAMPLES")
	if cache == "" {
		t.Skip("make test-examples runs it")
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
			defer cancel()
			dir := filepath.Join(cache, name)
			copyExample(t, name, dir)
			install(ctx, t, dir, program)
			found := strings.Join(findings(run(ctx, t, dir)), "\n") + "\n"
			file := filepath.Join(name, findingsFile)
			if *update {
				testfile.Write(t, file, found)
				return
			}
			if diff := cmp.Diff(testfile.Text(t, file), found); diff != "" {
				t.Errorf("%s finds something else; if that is right, run the test with -update and explain it in README.md (-want +got):\n%s", name, diff)
			}
		})
	}
}

// copyExample copies the files of an example. What is installed in the folder stays.
func copyExample(t *testing.T, name, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "scenarios")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && slices.Contains([]string{"node_modules", "bin", "reports"}, d.Name()) {
				return fs.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(name, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		testfile.Write(t, to, testfile.Read(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// install installs what an example needs, as its README says.
func install(ctx context.Context, t *testing.T, dir, program string) {
	t.Helper()
	locked, stamp := testfile.Text(t, filepath.Join(dir, "node/package-lock.json")), filepath.Join(dir, "node/node_modules/.installed")
	if done, err := os.ReadFile(stamp); err != nil || string(done) != locked {
		command(ctx, t, dir, "npm", "ci", "--prefix", "node", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")
		testfile.Write(t, stamp, locked)
	}
	command(ctx, t, dir, "go", "build", "-C", "go", "-o", filepath.Join("..", "bin", program), ".")
}

// unreachable matches what npm and go say when they cannot download.
var unreachable = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|dial tcp|no such host|i/o timeout|module lookup disabled`)

// command runs a program. It skips the test if the program does not exist, or cannot download.
func command(ctx context.Context, t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		t.Skipf("NOT RUN, because %s is not installed", name)
	case err != nil && unreachable.Match(out):
		t.Skipf("NOT RUN, because %s cannot download what the example needs:\n%s", name, out)
	case err != nil:
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func run(ctx context.Context, t *testing.T, dir string) *harness.Result {
	t.Helper()
	project, err := harness.Load(filepath.Join(dir, "lockstep.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := harness.Run(ctx, project, &harness.Options{Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// findings returns a line for each cause: its sentence, its values, and the scenarios that show it.
func findings(result *harness.Result) (lines []string) {
	in := map[string][]string{}
	for _, s := range result.Scenarios {
		for _, reason := range s.Reasons {
			lines = append(lines, fmt.Sprintf("unknown: %s: %v", s.ID, reason))
		}
		for i := range s.Findings {
			line := describe(&s.Findings[i])
			if in[line] == nil {
				lines = append(lines, line)
			}
			if !slices.Contains(in[line], s.ID) {
				in[line] = append(in[line], s.ID)
			}
		}
	}
	for i, line := range lines {
		if ids := in[line]; len(ids) > 0 {
			slices.Sort(ids)
			lines[i] += "\n  in " + strings.Join(ids, ", ")
		}
	}
	slices.Sort(lines)
	return lines
}

func describe(f *verdict.Finding) string {
	text := fmt.Sprintf("%s %s %s: %s", f.Kind, f.Fingerprint, diff.Unnumbered(f.Place), f.Text)
	if f.Class == verdict.Difference {
		return text + fmt.Sprintf("\n  %s → %s", short(f.Reference), short(f.Candidate))
	}
	return text + " (" + f.Target + ")"
}

// short returns the beginning of a value.
func short(value string) string {
	const most = 100
	if r := []rune(value); len(r) > most {
		return string(r[:most]) + "…"
	}
	return value
}
