package run

import (
	"context"
	"errors"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A driver takes one target through a scenario.
type driver struct {
	*targetRun
	calls     calls
	streams   streams
	process   process
	upstreams upstreams
	records   mcpRecords
}

// newDriver prepares a run on a target: it defines the names, and attaches the run to the target's stubs.
func newDriver(sc *scenario.Scenario, script *scenario.Script, target *Target, opts *Options, asked *notifier) *driver {
	d := driverOf(newTargetRun(sc, target, opts))
	if d.process.exited() {
		d.t.Unusable, d.t.Log = "the target is not running: "+target.Process.ExitStatus(), target.Process.Log()
		return d
	}
	if err := d.define(); err != nil {
		d.t.Unusable = err.Error()
		return d
	}
	d.upstreams.attach(script.Stubs, asked)
	return d
}

func driverOf(r *targetRun) *driver {
	return &driver{
		targetRun: r, process: process{run: r}, records: mcpRecords{targetRun: r}, upstreams: upstreams{targetRun: r},
		calls:   calls{run: r, library: library{run: r}, started: map[string]*call{}},
		streams: streams{run: r, byName: map[string]*stream{}, refused: map[string]bool{}},
	}
}

// do performs a step and returns its record, or the records of all steps in its branches.
func (d *driver) do(ctx context.Context, st *scenario.Step) []transcript.Step {
	if p, ok := st.Do.(*scenario.Parallel); ok {
		return d.parallel(ctx, st.ID, p)
	}
	rec := transcript.Step{ID: st.ID, Line: st.Line, Kind: st.Kind(), Text: st.Text, At: d.since()}
	if rec.Skipped = d.obstacle(ctx); rec.Skipped == "" {
		done := d.announce(&rec)
		d.act(ctx, st, &rec)
		done(d.outcome(&rec))
	}
	rec.Took = d.since() - rec.At
	return []transcript.Step{rec}
}

// parallel runs the steps of all branches at the same time.
func (d *driver) parallel(ctx context.Context, id string, p *scenario.Parallel) []transcript.Step {
	records := make([][]transcript.Step, len(p.Branches))
	var wg sync.WaitGroup
	for i, b := range p.Branches {
		wg.Go(func() {
			for j := range b.Steps {
				records[i] = append(records[i], d.do(ctx, &b.Steps[j])...)
			}
		})
	}
	wg.Wait()
	for _, s := range d.streams.all() {
		s.joinBranches(id)
	}
	var out []transcript.Step
	for _, r := range records {
		out = append(out, r...)
	}
	return out
}

// obstacle says why no further step can run, or returns "".
func (d *driver) obstacle(ctx context.Context) string {
	switch {
	case d.t.Unusable != "":
		return d.t.Unusable
	case ctx.Err() != nil:
		return context.Cause(ctx).Error()
	case d.calls.library.ended():
		return transcript.Exited
	}
	return d.process.obstacle()
}

// act performs a step. A panic is a bug in lockstep: it becomes a fault of the step, and the scenario continues.
func (d *driver) act(ctx context.Context, st *scenario.Step, rec *transcript.Step) {
	defer func() {
		if cause := recover(); cause != nil {
			rec.Fault = internalError(cause).Error()
		}
	}()
	var err error
	switch do := st.Do.(type) {
	case *scenario.HTTP:
		err = d.calls.http(ctx, do, rec)
	case *scenario.Start:
		err = d.calls.start(ctx, do, rec)
	case *scenario.Join:
		err = d.calls.join(ctx, do, rec)
	case *scenario.Poll:
		err = d.calls.poll(ctx, do, rec)
	case *scenario.Open:
		err = d.streams.open(ctx, do, rec)
	case *scenario.Send:
		err = d.streams.send(ctx, do, rec)
	case *scenario.Signal:
		err = d.streams.signal(do, rec)
	case *scenario.Await:
		err = d.streams.await(ctx, do, rec)
	case *scenario.Never:
		err = d.streams.never(do, rec)
	case *scenario.Hangup:
		if c := d.calls.take(do.Name); c != nil {
			err = c.giveUp(rec)
		} else {
			err = d.streams.hangUp(ctx, do, rec)
		}
	case *scenario.Stop, *scenario.Kill, *scenario.Restart:
		err = d.process.do(ctx, do, rec)
	case *scenario.Asked:
		err = d.upstreams.await(ctx, do, rec)
	}
	var missing *scenario.MissingError
	switch {
	case err == nil:
	case errors.As(err, &missing), errors.Is(err, errNotOpened):
		rec.Skipped = err.Error()
	default:
		rec.Fault = err.Error()
	}
}

// outcome returns what a step shows about the target.
func (d *driver) outcome(rec *transcript.Step) Outcome {
	out := Inconclusive
	for _, x := range rec.Exchanges {
		out = max(out, outcomeOf(x))
	}
	if s := d.streams.get(rec.Stream); s != nil && rec.Unmet != nil && s.wire.Ended() {
		return Disconnected
	}
	return out
}

// closeAll closes everything that is still open.
func (d *driver) closeAll() {
	if d.target.Program != nil {
		d.upstreams.freeze()
	}
	d.calls.cancelAll()
	d.calls.library.close(context.Background())
	for _, s := range d.streams.all() {
		if !s.closed {
			s.hangUp(s.wire.Close)
		}
	}
}

// finish completes the transcript, except for the exit of the process.
func (d *driver) finish(ctx context.Context) {
	d.streams.record()
	noteRefusals(d.t.Steps)
	var exchanges []*transcript.Exchange
	for i := range d.t.Steps {
		exchanges = append(exchanges, d.t.Steps[i].Exchanges...)
	}
	d.target.Client.Late(ctx, d.since(), exchanges)
	d.t.Took = d.since()
	if ctx.Err() != nil {
		d.t.Aborted = context.Cause(ctx).Error()
	}
}
