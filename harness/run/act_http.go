package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/archive"
)

// A call is a request that was started and not yet joined.
type call struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the exchange is complete
	x      *transcript.Exchange
	fault  error

	agreed, late bool // it is agreed whether an answer counts, and it does not; see settleCall
}

func (w *walker) http(ctx context.Context, do *scenario.HTTP, rec *transcript.Step) error {
	p, err := w.prepare(&do.Request, "*/*")
	if err != nil {
		return err
	}
	if rec.Expect, err = w.expect(do.Expect); err != nil {
		return err
	}
	if do.AllowStatus != nil {
		rec.Expect = allowed(do.AllowStatus)
	}
	ctx, cancel := w.within(ctx, do.Within)
	defer cancel()
	if do.Burst > 1 {
		return w.burst(ctx, p, do.Burst, rec)
	}
	x, err := w.exchange(ctx, p)
	if err != nil {
		return err
	}
	rec.Exchanges = []*transcript.Exchange{x}
	w.captureFrom(x, do.Capture, rec)
	return nil
}

// allowed is what a teardown expects: a 2xx, or one of the statuses that are allowed.
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

func (w *walker) exchange(ctx context.Context, p *prepared) (x *transcript.Exchange, err error) {
	defer func() { // not all callers are in the goroutine of the step
		if cause := recover(); cause != nil {
			x, err = nil, broken(cause)
		}
	}()
	x, err = w.server.Client.Do(ctx, w.t.Started, p.wire)
	if err != nil {
		return nil, &faultError{err.Error()}
	}
	p.mark(&x.Request)
	return x, nil
}

func (w *walker) captureFrom(x *transcript.Exchange, captures []scenario.Capture, rec *transcript.Step) {
	var (
		body   []byte
		header transcript.Header
		from   = origin{Captured: transcript.Captured{Step: rec.ID, Exchange: len(rec.Exchanges) - 1}, request: &x.Request}
	)
	if x.Response != nil {
		body, header = archive.Content(x.Response.Header.ContentType(), x.Response.Body.Bytes), x.Response.Header
	}
	w.capture(captures, body, header, from, rec)
}

// burst sends the same request several times at once.
func (w *walker) burst(ctx context.Context, p *prepared, n int, rec *transcript.Step) error {
	rec.Burst = true
	rec.Exchanges = make([]*transcript.Exchange, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { rec.Exchanges[i], errs[i] = w.exchange(ctx, p) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			rec.Exchanges = nil
			return err
		}
	}
	return nil
}

// start sends a request and returns when it is on its way.
func (w *walker) start(ctx context.Context, do *scenario.Start, rec *transcript.Step) error {
	p, err := w.prepare(&do.Request, "*/*")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{cancel: cancel, done: make(chan struct{})}
	sent := make(chan struct{})
	p.wire.Sent = sync.OnceFunc(func() { close(sent) })
	done := w.watch(rec)
	go func() {
		defer close(c.done)
		c.x, c.fault = w.exchange(ctx, p)
		done(outcomeOf(c.x))
	}()
	w.mu.Lock()
	w.calls[do.Name] = c
	w.mu.Unlock()
	select {
	case <-sent:
	case <-c.done:
	}
	return nil
}

// take removes a started request from those that are under way.
func (w *walker) take(name string) *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.calls[name]
	delete(w.calls, name)
	return c
}

func (w *walker) join(ctx context.Context, do *scenario.Join, rec *transcript.Step) error {
	c := w.take(do.Name)
	if c == nil {
		return errNoStream
	}
	ctx, cancel := w.within(ctx, do.Within)
	defer cancel()
	select {
	case <-c.done:
	case <-ctx.Done():
		c.cancel(context.Cause(ctx))
		<-c.done
	}
	c.cancel(errDone)
	if c.fault != nil {
		return c.fault
	}
	rec.Exchanges = []*transcript.Exchange{c.x}
	w.captureFrom(c.x, do.Capture, rec)
	var err error
	rec.Expect, err = w.expect(do.Expect)
	return err
}

// poll repeats a request until its answer is as wanted.
func (w *walker) poll(ctx context.Context, do *scenario.Poll, rec *transcript.Step) error {
	p, err := w.prepare(&do.Request, "*/*")
	if err != nil {
		return err
	}
	until, err := w.expect(do.Until)
	if err != nil {
		return err
	}
	rec.Uncompared = do.Compare == scenario.PollNone
	within := do.Within
	if within == 0 {
		within = w.stage.opts.Step
	}
	ctx, cancel := w.within(ctx, within)
	defer cancel()
	wait := do.Pause
	var last match.Mismatch // of the answer before
	for tries := 1; ; tries++ {
		x, err := w.exchange(ctx, p)
		if err != nil {
			return err
		}
		if ctx.Err() != nil && x.Failure != nil && tries > 1 {
			rec.Unmet = unmetPoll(last, within) // what cut this try short is our own bound
			return nil
		}
		keep(rec, x, do.Compare)
		mismatches := match.Exchange(until, x)
		if len(mismatches) == 0 {
			w.captureFrom(x, do.Capture, rec)
			return nil
		}
		last = mismatches[0]
		pause(ctx, wait)
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

// keep adds an answer of a poll to those that are compared.
func keep(rec *transcript.Step, x *transcript.Exchange, compare scenario.PollCompare) {
	last := len(rec.Exchanges) - 1
	if compare == scenario.PollDistinct && last >= 0 && !sameAnswer(rec.Exchanges[last], x) {
		rec.Exchanges = append(rec.Exchanges, x)
		return
	}
	rec.Exchanges = append(rec.Exchanges[:max(last, 0)], x)
}

func sameAnswer(a, b *transcript.Exchange) bool {
	return a.Response != nil && b.Response != nil && a.Response.Status == b.Response.Status &&
		string(a.Response.Body.Bytes) == string(b.Response.Body.Bytes)
}
