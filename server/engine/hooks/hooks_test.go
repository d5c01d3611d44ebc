//go:build unix

package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// sh returns a hook for all tools that runs a script.
func sh(script string) hooks.Hook {
	return hooks.Hook{Match: "*", Command: []string{"/bin/sh", "-c", script}, Timeout: 30 * time.Second}
}

var call = hooks.Call{Tool: "client_c_z", Input: json.RawMessage(`{"b":1.0,"a":"\ud800"}`), SessionID: "s\n", CallID: "x", ClientID: new("c")}

// before runs hooks before the call, and returns the input that they leave, and the text of the error.
func before(t *testing.T, list ...hooks.Hook) (input, denied string, log *syncbuffer.Buffer) {
	t.Helper()
	log = new(syncbuffer.Buffer)
	h := hooks.New(hooks.Lists{Before: list}, hooks.Options{Environment: os.Environ(), Log: slog.New(slog.NewTextHandler(log, nil))})
	left, _, err := h.Before(t.Context(), call)
	if err != nil {
		denied = err.Error()
	}
	return string(left), denied, log
}

func TestWhatHooksRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "read")
	copying := sh("cat >>" + path)
	other := copying
	other.Match = "client_d_*"
	h := hooks.New(hooks.Lists{Before: []hooks.Hook{copying, other}, After: []hooks.Hook{copying}}, hooks.Options{Environment: os.Environ()})
	if _, _, err := h.Before(t.Context(), call); err != nil {
		t.Error(err)
	}
	h.After(t.Context(), call, hooks.Outcome{Text: "out"})
	h.After(t.Context(), hooks.Call{Tool: "dev__shell", Input: json.RawMessage("{}")}, hooks.Outcome{Text: "", Failed: true})
	want := `{"event":"before","tool":"client_c_z","input":{"b":1.0,"a":"\ud800"},"sessionID":"s\n","callID":"x","clientID":"c"}
{"event":"after","tool":"client_c_z","input":{"b":1.0,"a":"\ud800"},"sessionID":"s\n","callID":"x","clientID":"c","result":{"status":"success","output":"out"}}
{"event":"after","tool":"dev__shell","input":{},"sessionID":"","callID":"","result":{"status":"error","error":""}}
`
	if got := string(testfile.Read(t, path)); got != want {
		t.Errorf("the hooks read\n%s\nwant\n%s", got, want)
	}
}

func TestWhatHooksSayBefore(t *testing.T) {
	same := string(call.Input)
	for _, tc := range []struct{ name, script, input, denied string }{
		{"nothing", "true", same, ""},
		{"blanks", `printf ' \t\r\n'`, same, ""},
		{"allow", `echo '{"decision":"allow","reason":"x","more":1}'`, same, ""},
		{"another input", `printf ' {"decision":"deny","decision":"allow","input":{"b":2,"a":1e1}}\n '`, `{"b":2,"a":1e1}`, ""},
		{"deny", `echo '{"decision":"deny"}'`, same, "Denied by hook"},
		{"an empty reason", `echo '{"decision":"deny","reason":""}'`, same, "Denied by hook"},
		{"a reason", `echo '{"decision":"deny","reason":"No <way>","input":{}}'`, same, "No <way>"},
		{"no decision", `echo '{}'`, same, "Hook failed: /bin/sh"},
		{"another decision", `echo '{"decision":"Allow"}'`, same, "Hook failed: /bin/sh"},
		{"a reason of another type", `echo '{"decision":"allow","reason":null}'`, same, "Hook failed: /bin/sh"},
		{"an input of another type", `echo '{"decision":"allow","input":[]}'`, same, "Hook failed: /bin/sh"},
		{"a list", `echo '[]'`, same, "Hook failed: /bin/sh"},
		{"two objects", `echo '{"decision":"allow"}{}'`, same, "Hook failed: /bin/sh"},
		{"a BOM", `printf '\357\273\277{"decision":"allow"}'`, same, "Hook failed: /bin/sh"},
		{"not UTF-8", `printf '{"decision":"allow","x":"\377"}'`, same, "Hook failed: /bin/sh"},
		{"a lone surrogate", `printf '{"decision":"allow","x":"\\ud800"}'`, same, "Hook failed: /bin/sh"},
		{"a status", `echo '{"decision":"allow"}'; exit 3`, same, "Hook failed: /bin/sh"},
		{"a signal", `kill -9 $$`, same, "Hook failed: /bin/sh"},
		{"1 MiB", `head -c 1048557 /dev/zero | tr '\0' ' '; printf '{"decision":"deny"}'`, same, "Denied by hook"},
		{"more than 1 MiB", `head -c 1048558 /dev/zero | tr '\0' ' '; printf '{"decision":"deny"}'`, same, "Hook failed: /bin/sh"},
		{"endless output", `yes`, same, "Hook failed: /bin/sh"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			input, denied, log := before(t, sh(tc.script))
			if input != tc.input || denied != tc.denied {
				t.Errorf("input %s, denied %q; want %s, %q", input, denied, tc.input, tc.denied)
			}
			if logged := log.String(); (logged != "") != strings.HasPrefix(tc.denied, "Hook failed") || strings.Contains(logged, "decision\":") {
				t.Errorf("the log is %q", logged)
			}
		})
	}
}

func TestHooksRunInTheirOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "never")
	input, denied, _ := before(t,
		sh(`echo '{"decision":"allow","input":{"n":1}}'`),
		sh(`grep -q '"input":{"n":1}' && echo '{"decision":"allow","input":{"n":2}}'`),
		sh(`grep -q '"input":{"n":2}' && echo '{"decision":"deny","reason":"third"}'`),
		sh("echo >"+path))
	if input != `{"n":2}` || denied != "third" {
		t.Errorf("input %s, denied %q", input, denied)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a hook ran after the denial")
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	_, denied, log := before(t, hooks.Hook{Match: "*", Command: []string{"/nowhere/at/all"}, Timeout: time.Minute})
	if denied != "Hook failed: /nowhere/at/all" || !strings.Contains(log.String(), "no such file") {
		t.Errorf("denied %q; log %s", denied, log)
	}
}

func TestWhatHooksSayAfter(t *testing.T) {
	for _, tc := range []struct{ name, script, text string }{
		{"nothing", "true", "out"},
		{"no output", `echo '{"x":1}'`, "out"},
		{"an output", `echo '{"output":""}'`, ""},
		{"an output of another type", `echo '{"output":null}'`, "out"},
		{"a failure", `echo '{"output":"x"}'; exit 1`, "out"},
		{"no JSON", `echo out`, "out"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next := sh(`grep -q '"output":"` + tc.text + `"' || exit 1; echo '{"output":"next"}'`)
			h := hooks.New(hooks.Lists{After: []hooks.Hook{sh(tc.script), next}}, hooks.Options{Environment: os.Environ()})
			if text, replaced := h.After(t.Context(), call, hooks.Outcome{Text: "out"}); text != "next" || !replaced {
				t.Errorf("text %q, replaced %t: the next hook did not see %q", text, replaced, tc.text)
			}
		})
	}
}

func TestTheEnvironmentOfHooks(t *testing.T) {
	var stderr *os.File
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	h := hooks.New(hooks.Lists{Before: []hooks.Hook{sh(`echo "$GOOSE_SERVER__SECRET_KEY.$OTHER" >&2; pwd >&2; test $$ = $(ps -o pgid= -p $$ 2>/dev/null || echo $$)`)}},
		hooks.Options{Environment: append(os.Environ(), "GOOSE_SERVER__SECRET_KEY=s3cret", "OTHER=o"), Stderr: stderr})
	if _, _, err := h.Before(t.Context(), call); err != nil {
		t.Error(err)
	}
	wd, _ := os.Getwd()
	if got := string(testfile.Read(t, stderr.Name())); got != ".o\n"+wd+"\n" {
		t.Errorf("standard error: %q", got)
	}
}

// waits is a hook whose process and child wait, after it has told that they run. The pipe ends when both are gone.
func waits(t *testing.T) (hook hooks.Hook, running func(), gone func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	running = func() {
		t.Helper()
		if _, err := reader.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	gone = func() {
		t.Helper()
		_ = reader.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := reader.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a process of the hook still runs")
		}
		reader.Close()
	}
	return sh("exec 3>" + path + "; sleep 600 & echo >&3; sleep 600"), running, gone
}

func TestWhatEndsAHookKillsItsGroup(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		end        func(h *hooks.Hooks, cancel context.CancelCauseFunc)
	}{
		{"the caller", "left", func(_ *hooks.Hooks, cancel context.CancelCauseFunc) { cancel(errors.New("left")) }},
		{"the stop of the server", "server is shutting down", func(h *hooks.Hooks, _ context.CancelCauseFunc) { h.Stop() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hook, running, gone := waits(t)
			h := hooks.New(hooks.Lists{Before: []hooks.Hook{hook}, After: []hooks.Hook{hook}}, hooks.Options{Environment: os.Environ()})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			failed := make(chan error, 1)
			go func() {
				_, _, err := h.Before(ctx, call)
				failed <- err
			}()
			running()
			tc.end(h, cancel)
			if err := <-failed; err == nil || err.Error() != tc.want {
				t.Errorf("Before: %v, want %s", err, tc.want)
			}
			gone()
			if text, replaced := h.After(ctx, call, hooks.Outcome{Text: "out"}); text != "out" || replaced {
				t.Errorf("After: %q, %t", text, replaced)
			}
		})
	}
}

func TestATimeoutKillsTheGroup(t *testing.T) {
	hook, running, gone := waits(t)
	hook.Timeout = 500 * time.Millisecond
	done := make(chan string, 1)
	log := new(syncbuffer.Buffer)
	h := hooks.New(hooks.Lists{Before: []hooks.Hook{hook}}, hooks.Options{Environment: os.Environ(), Log: slog.New(slog.NewTextHandler(log, nil))})
	go func() {
		_, _, err := h.Before(t.Context(), call)
		done <- fmt.Sprint(err)
	}()
	running()
	if got := <-done; got != "Hook failed: /bin/sh" || !strings.Contains(log.String(), "not done after 500 ms") {
		t.Errorf("%s; log %s", got, log)
	}
	gone()
}

func TestAHookEndsWithItsProgram(t *testing.T) {
	hook, running, gone := waits(t)
	hook.Command[2] = strings.TrimSuffix(hook.Command[2], "sleep 600") + `echo '{"decision":"deny"}'` // the child keeps the output open
	done := make(chan string, 1)
	h := hooks.New(hooks.Lists{Before: []hooks.Hook{hook}}, hooks.Options{Environment: os.Environ()})
	go func() {
		_, _, err := h.Before(t.Context(), call)
		done <- fmt.Sprint(err)
	}()
	running()
	if got := <-done; got != "Denied by hook" {
		t.Error(got)
	}
	gone()
}

func TestAHookNeedNotReadItsInput(t *testing.T) {
	h := hooks.New(hooks.Lists{Before: []hooks.Hook{sh("exec 0<&-; exit 0")}}, hooks.Options{Environment: os.Environ()})
	large := call
	large.Input = json.RawMessage(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)
	if _, _, err := h.Before(t.Context(), large); err != nil {
		t.Error(err)
	}
	h = hooks.New(hooks.Lists{Before: []hooks.Hook{sh(`test $(cat | wc -c) -gt 1048576`)}}, hooks.Options{Environment: os.Environ()})
	if _, _, err := h.Before(t.Context(), large); err != nil {
		t.Errorf("a large input is not read whole: %v", err)
	}
}

func TestOnly32HooksRunAtOnce(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	started := filepath.Join(t.TempDir(), "started")
	hook := sh("echo >>" + started + "; cat " + fifo)
	hook.Timeout = 60 * time.Second
	h := hooks.New(hooks.Lists{Before: []hooks.Hook{hook}}, hooks.Options{Environment: os.Environ()})
	var all sync.WaitGroup
	for range 34 {
		all.Go(func() { _, _, _ = h.Before(t.Context(), call) })
	}
	count := func() int {
		text, _ := os.ReadFile(started)
		return bytes.Count(text, []byte("\n"))
	}
	for deadline := time.Now().Add(30 * time.Second); count() < 32; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d hooks run", count())
		}
	}
	if n := count(); n != 32 {
		t.Errorf("%d hooks run at once, want 32", n)
	}
	h.Stop()
	all.Wait()
	if n := count(); n != 32 {
		t.Errorf("%d hooks have run: some were started after the stop", n)
	}
}

func TestNoHooks(t *testing.T) {
	var h *hooks.Hooks
	h.Stop()
	if input, replaced, err := h.Before(t.Context(), call); string(input) != string(call.Input) || replaced || err != nil {
		t.Errorf("Before: %s %t %v", input, replaced, err)
	}
	if text, replaced := h.After(t.Context(), call, hooks.Outcome{Text: "out"}); text != "out" || replaced {
		t.Errorf("After: %s %t", text, replaced)
	}
}
