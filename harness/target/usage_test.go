//go:build linux

package target

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
)

// The numbers of a target include all threads of its processes, and no others.
func TestProcessorsAreThoseOfTheTargetAndItsChildren(t *testing.T) {
	slow(t)
	c := newReportServer(t)
	target := start(t, c.roleSpec("parent"))
	c.awaitReport("grandchild").awaitLine("settled")
	use, known := target.Processors(0)
	own, counted := runqueue.Read([]int{os.Getpid()})
	if known != counted {
		t.Fatalf("known of the target: %t; of this process: %t, %v", known, counted, own)
	}
	if !counted {
		return // the kernel does not count, so there are no numbers for the target
	}
	want := map[int]bool{}
	pids, err := procMembers(target.process.group.id)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if pid == target.process.group.id {
			continue
		}
		tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			id, _ := strconv.Atoi(task.Name())
			want[id] = true
		}
	}
	for _, pid := range pids {
		if _, known := use.Waited[pid]; !known && pid != target.process.group.id {
			t.Errorf("of the processes %d, only the threads %d are known", pids, slices.Sorted(maps.Keys(use.Waited)))
		}
	}
	if len(pids) != 3 { // the guard, the parent and the grandchild
		t.Errorf("the group has the processes %d", pids)
	}
	for id := range use.Waited {
		if !want[id] {
			t.Errorf("thread %d is not of the processes %d", id, pids)
		}
	}
	target.Stop(cancelled())
	if use, known := target.Processors(0); known {
		t.Errorf("of a target that has ended: %v", use)
	}
}

func TestTheSearchForProcessesIsLimited(t *testing.T) {
	looked := 0
	self := func(context.Context) ([]int, error) { looked++; return []int{os.Getpid()}, nil }
	var c usageMeter
	first, known := c.read(time.Hour, self)
	again, _ := c.read(time.Hour, self)
	if !known || looked != 1 || !again.At.Equal(first.At) {
		t.Errorf("known: %t, looked %d times, at %s and %s", known, looked, first.At, again.At)
	}
	if later, _ := c.read(0, self); looked != 1 || !later.At.After(first.At) {
		t.Errorf("looked %d times, at %s and %s", looked, first.At, later.At)
	}
	c.again = time.Time{}
	if c.read(0, self); looked != 2 {
		t.Errorf("looked %d times, want 2", looked)
	}
}

func TestNothingIsKnownOfProcessesThatCannotBeFound(t *testing.T) {
	var c usageMeter
	use, known := c.read(0, func(context.Context) ([]int, error) { return nil, errors.New("not here") })
	if known {
		t.Errorf("%v", use)
	}
	if use, known := (&Target{}).Processors(0); known {
		t.Errorf("of a server that the harness has not started: %v", use)
	}
}
