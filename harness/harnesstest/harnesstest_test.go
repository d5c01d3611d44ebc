//go:build unix

package harnesstest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/harnesstest"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

// roleVariable makes the test binary act as the tests of another project that uses this package.
const roleVariable = "LOCKSTEP_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
	case "tests":
		playTests(os.Args[1], os.Args[2:])
	case "stories":
		os.Unsetenv(roleVariable)
		playStories(os.Args[1], os.Args[2:])
	default:
		os.Exit(playTarget(role, os.Args[1:]))
	}
	os.Exit(leak.RunPrograms(m))
}

// playTests is that role: a single test of a project. The arguments name the project's file, and then its scenarios.
func playTests(file string, ids []string) {
	os.Args = []string{os.Args[0], "-test.v", "-test.timeout=1m"}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: "TestParity", F: func(t *testing.T) {
			var options *engine.Options
			if len(ids) > 0 {
				options = &engine.Options{Select: project.Selection{Paths: ids}}
			}
			harnesstest.Test(t, file, options)
		},
	}}, nil, nil)
}

// parity runs a project in a test of another process. It returns whether the test passed, and its output.
func parity(t *testing.T, file string, ids ...string) (passed bool, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{file}, ids...)...)
	cmd.Env = append(os.Environ(), roleVariable+"=tests", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return err == nil, strings.ReplaceAll(string(out), strings.TrimSuffix(file, "lockstep.yaml"), "")
}

func TestAProjectInsideATest(t *testing.T) {
	right, wrong := faux.Serve(t, &faux.Server{}), faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-type")})
	targets := func(right, wrong string) string {
		return "\n  right: {url: \"" + right + "\", ready: {get: /health}}\n  wrong: {url: \"" + wrong + "\", ready: {get: /health}}\n"
	}
	gone := "\n  right: {command: [sh, -c, 'echo no database >&2; exit 3', \"${{ port }}\"], ready: {get: /health}}\n  wrong: {url: \"" + wrong + "\", ready: {get: /health}}\n"
	for _, tc := range []struct {
		name    string
		targets string
		ids     []string
		passes  bool
		says    []string
	}{
		{
			"what matches passes", targets(right, wrong), []string{"items/every-step", "events/story"}, true,
			[]string{"--- PASS: TestParity/items/every-step ", "--- PASS: TestParity/events/story "},
		},
		{
			"what differs fails, and says where", targets(right, wrong), []string{"items"}, false,
			[]string{
				"--- PASS: TestParity/items/every-step ", "--- FAIL: TestParity/items/story ",
				`scenarios/items/story.yaml:13: step 3: body /size: the types differ`,
			},
		},
		{
			"what cannot be judged fails, with the target's last lines", gone, []string{"items/story"}, false,
			[]string{"--- FAIL: TestParity/items/story ", `start target "right": exited before it was ready: exit status 3`, "stderr: no database"},
		},
		{
			"what does not apply is skipped", targets(right, wrong), []string{"process/stop", "events/end"}, true,
			[]string{"--- SKIP: TestParity/process/stop ", "--- PASS: TestParity/events/end "},
		},
		{
			"when nothing applies, that is no success", targets(right, wrong), []string{"process/stop"}, false,
			[]string{"--- SKIP: TestParity/process/stop ", "nothing was judged"},
		},
		{
			"a wish that cannot be granted fails", targets(right, wrong), []string{"items/stroy"}, false,
			[]string{`no scenario or folder is called "items/stroy"`, `did you mean "items/story"?`},
		},
		{"so does a mistake in a file", "\n  right: {}\n", nil, false, []string{`lockstep.yaml:6:10: "right" is not allowed here`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Skip("starts processes")
			}
			passed, output := parity(t, fauxproject.Write(t, tc.targets), tc.ids...)
			if passed != tc.passes {
				t.Errorf("passed: %t, want %t", passed, tc.passes)
			}
			for _, want := range tc.says {
				if !strings.Contains(output, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}

func TestWaiversInsideATest(t *testing.T) {
	right, wrong := faux.Serve(t, &faux.Server{}), faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")})
	const waiver = `- id: W-0001
  scenario: items/story
  at: "GET /items/${{ lamp }}: body /name"
  difference: {kind: value, fingerprint: "469ed423"}
  class: intended
  reason: it was always so
  owner: ann
  expires: 9000-01-01
`
	for _, tc := range []struct {
		name      string
		candidate string
		passes    bool
		says      string
	}{
		{"what is waived passes, and is logged", wrong, true, "scenarios/items/story.yaml:13: step 3: body /name"},
		{"a waiver that is stale fails", faux.Serve(t, &faux.Server{}), false, "scenarios/waivers.yaml:1: waiver W-0001 is stale: what it accepts does not occur any more; remove it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := fauxproject.Write(t, "\n  right: {url: \""+right+"\", ready: {get: /health}}\n  wrong: {url: \""+tc.candidate+"\", ready: {get: /health}}\n")
			fauxproject.Add(t, file, "scenarios/waivers.yaml", waiver)
			passed, output := parity(t, file, "items/story")
			if passed != tc.passes || !strings.Contains(output, tc.says) {
				t.Errorf("passed: %t, want %t and %q:\n%s", passed, tc.passes, tc.says, output)
			}
		})
	}
}
