package runqueue

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tick is the unit of times in /proc/pid/stat: USER_HZ is 100 wherever Go runs on Linux.
const tick = 10 * time.Millisecond

// Read returns the processor use of processes, without those that have ended. It returns false when it is unknown for
// all of them: there is no /proc, or the kernel does not count it.
func Read(pids []int) (Use, bool) { return read("/proc", pids) }

func read(proc string, pids []int) (Use, bool) {
	u := Use{At: time.Now(), Waited: map[int]time.Duration{}}
	for _, pid := range pids {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		u.Ran += ran(stat)
		u.addThreads(filepath.Join(dir, "task"))
	}
	return u, len(u.Waited) > 0
}

func (u *Use) addThreads(dir string) {
	threads, _ := os.ReadDir(dir) // the process may have ended
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name())
		text, _ := os.ReadFile(filepath.Join(dir, thread.Name(), "schedstat"))
		if waited, ok := waited(text); ok {
			u.Waited[id] = waited
		}
	}
}

// ran returns how long a process and its ended children have run (proc_pid_stat(5)).
func ran(stat []byte) time.Duration {
	// "pid (name) state ppid …": the name may contain spaces and parentheses, so the fields are counted from the last
	// one.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const utime, cstime = 11, 14
	if len(fields) <= cstime {
		return 0
	}
	var sum time.Duration
	for _, field := range fields[utime : cstime+1] {
		n, _ := strconv.ParseInt(string(field), 10, 64)
		sum += time.Duration(n) * tick
	}
	return sum
}

// waited returns the second of three numbers: the nanoseconds that a thread ran, the nanoseconds that it waited in a
// run queue, and how often it got a processor. All are 0 when the kernel does not count them.
func waited(schedstat []byte) (time.Duration, bool) {
	fields := bytes.Fields(schedstat)
	if len(fields) != 3 || string(fields[2]) == "0" {
		return 0, false
	}
	n, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return time.Duration(n), err == nil
}
