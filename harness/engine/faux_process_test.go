//go:build unix

package engine_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// process is a target that lockstep starts: the test binary in a role. Its limits allow for a busy machine.
func process(t *testing.T, name, role, report string) string {
	t.Helper()
	slow(t)
	self := testfile.Program(t)
	return fmt.Sprintf(`
  %s:
    command: [%q, "${{ host }}:${{ port }}"]
    env: {%s: %s, %s: %q, GORACE: atexit_sleep_ms=0}
    ready: {get: /health, within: 60s}
    stop: 100ms
`, name, self, roleVariable, role, reportVariable, report)
}

func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts processes")
	}
}

// runProcess runs one scenario on a process and on a correct server. The correct one is the reference unless turned. It
// runs inside the test if the scenario allows that, because a process takes long to start.
func runProcess(t *testing.T, role, id string, turned bool, report string) (*engine.Result, verdict.Scenario) {
	t.Helper()
	names := []string{"right", "wrong"} // the reference first
	targets := slices.Clone(names)
	roles := []string{"right", role}
	if turned {
		slices.Reverse(roles)
	}
	var file strings.Builder
	for i, name := range names {
		file.WriteString(process(t, name, roles[i], report))
		if roles[i] == "right" && id != "process/stop" {
			targets[i] += "=" + faux.Serve(t, &faux.Server{})
		}
	}
	within := time.Minute
	if role == "never-ready" {
		within = 300 * time.Millisecond
	}
	for ; ; within *= 2 {
		result, err := engine.Run(t.Context(), fauxproject.New(t, strings.ReplaceAll(file.String(), "within: 60s", fmt.Sprintf("within: %dms", within.Milliseconds()))), &engine.Options{
			Targets: targets, Select: project.Selection{Paths: []string{id}}, Environ: os.Environ(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Scenarios) != 1 {
			t.Fatalf("%d scenarios, want 1", len(result.Scenarios))
		}
		s := result.Scenarios[0]
		if within < time.Minute && len(s.Reasons) > 0 && !strings.Contains(s.Reasons[0].Text, "503") {
			continue // a busy machine gave it no time to answer
		}
		return result, s
	}
}

func TestFaultsInTheLifeOfAProcess(t *testing.T) {
	for _, f := range faux.Processes() {
		if f.ID == "does-not-end" {
			continue // it has its own test
		}
		t.Run(f.ID+"/in the candidate", func(t *testing.T) {
			t.Parallel()
			result, s := runProcess(t, f.ID, f.In, false, "")
			if diff := cmp.Diff(sorted(f.Says), findings(&s)); diff != "" {
				t.Errorf("what is said (-want +got):\n%s", diff)
			}
			isWellSaid(t, &s)
			hasReason(t, f, "wrong", &s)
			want := verdict.Match
			switch {
			case len(f.Says) > 0:
				want = verdict.Differ
			case f.Reason != "":
				want = verdict.Unknown
			}
			if s.Verdict != want || result.Verdict != want {
				t.Errorf("the scenario is %s and the run %s, want %s", s.Verdict, result.Verdict, want)
			}
		})
		if f.ID == "exits-before-answer" || f.ID == "exits-between-answers" || f.ID == "talks-too-much" {
			continue // other tests have this fault in the reference
		}
		t.Run(f.ID+"/in the reference", func(t *testing.T) {
			t.Parallel()
			result, s := runProcess(t, f.ID, f.In, true, "")
			want, says := verdict.Match, turned(f.Says)
			switch {
			case f.Reason != "": // without a reference there are no findings
				want, says = verdict.Unknown, nil
			case len(f.Says) > 0:
				want = verdict.Differ
			}
			if diff := cmp.Diff(sorted(says), findings(&s)); diff != "" {
				t.Errorf("what is said (-want +got):\n%s", diff)
			}
			hasReason(t, f, "right", &s)
			if s.Verdict != want || result.Verdict != want {
				t.Errorf("the scenario is %s and the run %s, want %s", s.Verdict, result.Verdict, want)
			}
		})
	}
}

// hasReason fails unless the fault's reason is the only one, with the line of the log that explains it.
func hasReason(t *testing.T, f *faux.Fault, target string, s *verdict.Scenario) {
	t.Helper()
	if f.Reason == "" {
		if len(s.Reasons) > 0 {
			t.Errorf("reasons %v, want none", s.Reasons)
		}
		return
	}
	if len(s.Reasons) != 1 {
		t.Fatalf("reasons %v, want one", s.Reasons)
	}
	r := s.Reasons[0]
	text := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(r.Text, "127.0.0.1:‹port›")
	text = strings.TrimPrefix(text, "the reference's ")
	text, _, _ = strings.Cut(text, ", while ") // another test checks this part
	text = regexp.MustCompile(`within [\d.]+s|within \d+ms`).ReplaceAllString(text, "within ‹time›")
	text = regexp.MustCompile(`lockstep\.yaml:\d+`).ReplaceAllString(text, "lockstep.yaml:‹line›")
	want := strings.TrimPrefix(strings.ReplaceAll(f.Reason, "‹name›", target), "the ")
	if r.Target != target || strings.TrimPrefix(text, "the ") != want {
		t.Errorf("%s: %s\nwant %s: %s", r.Target, text, target, f.Reason)
	}
	if !slices.ContainsFunc(r.Log, func(line string) bool { return strings.Contains(line, f.Log) }) {
		t.Errorf("the log has no %q: %q", f.Log, r.Log)
	}
}

// crashes is a project with scenarios that each make a server with the fault exits-before-answer crash, and one
// scenario that does not.
func crashes(t *testing.T, targets string) *project.Project {
	t.Helper()
	file := fauxproject.Write(t, targets)
	dir := filepath.Join(filepath.Dir(file), "scenarios", "crash")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range 6 {
		text := fmt.Sprintf(`scenario: crash/%d
why: One item is read
source: openapi.yaml
steps:
  - http: POST /items
    json: {shelf: "s-${{ unique }}", name: lamp, tags: []}
    capture: {lamp: $.id}
`, n+1)
		if n < 5 {
			text += "  - http: GET /items/${{ lamp }}\n"
		}
		testfile.Write(t, filepath.Join(dir, fmt.Sprintf("%d.yaml", n+1)), text)
	}
	return fauxproject.Load(t, file)
}

// When a shared server crashes, only the scenario that was running fails, because lockstep restarts the server. It
// stops restarting a server that crashes every time.
func TestASharedProcessThatEndedIsStartedAgain(t *testing.T) {
	const (
		ended = `right: the reference's process ended: exit status 3, while crash/%d step 2 GET /items/${{ lamp }} was under way`
		gone  = `%s: the target is not running: exit status 3`
	)
	for _, tc := range []struct {
		name     string
		turned   bool
		paths    []string
		want     []string // "scenario: verdict", and why it is unknown
		restarts int
	}{
		{"the candidate, once", false, []string{"crash/1", "crash/6"}, []string{"crash/1: differ", "crash/6: match"}, 1},
		{"the reference, once", true, []string{"crash/1", "crash/6"}, []string{"crash/1: unknown " + fmt.Sprintf(ended, 1), "crash/6: match"}, 1},
		{"the candidate, always", false, []string{"crash"}, []string{
			"crash/1: differ", "crash/2: differ", "crash/3: differ", "crash/4: differ",
			"crash/5: unknown " + fmt.Sprintf(gone, "wrong"), "crash/6: unknown " + fmt.Sprintf(gone, "wrong"),
		}, 3},
		{"the reference, always", true, []string{"crash"}, []string{
			"crash/1: unknown " + fmt.Sprintf(ended, 1), "crash/2: unknown " + fmt.Sprintf(ended, 2),
			"crash/3: unknown " + fmt.Sprintf(ended, 3), "crash/4: unknown " + fmt.Sprintf(ended, 4),
			"crash/5: unknown " + fmt.Sprintf(gone, "right"), "crash/6: unknown " + fmt.Sprintf(gone, "right"),
		}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			slow(t)
			t.Parallel()
			roles := []string{"right", "exits-before-answer"}
			targets := []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong"}
			if tc.turned {
				slices.Reverse(roles)
				targets = []string{"right", "wrong=" + faux.Serve(t, &faux.Server{})}
			}
			var log strings.Builder
			p := crashes(t, process(t, "right", roles[0], "")+process(t, "wrong", roles[1], ""))
			result, err := engine.Run(t.Context(), p, &engine.Options{
				Targets: targets, Select: project.Selection{Paths: tc.paths}, Jobs: 1, Environ: os.Environ(),
				Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range result.Scenarios {
				text := fmt.Sprintf("%s: %s", s.ID, s.Verdict)
				if s.Verdict == verdict.Unknown {
					text += " " + s.Reasons[0].String()
					if !slices.ContainsFunc(s.Reasons[0].Log, func(line string) bool { return strings.Contains(line, "panic:") }) {
						t.Errorf("%s: its last words are not shown: %q", s.ID, s.Reasons[0].Log)
					}
				}
				for _, f := range s.Findings {
					if want := fmt.Sprintf("the target's process ended while %s step 2 GET /items/${{ lamp }} was under way", s.ID); f.Text != want {
						t.Errorf("%s: %q, want %q", s.ID, f.Text, want)
					}
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("scenarios (-want +got):\n%s", diff)
			}
			if n := strings.Count(log.String(), "target has ended and is started again"); n != tc.restarts {
				t.Errorf("%d restarts are told, want %d:\n%s", n, tc.restarts, &log)
			}
		})
	}
}

func TestNothingIsLeftOfAProcessThatDoesNotEnd(t *testing.T) {
	slow(t)
	for _, role := range []string{"candidate", "reference"} {
		t.Run("in the "+role, func(t *testing.T) {
			t.Parallel()
			report := faux.Listen(t)
			f := faux.Named(t, "does-not-end")
			says := f.Says
			if role == "reference" {
				says = turned(f.Says)
				says[0].Candidate = strings.Replace(says[0].Candidate, `"wrong"`, `"right"`, 1)
			}
			result, s := runProcess(t, f.ID, f.In, role == "reference", report.Addr().String())
			if diff := cmp.Diff(sorted(says), findings(&s)); diff != "" {
				t.Errorf("what is said (-want +got):\n%s", diff)
			}
			if s.Verdict != verdict.Differ || result.Verdict != verdict.Differ {
				t.Errorf("the scenario is %s and the run %s, want %s", s.Verdict, result.Verdict, verdict.Differ)
			}
			gone(t, report)
		})
	}
}

func TestNothingIsLeftOfASharedProcessThatDoesNotEnd(t *testing.T) {
	slow(t)
	t.Parallel()
	report := faux.Listen(t)
	result, s := runProcess(t, "does-not-end", "items/story", false, report.Addr().String())
	if s.Verdict != verdict.Match || result.Verdict != verdict.Match { // no step of the scenario stops it
		t.Errorf("the scenario is %s %v %v", s.Verdict, s.Findings, s.Reasons)
	}
	gone(t, report)
}

// gone waits until the grandchild that has reported does not exist any more.
func gone(t *testing.T, report *net.TCPListener) {
	t.Helper()
	guard := time.Now().Add(time.Minute)
	report.SetDeadline(guard)
	c, err := report.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(guard)
	if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the grandchild is still there: %v", err)
	}
}

func TestCorrectProcessesMatch(t *testing.T) {
	result, err := engine.Run(t.Context(), fauxproject.New(t, process(t, "right", "right", "")+process(t, "wrong", "right", "")), &engine.Options{
		Select: project.Selection{Skip: []string{"clock"}}, Environ: os.Environ(),
	})
	if err != nil {
		t.Fatal(err)
	}
	isMatch(t, result, 6)
}

func TestAnInterruptEndsProcesses(t *testing.T) {
	slow(t)
	t.Parallel()
	report := faux.Listen(t)
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer interrupt(nil)
	wrong := &faux.Server{Asked: func(operation string) {
		if operation == "GET /events" {
			interrupt(errInterrupt)
		}
	}}
	result, err := engine.Run(ctx, fauxproject.New(t, process(t, "right", "does-not-end", report.Addr().String())+process(t, "wrong", "right", "")), &engine.Options{
		Targets: []string{"right", "wrong=" + faux.Serve(t, wrong)}, Select: project.Selection{Paths: []string{"events/beats"}}, Environ: os.Environ(),
	})
	if err != nil {
		t.Fatal(err)
	}
	isInterrupted(t, result, "interrupted after 0 of 1 scenarios: interrupt; events/beats was under way")
	gone(t, report)
}

func TestAnInterruptEndsWhatIsJustStarting(t *testing.T) {
	slow(t)
	t.Parallel()
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer interrupt(nil)
	right := &faux.Server{Asked: func(string) { interrupt(errInterrupt) }} // the run asks it whether it is ready
	result, err := engine.Run(ctx, fauxproject.New(t, process(t, "right", "right", "")+process(t, "wrong", "never-ready", "")), &engine.Options{
		Targets: []string{"right=" + faux.Serve(t, right), "wrong"}, Select: project.Selection{Paths: []string{"items/story"}}, Environ: os.Environ(),
	})
	if err != nil {
		t.Fatal(err)
	}
	isInterrupted(t, result, "interrupted after 0 of 1 scenarios: interrupt; items/story was under way")
}
