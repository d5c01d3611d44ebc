//go:build !unix

package target

import (
	"context"
	"errors"
	"runtime"
	"syscall"

	"github.com/lockstep-dev/lockstep/internal/sockets"
)

// Without process groups nothing can be promised about the end of a target, so none is started. These types are as much
// of group.go, process.go and broom.go as the rest of the package needs to be compiled.
type (
	group   struct{}
	process struct {
		journal *journal
		exited  chan struct{}
		census  census
	}
	broom struct{}
)

const sweepDirectory = ""

// AdoptOrphans does nothing where no target is started.
func AdoptOrphans() {}

func newBroom(string, string) (*broom, error) { return &broom{}, nil }
func (*broom) dismiss()                       {}

func newGroup(context.Context) (*group, error) {
	return nil, errors.New("targets cannot be started on " + runtime.GOOS + ": start the server yourself and give its URL")
}

func startProcess(context.Context, command, *group) (*process, error) {
	panic("target: no group, no process")
}

func (p *process) members(context.Context) ([]int, error)                    { return nil, errNotOurs }
func (p *process) stranger([]sockets.Listener) (int, string)                 { return 0, "" }
func (p *process) status() string                                            { return "" }
func (p *process) terminate(context.Context, syscall.Signal) (string, error) { return "", errNotOurs }
func (p *process) end(context.Context) error                                 { return nil }

// No target has a port here.
func lockPort(int) bool { return true }
func unlockPort(int)    {}
