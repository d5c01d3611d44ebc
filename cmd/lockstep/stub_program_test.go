package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	harnessrun "github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
)

// playing returns a stub whose program plays rules, and what stops it.
func playing(t *testing.T, rules string) *stub.Server {
	t.Helper()
	parsed, problems := scenario.ParseStubRules("rules.yaml", []byte(rules))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s, err := stub.Start("cli", stub.Stdio, stub.Options{Program: os.Args[0], Env: []string{"CHOSEN"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	t.Cleanup(harnessrun.Play(s, "cli", parsed))
	return s
}

func program(t *testing.T, s *stub.Server, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), s.URL(), args...)
	cmd.Env = append(os.Environ(), roleVariable+"=lockstep", "CHOSEN=yes")
	return cmd
}

func TestAStartedProgramDoesWhatItsStubSays(t *testing.T) {
	s := playing(t, `
- name: serve
  when: {args: [serve, "it's"], json: {$.env.CHOSEN: "yes"}}
  answer:
    program:
      - await: {match: {json: {$.id: 7}}, capture: {n: $.id}}
      - send: {json: {done: "${{ n }}"}}
      - stderr: going down
      - await: {match: {event: eof}}
      - exit: 3
`)
	cmd := program(t, s, "serve", "it's")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(`{"id":7}`+"\n"), &stderr
	out, _ := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != 3 || string(out) != `{"done":7}`+"\n" || stderr.String() != "going down\n" {
		t.Errorf("exit %d, output %q, errors %q", got, out, stderr.String())
	}
	cmd = program(t, s, "serve", "other")
	text, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != noProgram || !strings.Contains(string(text), "no rule of the scenario answers it") {
		t.Errorf("without a rule: exit %d, %s", got, text)
	}
}

// However a target ends a program, and whenever its stub ends, no process is left.
func TestAStartedProgramEnds(t *testing.T) {
	const waits = "- {times: any, answer: {program: [{send: {text: here}}]}}"
	for name, tc := range map[string]struct {
		end    func(cmd *exec.Cmd, in io.Closer, s *stub.Server)
		signal syscall.Signal
		status int
	}{
		"the end of its input": {func(_ *exec.Cmd, in io.Closer, _ *stub.Server) { in.Close() }, 0, 0},
		"SIGTERM":              {func(cmd *exec.Cmd, _ io.Closer, _ *stub.Server) { cmd.Process.Signal(syscall.SIGTERM) }, syscall.SIGTERM, -1},
		"SIGKILL":              {func(cmd *exec.Cmd, _ io.Closer, _ *stub.Server) { cmd.Process.Kill() }, syscall.SIGKILL, -1},
		"the end of its stub":  {func(_ *exec.Cmd, _ io.Closer, s *stub.Server) { s.Close() }, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := playing(t, waits)
			cmd := program(t, s)
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "here\n" {
				t.Errorf("%q, %v", line, err)
			}
			tc.end(cmd, in, s)
			cmd.Wait()
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if status.Signaled() != (tc.signal != 0) || status.Signaled() && status.Signal() != tc.signal || cmd.ProcessState.ExitCode() != tc.status {
				t.Errorf("it ended with %v", cmd.ProcessState)
			}
		})
	}
}
