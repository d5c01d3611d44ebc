package run

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// A library is a client library under test, behind its driver: a program that is told what to do, one line of JSON at a
// time, and writes a line for each outcome (docs/drivers.md). It is started when it is first told something, and ends
// with the scenario.
type library struct {
	run *targetRun

	mu      sync.Mutex // guards the fields below, because branches run at the same time
	program *program   // nil before the first start
	err     error      // why it cannot be started
	ledger  ledger
}

// prepare fills a target's values into what a driver is told.
func (l *library) prepare(req *scenario.Request) (*prepared, error) {
	name, err := req.Path.Text(&l.run.values, nil)
	if err != nil {
		return nil, err
	}
	body, err := req.Body.Plain(&l.run.values)
	if err != nil {
		return nil, err
	}
	p := &prepared{do: &transcript.Request{Method: transcript.Do, Target: name, Body: transcript.Body{Bytes: body, Size: int64(len(body))}}}
	if body != nil {
		p.do.Header = transcript.Header{{Name: "Content-Type", Value: "application/json"}}
	}
	return p, nil
}

// do tells the driver something and waits for the outcome. sent is called when it was told.
func (l *library) do(ctx context.Context, req *transcript.Request, sent func()) (*transcript.Exchange, error) {
	to, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	x := &transcript.Exchange{Request: *req, Sent: l.run.since()}
	id := l.ledger.tell(x)
	told, err := json.Marshal(command{id, req.Target, req.Body.Bytes})
	if err != nil {
		return nil, &faultError{err.Error()}
	}
	next, _ := to.Count(func(*transcript.Event) bool { return true })
	err = to.send(ctx, &message{item: transcript.ItemLine, data: told})
	if sent != nil {
		sent()
	}
	if err != nil {
		l.fail(ctx, x, transcript.PhaseSend, err, to)
		return x, nil
	}
	var line heard
	var at transcript.Event
	_, err = to.Await(ctx, next, func(ev *transcript.Event) (ok bool) {
		line, ok = l.ledger.take(id, next, ev)
		at = *ev
		next++
		return ok
	})
	if err != nil {
		l.fail(ctx, x, transcript.PhaseBody, err, to)
		return x, nil
	}
	if line.err != nil {
		x.Failure = &transcript.Failure{Kind: transcript.FailMalformed, Phase: transcript.PhaseBody, Text: notOutcome(at.Data, line.err)}
	} else {
		body := line.out.body
		x.Response = &transcript.Response{
			Proto: "driver", Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}},
			Body: transcript.Body{Bytes: body, Size: int64(len(body))},
		}
		x.Head = at.At
	}
	x.Done = l.run.since()
	return x, nil
}

// start starts the driver, unless it was started before.
func (l *library) start(ctx context.Context) (*program, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.program == nil && l.err == nil {
		started, err := startProgram(context.WithoutCancel(ctx), l.run.target, ProgramOptions{}, &watch.Options{Start: l.run.t.Started, MaxEvents: l.run.opts.Events, Noun: "lines"})
		l.program, l.err = &started, err
	}
	return l.program, l.err
}

// ended reports whether the driver has ended by itself.
func (l *library) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.program != nil && l.err == nil && l.program.Ended()
}

// fail records why the driver was not told something, or has no outcome for it.
func (l *library) fail(ctx context.Context, x *transcript.Exchange, phase transcript.Phase, err error, to *program) {
	f := &transcript.Failure{Kind: transcript.FailClosed, Phase: phase, Text: err.Error()}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Kind = transcript.FailTimeout
	case errors.Is(err, errDone):
		f.Kind = transcript.FailCanceled
	case to.AwaitEnd(ctx) == nil: // the next step must see it, too
		how, limit, log := ending(to)
		if f.Text = "the driver has ended: " + how; limit != nil {
			f.Kind, f.Text = limit.Kind, limit.Text
		} else if len(log) > 0 {
			f.Text += "; its last line: " + log[len(log)-1]
		}
	}
	x.Failure, x.Done = f, l.run.since()
}

// ending returns how a program has ended, such as "exit status 2", and the last lines of its standard error. When
// lockstep has ended it because it exceeded a limit, that is returned instead.
func ending(p *program) (how string, limit *transcript.Failure, log []string) {
	var s transcript.Stream
	p.Record(&s)
	for _, ev := range s.Events {
		switch ev.Item {
		case transcript.ItemExit:
			how = exitText(ev.Data)
		case transcript.ItemStderr:
			log = append(log, ev.Data)
		}
	}
	const lines = 20
	return how, s.Failure, log[max(0, len(log)-lines):]
}

// exitText says in words what the data of an exit says.
func exitText(data string) string {
	var exit struct {
		Status int
		Signal string
	}
	if err := json.Unmarshal([]byte(data), &exit); err != nil {
		panic("run: the data of an exit is not JSON: " + err.Error())
	}
	if exit.Signal != "" {
		return "signal " + exit.Signal
	}
	return "exit status " + strconv.Itoa(exit.Status)
}

// close ends the driver, and then looks at what it has written. A driver that has ended before has crashed, even if
// nothing waited for an outcome.
func (l *library) close(ctx context.Context) {
	l.mu.Lock()
	to := l.program
	l.mu.Unlock()
	if to == nil || l.err != nil {
		return
	}
	if !to.Ended() {
		l.awaitExit(ctx, to)
	} else if how, limit, log := ending(to); limit == nil {
		l.run.t.Exit = &transcript.Exit{Status: how, At: l.run.since(), Log: log}
	}
	_ = to.Close()
	var s transcript.Stream
	to.Record(&s)
	l.ledger.settle(&s)
}

// awaitExit ends the driver's input. If it does not exit with status 0 then, the last step that told it something has
// not been met. A driver may wait for what it was told, so one that still owes an outcome is stopped.
func (l *library) awaitExit(ctx context.Context, to *program) {
	_ = to.CloseWrite()
	var limit time.Duration // that of steps
	owes := l.ledger.owes()
	if owes {
		limit = l.run.opts.Settle
	}
	bounded, cancel := l.run.within(ctx, limit)
	defer cancel()
	how := "it still ran"
	if err := to.AwaitEnd(bounded); err == nil {
		how, _, _ = ending(to)
	} else if owes {
		return
	} else {
		how += ": " + err.Error()
	}
	if how == "exit status 0" {
		return
	}
	for i := range slices.Backward(l.run.t.Steps) {
		step := &l.run.t.Steps[i]
		if len(step.Exchanges) == 0 {
			continue
		}
		if step.Unmet == nil {
			step.Unmet = &transcript.Unmet{Kind: "exit", What: "to exit with status 0 at the end of its input", Why: how}
		}
		return
	}
}
