package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// process is the target's process, as far as the scenario ends it, starts it again, or sees it end.
type process struct {
	*targetRun
	mu      sync.Mutex    // branches that run at once share what follows
	stopped bool          // the scenario asked the process to end
	down    bool          // the process could not be started again
	up      time.Duration // when the process was started again
}

// errNotStarted is why a step about the process cannot be done.
var errNotStarted = &faultError{"the target was not started by lockstep, so it cannot be stopped"}

// exited reports whether the target's process has ended.
func (p *process) exited() bool {
	return p.target.Process != nil && waiting.IsClosed(p.target.Process.Exited())
}

// obstacle says why no further step can be done; "" when it can.
func (p *process) obstacle() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.down:
		return transcript.NotRestarted
	case !p.stopped && p.exited():
		return transcript.Exited
	}
	return ""
}

// lost reports whether the process has ended and should not have. When the scenario has ended it, more may still
// be recorded: requests to upstreams and closed connections are noticed later, and MCP servers read what they were sent.
func (p *process) lost() bool {
	return p.t.Unusable != "" || p.obstacle() != ""
}

// do does a step that ends the process or starts it again.
func (p *process) do(ctx context.Context, action scenario.Action, rec *transcript.Step) error {
	if p.target.Process == nil {
		return errNotStarted
	}
	switch do := action.(type) {
	case *scenario.Stop:
		p.stop(ctx, do, rec)
	case *scenario.Kill:
		ctx, cancel := p.within(ctx, 0)
		defer cancel()
		p.end(ctx, "SIGKILL", p.target.Process.Kill, "signal: killed", rec)
	case *scenario.Restart:
		p.restart(ctx, do, rec)
	}
	return nil
}

// stop asks the target's process to end.
func (p *process) stop(ctx context.Context, do *scenario.Stop, rec *transcript.Step) {
	ctx, cancel := p.within(ctx, do.Within)
	defer cancel()
	want := fmt.Sprintf("exit status %d", do.Exit)
	p.end(ctx, "SIGTERM", p.target.Process.Terminate, want, rec)
	if rec.Unmet == nil && rec.Process.Status != want {
		rec.Unmet = &transcript.Unmet{Kind: "exit", What: want, Why: rec.Process.Status}
	}
}

// restart starts the target's process again. One that runs is asked to end first, and killed when it does not.
func (p *process) restart(ctx context.Context, do *scenario.Restart, rec *transcript.Step) {
	life := p.target.Process
	if do.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = p.within(ctx, do.Within)
		defer cancel()
	}
	if !p.exited() {
		bounded, cancel := context.WithTimeoutCause(ctx, life.Grace(), &timeoutError{"stop", life.Grace()})
		p.end(bounded, "SIGTERM", life.Terminate, "to end", rec)
		cancel()
		if rec.Unmet != nil {
			_, _ = life.Kill(ctx) // Restart fails if it is still there
		}
	}
	err := life.Restart(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped, p.down, p.up = err != nil, err != nil, p.since(); err != nil {
		rec.Unmet = &transcript.Unmet{Kind: "restart", What: "the target to be ready again", Why: err.Error()}
	}
}

// end ends the process in a way that a step wants, and notes how it ended.
func (p *process) end(ctx context.Context, signal string, how func(context.Context) (string, error), want string, rec *transcript.Step) {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	began := time.Now()
	status, err := how(ctx)
	if rec.Process = (&transcript.ProcessEnd{Signal: signal, Status: status, Took: time.Since(began)}); err != nil {
		rec.Process.Status = ""
		rec.Unmet = &transcript.Unmet{Kind: "exit", What: want, Why: err.Error()}
	}
}

// exitGrace is how long a process is watched when one of its connections broke or a stream ended: it may be ending.
const exitGrace = 500 * time.Millisecond

// mayEnd reports whether the process runs and may be ending.
func (p *process) mayEnd() bool {
	return p.target.Process != nil && !p.stopped && p.t.Unusable == "" && !p.exited() && p.lostConnection()
}

// noteExit notes in the transcript that the process has ended by itself.
func (p *process) noteExit() {
	if p.stopped || p.t.Unusable != "" || !p.exited() {
		return
	}
	life := p.target.Process
	p.t.Exit = &transcript.Exit{Status: life.ExitStatus(), At: p.since(), Log: life.Log(), UnderWay: life.UnderWay()}
}

// lostConnection reports whether a connection failed, or a stream ended, as happens when a process ends.
func (p *process) lostConnection() bool {
	lost := func(f *transcript.Failure, at time.Duration) bool {
		return f != nil && at >= p.up && (f.Kind == transcript.FailConnect || f.Kind == transcript.FailReset || f.Kind == transcript.FailClosed)
	}
	for i := range p.t.Steps {
		for _, x := range p.t.Steps[i].Exchanges {
			if lost(x.Failure, x.Done) {
				return true
			}
		}
	}
	for _, s := range p.t.Streams {
		if lost(s.Failure, s.Until) || s.Ended == transcript.EndedByServer && s.Until >= p.up {
			return true
		}
	}
	return false
}
