package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
)

// errNoStream is why a step is skipped that needs a stream or a request which did not come about.
var errNoStream = errors.New("it was not opened")

func (w *walker) stream(name string) *stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.streams[name]
}

func (w *walker) open(ctx context.Context, do *scenario.Open, rec *transcript.Step) error {
	rec.Stream = do.Name
	p, err := w.prepare(&do.Request, "text/event-stream")
	if err != nil {
		return err
	}
	if rec.Expect, err = w.expect(do.Expect); err != nil {
		return err
	}
	only := make([]*transcript.Pattern, len(do.Only))
	for i := range do.Only {
		if only[i], err = w.pattern(&do.Only[i]); err != nil {
			return err
		}
	}
	operation := w.stage.opts.Contract.Operation(p.wire.Method, p.wire.Target)
	opened := w.server.Client.BeginStream(ctx, w.t.Started, p.wire, &sse.WatchOptions{
		Start:     w.t.Started,
		Name:      func(ev *transcript.Event) string { return w.stage.opts.Contract.EventName(operation, ev) },
		Keep:      func(ev *transcript.Event) bool { return wanted(only, ev) },
		MaxEvents: w.stage.opts.Events,
	})
	s := &stream{
		Stream: opened,
		rec:    &transcript.Stream{Name: do.Name, Step: rec.ID, Operation: operation, Only: len(only) > 0},
		beats:  func(ev *transcript.Event) bool { return w.stage.opts.Heartbeat(do.Name, operation, ev) },
		cut:    -1,
		sent:   p,
		x:      &transcript.Exchange{},
	}
	rec.Exchanges = []*transcript.Exchange{s.x}
	if w.awaitHead(ctx, do.Within, operation, opened) {
		is, err := s.answered()
		if err != nil || !is {
			opened.Close()
		}
		switch {
		case err != nil:
			rec.Exchanges = nil
			return &faultError{err.Error()}
		case !is:
			return w.refuse(do, s.x, rec) // the answer is no stream, which is compared like any other
		}
	}
	w.mu.Lock()
	w.streams[do.Name] = s
	w.opened = append(w.opened, s)
	w.mu.Unlock()
	ready, err := w.ready(do)
	if ready == nil || err != nil {
		return err
	}
	ctx, cancelReady := w.within(ctx, do.Ready.Within)
	defer cancelReady()
	w.awaitEvents(ctx, s, ready, 1, "ready", rec)
	return nil
}

// ready returns the event that tells that a stream is ready; nil when the scenario does not wait for one.
func (w *walker) ready(do *scenario.Open) (*transcript.Pattern, error) {
	if do.Ready == nil {
		return nil, nil
	}
	event, err := do.Ready.Event.Text(&w.env, nil)
	return &transcript.Pattern{Event: &event}, err
}

// refuse notes that the answer to an open is no event stream. A broken answer is told of as what it is, and all that
// would have followed is skipped.
func (w *walker) refuse(do *scenario.Open, x *transcript.Exchange, rec *transcript.Step) error {
	if x.Response == nil || x.Failure != nil {
		return nil
	}
	w.mu.Lock()
	w.refused[do.Name] = true
	w.mu.Unlock()
	ready, err := w.ready(do)
	if ready == nil || err != nil {
		return err
	}
	rec.Unmet = &transcript.Unmet{Kind: "ready", What: describe(ready, 1)}
	return nil
}

// A refusal is an answer in the place of an event stream.
type refusal struct {
	answer   string // "404 application/json"
	expected bool   // by the scenario
}

// refusalOf returns the refusal that the step of an open got in its exchange.
func refusalOf(open *transcript.Step, x *transcript.Exchange) *refusal {
	return &refusal{
		answer:   answerText(x.Response),
		expected: x.Response.Status/100 != 2 && open.Expect != nil && len(match.Exchange(open.Expect, x)) == 0,
	}
}

func answerText(r *transcript.Response) string {
	text := strconv.Itoa(r.Status)
	if value, _ := r.Header.Get("Content-Type"); value != "" {
		media, _, _ := strings.Cut(value, ";")
		return text + " " + strings.TrimSpace(media)
	}
	return text
}

// without lets a step pass that demands something of a stream that was refused: what it lacks is noted when the scenario is
// over. It returns errNoStream where there was not even an answer.
func (w *walker) without(stream string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.refused[stream] {
		return errNoStream
	}
	return nil
}

// noteRefusals notes what steps demanded of streams that were refused: a scenario that passed such a step by would say of a
// server without the stream that all is well. It is done at the end, because the answer may have come behind the step, which
// then took its end for that of a stream.
func (w *walker) noteRefusals() {
	refused := map[string]*refusal{}
	for i := range w.t.Steps {
		rec := &w.t.Steps[i]
		if rec.Kind == "open" {
			delete(refused, rec.Stream)
			if len(rec.Exchanges) == 0 {
				continue
			}
			if x := rec.Exchanges[0]; x.Stream == "" && x.Response != nil && x.Failure == nil {
				refused[rec.Stream] = refusalOf(rec, x)
			}
		}
		if r := refused[rec.Stream]; r != nil && rec.Skipped == "" && rec.Fault == "" {
			r.note(rec)
		}
	}
}

// note notes what a step lacks. To hang up on what the scenario expects not to be there demands nothing.
func (r *refusal) note(rec *transcript.Step) {
	unmet := rec.Unmet // events have said which
	switch {
	case unmet != nil || rec.Kind == "open":
	case rec.Kind == "await":
		unmet = &transcript.Unmet{Kind: "end", What: endOfStream}
	case rec.Kind == "never":
		unmet = &transcript.Unmet{Kind: "stream", What: anyStream}
	case !r.expected:
		unmet = &transcript.Unmet{Kind: "close", What: anyStream}
	}
	if rec.Unmet = unmet; unmet != nil {
		unmet.Why = "there is no event stream: the answer is " + r.answer
	}
}

// wanted reports whether an event is one of those a stream is opened for. Comments belong to every scenario.
func wanted(only []*transcript.Pattern, ev *transcript.Event) bool {
	if len(only) == 0 || ev.Comment {
		return true
	}
	for _, p := range only {
		if match.Event(p, ev) {
			return true
		}
	}
	return false
}

// What steps demand of a stream, in words.
const (
	endOfStream = "the end of the stream"
	anyStream   = "an event stream"
)

func (w *walker) await(ctx context.Context, do *scenario.Await, rec *transcript.Step) error {
	rec.Stream = do.Stream
	pattern, err := w.pattern(do.Match)
	if err != nil {
		return err
	}
	s := w.stream(do.Stream)
	if s == nil {
		if err := w.without(do.Stream); err != nil || pattern == nil {
			return err
		}
		rec.Unmet = &transcript.Unmet{Kind: "event", What: describe(pattern, do.Times)}
		return nil
	}
	ctx, cancel := w.within(ctx, do.Within)
	defer cancel()
	if pattern != nil {
		if ev := w.awaitEvents(ctx, s, pattern, do.Times, "event", rec); ev != nil {
			from := origin{Captured: transcript.Captured{Step: s.rec.Step, Stream: do.Stream, Event: rec.Events[len(rec.Events)-1]}}
			w.capture(do.Capture, []byte(ev.Data), nil, from, rec)
		}
	}
	if do.End && rec.Unmet == nil {
		if err := s.Watch.AwaitEnd(ctx); err != nil {
			rec.Unmet = &transcript.Unmet{Kind: "end", What: endOfStream, Why: waited(err)}
		}
	}
	return nil
}

// awaitEvents waits for so many events that match, notes which they are, and returns the last of them; nil when it did
// not come.
func (w *walker) awaitEvents(ctx context.Context, s *stream, p *transcript.Pattern, times int, kind string, rec *transcript.Step) *transcript.Event {
	var last *transcript.Event
	from := s.passed(branchOf(rec.ID))
	for range times {
		i, err := s.Watch.Await(ctx, from, func(ev *transcript.Event) bool {
			if !match.Event(p, ev) {
				return false
			}
			last = ev
			return true
		})
		if err != nil {
			rec.Unmet = &transcript.Unmet{
				Kind: kind, What: describe(p, times), Why: waited(err) + "; " + s.others(from),
			}
			return nil
		}
		rec.Events = append(rec.Events, i)
		s.pass(branchOf(rec.ID), i)
		from = i + 1
	}
	return last
}

// waited says why waiting ended. The bound is told and not the time that was measured, which is another in each run.
func waited(err error) string {
	if errors.Is(err, sse.ErrEnded) {
		return "the stream ended before it came"
	}
	if over, ok := errors.AsType[*overError](err); ok && over.of == "step" {
		return fmt.Sprintf("it did not come within %s", over.after)
	}
	return "it did not come before " + err.Error()
}

// describe says which event a pattern means.
func describe(p *transcript.Pattern, times int) string {
	var parts []string
	if p.Event != nil {
		parts = append(parts, fmt.Sprintf("event %q", *p.Event))
	} else {
		parts = append(parts, "an event")
	}
	if p.Data != nil {
		parts = append(parts, fmt.Sprintf("with data %q", *p.Data))
	}
	if p.JSON != nil {
		for _, path := range slices.Sorted(maps.Keys(p.JSON.At)) {
			parts = append(parts, fmt.Sprintf("with %s at %s", p.JSON.At[path], path))
		}
		for _, path := range slices.Sorted(maps.Keys(p.JSON.Matches)) {
			parts = append(parts, fmt.Sprintf("with %s matching %s", path, p.JSON.Matches[path]))
		}
	}
	if times > 1 {
		parts = append(parts, fmt.Sprintf("(%d times)", times))
	}
	return strings.Join(parts, " ")
}

func (w *walker) never(do *scenario.Never, rec *transcript.Step) error {
	rec.Stream = do.Stream
	s := w.stream(do.Stream)
	if s == nil {
		return w.without(do.Stream)
	}
	pattern, err := w.pattern(do.Match)
	if err != nil {
		return err
	}
	from := w.since()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Windows = append(w.t.Windows, transcript.Window{
		Step: rec.ID, Line: rec.Line, Stream: do.Stream, Match: pattern,
		First: s.length(), From: from, To: from + do.Within,
	})
	return nil
}

func (w *walker) hangUp(ctx context.Context, do *scenario.Hangup, rec *transcript.Step) error {
	if c := w.take(do.Name); c != nil {
		x := c.giveUp()
		if c.fault != nil {
			return c.fault
		}
		rec.Exchanges = []*transcript.Exchange{x}
		return nil
	}
	rec.Stream = do.Name
	s := w.stream(do.Name)
	if s == nil {
		return w.without(do.Name)
	}
	switch do.How {
	case scenario.HalfClose:
		_ = s.CloseWrite() // when the server has hung up already, the recording tells
	case scenario.Drop:
		s.hangUp(s.Reset)
	default:
		s.hangUp(s.Close)
	}
	return nil
}
