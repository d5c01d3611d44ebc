package run

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// errNotStarted is why a step about the process cannot be done.
var errNotStarted = &faultError{"the target was not started by lockstep, so it cannot be stopped"}

// stop asks the target's process to end.
func (w *walker) stop(ctx context.Context, do *scenario.Stop, rec *transcript.Step) error {
	if w.server.Process == nil {
		return errNotStarted
	}
	ctx, cancel := w.within(ctx, do.Within)
	defer cancel()
	want := fmt.Sprintf("exit status %d", do.Exit)
	w.end(ctx, "SIGTERM", w.server.Process.Terminate, want, rec)
	if rec.Unmet == nil && rec.Process.Status != want {
		rec.Unmet = &transcript.Unmet{Kind: "exit", What: want, Why: rec.Process.Status}
	}
	return nil
}

// kill ends the target's process without asking.
func (w *walker) kill(ctx context.Context, rec *transcript.Step) error {
	if w.server.Process == nil {
		return errNotStarted
	}
	ctx, cancel := w.within(ctx, 0)
	defer cancel()
	w.end(ctx, "SIGKILL", w.server.Process.Kill, "signal: killed", rec)
	return nil
}

// restart starts the target's process again. One that runs is asked to end before, and killed when it does not.
func (w *walker) restart(ctx context.Context, do *scenario.Restart, rec *transcript.Step) error {
	p := w.server.Process
	if p == nil {
		return errNotStarted
	}
	if do.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = w.within(ctx, do.Within)
		defer cancel()
	}
	if !w.exited() {
		bounded, cancel := context.WithTimeoutCause(ctx, p.Grace(), &overError{"stop", p.Grace()})
		w.end(bounded, "SIGTERM", p.Terminate, "to end", rec)
		cancel()
		if rec.Unmet != nil {
			_, _ = p.Kill(ctx) // that it did not end is told; Restart tells if it is still there
		}
	}
	err := p.Restart(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped, w.down, w.up = err != nil, err != nil, w.since(); err != nil {
		rec.Unmet = &transcript.Unmet{Kind: "restart", What: "the target to be ready again", Why: err.Error()}
	}
	return nil
}

// end lets the process end in a way, and notes how it did. An end that a step wants is no exit.
func (w *walker) end(ctx context.Context, signal string, how func(context.Context) (string, error), want string, rec *transcript.Step) {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	began := time.Now()
	status, err := how(ctx)
	if rec.Process = (&transcript.ProcessEnd{Signal: signal, Status: status, Took: time.Since(began)}); err != nil {
		rec.Process.Status = ""
		rec.Unmet = &transcript.Unmet{Kind: "exit", What: want, Why: err.Error()}
	}
}
