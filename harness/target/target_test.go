//go:build unix

package target

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestStartReturnsAServerThatAnswersAndStopEndsIt(t *testing.T) {
	target := start(t, roleSpec("server"))
	if got := get(t, target, "/status"); got != http.StatusOK {
		t.Errorf("GET /status: %d, want 200", got)
	}
	if waiting.IsClosed(target.Exited()) || target.ExitStatus() != "" {
		t.Errorf("exited with %q while it answers", target.ExitStatus())
	}
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if !waiting.IsClosed(target.Exited()) || target.ExitStatus() != "exit status 0" {
		t.Errorf("ExitStatus after Stop: %q, want exit status 0", target.ExitStatus())
	}
	want := []Line{{Stream: Stdout, Text: "listening"}, {Stream: Stdout, Text: "bye"}}
	if got := target.Log(); !slices.Equal(got, want) {
		t.Errorf("Log after Stop: %q, want %q", got, want)
	}
}

func TestStartWaitsUntilTheWantedStatusComes(t *testing.T) {
	spec := roleSpec("late")
	spec.Ready.Path = "/healthz"
	start(t, spec)
}

func TestStartReportsWhatTheLastProbeGot(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	spec := c.roleSpec("never")
	spec.Ready.Path = "/healthz?full=1"
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	started := make(chan error, 1)
	go func() {
		_, err := Start(ctx, spec, nil)
		started <- err
	}()
	c.awaitReport("never").awaitLine("asked")
	c.awaitReport("never").awaitLine("asked") // the first response has been read by now
	cancel(enough)
	err := <-started
	if !errors.Is(err, enough) {
		t.Errorf("Start: %v, want the context's cause", err)
	}
	wantError(t, err, `start target "never": enough: GET http://127.0.0.1:`, `/healthz?full=1: 503 Service Unavailable; 200 to 299 is wanted: correct ready, or the server`)
	c.reported["never"].awaitExit()
}

func TestStartIsBounded(t *testing.T) {
	slow(t)
	spec := roleSpec("grandchild") // does not listen
	spec.Ready.Within = 500 * time.Millisecond
	spec.Stop.Grace = 1
	_, err := Start(t.Context(), spec, nil)
	wantError(t, err, `start target "grandchild": not ready within 500ms: GET http://`, "connection refused: it runs, and nothing listens there: ${{ port }} is where it must")
}

func TestStartReportsAnEarlyExitWithItsLastLines(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	spec := c.roleSpec("exits")
	spec.LogLines = 3
	spec.Stop.Grace = 1 // the grandchild would use all of the grace
	_, err := Start(t.Context(), spec, nil)
	wantError(t, err, `start target "exits": exited before it was ready: exit status 3`)
	want := "stderr: line 1998 of the complaint\nstderr: line 1999 of the complaint\nstderr: no database: giving up"
	if got := lines(err); got != want {
		t.Errorf("log of the error:\n%s\nwant:\n%s", got, want)
	}
}

func TestStartNamesACommandThatCannotBeExecuted(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	for name, script := range map[string]string{"lost": "#!/nowhere/interpreter\n", "text": "just text\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testfile.Write(t, filepath.Join(dir, "forbidden"), "")
	for _, row := range []struct{ command, dir, want string }{
		{"agentd", "", `command "agentd": not found in PATH`},
		{"forbidden", "", `command "forbidden": not found in PATH`},
		{"./agentd", dir, `command "./agentd": execute "` + dir + `/agentd": no such file or directory`},
		{"./forbidden", dir, `command "./forbidden": execute "` + dir + `/forbidden": permission denied`},
		{"./lost", dir, `command "./lost": the interpreter that "` + dir + `/lost" names does not exist`},
		{"text", "", `command "text": execute "` + dir + `/text": exec format error`},
		{"./agentd", dir + "/none", `directory "` + dir + `/none": no such file or directory`},
		{"./agentd", dir + "/text", `directory "` + dir + `/text" is not a directory`},
	} {
		spec := Spec{Name: "go", Command: []string{row.command, "${{ port }}"}, Dir: row.dir}
		_, err := Start(t.Context(), spec, &Options{Environ: []string{"PATH=" + dir + ":/nowhere"}})
		wantError(t, err, `start target "go": `+row.want)
	}
	_, err := Start(t.Context(), Spec{Name: "go", Command: []string{"agentd", "${{ port }}"}}, nil)
	wantError(t, err, `start target "go": command "agentd": not found: PATH is empty`)
}

func TestFindReportsACommandThatStartWouldNotFind(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agentd"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ command, dir, want string }{
		{"agentd", "", ""},
		{"./agentd", dir, ""},
		{dir + "/agentd", "", ""},
		{"agnetd", "", `command "agnetd": not found in PATH`},
		{"./agnetd", dir, `command "./agnetd": there is no ` + dir + `/agnetd`},
		{dir + "/agnetd", "", `command "` + dir + `/agnetd": there is no ` + dir + `/agnetd`},
		{"./agentd", dir + "/none", `directory "` + dir + `/none": no such file or directory`},
	} {
		spec := Spec{Command: []string{row.command, "${{ port }}"}, Dir: row.dir}
		got := ""
		if err := spec.Find([]string{"PATH=/nowhere:" + dir}); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("Find of %s in %q: %q, want %q", row.command, row.dir, got, row.want)
		}
	}
	if err := (Spec{URL: "http://127.0.0.1:1"}).Find(nil); err != nil {
		t.Errorf("Find of a server that runs: %v", err)
	}
}

func TestStartFindsTheCommandAsTheTargetWould(t *testing.T) {
	slow(t)
	spec := roleSpec("server")
	dir := t.TempDir()
	if err := os.Symlink(spec.Command[0], filepath.Join(dir, "agentd")); err != nil {
		t.Fatal(err)
	}
	spec.Command[0] = "agentd"
	spec.Env["PATH"] = "relative:" + dir
	start(t, spec)

	spec.Over = map[string]string{"PATH": "/nowhere"}
	start(t, spec)

	spec.Command[0], spec.Dir = "./agentd", dir
	start(t, spec)
}

func TestStartTriesAnotherPortWhenItsOwnWasTaken(t *testing.T) {
	spec := roleSpec("portless")
	spec.Env[countVariable] = counter(t, maxStarts-1)
	start(t, spec)
}

func TestStartGivesUpWhenNoPortIsFree(t *testing.T) {
	slow(t)
	spec := roleSpec("portless")
	spec.Env[countVariable] = counter(t, 2*maxStarts)
	var log strings.Builder
	_, err := Start(t.Context(), spec, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	wantError(t, err, `start target "portless": exited before it was ready: exit status 1`)
	if n := strings.Count(log.String(), "port was taken"); n != 1 {
		t.Errorf("it was said %d times that a port was taken, want once:\n%s", n, &log)
	}
	if got := lines(err); !strings.Contains(got, "address already in use") {
		t.Errorf("log of the error: %q, want the last try's complaint", got)
	}
	left, err := os.ReadFile(spec.Env[countVariable])
	if err != nil || len(left) != maxStarts {
		t.Errorf("%d starts were not made (%v), want %d", len(left), err, maxStarts)
	}
}

// Another port would not help a server that ignores the given one.
func TestStartNamesThePortThatAServerWantsInstead(t *testing.T) {
	slow(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	spec := roleSpec("fixed")
	spec.Env[addressVariable] = taken.Addr().String()
	var log strings.Builder
	_, err = Start(t.Context(), spec, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	port := taken.Addr().(*net.TCPAddr).Port
	wantError(t, err, fmt.Sprintf(`start target "fixed": exited before it was ready: exit status 1: it wants port %d, which is taken, `+
		`and not the one it is given: the server does not use ${{ port }} everywhere it listens`, port))
	if log.String() != "" {
		t.Errorf("it was started more than once:\n%s", &log)
	}
}

// counter returns a file that counts down from n.
func counter(t *testing.T, n int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "count")
	testfile.Write(t, file, strings.Repeat("x", n))
	return file
}

func TestTargetsStartedTogetherHaveDifferentPorts(t *testing.T) {
	slow(t)
	targets := make([]*Target, 6)
	var starts sync.WaitGroup
	for i := range targets {
		starts.Go(func() {
			var err error
			if targets[i], err = Start(t.Context(), roleSpec("server"), nil); err != nil {
				t.Errorf("Start: %v\n%s", err, lines(err))
			}
		})
	}
	starts.Wait()
	ports := map[string]bool{}
	for _, target := range targets {
		if target == nil {
			continue
		}
		ports[target.URL().Port()] = true
		if err := target.Stop(t.Context()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	if len(ports) != len(targets) {
		t.Errorf("%d targets had %d ports", len(targets), len(ports))
	}
}

func TestATargetGetsOnlyWhatItMayKnow(t *testing.T) {
	slow(t)
	spec := roleSpec("server")
	spec.Command = []string{"/bin/sh", "-c", `/usr/bin/env; exec "$0" "$1"`, spec.Command[0], spec.Command[1]}
	spec.Env["HOME"] = "/elsewhere"
	spec.Env["LISTEN"] = "${{host}}:${{ port }}"
	spec.Inherit = []string{"JAVA_HOME"}
	target, err := Start(t.Context(), spec, &Options{Environ: []string{
		"API_KEY=secret", "HOME=/root", "JAVA_HOME=/java", "LC_ALL=C", "PATH=/bin=odd:/usr/bin", "NODE_OPTIONS=--inspect",
	}})
	if err != nil {
		t.Fatalf("Start: %v\n%s", err, lines(err))
	}
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	var got []string
	for _, line := range target.Log() {
		name, _, isSetting := strings.Cut(line.Text, "=")
		if isSetting && !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_", "GORACE"}, name) { // not inherited
			got = append(got, line.Text)
		}
	}
	slices.Sort(got)
	want := []string{
		"HOME=/elsewhere", "JAVA_HOME=/java", "LC_ALL=C", "LISTEN=" + target.URL().Host,
		roleVariable + "=server", "PATH=/bin=odd:/usr/bin", target.process.mark,
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("environment:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestACrashHasItsStatusAndItsLastLines(t *testing.T) {
	target := start(t, roleSpec("server"))
	if _, err := client.Get(target.URL().String() + "/crash"); err == nil {
		t.Error("GET /crash was answered")
	}
	<-target.Exited()
	if got := target.ExitStatus(); got != "exit status 2" {
		t.Errorf("ExitStatus: %q, want exit status 2", got)
	}
	log := target.Log()
	if want := (Line{Stream: Stderr, Text: "nobody expected a request"}); log[len(log)-1] != want {
		t.Errorf("last line: %q, want %q", log[len(log)-1], want)
	}
	status, err := target.Terminate(t.Context())
	wantError(t, err, `terminate target "server": it had already ended: exit status 2`)
	if status != "exit status 2" {
		t.Errorf("Terminate: %q, want exit status 2", status)
	}
}

func TestExitedWaitsUntilTheLastLinesAreRead(t *testing.T) {
	target := start(t, roleSpec("server"))
	target.process.log.mu.Lock() // whatever reads the output has to wait
	pid := target.process.leader.Pid
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for syscall.Kill(pid, 0) == nil { // until it has been waited for
		runtime.Gosched()
	}
	if waiting.IsClosed(target.Exited()) {
		t.Error("Exited is closed before the last words are in the log")
	}
	target.process.log.mu.Unlock()
	<-target.Exited()
	log := target.Log()
	if want := (Line{Stream: Stdout, Text: "bye"}); log[len(log)-1] != want {
		t.Errorf("last line: %q, want %q", log[len(log)-1], want)
	}
}

func TestTerminateWaitsForTheTargetToEndByItself(t *testing.T) {
	target := start(t, roleSpec("server"))
	status, err := target.Terminate(t.Context())
	if status != "exit status 0" || err != nil {
		t.Errorf("Terminate: %q, %v, want exit status 0", status, err)
	}
}

func TestTerminateDoesNotKill(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	target := start(t, c.roleSpec("stubborn"))
	ctx, cancel := context.WithCancelCause(t.Context())
	patience := errors.New("waited long enough")
	terminated := make(chan error, 1)
	go func() {
		_, err := target.Terminate(ctx)
		terminated <- err
	}()
	c.awaitReport("stubborn").awaitLine("ignored SIGTERM")
	cancel(patience)
	if err := <-terminated; !errors.Is(err, patience) {
		t.Errorf("Terminate: %v, want the context's cause", err)
	}
	if got := get(t, target, "/status"); got != http.StatusOK {
		t.Errorf("GET /status: %d, want 200", got)
	}
}

func TestAFloodOfOutputNeitherStallsTheTargetNorIsKept(t *testing.T) {
	target := start(t, roleSpec("flood"))
	log := target.Log()
	if len(log) > 202 {
		t.Errorf("%d lines are kept", len(log))
	}
	kept := 0
	for _, line := range log {
		kept += len(line.Text)
	}
	if kept > 202*maxLine {
		t.Errorf("%d bytes are kept", kept)
	}
}

func TestATargetThatRunsElsewhereIsOnlyProbed(t *testing.T) {
	running := start(t, roleSpec("server"))
	target, err := Start(t.Context(), Spec{Name: "ref", URL: running.URL().String()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.Terminate(t.Context()); err == nil || err.Error() != `terminate target "ref": the harness did not start it` {
		t.Errorf("Terminate: %v", err)
	}
	if err := target.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if target.Exited() != nil || target.ExitStatus() != "" || target.Log() != nil {
		t.Errorf("a target by URL has an end: %q, %q", target.ExitStatus(), target.Log())
	}
	if got := get(t, running, "/status"); got != http.StatusOK {
		t.Errorf("GET /status: %d after Stop, want 200", got)
	}

	_, err = Start(t.Context(), Spec{Name: "ref", URL: running.URL().String() + "/v1/", Ready: Ready{Within: 1}}, nil)
	wantError(t, err, `reach target "ref": not ready within 1ns: GET `+running.URL().String()+"/v1/status: ")
}

func TestStartsAndStopsLeaveNoDescriptorOpen(t *testing.T) {
	slow(t)
	descriptors := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc to count in")
		}
		return len(open)
	}
	cycle := func() {
		for _, role := range []string{"server", "exits"} {
			spec := roleSpec(role)
			spec.Stop.Grace = 1
			target, err := Start(t.Context(), spec, nil)
			if err == nil {
				err = target.Stop(t.Context())
			}
			if role == "server" && err != nil {
				t.Error(err)
			}
		}
		Start(t.Context(), Spec{Name: "none", Command: []string{"/nowhere", "${{ port }}"}}, nil)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would close forgotten files
	cycle()                                          // the first cycle opens what the runtime keeps open
	before := descriptors()
	for range 3 {
		cycle()
	}
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

// client keeps no connection open, and so leaves no goroutine.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// get returns the status of a GET request to the target.
func get(t *testing.T, target *Target, path string) int {
	t.Helper()
	res, err := client.Get(target.URL().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// wantError fails unless err is an *Error that begins with prefix and has the given end.
func wantError(t *testing.T, err error, prefix string, suffix ...string) {
	t.Helper()
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("got %v, want an *Error", err)
		return
	}
	if !strings.HasPrefix(err.Error(), prefix) || !strings.HasSuffix(err.Error(), strings.Join(suffix, "")) {
		t.Errorf("got  %s\nwant %s…%s", err, prefix, strings.Join(suffix, ""))
	}
}

// lines returns the log of an *Error as it is printed.
func lines(err error) string {
	var shown []string
	if failed, ok := errors.AsType[*Error](err); ok {
		for _, line := range failed.Log {
			shown = append(shown, line.String())
		}
	}
	return strings.Join(shown, "\n")
}

// cancelled is a context that has already ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
