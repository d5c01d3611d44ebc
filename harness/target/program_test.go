//go:build unix

package target

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// startProgram starts a shell as a program, and stops it at the end of the test.
func startProgram(t *testing.T, script string, o ProgramOptions) *Program {
	t.Helper()
	return startProgramSpec(t, Spec{Name: "sh", Program: true, Command: []string{"/bin/sh", "-c", script, "sh"}, Stop: Stop{Grace: hang, Kill: hang}}, o)
}

func startProgramSpec(t *testing.T, spec Spec, o ProgramOptions) *Program {
	t.Helper()
	slow(t)
	p, err := StartProgram(t.Context(), spec, &Options{Environ: os.Environ()}, o)
	if err != nil {
		t.Fatalf("StartProgram: %v", err)
	}
	t.Cleanup(func() {
		p.Drop()
		if err := p.Stop(cancelled()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	return p
}

// readAll returns what a program writes until it has exited.
func readAll(p *Program) (stdout, stderr string) {
	var out [2]strings.Builder
	for {
		isStderr, data, ok := p.Read()
		if !ok {
			return out[0].String(), out[1].String()
		}
		if isStderr {
			out[1].Write(data)
		} else {
			out[0].Write(data)
		}
	}
}

func TestAProgramTellsHowItEnded(t *testing.T) {
	for script, want := range map[string]struct {
		status int
		signal string
	}{
		"exit 0":         {0, ""},
		"exit 3":         {3, ""},
		"kill -SEGV $$":  {0, "SIGSEGV"},
		"kill -TERM $$":  {0, "SIGTERM"},
		"exec /bin/true": {0, ""},
	} {
		p := startProgram(t, script, ProgramOptions{})
		readAll(p)
		<-p.Exited()
		if status, signal := p.Exit(); status != want.status || signal != want.signal {
			t.Errorf("%s: ended with %d and %q, want %d and %q", script, status, signal, want.status, want.signal)
		}
	}
}

func TestAProgramGetsItsArgumentsEnvironmentAndDirectory(t *testing.T) {
	made := t.TempDir()
	p := startProgramSpec(t, Spec{
		Name: "sh", Program: true, Command: []string{"sh", "-c", `echo "$1 $2 $A $B $(pwd)"; cat "$C/f"`, "sh", "${{ directory }}"},
		Env:   map[string]string{"A": "spec", "B": "spec", "C": "${{ directory }}"},
		Files: []File{{Path: "f", Data: []byte("in ${{ directory }}"), Text: true}},
	}, ProgramOptions{Args: []string{"${{ directory }}"}, Env: map[string]string{"B": "own"}, Dir: made})
	stdout, stderr := readAll(p)
	dir := p.target.dir.Path()
	if want := dir + " ${{ directory }} spec own " + made + "\nin " + dir; stdout != want || stderr != "" {
		t.Errorf("it wrote %q and %q, want %q", stdout, stderr, want)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
}

func TestAProgramIsFedAndItsInputEnds(t *testing.T) {
	p := startProgram(t, "cat; echo over >&2", ProgramOptions{})
	if err := p.Write(t.Context(), []byte("one\ntwo")); err != nil {
		t.Fatal(err)
	}
	if _, data, _ := p.Read(); string(data) != "one\ntwo" {
		t.Errorf("cat wrote %q", data)
	}
	if err := p.CloseInput(); err != nil {
		t.Errorf("CloseInput: %v", err)
	}
	wantText(t, p.Write(t.Context(), []byte("x")), "the program's input was closed before")
	if stdout, stderr := readAll(p); stdout != "" || stderr != "over\n" {
		t.Errorf("after the end of its input it wrote %q and %q", stdout, stderr)
	}
	<-p.Exited()
}

func TestAWriteSaysWhyItWasNotTaken(t *testing.T) {
	p := startProgram(t, "exec 0<&-; echo closed; while :; do sleep 1000; done", ProgramOptions{})
	p.Read()
	wantText(t, p.Write(t.Context(), []byte("x")), "the program has closed its input")

	p = startProgram(t, "exit 0", ProgramOptions{})
	readAll(p)
	<-p.Exited()
	wantText(t, p.Write(t.Context(), []byte("x")), "the program has exited")
	wantText(t, p.Signal("SIGTERM"), "the program has exited")

	p = startProgram(t, "while :; do sleep 1000; done", ProgramOptions{})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("the step's time is over"))
	defer cancel()
	want := regexp.MustCompile("^the program does not read its input: it took [0-9]+ of 2097152 bytes: the step's time is over$")
	if err := p.Write(ctx, make([]byte, 2<<20)); err == nil || !want.MatchString(err.Error()) {
		t.Errorf("Write: %v, want %s", err, want)
	}
	wantText(t, p.Signal("SIGSTOP"), `signal "SIGSTOP" is not one of SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGUSR1, SIGUSR2`)
}

// A write that was not taken must not spoil the next one.
func TestAWriteAfterOneThatWasNotTaken(t *testing.T) {
	p := startProgram(t, `trap "cat >/dev/null; echo read" USR1; echo ready; while :; do sleep 1000 & wait $!; done`, ProgramOptions{})
	p.Read()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Write(ended, make([]byte, 1<<20)); err == nil {
		t.Error("Write: no error although nothing reads")
	}
	if err := p.Signal("SIGUSR1"); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(t.Context(), make([]byte, 1<<20)); err != nil {
		t.Errorf("Write: %v", err)
	}
	p.CloseInput()
	if _, data, _ := p.Read(); string(data) != "read\n" {
		t.Errorf("it wrote %q", data)
	}
}

func TestSignalsReachTheProgram(t *testing.T) {
	// A shell runs a trap as soon as it waits, but a signal just before a read can be left until there is a line.
	// Under nohup and in the background, signals are ignored, also in programs that are started. Those that this process
	// handles are not.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	p := startProgram(t, `for s in INT HUP USR1 USR2 TERM; do trap "echo $s" $s; done; echo ready; while :; do sleep 1000 & wait $!; done`, ProgramOptions{})
	p.Read()
	for _, name := range []string{"INT", "HUP", "USR1", "USR2", "TERM"} {
		if err := p.Signal("SIG" + name); err != nil {
			t.Errorf("Signal %s: %v", name, err)
		}
		if _, data, _ := p.Read(); string(data) != name+"\n" {
			t.Errorf("after SIG%s it wrote %q", name, data)
		}
	}
	if err := p.Signal("SIGKILL"); err != nil {
		t.Error(err)
	}
	readAll(p)
	<-p.Exited()
	if _, by := p.Exit(); by != "SIGKILL" {
		t.Errorf("ended by %q", by)
	}
}

// The grandchildren keep the output open and never stop writing.
func TestAProgramHasExitedAlthoughAnotherProcessHasItsOutput(t *testing.T) {
	for name, script := range map[string]string{
		"silent":          "sleep 1000 & echo bye; exit 4",
		"flooding":        "yes & echo bye >&2; exit 4",
		"in a session":    "setsid sleep 1000 & echo bye; exit 4",
		"deaf to SIGTERM": `(trap "" TERM; yes) & echo bye >&2; exit 4`,
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(script, "setsid") && runtime.GOOS != "linux" {
				t.Skip("only Linux tells where it has gone")
			}
			p := startProgram(t, script, ProgramOptions{})
			stdout, stderr := readAll(p)
			<-p.Exited()
			if status, _ := p.Exit(); status != 4 || !strings.Contains(stdout+stderr, "bye\n") {
				t.Errorf("status %d", status)
			}
			if err := p.Stop(cancelled()); err != nil {
				t.Errorf("Stop: %v", err)
			}
		})
	}
}

func TestStopEndsAProgramThatIsReadOrDropped(t *testing.T) {
	for name, script := range map[string]string{
		"silent":   "read -r never",
		"flooding": "yes",
	} {
		for _, dropped := range []bool{true, false} {
			p := startProgram(t, script, ProgramOptions{})
			if dropped {
				p.Drop()
			} else {
				go readAll(p)
			}
			if err := p.Stop(t.Context()); err != nil {
				t.Errorf("%s: Stop: %v", name, err)
			}
			if _, signal := p.Exit(); signal != "SIGTERM" {
				t.Errorf("%s: ended by %q, want SIGTERM", name, signal)
			}
		}
	}
}

func TestAProgramEndsWithItsContext(t *testing.T) {
	slow(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := StartProgram(ctx, Spec{Name: "sh", Program: true, Command: []string{"/bin/sh", "-c", "sleep 1000 & read -r never"}}, nil, ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	readAll(p)
	<-p.Exited()
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if !waiting.IsClosed(p.target.process.ended) {
		t.Error("Stop returned before the end")
	}
}

func TestStartProgramSaysWhyItCannotStart(t *testing.T) {
	program := Spec{Name: "tool", Program: true, Command: []string{"/bin/true"}}
	missing, file := program, program
	missing.Command = []string{"/no/such/tool"}
	file.Files = []File{{Path: "f"}}
	server := Spec{Name: "go", Command: []string{"agentd", "${{ port }}"}}
	for _, tc := range []struct {
		spec Spec
		o    ProgramOptions
		want string
	}{
		{server, ProgramOptions{}, `target "go": it is a server, not a program`},
		{Spec{Name: "x", Program: true}, ProgramOptions{}, `target "x": it has neither a command nor a URL`},
		{missing, ProgramOptions{}, `start target "tool": command "/no/such/tool": execute "/no/such/tool": no such file or directory`},
		{file, ProgramOptions{Dir: "/no/such"}, `start target "tool": directory "/no/such": no such file or directory`},
		{program, ProgramOptions{Env: map[string]string{"A=B": ""}}, `start target "tool": env: "A=B" is not the name of a variable`},
	} {
		_, err := StartProgram(t.Context(), tc.spec, nil, tc.o)
		wantText(t, err, tc.want)
	}
	_, err := Start(t.Context(), program, nil)
	wantText(t, err, `target "tool": it is a program: StartProgram starts it`)
}

func wantText(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
