package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/memprocess"
)

// runProgram runs a story on one program in memory.
func runProgram(t *testing.T, text string, main memprocess.Main, check func(t *testing.T, got *transcript.Transcript, took time.Duration)) {
	t.Helper()
	s := story(t, text)
	synctest.Test(t, func(t *testing.T) {
		to := &Target{Name: "prog", Program: func(_ context.Context, o ProgramOptions) (Program, error) {
			return memprocess.Start(main, o.Args, o.Env, o.Dir), nil
		}}
		start := time.Now()
		ts := Scenario(t.Context(), s, []*Target{to}, options())
		check(t, ts[0], time.Since(start))
	})
}

// driving is a driver that calls a function for each line. Its status is what it exits with.
func driving(status int, do func(s *memprocess.System, id int, line string) (exit bool)) memprocess.Main {
	return func(s *memprocess.System) int {
		in := bufio.NewReader(s.In)
		for id := 1; ; id++ {
			line, err := in.ReadString('\n')
			if err != nil {
				return status
			}
			if do(s, id, line) {
				return 2
			}
		}
	}
}

// says is a driver that writes these lines for each line. %d stands for the id.
func says(lines ...string) memprocess.Main {
	return driving(0, func(s *memprocess.System, id int, _ string) bool {
		for _, line := range lines {
			io.WriteString(s.Out, strings.ReplaceAll(line, "%d", fmt.Sprint(id))+"\n")
		}
		return false
	})
}

func TestADriverIsToldInLinesOfJSON(t *testing.T) {
	var told []string
	runProgram(t, `
vars: {name: ann}
steps:
  - {do: hello, with: {name: "${{ name }}", n: 1.50}, capture: {said: $.ok}}
  - {do: "again ${{ said }}"}
`, driving(0, func(s *memprocess.System, id int, line string) bool {
		told = append(told, line)
		fmt.Fprintf(s.Out, " {\"ok\" : \"hi %d\", \"id\":%d}\r\n", id, id)
		return false
	}), func(t *testing.T, got *transcript.Transcript, _ time.Duration) {
		same(t, "what it was told", told, []string{`{"id":1,"do":"hello","with":{"name":"ann","n":1.50}}` + "\n", `{"id":2,"do":"again hi 1"}` + "\n"})
		same(t, "outcomes", outcomes(got), []string{"1 done", "2 done"})
		x := got.Steps[1].Exchanges[0]
		if string(x.Response.Body.Bytes) != `{"ok":"hi 2"}` || x.Request.Method != transcript.Do || got.Exit != nil {
			t.Errorf("the outcome is %s, the exit %+v", x.Response.Body.Bytes, got.Exit)
		}
	})
}

// failure is the failure of a step's only exchange, as "kind, phase: text", or why the step was skipped.
func failure(s *transcript.Step) string {
	if len(s.Exchanges) == 0 {
		return s.Skipped
	}
	if s.Exchanges[0].Failure == nil {
		return ""
	}
	f := s.Exchanges[0].Failure
	return fmt.Sprintf("%s, %s: %s", f.Kind, f.Phase, f.Text)
}

func TestWhatADriverDoesWrong(t *testing.T) {
	const one, two = `{"id":%d,"ok":1}`, `{"id":%d,"error":{"kind":"x"}}`
	notOne := func(why, line string) string {
		return fmt.Sprintf("malformed, body: the driver wrote a line that is not an outcome, because %s: %q (a driver logs to standard error)", why, line)
	}
	for _, tc := range []struct {
		name string
		main memprocess.Main
		want [2]string // the failures of the two steps
		more string    // the unmet demand, or how the process ended
	}{
		{"nothing", says(one), [2]string{}, ""},
		{"a log", says("200", one), [2]string{notOne("it is not an object", "200"), notOne("it is not an object", "200")}, ""},
		{"an empty line", says("", one), [2]string{notOne("the document is empty", ""), notOne("the document is empty", "")}, ""},
		{"a second outcome", says(one, two), [2]string{
			`malformed, body: the driver wrote a second outcome: "{\"id\":1,\"error\":{\"kind\":\"x\"}}"`, `malformed, body: the driver wrote a second outcome: "{\"id\":2,\"error\":{\"kind\":\"x\"}}"`,
		}, ""},
		{"an outcome of nothing", driving(0, func(s *memprocess.System, id int, _ string) bool {
			fmt.Fprintf(s.Out, `{"id":%d,"ok":1}`+"\n", 5*id-4) // 1 and 6
			return false
		}), [2]string{"", `malformed, body: the driver wrote an outcome with the id 6, which it was not told: "{\"id\":6,\"ok\":1}"`}, ""},
		{"an outcome before it is told", driving(0, func(s *memprocess.System, id int, _ string) bool {
			if id == 1 {
				io.WriteString(s.Out, "{\"id\":2,\"ok\":1}\n{\"id\":1,\"ok\":1}\n")
			}
			return false
		}), [2]string{"", "timeout, body: the step's 10s were over"}, ""},
		{"nothing at all", says(), [2]string{"timeout, body: the step's 10s were over", "timeout, body: the step's 10s were over"}, ""},
		{"a crash", driving(0, func(s *memprocess.System, id int, _ string) bool {
			fmt.Fprintln(s.Err, "panic: oh")
			return true
		}), [2]string{"closed, body: the driver has ended: exit status 2; its last line: panic: oh", transcript.Exited}, "exit status 2"},
		{"a signal", driving(0, func(s *memprocess.System, id int, _ string) bool {
			s.Die("SIGSEGV")
			return true
		}), [2]string{"closed, body: the driver has ended: signal SIGSEGV", transcript.Exited}, "signal SIGSEGV"},
		{"a status at the end", driving(7, func(s *memprocess.System, id int, _ string) bool {
			fmt.Fprintf(s.Out, `{"id":%d,"ok":1}`+"\n", id)
			return false
		}), [2]string{}, "to exit with status 0 at the end of its input: exit status 7"},
		{"something at the end", func(s *memprocess.System) int {
			says(one)(s)
			io.WriteString(s.Out, "bye\n")
			return 0
		}, [2]string{"", notOne("offset 0: invalid character 'b' at start of value", "bye")}, ""},
		{"no end", func(s *memprocess.System) int {
			says(one)(s)
			<-s.Gone
			return 0
		}, [2]string{}, "to exit with status 0 at the end of its input: it still ran: the step's 10s were over"},
		{"a line without end", driving(0, func(s *memprocess.System, _ int, _ string) bool {
			io.Copy(s.Out, io.LimitReader(endless{}, 17<<20))
			return false
		}), [2]string{"limit, body: a line has more than 16777216 bytes", transcript.Exited}, ""},
		{"lines without end", driving(0, func(s *memprocess.System, _ int, _ string) bool {
			for range 2000 {
				io.WriteString(s.Out, "{\"id\":3,\"ok\":1}\n")
			}
			return false
		}), [2]string{"limit, body: more than 1000 lines came", transcript.Exited}, ""},
		{"an outcome of ten million bytes", says(`{"id":%d,"ok":"` + strings.Repeat("x", 10_000_000) + `"}`), [2]string{}, ""},
		{"it does not read", func(s *memprocess.System) int {
			<-s.Gone
			return 0
		}, [2]string{"timeout, body: the step's 10s were over", "timeout, body: the step's 10s were over"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			runProgram(t, "\nsteps: [{do: a}, {do: b}]\n", tc.main, func(t *testing.T, got *transcript.Transcript, _ time.Duration) {
				same(t, "failures", [2]string{failure(&got.Steps[0]), failure(&got.Steps[1])}, tc.want)
				more := ""
				if u := got.Steps[1].Unmet; u != nil {
					more = u.What + ": " + u.Why
				}
				if got.Exit != nil {
					more += got.Exit.Status
				}
				same(t, "what else is said", more, tc.more)
			})
		})
	}
}

// endless reads as x without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, bytes.Repeat([]byte("x"), len(b))), nil }

func TestADriverThatDoesNotReadFailsTheStepWithALongLine(t *testing.T) {
	runProgram(t, "\nrepeat: {long: {text: x, times: 100000}}\nsteps: [{do: a, with: \"${{ long }}\", within: 2s}]\n", func(s *memprocess.System) int {
		<-s.Gone
		return 0
	}, func(t *testing.T, got *transcript.Transcript, took time.Duration) {
		same(t, "failure", failure(&got.Steps[0]), "timeout, send: the program does not read its input: it took 65536 of 100028 bytes: the step's 2s were over")
		if took > 4*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// Outcomes may come in any order, and each belongs to the one that was told.
func TestOutcomesComeInAnyOrder(t *testing.T) {
	var held []string
	runProgram(t, "\nsteps: [{do: a, burst: 20}]\n", driving(0, func(s *memprocess.System, id int, _ string) bool {
		held = append(held, fmt.Sprintf(`{"id":%d,"ok":%d}`+"\n", id, id))
		for i := len(held) - 1; id == 20 && i >= 0; i-- {
			io.WriteString(s.Out, held[i])
		}
		return false
	}), func(t *testing.T, got *transcript.Transcript, took time.Duration) {
		seen := map[string]bool{}
		for _, x := range got.Steps[0].Exchanges {
			if x.Failure != nil {
				t.Fatalf("%+v", x.Failure)
			}
			seen[string(x.Response.Body.Bytes)] = true
		}
		if len(seen) != 20 || took > time.Second {
			t.Errorf("%d outcomes after %s", len(seen), took)
		}
	})
}

// One line that is no outcome is one failure, even if several steps wait.
func TestALineThatIsNoOutcomeFailsOneOfSeveral(t *testing.T) {
	runProgram(t, "\nsteps: [{do: a, burst: 5}]\n", driving(0, func(s *memprocess.System, id int, _ string) bool {
		if id == 5 {
			io.WriteString(s.Out, "log\n")
			for i := range 5 {
				fmt.Fprintf(s.Out, `{"id":%d,"ok":1}`+"\n", i+1)
			}
		}
		return false
	}), func(t *testing.T, got *transcript.Transcript, _ time.Duration) {
		failed := 0
		for _, x := range got.Steps[0].Exchanges {
			if x.Failure != nil {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d have failed", failed)
		}
	})
}

// A driver may wait for a call that the scenario has given up.
func TestADriverThatOwesAnOutcomeIsStopped(t *testing.T) {
	runProgram(t, "\nsteps: [{start: call, do: a}, {close: call}]\n", func(s *memprocess.System) int {
		says()(s)
		<-s.Gone
		return 0
	}, func(t *testing.T, got *transcript.Transcript, took time.Duration) {
		same(t, "outcomes", outcomes(got), []string{"1 done", "2 failed: the scenario is over"})
		if got.Steps[0].Unmet != nil || got.Exit != nil || took > 3*time.Second {
			t.Errorf("%+v, %+v, after %s", got.Steps[0].Unmet, got.Exit, took)
		}
	})
}

// FuzzOutcome checks that what is taken for an outcome is one, and that its body is the line without the id.
func FuzzOutcome(f *testing.F) {
	for _, line := range []string{
		`{"id":1,"ok":null}`, `{"error":{"kind":"x"},"id":2}`, `{"id":1,"ok":1,"error":2}`, `{"ID":1,"ok":1}`, `{"id":1,"ok":1,"ok":2}`,
		`{"id":1,"ok":{"a":1,"a":2}}`, `{"id":1,"ok":1} x`, `{"id":"1","ok":1}`, `{"id":1.0,"ok":1}`, `{"id":-1,"ok":"\ud800"}`, "{\"id\":1,\"ok\":\"\xff\"}", "7", "",
		`{"i\u0064":1,"o\u006b":1}`, "\ufeff" + `{"id":1,"ok":1}`, `{"id":99999999999999999999,"ok":1}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		out, err := readOutcome(line)
		var raw map[string]json.RawMessage
		if plain := json.Unmarshal([]byte(line), &raw); plain != nil || len(raw) != 2 || raw["id"] == nil || (raw["ok"] == nil) == (raw["error"] == nil) {
			if err == nil {
				t.Fatalf("%q is an outcome: %s", line, out.body)
			}
			return
		}
		if err != nil {
			return // it has other defects
		}
		var body map[string]json.RawMessage
		if err := json.Unmarshal(out.body, &body); err != nil || len(body) != 1 {
			t.Fatalf("%q: the body is %q: %v", line, out.body, err)
		}
		for name, value := range body {
			if !bytes.Equal(value, raw[name]) {
				t.Errorf("%q: %s is %q", line, name, value)
			}
		}
		if fmt.Sprint(out.id) != strings.TrimPrefix(string(raw["id"]), "-0") && string(raw["id"]) != "-0" {
			t.Errorf("%q: the id is %d", line, out.id)
		}
	})
}
