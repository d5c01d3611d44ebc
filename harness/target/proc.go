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
	all, err := processes()
	for _, e := range all {
		if e.group == group {
			pids = append(pids, e.pid)
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

// processes returns the living processes of the machine, as proc_pid_stat(5) describes them.
func processes() (all []proc, err error) {
	entries, err := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, notAProcess := strconv.Atoi(entry.Name())
		if notAProcess != nil {
			continue
		}
		if p, alive := readProc(pid); alive {
			all = append(all, p)
		}
	}
	return all, err
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
