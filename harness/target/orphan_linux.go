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

// AdoptOrphans makes this program the parent of every process that its targets leave behind, even of processes without
// the mark in their environment. Adopted processes end with the last target. A program should call this only if it
// starts nothing but targets, because it also adopts the orphans of other children. It cannot be undone.
func AdoptOrphans() {
	const setChildSubreaper = 36 // prctl(2), PR_SET_CHILD_SUBREAPER
	if _, _, failed := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); failed != 0 {
		return // an old kernel: such orphans go to process 1, as usual
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

// adopted reports whether a process is a child of this program that this program has not started.
func adopted(e proc) bool { return adopting.Load() && e.parent == os.Getpid() && !isChild(e.pid) }

// reapOrphans waits for adopted processes that have ended. waitChild does so for those that this program has started.
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
