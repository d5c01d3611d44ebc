package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	told    int        // how often it was told something
}

// A command is a line to a driver.
type command struct {
	ID   int             `json:"id"`
	Do   string          `json:"do"`
	With json.RawMessage `json:"with,omitempty"`
}

// An outcome is a line of a driver. It has either OK or Error.
type outcome struct {
	ID    *int            `json:"id"`
	OK    json.RawMessage `json:"ok"`
	Error json.RawMessage `json:"error"`
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
	to, id, err := l.next(ctx)
	if err != nil {
		return nil, err
	}
	x := &transcript.Exchange{Request: *req, Sent: l.run.since()}
	line, err := json.Marshal(command{id, req.Target, req.Body.Bytes})
	if err != nil {
		return nil, &faultError{err.Error()}
	}
	from, _ := to.Count(func(*transcript.Event) bool { return true })
	err = to.send(ctx, &message{item: transcript.ItemLine, data: line})
	if sent != nil {
		sent()
	}
	if err != nil {
		l.fail(x, transcript.PhaseSend, err, to)
		return x, nil
	}
	var heard transcript.Event
	var got outcome
	_, err = to.Await(ctx, from, func(ev *transcript.Event) bool {
		if ev.Item != transcript.ItemLine || ev.Sent {
			return false
		}
		heard, got = *ev, readOutcome(ev.Data)
		return got.ID == nil || *got.ID == id
	})
	switch {
	case err != nil:
		l.fail(x, transcript.PhaseBody, err, to)
	case got.ID == nil:
		x.Failure = &transcript.Failure{
			Kind: transcript.FailMalformed, Phase: transcript.PhaseBody,
			Text: fmt.Sprintf("the driver wrote a line that is not an outcome: %s (a driver logs to standard error)", strconv.Quote(truncated(heard.Data))),
		}
	default:
		body := got.body()
		x.Response = &transcript.Response{
			Proto: "driver", Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/json"}},
			Body: transcript.Body{Bytes: body, Size: int64(len(body))},
		}
		x.Head = heard.At
	}
	x.Done = l.run.since()
	return x, nil
}

// next starts the driver if necessary, and returns it with the next id.
func (l *library) next(ctx context.Context) (*program, int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.program == nil && l.err == nil {
		started, err := startProgram(context.WithoutCancel(ctx), l.run.target, ProgramOptions{}, &watch.Options{Start: l.run.t.Started, MaxEvents: l.run.opts.Events})
		l.program, l.err = &started, err
	}
	l.told++
	return l.program, l.told, l.err
}

// fail records why the driver was not told something, or has no outcome for it.
func (l *library) fail(x *transcript.Exchange, phase transcript.Phase, err error, to *program) {
	f := &transcript.Failure{Kind: transcript.FailClosed, Phase: phase, Text: err.Error()}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Kind = transcript.FailTimeout
	case errors.Is(err, errDone):
		f.Kind = transcript.FailCanceled
	case errors.Is(err, watch.ErrEnded):
		exit, log := ending(to)
		f.Text = "the driver has ended: " + exit
		if len(log) > 0 {
			f.Text += "; its last line: " + log[len(log)-1]
		}
	}
	x.Failure, x.Done = f, l.run.since()
}

// ending returns how a program ended, and the last lines of its standard error.
func ending(p *program) (exit string, log []string) {
	var s transcript.Stream
	p.Record(&s)
	for _, ev := range s.Events {
		switch ev.Item {
		case transcript.ItemExit:
			exit = ev.Data
		case transcript.ItemStderr:
			log = append(log, ev.Data)
		}
	}
	const lines = 20
	return exit, log[max(0, len(log)-lines):]
}

// close ends the driver. One that has ended before has crashed, even if nothing waited for an outcome.
func (l *library) close(ctx context.Context) {
	l.mu.Lock()
	to := l.program
	l.mu.Unlock()
	if to == nil || l.err != nil {
		return
	}
	if to.Ended() {
		exit, log := ending(to)
		l.run.t.Exit = &transcript.Exit{Status: exit, At: l.run.since(), Log: log}
	} else {
		_ = to.CloseWrite()
		bounded, cancel := l.run.opts.settling(ctx)
		_ = to.AwaitEnd(bounded) // a driver that ignores the end of its input is stopped
		cancel()
	}
	_ = to.Close()
}

// readOutcome reads a line of a driver, as driver.schema.json describes it. The outcome has no ID when the line is not
// one.
func readOutcome(line string) outcome {
	var o outcome
	err := jsonv2.Unmarshal([]byte(line), &o,
		jsonv2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) // as in bodies
	if err != nil || o.ID == nil || *o.ID < 1 || (o.OK == nil) == (o.Error == nil) {
		return outcome{}
	}
	return o
}

// body returns the outcome without its id.
func (o outcome) body() []byte {
	var b bytes.Buffer
	name, value := transcript.OutcomeOK, o.OK
	if o.Error != nil {
		name, value = transcript.OutcomeError, o.Error
	}
	fmt.Fprintf(&b, "{%q:%s}", name, value)
	return b.Bytes()
}

// truncated returns the beginning of a long line.
func truncated(line string) string {
	const limit = 200
	if len(line) <= limit {
		return line
	}
	return strings.ToValidUTF8(line[:limit], "") + "…"
}
