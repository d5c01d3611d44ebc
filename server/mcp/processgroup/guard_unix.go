//go:build unix

package processgroup

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Separate makes a command, before its start, the leader of a new session without a terminal, and of the session's
// first group. Groups that it creates stay in the session.
func Separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// ignoreSignals keeps a guard from ending before the server that it waits for.
func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) }

// killSessions kills all processes of sessions that the system can list, and otherwise their first groups.
func killSessions(sessions map[int]bool) {
	for id := range sessions {
		_ = syscall.Kill(-id, syscall.SIGKILL)
	}
	const most = 10 // later passes find the processes that were forked during the earlier ones
	for range most {
		found := false
		for _, pid := range membersOf(sessions) {
			found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
		}
		if !found {
			return
		}
	}
}

// membersOf returns the live processes of sessions, or none without Linux's /proc.
func membersOf(sessions map[int]bool) (members []int) {
	if len(sessions) == 0 {
		return nil
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The program name may have any characters, but ends at the last parenthesis; see proc_pid_stat(5).
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		session, _ := strconv.Atoi(fields[3])
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && sessions[session] {
			members = append(members, pid)
		}
	}
	return members
}
