package target

import (
	"fmt"
	"net/netip"
	"runtime"

	"github.com/lockstep-dev/lockstep/internal/sockets"
)

// Unchecked says why nobody looked whether it is the target that answers on its port; "" when it does, and for a target
// given by its URL, which nobody started.
func (t *Target) Unchecked() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unchecked
}

// owns reports an answer on the target's port that comes from a process which is not the target's: whoever took the port
// while it was free. What the target has started counts as the target.
func (t *Target) owns(p *process) error {
	stranger, unchecked := 0, ""
	listeners, told := sockets.Listening(uint16(t.port.number))
	answering := sockets.Answering(listeners, netip.MustParseAddr(loopback))
	switch {
	case t.spec.Ready.AnyOwner:
		unchecked = "ready: {owner: any}"
	case !told:
		unchecked = runtime.GOOS + " does not tell who listens"
	case len(answering) == 0:
		unchecked = "no process of this machine is seen to listen there"
	default:
		stranger, unchecked = p.stranger(answering)
	}
	if stranger != 0 {
		return fmt.Errorf("process %d (%s), which is not the target's, answers there; where it answers for the target, write ready: {owner: any}", stranger, sockets.Name(stranger))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unchecked = unchecked
	return nil
}
