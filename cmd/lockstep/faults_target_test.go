//go:build unix

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

// targetFaults are faults in the life of a target, or in the address where it can be reached.
func targetFaults() []*surrounding {
	return []*surrounding{
		{doc: "the candidate is killed in mid-run", code: exitDiffer, says: "signal: killed", set: shot("wrong")},
		{doc: "the reference is killed in mid-run", code: exitUnknown, says: "the reference's process ended: signal: killed", set: shot("right")},
		{doc: "a candidate of one scenario is killed", code: exitDiffer, says: "signal: killed", set: fresh("right", "killed")},
		{doc: "a reference of one scenario is killed", code: exitUnknown, says: "the reference's process ended: signal: killed", set: fresh("killed", "right")},
		{doc: "the candidate is never ready", code: exitUnknown, says: "not ready within 300ms", set: started("wrong", "never-ready", "60s", "300ms")},
		{doc: "the reference is never ready", code: exitUnknown, says: "not ready within 300ms", set: started("right", "never-ready", "60s", "300ms")},
		{doc: "the candidate exits at its start", code: exitUnknown, says: "exited before it was ready: exit status 3", set: started("wrong", "exits-at-start")},
		{doc: "the candidate is ready and then exits", code: exitDiffer, says: "exit status 4", set: started("wrong", "only-ready")},
		{doc: "the reference is ready and then exits", code: exitUnknown, says: "the reference's process ended: exit status 4", set: started("right", "only-ready")},
		{doc: "the candidate leaves a daemon and then exits", code: exitDiffer, says: "exit status", set: started("wrong", "daemonizes-and-exits")},
		{doc: "the candidate floods its log and exits", code: exitUnknown, says: "the disk is full", set: started("wrong", "floods-and-exits")},
		{doc: "the port is stolen each time", code: exitUnknown, says: "address already in use", set: started("wrong", "robbed")},
		{doc: "the candidate wants a fixed port that is taken", code: exitUnknown, says: "does not use ${{ port }} everywhere", set: started("wrong", "stubborn")},
		{doc: "another process answers on the candidate's port", code: exitUnknown, says: "which is not the target's, answers there", set: squatted},
		{doc: "nobody listens at the candidate's address", code: exitUnknown, says: `reach target "wrong": not ready within 300ms`, set: func(t *testing.T, l *lab) {
			wrong := strings.Replace(at("wrong", "http://127.0.0.1:1"), "{get: /health}", "{get: /health, within: 300ms}", 1)
			l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{})), wrong)
		}},
		{doc: "a command that is missing", code: exitUsage, says: "there is no ", set: func(t *testing.T, l *lab) {
			l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{})), `  wrong: {command: [./nowhere, "${{ port }}"], ready: {get: /health}}`)
		}},
		{doc: "a working directory that is missing", code: exitUsage, says: `directory "nowhere": no such file or directory`, set: func(t *testing.T, l *lab) {
			l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{})), `  wrong: {command: [sh, "${{ port }}"], dir: nowhere, ready: {get: /health}}`)
		}},
		{doc: "a command that is no program", code: exitUnknown, says: "exec", set: func(t *testing.T, l *lab) {
			l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{})), `  wrong: {command: [./lockstep.yaml, "${{ port }}"], ready: {get: /health}}`)
		}},
		{doc: "two targets at one address", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("127.0.0.1")},
		{doc: "two targets at one address by two names", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("localhost")},
		{doc: "two targets at one address written in two ways", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("LOCALHOST")},
		{doc: "two targets at one address by the name of the machine", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: func(t *testing.T, l *lab) {
			name, err := os.Hostname()
			if _, fault := net.LookupHost(name); err != nil || fault != nil {
				t.Skip("this machine does not know its own name: ", err, fault)
			}
			twice(name)(t, l)
		}},
		{doc: "two targets at one address of IPv4 and IPv6", code: exitUsage, says: `targets "right" and "wrong" are the same server`, set: twice("[::1]")},
	}
}

// started sets up a project with two targets: a server in the test, and a process in the given role. By default the
// process is the candidate.
func started(name, role string, change ...string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		taken := faux.Listen(t).Addr().String()
		target := strings.NewReplacer(change...).Replace(start(t, name, role, taken))
		other := at("right", faux.Serve(t, &faux.Server{}))
		if name == "right" {
			other = at("wrong", faux.Serve(t, &faux.Server{}))
		}
		l.testProject = newProject(t, target, other)
	}
}

// squatted sets up a project with a candidate whose port is taken by the test itself.
func squatted(t *testing.T, l *lab) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who listens")
	}
	told := faux.Listen(t)
	go func() {
		line, err := told.Accept()
		if err != nil {
			return
		}
		defer line.Close()
		var address string
		fmt.Fscanln(line, &address)
		port, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		s := &faux.Server{}
		context.AfterFunc(t.Context(), s.Close)
		s.Serve(port)
	}()
	target := strings.Replace(start(t, "wrong", "squatted", told.Addr().String()), "60s", "3s", 1)
	l.testProject = newProject(t, at("right", faux.Serve(t, &faux.Server{})), target)
}

// fresh sets up a project with two processes, and a scenario that needs newly started targets.
func fresh(right, wrong string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.testProject = newProject(t, start(t, "right", right, ""), start(t, "wrong", wrong, ""))
		story := strings.Replace(l.read("scenarios/items/story.yaml"), "scenario: items/story\n", "scenario: items/fresh\nisolate: fresh\n", 1)
		l.write(t, "scenarios/items/fresh.yaml", story)
		l.args = []string{"run", "items/fresh"}
	}
}

// shot sets up a project in which the named process is killed from outside in the middle of a scenario.
func shot(name string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		other := map[string]string{"right": "wrong", "wrong": "right"}[name]
		file := filepath.Join(t.TempDir(), "pid")
		address := l.when(t, "GET /items/{id}/label", func() {
			data, _ := os.ReadFile(file)
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Error(err)
				return
			}
			syscall.Kill(pid, syscall.SIGKILL)
		})
		target := strings.Replace(start(t, name, "right", ""), "command: [", `command: [sh, -c, 'echo $$ >`+file+`; exec "$0" "$@"', `, 1)
		l.testProject = newProject(t, target, at(other, address))
	}
}

// twice sets up a project with two targets that are the same server, under two names of its host.
func twice(host string) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		address := faux.Serve(t, &faux.Server{})
		l.testProject = newProject(t, at("right", address), at("wrong", strings.Replace(address, "127.0.0.1", host, 1)+"/"))
	}
}

// odd are roles of processes that package faux does not have.
var odd = map[string]func(*faux.Process) int{
	"talks": talk, "drives": drive,
	"killed": func(p *faux.Process) int {
		p.Exit = func(int) { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
		return p.Play(context.Background(), "exits-before-answer")
	},
	"floods-and-exits": func(*faux.Process) int {
		os.Stderr.WriteString(strings.Repeat("polishing the shelves\n", 100_000) + "the disk is full\n")
		return 3
	},
	"robbed": func(p *faux.Process) int { // another process takes the port first, every time
		l, err := net.Listen("tcp", p.Listen)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer l.Close()
		return p.Play(context.Background(), "right")
	},
	"stubborn": func(p *faux.Process) int { // it listens on an address that is taken
		p.Listen = p.Report
		return p.Play(context.Background(), "right")
	},
	"daemonizes": func(p *faux.Process) int {
		daemonize()
		return p.Play(context.Background(), "right")
	},
	"daemonizes-and-exits": func(p *faux.Process) int {
		daemonize()
		return p.Play(context.Background(), "exits-before-answer")
	},
	"squatted": func(p *faux.Process) int { // it reports where it should listen, and does not listen
		line, err := net.Dial("tcp", p.Report)
		if err != nil {
			return 1
		}
		fmt.Fprintln(line, p.Listen)
		select {}
	},
	"only-ready": func(p *faux.Process) int {
		l, err := net.Listen("tcp", p.Listen)
		if err != nil {
			return 1
		}
		s := &faux.Server{Asked: func(operation string) {
			if operation != "GET /health" {
				os.Exit(4)
			}
		}}
		s.Serve(l)
		return 1
	},
}

// daemonize starts a process in a session of its own and does not wait for it.
func daemonize() {
	daemon := exec.Command("/bin/sleep", "1000")
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := daemon.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
