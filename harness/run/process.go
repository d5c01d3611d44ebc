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

// process does what a scenario does with the target's process: it stops, kills and restarts it, or notices its exit.
type process struct {
	run     *targetRun
	mu      sync.Mutex    // guards the fields below, because branches run at the same time
	stopped bool          // the scenario asked the process to end
	down    bool          // the process could not be restarted
	up      time.Duration // when the process was restarted
}

// errNotStarted is the fault of a step about the process when the target is only a URL.
var errNotStarted = &faultError{"the target was not started by lockstep, so it cannot be stopped"}

func (p *process) exited() bool {
	return p.run.target.Process != nil && waiting.IsClosed(p.run.target.Process.Exited())
}

// obstacle says why no further step can run, or returns "".
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

// lost reports whether the process has ended without a step that ends it. After such a step, more may still be
// recorded: requests to upstreams and closed connections are noticed later, and MCP servers still read what they were
// sent.
func (p *process) lost() bool {
	return p.run.t.Unusable != "" || p.obstacle() != ""
}

// do performs a step that ends or restarts the process.
func (p *process) do(ctx context.Context, action scenario.Action, rec *transcript.Step) error {
	if p.run.target.Process == nil {
		return errNotStarted
	}
	switch do := action.(type) {
	case *scenario.Stop:
		p.stop(ctx, do, rec)
	case *scenario.Kill:
		ctx, cancel := p.run.within(ctx, 0)
		defer cancel()
		p.end(ctx, "SIGKILL", p.run.target.Process.Kill, "signal: killed", rec)
	case *scenario.Restart:
		p.restart(ctx, do, rec)
	}
	return nil
}

func (p *process) stop(ctx context.Context, do *scenario.Stop, rec *transcript.Step) {
	ctx, cancel := p.run.within(ctx, do.Within)
	defer cancel()
	want := fmt.Sprintf("exit status %d", do.Exit)
	p.end(ctx, "SIGTERM", p.run.target.Process.Terminate, want, rec)
	if rec.Unmet == nil && rec.Process.Status != want {
		rec.Unmet = &transcript.Unmet{Kind: "exit", What: want, Why: rec.Process.Status}
	}
}

// restart restarts the target's process. A running process is asked to exit first, and killed when it does not.
func (p *process) restart(ctx context.Context, do *scenario.Restart, rec *transcript.Step) {
	life := p.run.target.Process
	if do.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = p.run.within(ctx, do.Within)
		defer cancel()
	}
	if !p.exited() {
		bounded, cancel := context.WithTimeoutCause(ctx, life.Grace(), &timeoutError{"stop", life.Grace()})
		p.end(bounded, "SIGTERM", life.Terminate, "to end", rec)
		cancel()
		if rec.Unmet != nil {
			_, _ = life.Kill(ctx) // Restart fails if the process still runs
		}
	}
	err := life.Restart(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped, p.down, p.up = err != nil, err != nil, p.run.since(); err != nil {
		rec.Unmet = &transcript.Unmet{Kind: "restart", What: "the target to be ready again", Why: err.Error()}
	}
}

// end ends the process with a signal and records how it ended. A process that does not end is recorded as unmet.
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

// exitGrace is how long a process is watched after one of its connections broke or a stream ended: it may be exiting.
const exitGrace = 500 * time.Millisecond

// mayEnd reports whether the process still runs but may be exiting.
func (p *process) mayEnd() bool {
	return p.run.target.Process != nil && !p.stopped && p.run.t.Unusable == "" && !p.exited() && p.lostConnection()
}

// noteExit records in the transcript that the process has exited by itself.
func (p *process) noteExit() {
	if p.stopped || p.run.t.Unusable != "" || !p.exited() {
		return
	}
	life := p.run.target.Process
	p.run.t.Exit = &transcript.Exit{Status: life.ExitStatus(), At: p.run.since(), Log: life.Log(), UnderWay: life.UnderWay()}
}

// lostConnection reports whether a connection broke or a stream ended since the process was last restarted. Both happen
// when a process exits.
func (p *process) lostConnection() bool {
	lost := func(f *transcript.Failure, at time.Duration) bool {
		return f != nil && at >= p.up && (f.Kind == transcript.FailConnect || f.Kind == transcript.FailReset || f.Kind == transcript.FailClosed)
	}
	for i := range p.run.t.Steps {
		for _, x := range p.run.t.Steps[i].Exchanges {
			if lost(x.Failure, x.Done) {
				return true
			}
		}
	}
	for _, s := range p.run.t.Streams {
		if lost(s.Failure, s.Until) || s.Ended == transcript.EndedByServer && s.Until >= p.up {
			return true
		}
	}
	return false
}
