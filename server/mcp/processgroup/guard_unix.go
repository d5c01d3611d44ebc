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

// Separate makes a command that has not started the first of a new session, which has no terminal, and of its first group.
// Groups that it makes stay in the session.
func Separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// ignoreSignals keeps a guard from ending before what it waits for.
func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) }

// killSessions ends all processes of sessions, as far as the system tells which they are, else their first groups.
func killSessions(sessions map[int]bool) {
	for id := range sessions {
		_ = syscall.Kill(-id, syscall.SIGKILL)
	}
	const most = 10 // what is being forked meanwhile is found the next time
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

// membersOf returns the processes of sessions that have not ended; none where there is no /proc as Linux has it.
func membersOf(sessions map[int]bool) (members []int) {
	if len(sessions) == 0 {
		return nil
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has gone
		}
		// The name of the program may have anything in it but ends with the last parenthesis; see proc_pid_stat(5).
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
