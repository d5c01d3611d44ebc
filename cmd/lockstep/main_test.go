//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const (
	roleVariable   = "LOCKSTEP_TEST_ROLE"
	reportVariable = "LOCKSTEP_TEST_REPORT"
)

// TestMain makes the test binary three programs, by the role in its environment. In the role lockstep it is the
// command, and in another role a server. Without a role it runs the tests, and then checks that they left no process
// or goroutine behind.
func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
	case "lockstep":
		main()
	default:
		os.Exit(play(role))
	}
	os.Exit(leak.RunPrograms(m))
}

// play runs a server of package faux, or one of the odd roles.
func play(role string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p := &faux.Process{Log: os.Stderr, Exit: os.Exit, Report: os.Getenv(reportVariable), Again: again}
	if len(os.Args) > 1 {
		p.Listen = os.Args[1]
	}
	if other, ok := odd[role]; ok {
		return other(p)
	}
	return p.Play(ctx, role)
}

// again starts this program in another role.
func again(role string) error {
	return faux.Start(os.Args[0], append(os.Environ(), roleVariable+"="+role), os.Stdout)
}

// An outcome is the result of a command line.
type outcome struct {
	code           int
	stdout, stderr string
}

// A shell is the environment of a command line: its variables, and whether its outputs are terminals.
type shell struct {
	variables               map[string]string
	terminal, errorTerminal bool
	today                   string // such as 2026-11-20; "" for the current date
}

func (s shell) now() time.Time {
	if day, err := time.Parse(time.DateOnly, s.today); err == nil {
		return day.Add(13 * time.Hour)
	}
	return time.Now()
}

// lockstep runs the command in this process.
func lockstep(t *testing.T, args ...string) outcome { return shell{}.lockstep(t, args...) }

func (s shell) lockstep(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr syncbuffer.Buffer
	code := run(t.Context(), args, &environment{
		stdout: &stdout, stderr: &stderr, environ: os.Environ(), terminal: s.terminal, errorTerminal: s.errorTerminal,
		now:    s.now,
		getenv: func(name string) string { return s.variables[name] },
	})
	return outcome{code, stdout.String(), stderr.String()}
}

// TestAnOutputThatCannotBeWrittenIsAFailure checks that no command ends with 0 if standard output takes nothing and the
// output is lost.
func TestAnOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	p := two(t, "")
	if o := p.do(t, "run"); o.code != exitMatch {
		t.Fatalf("run: %+v", o)
	}
	for _, args := range [][]string{{"version"}, {"lint"}, {"list"}, {"--help"}, {"coverage"}, {"judge"}, {"judge", "--format", "json"}} {
		var stderr syncbuffer.Buffer
		if args[0] != "version" && args[0] != "--help" {
			args = append(args, "--config", p.file)
		}
		code := run(t.Context(), args, &environment{stdout: fullDisk{}, stderr: &stderr, environ: os.Environ(), getenv: func(string) string { return "" }})
		if code != exitUnknown || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%v: exit code %d: %s", args, code, stderr.String())
		}
	}
}

// fullDisk fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A testProject is a lockstep.yaml in a folder of its own.
type testProject struct{ dir, file string }

// shelves is the lockstep.yaml for package faux's servers, with a place for the targets.
const shelves = `contract: openapi.yaml
scenarios: scenarios
reference: right
targets:
%s
compare:
  headers: [Cache-Control, Content-Type, Location, X-Shelf]
  volatile:
    - {at: $..serial, kind: id, because: each server counts for itself}
limits: {step: 30s, scenario: 40s, settle: 50ms}
`

// newProject writes a project with these targets.
func newProject(t *testing.T, targets ...string) testProject {
	t.Helper()
	dir := t.TempDir()
	if err := faux.WriteProject(dir); err != nil {
		t.Fatal(err)
	}
	p := testProject{dir, filepath.Join(dir, "lockstep.yaml")}
	p.write(t, "lockstep.yaml", fmt.Sprintf(shelves, strings.Join(targets, "\n")))
	return p
}

// write writes a file of the project.
func (p testProject) write(t *testing.T, name, text string) {
	t.Helper()
	testfile.Write(t, filepath.Join(p.dir, name), text)
}

// read returns a file of the project, or "" if there is none.
func (p testProject) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.dir, name))
	return string(data)
}

// do runs a command of lockstep on the project, and removes the project's folder from the output.
func (p testProject) do(t *testing.T, command string, args ...string) outcome {
	t.Helper()
	return p.as(t, shell{}, command, args...)
}

func (p testProject) as(t *testing.T, s shell, command string, args ...string) outcome {
	t.Helper()
	o := s.lockstep(t, append([]string{command, "--config", p.file}, args...)...)
	o.stdout, o.stderr = strings.ReplaceAll(o.stdout, p.dir+"/", ""), strings.ReplaceAll(o.stderr, p.dir+"/", "")
	return o
}

// judged runs the project without writing reports, and returns the report.
func (p testProject) judged(t *testing.T, args ...string) *report.Document {
	t.Helper()
	o := p.do(t, "run", append(args, "--format", "json", "--reports", "-")...)
	doc, err := jsonreport.Read(strings.NewReader(o.stdout))
	if err != nil {
		t.Fatalf("%v; %+v", err, o)
	}
	return doc
}

// at returns a target that is running already, at the given address.
func at(name, address string) string {
	return fmt.Sprintf("  %s: {url: %q, ready: {get: /health}}", name, address)
}

// start returns a target that lockstep starts: the test binary in a role.
func start(t *testing.T, name, role, report string) string {
	t.Helper()
	self := testfile.Program(t)
	return fmt.Sprintf(`  %s:
    command: [%q, "${{ host }}:${{ port }}"]
    env: {%s: %s, %s: %q, GORACE: atexit_sleep_ms=0}
    ready: {get: /health, within: 60s}
    stop: 100ms`, name, self, roleVariable, role, reportVariable, report)
}

// two returns a project with a correct server and one with the given fault; "" for none.
func two(t *testing.T, id string) testProject {
	t.Helper()
	return newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, id)})))
}

// unpredictable lists what differs from run to run, with a replacement.
var unpredictable = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`· seed \d+\n`), "· seed ‹seed›\n"},
	{regexp.MustCompile(`· \d+\.\d s, \d+ jobs?\n`), "· ‹time› s, ‹some› jobs\n"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:‹port›"},
}

// predictable replaces everything that differs from run to run.
func predictable(text string) string {
	for _, u := range unpredictable {
		text = u.pattern.ReplaceAllString(text, u.name)
	}
	return text
}

// lastLine returns the last line of a text.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return lines[len(lines)-1]
}
