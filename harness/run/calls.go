package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// calls sends the requests whose responses are not event streams.
type calls struct {
	run     *targetRun
	library library // the client library of a target with a driver
	mu      sync.Mutex
	started map[string]*call // started requests that are neither joined nor cancelled
}

// prepare fills the target's values into a request, or into what a driver is told.
func (c *calls) prepare(req *scenario.Request, accept string) (*prepared, error) {
	if req.Method == transcript.Do {
		return c.library.prepare(req)
	}
	return c.run.prepare(req, accept)
}

// exchange sends a request and waits for its response, or tells a driver something and waits for the outcome.
func (c *calls) exchange(ctx context.Context, p *prepared) (*transcript.Exchange, error) {
	if p.do != nil {
		return c.library.do(ctx, p.do, p.sent)
	}
	return c.run.exchange(ctx, p)
}

func (c *calls) http(ctx context.Context, do *scenario.HTTP, rec *transcript.Step) error {
	p, err := c.prepare(&do.Request, "*/*")
	if err != nil {
		return err
	}
	if rec.Expect, err = fillExpect(do.Expect, &c.run.values); err != nil {
		return err
	}
	if do.AllowStatus != nil {
		rec.Expect = allowed(do.AllowStatus)
	}
	ctx, cancel := c.run.within(ctx, do.Within)
	defer cancel()
	if do.Burst > 1 {
		return c.burst(ctx, p, do.Burst, rec)
	}
	x, err := c.exchange(ctx, p)
	if err != nil {
		return err
	}
	rec.Exchanges = []*transcript.Exchange{x}
	c.run.captureResponse(x, do.Capture, rec)
	return nil
}

// allowed returns what a teardown step expects: any 2xx, or one of the statuses that the step allows.
func allowed(statuses []int) *transcript.Expect {
	e := &transcript.Expect{}
	for status := 200; status < 300; status++ {
		e.OneOf = append(e.OneOf, transcript.Expect{Status: status})
	}
	for _, status := range statuses {
		e.OneOf = append(e.OneOf, transcript.Expect{Status: status})
	}
	return e
}

// burst sends several copies of a request at the same time.
func (c *calls) burst(ctx context.Context, p *prepared, n int, rec *transcript.Step) error {
	rec.Burst = true
	exchanges, errs := make([]*transcript.Exchange, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { exchanges[i], errs[i] = c.exchange(ctx, p) })
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	rec.Exchanges = exchanges
	return nil
}

// start sends a request and returns without waiting for the response.
func (c *calls) start(ctx context.Context, do *scenario.Start, rec *transcript.Step) error {
	p, err := c.prepare(&do.Request, "*/*")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	started := &call{cancel: cancel, done: make(chan struct{})}
	sent := make(chan struct{})
	p.sent = sync.OnceFunc(func() { close(sent) })
	if p.wire != nil {
		p.wire.Sent = p.sent
	}
	done := c.run.announce(rec)
	go func() {
		defer close(started.done)
		started.x, started.fault = c.exchange(ctx, p)
		done(outcomeOf(started.x))
	}()
	c.mu.Lock()
	c.started[do.Name] = started
	c.mu.Unlock()
	select {
	case <-sent:
	case <-started.done:
	}
	return nil
}

func (c *calls) get(name string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started[name]
}

// take removes a started request and returns it, or nil.
func (c *calls) take(name string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.started[name]
	delete(c.started, name)
	return taken
}

func (c *calls) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.started))
}

// cancelAll cancels all started requests and waits until they have ended.
func (c *calls) cancelAll() {
	for _, name := range c.names() {
		started := c.get(name)
		started.cancel(errDone)
		<-started.done
	}
}

func (c *calls) join(ctx context.Context, do *scenario.Join, rec *transcript.Step) error {
	started := c.take(do.Name)
	if started == nil {
		return errNotOpened
	}
	ctx, cancel := c.run.within(ctx, do.Within)
	defer cancel()
	select {
	case <-started.done:
	case <-ctx.Done():
		started.cancel(context.Cause(ctx))
		<-started.done
	}
	started.cancel(errDone)
	if started.fault != nil {
		return started.fault
	}
	rec.Exchanges = []*transcript.Exchange{started.x}
	c.run.captureResponse(started.x, do.Capture, rec)
	var err error
	rec.Expect, err = fillExpect(do.Expect, &c.run.values)
	return err
}

// A call is a request that was started and is not joined yet.
type call struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the exchange is complete
	x      *transcript.Exchange
	fault  error

	agreed, late bool // see settleCall: it is decided whether the response counts, and it came too late to count
}

// giveUp cancels the request and records what was exchanged until then.
func (c *call) giveUp(rec *transcript.Step) error {
	c.cancel(errDone)
	<-c.done
	if c.fault != nil {
		return c.fault
	}
	if c.late {
		if c.x.Failure == nil {
			c.x.Failure = &transcript.Failure{Phase: transcript.PhaseBody, Text: "it was answered when it had been given up"}
		}
		c.x.Failure.Kind = transcript.FailCanceled
	}
	rec.Exchanges = []*transcript.Exchange{c.x}
	return nil
}

// poll repeats a request until the response is the wanted one.
func (c *calls) poll(ctx context.Context, do *scenario.Poll, rec *transcript.Step) error {
	p, err := c.prepare(&do.Request, "*/*")
	if err != nil {
		return err
	}
	until, err := fillExpect(do.Until, &c.run.values)
	if err != nil {
		return err
	}
	rec.Uncompared = do.Compare == scenario.PollNone
	within := cmp.Or(do.Within, c.run.opts.Step)
	ctx, cancel := c.run.within(ctx, within)
	defer cancel()
	wait := do.Pause
	var last match.Mismatch // of the previous response
	for tries := 1; ; tries++ {
		x, err := c.exchange(ctx, p)
		if err != nil {
			return err
		}
		if ctx.Err() != nil && x.Failure != nil && tries > 1 {
			rec.Unmet = unmetPoll(last, within) // the step's own limit cut this attempt short
			return nil
		}
		keepPolled(rec, x, do.Compare)
		mismatches := match.Exchange(until, x)
		if len(mismatches) == 0 {
			c.run.captureResponse(x, do.Capture, rec)
			return nil
		}
		last = mismatches[0]
		waiting.Sleep(ctx, wait)
		wait = min(wait*3/2, do.MaxPause)
		if ctx.Err() != nil {
			rec.Unmet = unmetPoll(last, within)
			return nil
		}
	}
}

func unmetPoll(m match.Mismatch, within time.Duration) *transcript.Unmet {
	return &transcript.Unmet{
		Kind: "poll", What: m.Place + " to become " + m.Want, Why: fmt.Sprintf("after %s it was still %s", within, m.Got),
	}
}

// keepPolled records the exchange of a poll: every one that differs from the previous one, or only the last.
func keepPolled(rec *transcript.Step, x *transcript.Exchange, compare scenario.PollCompare) {
	last := len(rec.Exchanges) - 1
	if compare == scenario.PollDistinct && last >= 0 && !sameResponse(rec.Exchanges[last], x) {
		rec.Exchanges = append(rec.Exchanges, x)
		return
	}
	rec.Exchanges = append(rec.Exchanges[:max(last, 0)], x)
}

func sameResponse(a, b *transcript.Exchange) bool {
	return a.Response != nil && b.Response != nil && a.Response.Status == b.Response.Status &&
		string(a.Response.Body.Bytes) == string(b.Response.Body.Bytes)
}
