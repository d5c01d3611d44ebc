package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/memprocess"
)

// repeats is a program that answers each line with itself, until the line exit.
func repeats(s *memprocess.System) int {
	s.Catch("SIGUSR1")
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(s.In); in.Scan(); {
			select {
			case lines <- in.Text():
			case <-s.Gone:
				return
			}
		}
	}()
	for {
		select {
		case line, ok := <-lines:
			switch {
			case !ok:
				fmt.Fprint(s.Out, "end")
				return 0
			case line == "exit":
				return 3
			}
			fmt.Fprintln(s.Err, "got", line)
			fmt.Fprintln(s.Out, line)
		case name := <-s.Signals:
			fmt.Fprintln(s.Out, name)
		case <-s.Gone:
			return -1
		}
	}
}

func TestWhatBecomesOfAProgram(t *testing.T) {
	for _, tc := range []struct {
		name, steps string
		main        memprocess.Main
		outcomes    []string
		lines       []string // without standard error
		ended       transcript.Ending
	}{
		{
			"it is used, and its input ends", `
  - {open: p, program: {}}
  - {send: p, text: "a ${{ unique }}"}
  - {await: p, match: {event: line}, capture: {whole: $}}
  - {send: p, bytes: {text: "b"}}
  - {send: p, bytes: {base64: Ywo=}}
  - {await: p, match: {data: bc}}
  - {half-close: p}
  - {await: p, end: server}
  - {send: p, text: late}
`, repeats,
			[]string{"1 done", "2 done", "3 unmet: whole from $: *", "4 done", "5 done", "6 done", "7 done", "8 done", "9 unmet: to take the message: the program has exited"},
			[]string{"> line a ‹unique›", "< line a ‹unique›", "> bytes b", "> bytes c\n", "< line bc", "> eof ", "< line end", `< exit {"status":0}`}, transcript.EndedByServer,
		},
		{
			"it exits", `
  - {open: p, program: {}}
  - {send: p, text: exit}
  - {await: p, match: {event: exit, json: {$.status: 3}}}
  - {signal: p, name: SIGTERM}
`, repeats,
			[]string{"1 done", "2 done", "3 done", "4 unmet: to get SIGTERM: the program has exited"},
			[]string{"> line exit", `< exit {"status":3}`}, transcript.EndedByServer,
		},
		{
			"it gets signals", `
  - {open: p, program: {}}
  - {send: p, text: a}
  - {await: p, match: {data: a}}
  - {signal: p, name: SIGUSR1}
  - {await: p, match: {data: SIGUSR1}}
  - {signal: p, name: SIGHUP}
  - {await: p, match: {event: exit, json: {$.signal: SIGHUP}}}
  - {await: p, end: server}
`, repeats,
			[]string{"1 done", "2 done", "3 done", "4 done", "5 done", "6 done", "7 done", "8 done"},
			[]string{"> line a", "< line a", "> signal SIGUSR1", "< line SIGUSR1", "> signal SIGHUP", `< exit {"signal":"SIGHUP"}`}, transcript.EndedByServer,
		},
		{
			"it does not read", `
  - {open: p, program: {}}
  - {send: p, text: "${{ long }}", within: 1s}
  - {send: p, text: more, within: 1s}
`, func(s *memprocess.System) int { <-s.Gone; return 0 },
			[]string{"1 done", "2 unmet: to take the message: the program does not read its input: it took 65536 of 100001 bytes: the step's 1s were over",
				"3 unmet: to take the message: the program does not read its input: it took 0 of 5 bytes: the step's 1s were over"},
			[]string{"> line ‹long›", "> line more", `< exit {"signal":"SIGTERM"}`}, transcript.EndedByClient,
		},
		{
			"it floods", `
  - {open: p, program: {}}
  - {await: p, end: server}
`, func(s *memprocess.System) int {
				for {
					if _, err := io.WriteString(s.Out, strings.Repeat("\n", 500)); err != nil {
						return 0
					}
					select {
					case <-s.Gone:
						return 0
					default:
					}
				}
			},
			[]string{"1 done", "2 done"}, []string{"‹1000 lines›"}, transcript.EndedBroken,
		},
		{
			"it has a start of its own", `
  - {open: p, program: {args: [x, "${{ unique }}"], env: {A: "${{ unique }}"}, directory: sub}, ready: {event: line}}
  - {close: p}
`, func(s *memprocess.System) int {
				fmt.Fprintln(s.Out, s.Args, s.Getenv("A"), s.Dir)
				<-s.Gone
				return 0
			},
			[]string{"1 done", "2 done"}, []string{"< line [x ‹unique›] ‹unique› sub", `< exit {"signal":"SIGTERM"}`}, transcript.EndedByClient,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			runProgram(t, "\nrepeat: {long: {text: x, times: 100000}}\nsteps:"+tc.steps, tc.main, func(t *testing.T, got *transcript.Transcript, took time.Duration) {
				said := outcomes(got)
				for i := range said {
					if i < len(tc.outcomes) && strings.HasSuffix(tc.outcomes[i], "*") && strings.HasPrefix(said[i], strings.TrimSuffix(tc.outcomes[i], "*")) {
						said[i] = tc.outcomes[i]
					}
				}
				same(t, "outcomes", said, tc.outcomes)
				var lines []string
				for _, line := range labels(got, "p") {
					if !strings.HasPrefix(line, "< stderr") {
						lines = append(lines, strings.NewReplacer(got.Unique, "‹unique›", strings.Repeat("x", 100000), "‹long›").Replace(line))
					}
				}
				if len(lines) == 1000 {
					lines = []string{"‹1000 lines›"}
				}
				same(t, "lines", lines, tc.lines)
				if st := got.Streams[0]; st.Ended != tc.ended || st.Wire != transcript.WireProgram || st.Operation != "program" {
					t.Errorf("it is a %s of %s, and ended %s, %+v", st.Wire, st.Operation, st.Ended, st.Failure)
				}
				if took > 5*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestAProgramThatCannotStartMakesTheStepUnknown(t *testing.T) {
	for name, program := range map[string]func(context.Context, ProgramOptions) (Program, error){
		"the target is a server, not a program: give it program: [command] in lockstep.yaml": nil,
		"the program cannot be started: no such file": func(context.Context, ProgramOptions) (Program, error) {
			return nil, errors.New("no such file")
		},
	} {
		s := story(t, "\nsteps: [{open: p, program: {}}, {send: p, text: a}]\n")
		synctest.Test(t, func(t *testing.T) {
			ts := Scenario(t.Context(), s, []*Target{{Name: "prog", Program: program}}, options())
			same(t, "outcomes", outcomes(ts[0]), []string{"1 fault: " + name, "2 skipped: it was not opened"})
		})
	}
}

// A program that is slower than the other one gets time to catch up before it is closed.
func TestASlowProgramCatchesUp(t *testing.T) {
	s := story(t, "\nsteps: [{open: p, program: {}}, {never: p, match: {data: x}, within: 100ms}, {close: p}]\n")
	synctest.Test(t, func(t *testing.T) {
		var targets []*Target
		for i := range 2 {
			targets = append(targets, &Target{Name: fmt.Sprint(i), Program: func(context.Context, ProgramOptions) (Program, error) {
				return memprocess.Start(func(s *memprocess.System) int {
					select {
					case <-time.After(time.Duration(i) * 500 * time.Millisecond):
						fmt.Fprintln(s.Out, "ready")
					case <-s.Gone:
					}
					<-s.Gone
					return 0
				}, nil, nil, ""), nil
			}})
		}
		for _, got := range Scenario(t.Context(), s, targets, options()) {
			same(t, "lines", labels(got, "p")[:1], []string{"< line ready"})
		}
	})
}
