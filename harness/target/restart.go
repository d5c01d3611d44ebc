package target

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// Kill sends SIGKILL to the started process alone, and returns how it ended: "signal: killed". It returns an error if
// the process had ended before. The caller must still call Stop.
func (t *Target) Kill(ctx context.Context) (status string, err error) {
	return t.signal(ctx, "kill", syscall.SIGKILL)
}

// Grace is how long the target may take to exit when it is asked to.
func (t *Target) Grace() time.Duration { return t.spec.Stop.Grace }

// Restart ends what is left of the target as Stop does, and runs its command again: on the same port, in the same
// directory, with the same environment. It returns when the target is ready. That must be within Ready.Within and
// before the given time. As with Start, the target ends with the context.
//
// After an error, the target does not run. Log, Exited and ExitStatus are about the last process.
func (t *Target) Restart(ctx context.Context, before time.Time) error {
	p := t.running()
	if p == nil {
		return t.failed("restart", errNotOurs)
	}
	if err := p.end(ctx); err != nil {
		return t.failed("restart", err)
	}
	deadline := time.Now().Add(t.spec.Ready.Within)
	if !before.IsZero() && before.Before(deadline) {
		deadline = before
	}
	ready := t.spec.Ready
	ready.Place = "" // a finding has the error, and must not change when lockstep.yaml gets a line more
	for wait := firstPoll; ; wait = min(2*wait, lastPoll) {
		held, err := t.port.listen()
		if err == nil {
			err = t.execute(ctx, held, ready, deadline)
		}
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) && !lostPort(err) {
			return err
		}
		// An outgoing connection may have the port and release it soon.
		if time.Now().Add(wait).After(deadline) || !waiting.Sleep(ctx, wait) {
			return fmt.Errorf("restart target %q: port %d: %w", t.name, t.port.number, err)
		}
	}
}
