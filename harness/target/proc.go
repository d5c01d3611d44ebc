//go:build unix

package target

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/lockstep-dev/lockstep/harness/internal/sockets"
)

// members returns the pids of the living processes in a group. It returns an error when the system does not show them.
//
// kill(2) with signal 0 would not do: it counts zombies, and in many containers process 1 never waits for orphans, so
// they stay zombies.
func members(ctx context.Context, group int) ([]int, error) {
	if runtime.GOOS == "linux" {
		return procMembers(group)
	}
	return psMembers(ctx, group)
}

func procMembers(group int) (pids []int, err error) {
	all, err := pidsWhere(func(its int) bool { return its == group })
	for _, pid := range all {
		if p, alive := readProc(pid); alive && p.group == group {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// A proc is a living process as /proc shows it.
type proc struct {
	pid, parent, group int
	started            uint64 // in ticks after the machine's start; unique together with the pid
}

func (e proc) String() string { return fmt.Sprintf("%d (%s)", e.pid, sockets.Name(e.pid)) }

// processes returns the living processes of the machine, as proc_pid_stat(5) describes them, without threads of the kernel.
func processes() (all []proc, err error) {
	pids, err := pidsWhere(func(group int) bool { return group != 0 })
	for _, pid := range pids {
		if p, alive := readProc(pid); alive {
			all = append(all, p)
		}
	}
	return all, err
}

// pidsWhere returns the pids of the processes in wanted groups. It asks the kernel for each group, which takes a small part of
// the time of reading a file. A thread of the kernel is in group 0. Targets are not: each is in a group of the harness.
func pidsWhere(wanted func(group int) bool) (pids []int, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		pid, notAProcess := strconv.Atoi(name)
		if notAProcess != nil {
			continue
		}
		if group, hidden := syscall.Getpgid(pid); hidden != nil || wanted(group) {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// readProc returns what /proc shows about a process. It returns false when the process is not alive.
func readProc(pid int) (proc, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return proc{}, false
	}
	return parseStat(pid, stat)
}

func parseStat(pid int, stat []byte) (e proc, alive bool) {
	// "pid (name) state ppid pgrp …": the name may contain spaces and parentheses, so the fields are counted from the
	// last one.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, ppid, pgrp, threads, starttime = 0, 1, 2, 17, 19
	if len(fields) <= starttime {
		return e, false
	}
	switch string(fields[state]) {
	case "X":
		return e, false
	case "Z":
		// The main thread of a killed process is often a zombie while other threads are still closing its files and
		// sockets.
		if string(fields[threads]) == "1" {
			return e, false
		}
	}
	e = proc{pid: pid}
	e.started, _ = strconv.ParseUint(string(fields[starttime]), 10, 64)
	e.parent, _ = strconv.Atoi(string(fields[ppid]))
	e.group, _ = strconv.Atoi(string(fields[pgrp]))
	return e, true
}

// psMembers runs ps. It is for systems without /proc, whose system calls are not in the standard library.
func psMembers(ctx context.Context, group int) (pids []int, err error) {
	ps := exec.CommandContext(ctx, "/bin/ps", "-A", "-o", "pid=", "-o", "pgid=", "-o", "stat=")
	ps.Env = []string{}
	table, err := ps.Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	for row := range bytes.Lines(table) {
		fields := bytes.Fields(row)
		if len(fields) < 3 || string(fields[1]) != strconv.Itoa(group) || fields[2][0] == 'Z' {
			continue
		}
		if pid, err := strconv.Atoi(string(fields[0])); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
