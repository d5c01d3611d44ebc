package target

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// A usageMeter measures how much processor time the processes of a group use. It searches for these processes as rarely
// as possible, because it has to look at every process of the machine.
type usageMeter struct {
	mu    sync.Mutex
	pids  []int
	again time.Time // when to search for the processes again
	use   runqueue.Use
	known bool
}

const (
	membersEvery = time.Second
	membersShare = 100 // at most one part in this many of the time goes into searching for processes
)

// Processors returns how much processor time all processes of the target have used and waited for. The measurement is
// at most age old. It returns false when the harness has not started the target, or the system does not count it. A
// process that is younger than a second may be missing.
func (t *Target) Processors(age time.Duration) (runqueue.Use, bool) {
	p := t.running()
	if p == nil || waiting.IsClosed(p.exited) || runtime.GOOS != "linux" {
		return runqueue.Use{}, false
	}
	return p.usage.read(age, p.members)
}

// self measures this program, without the processes that it has started.
var self usageMeter

// OwnProcessors is [Target.Processors] for this program.
func OwnProcessors(age time.Duration) (runqueue.Use, bool) {
	if runtime.GOOS != "linux" {
		return runqueue.Use{}, false
	}
	return self.read(age, func(context.Context) ([]int, error) { return []int{os.Getpid()}, nil })
}

func (m *usageMeter) read(age time.Duration, members func(context.Context) ([]int, error)) (runqueue.Use, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.Sub(m.use.At) < age {
		return m.use, m.known
	}
	if now.After(m.again) {
		m.pids, _ = members(context.Background()) // without the list, nothing is known
		done := time.Now()
		m.again = done.Add(max(membersEvery, membersShare*done.Sub(now)))
	}
	m.use, m.known = runqueue.Read(m.pids)
	return m.use, m.known
}
