//go:build !unix

package target

import (
	"context"
	"errors"
	"os"
	"runtime"
	"syscall"

	"github.com/lockstep-dev/lockstep/harness/internal/sockets"
)

// Without process groups, a target could not be ended reliably, so none is started. These types have what the rest of
// the package needs of group.go, process.go and cleaner.go.
type (
	group   struct{}
	process struct {
		log    *logTail
		exited chan struct{}
		input  *os.File
		usage  usageMeter
	}
	cleaner struct{}
)

const removeDirectory = ""

// AdoptOrphans does nothing on systems where no target is started.
func AdoptOrphans() {}

func newCleaner(string, string) (*cleaner, error) { return &cleaner{}, nil }
func (*cleaner) dismiss()                         {}

func newGroup(context.Context) (*group, error) {
	return nil, errors.New("targets cannot be started on " + runtime.GOOS + ": start the server yourself and give its URL")
}

func startProcess(context.Context, command, *group) (*process, error) {
	panic("target: no group, no process")
}

func (p *process) members(context.Context) ([]int, error)                    { return nil, errNotOurs }
func (p *process) foreignListener([]sockets.Listener) (int, string)          { return 0, "" }
func (p *process) signalLeader(string) error                                 { return errNotOurs }
func (p *process) exit() (int, string)                                       { return 0, "" }
func (p *process) status() string                                            { return "" }
func (p *process) terminate(context.Context, syscall.Signal) (string, error) { return "", errNotOurs }
func (p *process) end(context.Context) error                                 { return nil }

// No target has a port on these systems.
func lockPort(int) bool { return true }
func unlockPort(int)    {}
