package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A walker takes one target through a scenario.
type walker struct {
	stage  *stage
	server *Target
	env    env
	t      *transcript.Transcript

	mu      sync.Mutex // branches that run at once share what follows
	streams map[string]*stream
	refused map[string]bool // by the name that the stream was to have
	opened  []*stream       // in the order of their opening
	calls   map[string]*call
	stopped bool          // the scenario asked the process to end
	down    bool          // the process could not be started again
	up      time.Duration // since when this process has been there

	upstreams []*upstream
	detach    []func()          // from their stubs
	recorded  []transcript.Step // what MCP servers have written down, when it was last looked at
}

func newWalker(r *stage, server *Target) *walker {
	w := &walker{
		stage: r, server: server,
		t: &transcript.Transcript{
			Scenario: r.scenario.ID, Target: server.Name, Unique: unique(), Process: server.Since, Started: time.Now(),
		},
		streams: map[string]*stream{},
		refused: map[string]bool{},
		calls:   map[string]*call{},
	}
	w.env.values = map[string]json.RawMessage{"unique": quote(w.t.Unique)}
	if w.t.Directory = server.Directory; w.t.Directory != "" {
		w.env.values["directory"] = quote(w.t.Directory)
	}
	if r.scenario.Lockstep {
		w.t.Lockstep = server.Lockstep
		w.env.values["lockstep"] = quote(server.Lockstep)
	}
	if w.exited() {
		w.t.Unusable, w.t.Log = "the target is not running: "+server.Process.ExitStatus(), server.Process.Log()
		return w
	}
	for name, s := range server.Stubs {
		w.env.set(scenario.StubPrefix+name, quote(s.URL()))
	}
	if err := w.define(); err != nil {
		w.t.Unusable = err.Error()
		return w
	}
	w.attach()
	return w
}

// define gives names their values that have one before the first step.
func (w *walker) define() error {
	for _, v := range w.stage.scenario.Definitions() {
		raw, err := v.Value.Resolve(&w.env)
		if err != nil {
			return fmt.Errorf("${{ %s }}: %w", v.Name, err)
		}
		w.env.set(v.Name, raw)
	}
	return nil
}

// since returns the offset of now.
func (w *walker) since() time.Duration { return time.Since(w.t.Started) }

// exited reports whether the target's process has ended.
func (w *walker) exited() bool {
	if w.server.Process == nil {
		return false
	}
	select {
	case <-w.server.Process.Exited():
		return true
	default:
		return false
	}
}

// lost reports whether the target is not there any more, and should be. Of one that has ended because the scenario wanted it,
// something may still be on its way: that an upstream has been asked, or that it has been hung up on, is noticed later, and
// MCP servers read what they have been sent.
func (w *walker) lost() bool {
	return w.down || w.t.Unusable != "" || w.exited() && !w.stopped
}

// do does a step and returns its record, or those of the steps of its branches.
func (w *walker) do(ctx context.Context, st *scenario.Step) []transcript.Step {
	if p, ok := st.Do.(*scenario.Parallel); ok {
		return w.parallel(ctx, st.ID, p)
	}
	rec := transcript.Step{ID: st.ID, Line: st.Line, Kind: st.Kind(), Text: st.Text, At: w.since()}
	if rec.Skipped = w.obstacle(ctx); rec.Skipped == "" {
		done := w.watch(&rec)
		w.act(ctx, st, &rec)
		done(w.outcome(&rec))
	}
	rec.Took = w.since() - rec.At
	return []transcript.Step{rec}
}

// obstacle says why no further step can be done; "" when it can.
func (w *walker) obstacle(ctx context.Context) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.t.Unusable != "":
		return w.t.Unusable
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case w.down:
		return transcript.NotRestarted
	case w.stopped:
		return ""
	case w.exited():
		return transcript.Exited
	}
	return ""
}

// act does a step. When that breaks, by a mistake of ours, the step has a fault, and the scenario goes on to its end.
func (w *walker) act(ctx context.Context, st *scenario.Step, rec *transcript.Step) {
	defer func() {
		if cause := recover(); cause != nil {
			rec.Fault = broken(cause).Error()
		}
	}()
	var err error
	switch do := st.Do.(type) {
	case *scenario.HTTP:
		err = w.http(ctx, do, rec)
	case *scenario.Start:
		err = w.start(ctx, do, rec)
	case *scenario.Join:
		err = w.join(ctx, do, rec)
	case *scenario.Open:
		err = w.open(ctx, do, rec)
	case *scenario.Await:
		err = w.await(ctx, do, rec)
	case *scenario.Never:
		err = w.never(do, rec)
	case *scenario.Poll:
		err = w.poll(ctx, do, rec)
	case *scenario.Hangup:
		err = w.hangUp(ctx, do, rec)
	case *scenario.Stop:
		err = w.stop(ctx, do, rec)
	case *scenario.Kill:
		err = w.kill(ctx, rec)
	case *scenario.Asked:
		err = w.asked(ctx, do, rec)
	case *scenario.Restart:
		err = w.restart(ctx, do, rec)
	}
	var missing *scenario.MissingError
	switch {
	case err == nil:
	case errors.As(err, &missing), errors.Is(err, errNoStream):
		rec.Skipped = err.Error()
	default:
		rec.Fault = err.Error()
	}
}

// within returns the context of a step: bounded by the step's own time, or by the default.
func (w *walker) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		d = w.stage.opts.Step
	}
	return context.WithTimeoutCause(ctx, d, &overError{"step", d})
}

func (w *walker) parallel(ctx context.Context, id string, p *scenario.Parallel) []transcript.Step {
	records := make([][]transcript.Step, len(p.Branches))
	var wg sync.WaitGroup
	for i, b := range p.Branches {
		wg.Go(func() {
			for j := range b.Steps {
				records[i] = append(records[i], w.do(ctx, &b.Steps[j])...)
			}
		})
	}
	wg.Wait()
	for _, s := range w.opened {
		s.joined(id)
	}
	var out []transcript.Step
	for _, r := range records {
		out = append(out, r...)
	}
	return out
}

// capture takes values out of an answer and notes the first that is not there.
func (w *walker) capture(captures []scenario.Capture, body []byte, h transcript.Header, from origin, rec *transcript.Step) {
	for _, c := range captures {
		var (
			value json.RawMessage
			found bool
			what  = c.Path
			why   = "there is no such field"
		)
		if c.Header != "" {
			var text string
			text, found = h.Get(c.Header)
			value, what = quote(text), "header "+c.Header
			from.From, from.path = what, ""
		} else {
			value, found = match.Select(body, c.Path)
			from.From, from.doc, from.path = documentOf(from), body, c.Path
		}
		switch {
		case found:
			w.env.capture(c.Name, value, from)
		case rec.Unmet == nil:
			if c.Header == "" {
				why = match.Missing(body, c.Path)
			}
			rec.Unmet = &transcript.Unmet{Kind: "capture", What: c.Name + " from " + what, Why: why}
		}
	}
}

// closeAll hangs up everything that is still open.
func (w *walker) closeAll() {
	w.mu.Lock()
	calls := w.calls
	w.mu.Unlock()
	for _, c := range calls {
		c.cancel(errDone)
		<-c.done
	}
	for _, s := range w.opened {
		if !s.closed {
			s.hangUp(s.Close)
		}
	}
}

// grace is how long a process is watched that has hung up or ended a stream: it may be dying.
const grace = 500 * time.Millisecond

// finish completes the transcript, but for the end of the process.
func (w *walker) finish(ctx context.Context) {
	for _, s := range w.opened {
		if is, _ := s.answered(); is {
			s.record()
			w.t.Streams = append(w.t.Streams, s.rec)
		}
	}
	w.noteRefusals()
	var exchanges []*transcript.Exchange
	for i := range w.t.Steps {
		exchanges = append(exchanges, w.t.Steps[i].Exchanges...)
	}
	w.server.Client.Late(ctx, w.since(), exchanges)
	w.t.Took = w.since()
	if ctx.Err() != nil {
		w.t.Aborted = context.Cause(ctx).Error()
	}
}

// mayEnd reports whether the process runs and may be dying.
func (w *walker) mayEnd() bool {
	return w.server.Process != nil && !w.stopped && w.t.Unusable == "" && !w.exited() && w.lostConnection()
}

// noteExit notes that the process has ended by itself.
func (w *walker) noteExit() {
	if w.stopped || w.t.Unusable != "" || !w.exited() {
		return
	}
	w.t.Exit = &transcript.Exit{
		Status: w.server.Process.ExitStatus(), At: w.since(), Log: w.server.Process.Log(), UnderWay: w.server.Process.UnderWay(),
	}
}

// lostConnection reports whether a connection failed in a way that suggests that nobody is there any more.
func (w *walker) lostConnection() bool {
	lost := func(f *transcript.Failure, at time.Duration) bool {
		return f != nil && at >= w.up && (f.Kind == transcript.FailConnect || f.Kind == transcript.FailReset || f.Kind == transcript.FailClosed)
	}
	for i := range w.t.Steps {
		for _, x := range w.t.Steps[i].Exchanges {
			if lost(x.Failure, x.Done) {
				return true
			}
		}
	}
	for _, s := range w.t.Streams {
		if lost(s.Failure, s.Until) || s.Ended == transcript.EndedByServer && s.Until >= w.up {
			return true
		}
	}
	return false
}
