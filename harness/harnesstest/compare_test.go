//go:build unix

package harnesstest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// play runs stories in a test of another process. It returns whether the test passed, and its output.
func play(t *testing.T, file string, names ...string) (passed bool, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{file}, names...)...)
	cmd.Env = append(os.Environ(), roleVariable+"=stories", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// urls are two running targets.
func urls(right, wrong string) string {
	return "\n  right: {url: \"" + right + "\", ready: {get: /health}}\n  wrong: {url: \"" + wrong + "\", ready: {get: /health}}\n"
}

// own is a target that the test binary plays.
func own(name, key, role, args, rest string) string {
	return fmt.Sprintf("\n  %s: {%s: [%q, %s], env: {%s: %s}%s}", name, key, os.Args[0], args, roleVariable, role, rest)
}

func server(name, fault string) string {
	return own(name, "command", "server", `"${{ host }}:${{ port }}", `+fault, ", ready: {get: /health}")
}

// at returns the place of the story's line with a comment.
func at(t *testing.T, comment string) string {
	t.Helper()
	for i, line := range strings.Split(testfile.Text(t, "stories_test.go"), "\n") {
		if strings.Contains(line, "// "+comment) {
			return fmt.Sprintf("stories_test.go:%d: ", i+1)
		}
	}
	t.Fatalf("no line says %q", comment)
	return ""
}

func TestScenariosInGo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	right := faux.Serve(t, &faux.Server{})
	same := urls(right, faux.Serve(t, &faux.Server{}))
	faulty := func(id string) string { return urls(right, faux.Serve(t, &faux.Server{Fault: faux.Named(t, id)})) }
	processes := func(fault string) string { return server("right", "right") + server("wrong", fault) + "\n" }
	program := func(kind, args string) string {
		return own("right", kind, kind, "right", "") + own("wrong", kind, kind, args, "") + "\n"
	}
	for _, tc := range []struct {
		name    string
		targets string
		stories []string
		passes  bool
		says    []string
	}{
		{"what matches passes", same, []string{"items", "events", "parallel"}, true, []string{"--- PASS: TestStories/items ", "--- PASS: TestStories/events ", "--- PASS: TestStories/parallel "}},
		{"a wrong response fails at its line", faulty("wrong-type"), []string{"items"}, false, []string{"--- FAIL: TestStories/items ", at(t, "reads the lamp") + "step 2: body /size: the types differ"}},
		{"a wrong status fails at its line", faulty("wrong-status"), []string{"items"}, false, []string{at(t, "adds a lamp") + "step 1: ", "[status, candidate]"}},
		{"a wrong event fails", faulty("wrong-event-data"), []string{"events"}, false, []string{"--- FAIL: TestStories/events ", "data /name"}},
		{"processes are started once, and shared", processes("right"), []string{"items", "events", "fresh"}, true, []string{"--- PASS: TestStories/fresh "}},
		{"a target that crashes fails", processes("exits-in-answer"), []string{"items"}, false, []string{"wrong: the process ended: exit status 3", "panic: assignment to entry in nil map", "[target-exited, candidate]"}},
		{"a target that does not start fails", processes("exits-at-start"), []string{"items"}, false, []string{"the disk is full", "exited before it was ready"}},
		{"what does not apply is skipped", same, []string{"fresh", "items"}, true, []string{"--- SKIP: TestStories/fresh ", "it needs newly started targets"}},
		{"when nothing applies, that is no success", same, []string{"fresh"}, false, []string{"nothing was judged"}},
		{"an assertion of the test makes it unknown", same, []string{"assertion"}, false, []string{"not what Go wanted", "cut short: the test failed by itself"}},
		{"FailNow closes everything", same, []string{"fatal", "items"}, false, []string{"--- FAIL: TestStories/fatal ", "--- PASS: TestStories/items ", "cut short: the function of the test did not return"}},
		{"a panic closes everything", processes("right"), []string{"panics"}, false, []string{"panic: a mistake of the test", "cut short: the function of the test did not return"}},
		{"a misspelt key", same, []string{"misspelt"}, false, []string{at(t, "misspells a key") + `unknown key "expct"`, `did you mean "expect"?`}},
		{"an unknown name", same, []string{"undefined"}, false, []string{at(t, "uses an unknown name") + "${{ lamp }} is not defined here"}},
		{"an operation that the contract lacks", same, []string{"undeclared"}, false, []string{at(t, "calls what the contract lacks") + "the contract has no operation for GET /chairs"}},
		{"a request that breaks the contract", same, []string{"invalid"}, false, []string{at(t, "breaks the contract") + "right: step 1: the request breaks the contract: body/"}},
		{"a request that is never joined", same, []string{"unjoined"}, false, []string{at(t, "starts and never joins") + "start slow: no step joins or closes it"}},
		{"no JSONPath", same, []string{"pathless"}, false, []string{at(t, "captures without a path")}},
		{"a value that is missing", same, []string{"valueless"}, false, []string{at(t, "captures nothing") + "step 1: ", "nothing from $.nothing"}},
		{"no why", same, []string{"whyless"}, false, []string{`"why"`}},
		{"programs match", program("program", "right"), []string{"program"}, true, []string{"--- PASS: TestStories/program "}},
		{"programs differ", program("program", "wrong"), []string{"program"}, false, []string{at(t, "counts one") + "step 3: "}},
		{"drivers match", program("driver", "right"), []string{"driver"}, true, []string{"--- PASS: TestStories/driver "}},
		{"drivers differ", program("driver", "wrong"), []string{"driver"}, false, []string{at(t, "says one") + "step 1: body /ok/said"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			file := fauxproject.Write(t, tc.targets)
			if strings.Contains(tc.name, "programs") || strings.Contains(tc.name, "drivers") || strings.Contains(tc.name, "sockets") {
				testfile.Write(t, file, []byte("reference: right\ntargets:"+tc.targets)) // no contract, and no scenarios
			}
			passed, output := play(t, file, tc.stories...)
			if passed != tc.passes {
				t.Errorf("passed: %t, want %t", passed, tc.passes)
			}
			for _, want := range tc.says {
				if !strings.Contains(output, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			if strings.Contains(output, "DATA RACE") {
				t.Error("there is a data race")
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}
