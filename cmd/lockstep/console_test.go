//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
)

// A screen is what a terminal shows: the finished lines, and the line with the cursor.
type screen struct {
	syncbuffer.Buffer
	columns int
}

// lines returns the visible text without trailing blanks. It fails if a line is too long.
func (s *screen) lines(t *testing.T) []string {
	t.Helper()
	var out []string
	var line []rune
	at := 0
	for _, r := range s.String() {
		switch {
		case r == '\n':
			out, line, at = append(out, strings.TrimRight(string(line), " ")), nil, 0
		case r == '\r':
			at = 0
		case r < ' ':
			t.Fatalf("%q acts on the terminal", s.String())
		default:
			for len(line) <= at {
				line = append(line, ' ')
			}
			line[at] = r
			if at++; at >= s.columns {
				t.Errorf("a line is wider than %d columns: %q", s.columns-1, string(line))
			}
		}
	}
	return append(out, strings.TrimRight(string(line), " "))
}

// A course is the status of a run, which the test sets.
type course struct {
	mu     sync.Mutex
	began  time.Time
	status report.Status
}

func (c *course) now() report.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	s.Took = time.Since(c.began)
	return s
}

func (c *course) is(s report.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Of = 509
	c.status = s
}

// under returns a console that writes to a screen, and the course of the run that it shows.
func under(s *screen, variables map[string]string, terminal bool) (*console, *course) {
	run := &course{began: time.Now()}
	run.is(report.Status{})
	w := &environment{
		stderr: s, errorTerminal: terminal, width: func() int { return s.columns },
		getenv: func(name string) string { return variables[name] },
	}
	return newConsole(w, run.now), run
}

func (s *screen) shows(t *testing.T, want ...string) {
	t.Helper()
	if got := s.lines(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

func TestATerminalShowsHowFarARunIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 60}
		c, run := under(s, nil, true)
		stop := c.watch(t.Context())
		s.shows(t, "")
		pass(3400 * time.Millisecond)
		run.is(report.Status{Scenario: "items/story", Target: "go", Step: "4"})
		pass(drawInterval)
		s.shows(t, "0/509 · 3.5 s · items/story (go, step 4)")

		fmt.Fprintln(c, "DIFFER items/story (1/509)")
		s.shows(t, "DIFFER items/story (1/509)", "")
		run.is(report.Status{Done: 1, Differ: 1, Scenario: "client-tools/execute/timeout-of-a-tool\x1b[2J", Target: "typescript", Step: "1"})
		pass(drawInterval)
		s.shows(t, "DIFFER items/story (1/509)", "1/509 · 1 differs · 3.6 s · client-tools/execute/timeout…")
		run.is(report.Status{Done: 1, Differ: 1})
		pass(drawInterval)
		s.shows(t, "DIFFER items/story (1/509)", "1/509 · 1 differs · 3.7 s")
		stop()
		s.shows(t, "DIFFER items/story (1/509)", "")
	})
}

// pass lets time pass, and waits until all goroutines that it woke are idle again.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestTheStatusIsWrittenTenTimesASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 80}
		c, _ := under(s, nil, true)
		stop := c.watch(t.Context())
		pass(10*time.Second + drawInterval/2)
		if n := strings.Count(s.String(), "0/509"); n != 100 {
			t.Errorf("it was written %d times in 10 s, want 100", n)
		}
		stop()
		s.shows(t, "")
	})
}

func TestAnInterruptLeavesACleanLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		s := &screen{columns: 80}
		c, run := under(s, nil, true)
		run.is(report.Status{Scenario: strings.Repeat("x", 100)})
		stop := c.watch(ctx)
		pass(time.Second)
		fmt.Fprint(s, interruptEcho)
		interrupt()
		pass(5 * time.Second) // the targets take some time to end
		s.shows(t, "")
		fmt.Fprintln(c, "a warning")
		stop()
		s.shows(t, "a warning", "")
	})
}

func TestOutsideOfATerminalALongRunIsALineFromTimeToTime(t *testing.T) {
	for _, tc := range []struct {
		name      string
		variables map[string]string
		terminal  bool
	}{
		{"no terminal", nil, false},
		{"no terminal, whatever it is called", map[string]string{"TERM": "xterm"}, false},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &screen{columns: 80}
				c, run := under(s, tc.variables, tc.terminal)
				stop := c.watch(t.Context())
				pass(9900 * time.Millisecond)
				if s.String() != "" {
					t.Errorf("a short run has %q", s.String())
				}
				run.is(report.Status{Done: 210, Scenario: "items/story"})
				pass(5 * time.Second)
				run.is(report.Status{Done: 400, Differ: 2})
				pass(6 * time.Second)
				stop()
				if got, want := s.String(), "210/509, 0 differ, 10 s\n400/509, 2 differ, 20 s\n"; got != want {
					t.Errorf("stderr is %q, want %q", got, want)
				}
			})
		})
	}
}

// TestTheStatusNeedsNoEscapeSequence shows the status although NO_COLOR is set, because the status has no colour.
func TestTheStatusNeedsNoEscapeSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 80}
		c, _ := under(s, map[string]string{"NO_COLOR": "1"}, true)
		stop := c.watch(t.Context())
		pass(time.Second)
		stop()
		if s.String() == "" || strings.Contains(s.String(), "\x1b") {
			t.Errorf("stderr is %q", s.String())
		}
	})
}

// TestATerminalOfUnknownWidth checks that such a terminal counts as 80 columns wide.
func TestATerminalOfUnknownWidth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 80}
		c, run := under(s, nil, true)
		c.width = func() int { return 0 }
		run.is(report.Status{Scenario: strings.Repeat("x", 100)})
		stop := c.watch(t.Context())
		pass(time.Second)
		if got := s.lines(t); len([]rune(got[0])) != 77 {
			t.Errorf("the screen shows %q", got)
		}
		stop()
	})
}

// TestTheStatusOfARunShowsWhatItWaitsForAndDisappears runs a whole run on a terminal. In the end the screen shows
// the same text as without a terminal.
func TestTheStatusOfARunShowsWhatItWaitsForAndDisappears(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer interrupt(nil)
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "hang")})))
	s := &screen{columns: 100}
	w := &environment{
		stdout: io.Discard, errorTerminal: true, width: func() int { return s.columns }, getenv: func(string) string { return "" },
		stderr: writer(func(b []byte) (int, error) {
			if strings.Contains(string(b), "0/1 · ") && strings.Contains(string(b), " s · items/story (wrong, step ") {
				interrupt(errors.New("seen enough"))
			}
			return s.Write(b)
		}),
	}
	if code := run(ctx, []string{"run", "-c", p.file, "items/story"}, w); code != exitUnknown {
		t.Errorf("exit code %d, want %d", code, exitUnknown)
	}
	s.shows(t, "")
}

// TestLinesThatPileUpAreCut: a server that crashes fails hundreds of scenarios. Their lines must not push the report
// off the screen.
func TestLinesThatPileUpAreCut(t *testing.T) {
	verdicts := func(f *outputFlags, all ...verdict.Verdict) string {
		var stderr strings.Builder
		say := f.progress(&stderr, text.Options{Verbose: f.verbose})
		for i, v := range all {
			say(i+1, len(all), &verdict.Scenario{ID: "story", Verdict: v})
		}
		return stderr.String()
	}
	all := slices.Repeat([]verdict.Verdict{verdict.Match, verdict.Unknown}, 100)
	text := verdicts(&outputFlags{}, all...)
	if n := strings.Count(text, "UNKNOWN story"); n != 20 || !strings.HasSuffix(text, "(40/200)\nmore of them are in the report\n") {
		t.Errorf("%d lines of 100 are said:\n%s", n, text)
	}
	if text := verdicts(&outputFlags{}, all[:41]...); strings.Contains(text, "further") {
		t.Errorf("there are no further ones:\n%s", text)
	}
	if n := strings.Count(verdicts(&outputFlags{verbose: true}, all...), "\n"); n != 200 {
		t.Errorf("%d lines of 200 are said when all are asked for", n)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
