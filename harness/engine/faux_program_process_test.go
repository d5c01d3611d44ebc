//go:build unix

package engine_test

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/memprocess"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// system is the operating system of this process.
func system() *memprocess.System {
	caught := make(chan os.Signal, 10)
	names := make(chan string)
	go func() {
		for s := range caught {
			names <- signalNames[s.(syscall.Signal)]
		}
	}()
	dir, _ := os.Getwd()
	return &memprocess.System{
		Args: os.Args[1:], Getenv: os.Getenv, Dir: dir, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Signals: names,
		Catch: func(name string) { signal.Notify(caught, signalNumber(name)) },
		Die: func(name string) {
			signal.Reset()
			_ = syscall.Kill(os.Getpid(), signalNumber(name))
			select {}
		},
	}
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGTERM: "SIGTERM", syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2", syscall.SIGHUP: "SIGHUP", syscall.SIGKILL: "SIGKILL",
}

func signalNumber(name string) syscall.Signal {
	for number, known := range signalNames {
		if known == name {
			return number
		}
	}
	panic("no signal " + name)
}

// playProgram is a tool or a driver, with a fault, or with what another tool may do differently: "tool fault".
func playProgram(role string) int {
	kind, id, _ := strings.Cut(role, " ")
	if kind == "driver" {
		d := &faux.Driver{Transport: func() *http.Transport { return &http.Transport{} }}
		if i := slices.IndexFunc(faux.DriverFaults(), func(f *faux.DriverFault) bool { return f.ID == id }); i >= 0 {
			d.Fault = faux.DriverFaults()[i]
		}
		if i := slices.IndexFunc(faux.AllWays(), func(w faux.Ways) bool { return w.ID == id }); i >= 0 {
			d.Ways, d.Style = faux.AllWays()[i], faux.NewStyle(1)
		}
		return d.Main(system())
	}
	tool := &faux.Tool{}
	if i := slices.IndexFunc(faux.ToolFaults(), func(f *faux.ToolFault) bool { return f.ID == id }); i >= 0 {
		tool.Fault = faux.ToolFaults()[i]
	}
	if i := slices.IndexFunc(faux.Habits(), func(h faux.Habit) bool { return h.ID == id }); i >= 0 {
		tool.Habit, tool.Style = faux.Habits()[i], faux.NewStyle(1)
	}
	if id == "leaves-a-child" {
		if err := again("grandchild"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return tool.Main(system())
}

// runPrograms runs scenarios on two processes, the reference first.
func runPrograms(t *testing.T, config string, write func(string) error, roles [2]string, report string, ids ...string) *engine.Result {
	t.Helper()
	slow(t)
	self := testfile.Program(t)
	for i, name := range []string{"right", "wrong"} {
		kind, _, _ := strings.Cut(roles[i], " ")
		key := map[string]string{"tool": "program", "driver": "driver"}[kind]
		env := fmt.Sprintf(`{%s: %q, %s: %q, GORACE: atexit_sleep_ms=0`, roleVariable, roles[i], reportVariable, report)
		if kind == "driver" {
			env += `, API: "${{ stub.api }}", MODEL: "${{ stub.model }}"`
		}
		config = strings.Replace(config, fmt.Sprintf("%s: {%s: [%s]}", name, key, kind), fmt.Sprintf("%s: {%s: [%q], env: %s}, stop: 100ms}", name, key, self, env), 1)
	}
	config = strings.Replace(config, "settle: 200ms", "settle: 1s", 1) // processes are slower
	if len(ids) == 0 {                                                 // the correct ones, on which no limit is spent
		config = strings.Replace(config, "step: 5s, scenario: 20s", "step: 60s, scenario: 120s", 1)
	}
	result, err := engine.Run(t.Context(), programs(t, config, write), &engine.Options{Select: project.Selection{Paths: ids}, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Every habit is tested in memory, and as a process by make test-twins-wires.
func TestCorrectToolsAreProcessesThatMatch(t *testing.T) {
	toolsMatch(t, runPrograms(t, toolConfig, faux.WriteTooling, [2]string{"tool", "tool chatty"}, ""))
}

func TestCorrectDriversAreProcessesThatMatch(t *testing.T) {
	driversMatch(t, runPrograms(t, driverConfig, faux.WriteCalling, [2]string{"driver", "driver"}, ""))
}

// What a real process does otherwise than one in memory is how it ends.
func TestFaultsOfProgramsThatAreProcesses(t *testing.T) {
	for _, f := range faux.ToolFaults() {
		switch f.ID {
		case "crlf", "exit-code", "dies", "exits-early", "ignores-sigterm", "stays-after-eof", "stderr-differs", "line-end-extra", "never-reads":
		default:
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			isFound(t, f.Says, runPrograms(t, toolConfig, faux.WriteTooling, [2]string{"tool", "tool " + f.ID}, "", f.In))
		})
	}
	for _, f := range faux.DriverFaults() {
		switch f.ID {
		case "no-retry", "outcome-twice", "logs-after-outcome", "crash", "lingers", "exit-code", "forgets-last-event":
		default:
			continue
		}
		t.Run("driver "+f.ID, func(t *testing.T) {
			t.Parallel()
			isFound(t, f.Says, runPrograms(t, driverConfig, faux.WriteCalling, [2]string{"driver", "driver " + f.ID}, "", f.In))
		})
	}
}

// isFound fails unless a scenario has exactly these findings, apart from their values.
func isFound(t *testing.T, want []faux.Finding, result *engine.Result) {
	t.Helper()
	s := result.Scenarios[0]
	if diff := cmp.Diff(bare(want), bare(findings(&s))); diff != "" || s.Verdict != verdict.Differ {
		t.Errorf("it is %s (-want +got):\n%s\n%v", s.Verdict, diff, s.Findings)
	}
}

// A child that outlives the program and keeps its output open changes nothing, and is not left.
func TestNothingIsLeftOfAToolWithAChild(t *testing.T) {
	slow(t)
	report := faux.Listen(t)
	result := runPrograms(t, toolConfig, faux.WriteTooling, [2]string{"tool", "tool leaves-a-child"}, report.Addr().String(), "ends/eof")
	if s := result.Scenarios[0]; s.Verdict != verdict.Match {
		t.Errorf("it is %s: %v %v", s.Verdict, s.Findings, s.Reasons)
	}
	gone(t, report)
}
