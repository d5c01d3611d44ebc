package target

import (
	"fmt"
	"net/netip"
	"runtime"

	"github.com/lockstep-dev/lockstep/harness/internal/sockets"
)

// Unchecked says why it is unknown whether the target itself answers on its port. It is "" when that is known, and for
// a target given by its URL.
func (t *Target) Unchecked() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unchecked
}

// checkOwner returns an error when another process answers on the target's port, because it took the port while it was
// free. Processes that the target has started count as the target.
func (t *Target) checkOwner(p *process) error {
	stranger, unchecked := 0, ""
	listeners, known := sockets.Listening(uint16(t.port.number))
	answering := sockets.Answering(listeners, netip.MustParseAddr(loopback))
	switch {
	case t.spec.Ready.AnyOwner:
		unchecked = "ready: {owner: any}"
	case !known:
		unchecked = runtime.GOOS + " does not tell who listens"
	case len(answering) == 0:
		unchecked = "no process of this machine is seen to listen there"
	default:
		stranger, unchecked = p.foreignListener(answering)
	}
	if stranger != 0 {
		return fmt.Errorf("process %d (%s), which is not the target's, answers there; where it answers for the target, write ready: {owner: any}", stranger, sockets.Name(stranger))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unchecked = unchecked
	return nil
}
