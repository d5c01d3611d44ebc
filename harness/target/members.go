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
)

// members returns the pids of the living processes in a group. It is an error when the system does not let us look.
//
// kill(2) with signal 0 would not do: it counts zombies, and where an orphan's zombie stays depends on process 1, which
// in many containers never collects any.
func members(ctx context.Context, group int) ([]int, error) {
	if runtime.GOOS == "linux" {
		return procMembers(group)
	}
	return psMembers(ctx, group)
}

// procMembers reads /proc, as proc_pid_stat(5) describes it.
func procMembers(group int) (pids []int, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", name, "stat"))
		if err != nil {
			continue // it has ended since
		}
		if statIsMember(stat, group) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// statIsMember reports whether a /proc/pid/stat is that of a living process in the group.
func statIsMember(stat []byte, group int) bool {
	// "pid (name) state ppid pgrp …": the name may hold spaces and parentheses, so fields count from the last one.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, pgrp, threads = 0, 2, 17
	if len(fields) <= threads || string(fields[pgrp]) != strconv.Itoa(group) {
		return false
	}
	switch string(fields[state]) {
	case "X":
		return false
	case "Z":
		// The main thread of a killed process is often a zombie while others are still closing its files and sockets.
		return string(fields[threads]) != "1"
	}
	return true
}

// psMembers asks ps, for systems where there is no /proc and a system call would need more than the standard library.
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
