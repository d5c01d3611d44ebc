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

// Read returns what processes have had of the processors. Those that are not there any more are left out. It returns false
// when nothing is known of any: there is no /proc, or it does not count what is asked.
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
	tasks, err := os.Open(dir)
	if err != nil {
		return
	}
	defer tasks.Close()
	names, _ := tasks.Readdirnames(-1)
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name, "schedstat"))
		if err != nil {
			continue
		}
		if waited, ok := waited(text); ok {
			u.Waited[id] = waited
		}
	}
}

// ran reads how long a process and those of its children that have ended were running, as proc_pid_stat(5) has it.
func ran(stat []byte) time.Duration {
	// "pid (name) state ppid …": the name may hold spaces and parentheses, so fields count from the last one.
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

// waited reads the second of three numbers: the nanoseconds that a thread ran, the nanoseconds that it waited on a run
// queue, and how often it was given a processor. All are 0 where the kernel does not count them.
func waited(schedstat []byte) (time.Duration, bool) {
	fields := bytes.Fields(schedstat)
	if len(fields) != 3 || string(fields[2]) == "0" {
		return 0, false
	}
	n, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return time.Duration(n), err == nil
}
