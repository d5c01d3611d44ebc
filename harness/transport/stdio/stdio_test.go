//go:build unix

package stdio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// hang is how long a test waits for something that must happen. It prevents a test from hanging, and measures nothing.
const hang = time.Minute

// open starts a shell, and reads it. The program is closed at the end of the test.
func open(t testing.TB, script string, options *watch.Options) *Program {
	t.Helper()
	p := start(t, script, options)
	t.Cleanup(func() { p.Reset() })
	return p
}

// start is open for a caller that closes the program.
func start(t testing.TB, script string, options *watch.Options) *Program {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	started, err := target.StartProgram(t.Context(), target.Spec{
		Name: "sh", Program: true, Command: []string{"/bin/sh", "-c", script}, Stop: target.Stop{Grace: hang, Kill: hang},
	}, &target.Options{Environ: os.Environ()}, target.ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Open(started, options)
}

// record returns what a program has recorded: its events as short texts, and its end.
func record(p *Program) (events []string, s transcript.Stream) {
	p.Record(&s)
	for _, ev := range s.Events {
		text := fmt.Sprintf("%s %q", ev.Item, strings.Replace(ev.Framing, "•", ev.Data, 1))
		if ev.Sent {
			text = "sent " + text
		}
		events = append(events, text)
	}
	return events, s
}

// awaitEnd returns the record of a program when it has ended.
func awaitEnd(t *testing.T, p *Program) ([]string, transcript.Stream) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if err := p.AwaitEnd(ctx); err != nil {
		t.Fatal(err)
	}
	return record(p)
}

// await waits for a line.
func await(t *testing.T, p *Program, line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if _, err := p.Await(ctx, 0, func(ev *transcript.Event) bool { return !ev.Sent && ev.Data == line }); err != nil {
		t.Fatalf("waiting for %q: %v", line, err)
	}
}

func wantEvents(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAProgramIsRecordedToItsExit(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   []string
	}{
		"a status":                {`printf 'a\nb\r\n\n'; exit 3`, []string{`line "a\n"`, `line "b\r\n"`, `line "\n"`, `exit "{\"status\":3}"`}},
		"a signal":                {`echo a; kill -SEGV $$`, []string{`line "a\n"`, `exit "{\"signal\":\"SIGSEGV\"}"`}},
		"nothing":                 {`exit 0`, []string{`exit "{\"status\":0}"`}},
		"a line without an end":   {`printf 'a\nb\r'`, []string{`line "a\n"`, `line "b\r"`, `exit "{\"status\":0}"`}},
		"two without an end":      {`printf a >&2; printf b`, []string{`line "b"`, `stderr "a"`, `exit "{\"status\":0}"`}},
		"bytes that are no text":  {`printf '\377\000\n'`, []string{`line "\xff\x00\n"`, `exit "{\"status\":0}"`}},
		"another that has output": {`sleep 1000 & echo a; exit 4`, []string{`line "a\n"`, `exit "{\"status\":4}"`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, tc.script, nil)
			got, s := awaitEnd(t, p)
			wantEvents(t, got, tc.want...)
			if s.Ended != transcript.EndedByServer || s.Failure != nil {
				t.Errorf("ended by %q: %v", s.Ended, s.Failure)
			}
			if err := p.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if again, s := record(p); s.Ended != transcript.EndedByServer || len(again) != len(got) {
				t.Errorf("after Close: %q, ended by %q", again, s.Ended)
			}
		})
	}
}

func TestWhatIsSentComesBeforeItsAnswer(t *testing.T) {
	p := open(t, `read -r a; echo "1 $a"; read -r b; echo "2 $b" >&2; read -r c || echo over; exit 5`, nil)
	var want []string
	step := func(err error, sent, answer string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if want = append(want, "sent "+sent); answer != "" {
			await(t, p, answer)
		}
	}
	step(p.SendLine(t.Context(), []byte("x"), false), `line "x\n"`, "1 x")
	want = append(want, `line "1 x\n"`)
	step(p.SendBytes(t.Context(), []byte("y")), `bytes "y"`, "")
	step(p.SendLine(t.Context(), []byte("z"), false), `line "z\n"`, "2 yz")
	want = append(want, `stderr "2 yz\n"`)
	step(p.CloseWrite(), `eof ""`, "over")
	got, _ := awaitEnd(t, p)
	wantEvents(t, got, append(want, `line "over\n"`, `exit "{\"status\":5}"`)...)
	for name, err := range map[string]error{
		"SendLine": p.SendLine(t.Context(), nil, false), "SendBytes": p.SendBytes(t.Context(), nil), "Signal": p.Signal("SIGTERM"), "CloseWrite": p.CloseWrite(),
	} {
		if err == nil || err.Error() != "the program has exited" {
			t.Errorf("%s after the exit: %v", name, err)
		}
	}
	if after, _ := record(p); len(after) != len(got) {
		t.Errorf("something is recorded after the exit: %q", after)
	}
}

func TestASignalIsRecorded(t *testing.T) {
	p := open(t, `trap 'echo caught; exit 6' USR1; echo ready; while :; do read -r never; done`, nil)
	await(t, p, "ready")
	if err := p.Signal("SIGUSR1"); err != nil {
		t.Error(err)
	}
	got, _ := awaitEnd(t, p)
	wantEvents(t, got, `line "ready\n"`, `sent signal "SIGUSR1"`, `line "caught\n"`, `exit "{\"status\":6}"`)
}

func TestWhoeverClosesFirstHasEndedIt(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		how    func(*Program) error
		want   []string
	}{
		"closed":              {`echo ready; read -r never`, (*Program).Close, []string{`exit "{\"signal\":\"SIGTERM\"}"`}},
		"closed, with a word": {`trap 'echo bye; exit 7' TERM; echo ready; while :; do read -r never; done`, (*Program).Close, []string{`line "bye\n"`, `exit "{\"status\":7}"`}},
		"reset":               {`trap 'echo bye' TERM; echo ready; while :; do read -r never; done`, (*Program).Reset, []string{`exit "{\"signal\":\"SIGKILL\"}"`}},
		"reset, deaf":         {`trap '' TERM; echo ready; sleep 1000`, (*Program).Reset, []string{`exit "{\"signal\":\"SIGKILL\"}"`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, tc.script, nil)
			await(t, p, "ready")
			if err := tc.how(p); err != nil {
				t.Error(err)
			}
			got, s := record(p)
			wantEvents(t, got, append([]string{`line "ready\n"`}, tc.want...)...)
			if s.Ended != transcript.EndedByClient || s.Failure != nil {
				t.Errorf("ended by %q: %v", s.Ended, s.Failure)
			}
		})
	}
}

func TestAProgramThatClosesItsOutputHasNotExited(t *testing.T) {
	p := open(t, `echo ready; exec >&- 2>&-; read -r go; exit 8`, nil)
	await(t, p, "ready")
	if err := p.SendLine(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
	got, _ := awaitEnd(t, p)
	wantEvents(t, got, `line "ready\n"`, `sent line "\n"`, `exit "{\"status\":8}"`)
}

func TestFloodsAreCutOff(t *testing.T) {
	for name, tc := range map[string]struct {
		script  string
		options watch.Options
		events  int
		want    string
	}{
		"lines":                              {"yes", watch.Options{MaxEvents: 1000}, 1000, "more than 1000 lines came"},
		"bytes":                              {"yes", watch.Options{MaxBytes: 600}, 120, "more than 600 bytes of lines came"},
		"standard error":                     {"yes >&2", watch.Options{MaxEvents: 10}, 10, "more than 10 lines came"},
		"a line":                             {"echo a; cat /dev/zero", watch.Options{MaxEvent: 1 << 20}, 1, "a line has more than 1048576 bytes"},
		"a line by default":                  {"cat /dev/zero", watch.Options{}, 0, "a line has more than 16777216 bytes"},
		"deaf to SIGTERM, with a deaf child": {"trap '' TERM; yes & yes", watch.Options{MaxEvents: 10}, 10, "more than 10 lines came"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.options.Noun = "lines"
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := open(t, tc.script, &tc.options)
			ctx, cancel := context.WithTimeout(t.Context(), hang/2)
			defer cancel()
			if err := p.AwaitEnd(ctx); err != nil { // long before the grace is over
				t.Fatal(err)
			}
			_, s := record(p)
			if s.Ended != transcript.EndedBroken || s.Failure == nil || s.Failure.Kind != transcript.FailLimit || s.Failure.Text != tc.want {
				t.Errorf("ended by %q: %+v, want %s", s.Ended, s.Failure, tc.want)
			}
			if len(s.Events) != tc.events {
				t.Errorf("%d events, want %d", len(s.Events), tc.events)
			}
			if err := p.SendLine(t.Context(), nil, false); err == nil || err.Error() != "the program exceeded a limit of lockstep" {
				t.Errorf("SendLine: %v", err)
			}
			if err := p.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 160<<20 {
				t.Errorf("it allocated %d bytes", used)
			}
		})
	}
}

func TestAProgramThatDoesNotReadFailsTheWriteAlone(t *testing.T) {
	p := open(t, `echo ready; read -r never <&9 || while :; do sleep 1000; done`, nil)
	await(t, p, "ready")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("the step is over"))
	defer cancel()
	err := p.SendLine(ctx, make([]byte, 1<<20), false)
	want := regexp.MustCompile("^the program does not read its input: it took [0-9]+ of 1048577 bytes: the step is over$")
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("SendLine: %v, want %s", err, want)
	}
	if p.Ended() {
		t.Error("the program has ended")
	}
}

// Both sides write more than a pipe holds before they read.
func TestAProgramThatWritesWhileItIsWrittenTo(t *testing.T) {
	p := open(t, `head -c 1000000 /dev/zero | tr '\0' 'x'; echo; exec cat`, nil)
	line := strings.Repeat("y", 1_000_000)
	if err := p.SendLine(t.Context(), []byte(line), false); err != nil {
		t.Fatal(err)
	}
	await(t, p, line)
	if err := p.CloseWrite(); err != nil {
		t.Error(err)
	}
	if got, s := awaitEnd(t, p); len(got) != 5 || len(s.Events[1].Data) != 1_000_000 {
		t.Errorf("%d events", len(got))
	}
}

func TestAProgramIsAStreamWithoutAHead(t *testing.T) {
	p := open(t, "exit 0", nil)
	<-p.Head()
	if ex, is, err := p.Opened(); ex != nil || !is || err != nil || p.Decoded() {
		t.Errorf("Opened: %v, %t, %v; Decoded: %t", ex, is, err, p.Decoded())
	}
	p.GiveUp(nil)
	awaitEnd(t, p)
}
