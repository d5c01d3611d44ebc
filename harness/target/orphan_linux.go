package target

import (
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var adopting atomic.Bool

// AdoptOrphans makes this program the parent of every process that its targets leave behind, even of one without the mark in
// its environment. It is ended with the last target. Use it only in a program that starts nothing but targets, since it
// also takes the orphans of other processes. It cannot be undone.
func AdoptOrphans() {
	const setChildSubreaper = 36 // prctl(2), PR_SET_CHILD_SUBREAPER
	if _, _, failed := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); failed != 0 {
		return // an old kernel: such orphans go to process 1, as they do without us
	}
	adopting.Store(true)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			reapOrphans()
		}
	}()
}

// adopted reports whether a process is a child of this program that it has not started.
func adopted(e proc) bool { return adopting.Load() && e.parent == os.Getpid() && !isChild(e.pid) }

// reapOrphans collects adopted processes that have ended. waitChild collects those that this program has started.
func reapOrphans() {
	if !adopting.Load() {
		return
	}
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && !isChild(pid) {
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			}
		}
	}
}
