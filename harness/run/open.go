package run

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/harness/transport/ws"
)

func (s *streams) open(ctx context.Context, do *scenario.Open, rec *transcript.Step) error {
	rec.Stream = do.Name
	if do.Wire == transcript.WireProgram {
		return s.openProgram(ctx, do, rec)
	}
	accept := "text/event-stream"
	if do.Wire == transcript.WireSocket {
		accept = ""
	}
	p, err := s.run.prepare(&do.Request, accept)
	if err != nil {
		return err
	}
	if rec.Expect, err = fillExpect(do.Expect, &s.run.values); err != nil {
		return err
	}
	only := make([]*transcript.Pattern, len(do.Only))
	for i := range do.Only {
		if only[i], err = fillPattern(&do.Only[i], &s.run.values); err != nil {
			return err
		}
	}
	st, err := s.begin(ctx, do, p, only)
	if err != nil {
		return err
	}
	st.rec.Step = rec.ID
	rec.Exchanges = []*transcript.Exchange{st.x}
	if s.awaitHead(ctx, do.Within, st) {
		is, err := st.opened()
		if err != nil || !is {
			st.wire.Close()
		}
		switch {
		case err != nil:
			rec.Exchanges = nil
			return &faultError{err.Error()}
		case !is: // it is compared like any other response
			return s.refuse(do, st.x, rec)
		}
	}
	s.add(st)
	return s.awaitReady(ctx, do, st, rec)
}

// awaitReady waits for the event by which a stream shows that it is ready, if the scenario names one.
func (s *streams) awaitReady(ctx context.Context, do *scenario.Open, st *stream, rec *transcript.Step) error {
	ready, err := s.ready(do)
	if ready == nil || err != nil {
		return err
	}
	ctx, cancel := s.run.within(ctx, do.Ready.Within)
	defer cancel()
	awaitEvents(ctx, st, ready, 1, "ready", rec)
	return nil
}

// begin sends the request for a stream. It keeps only the events that match one of the patterns, or all without
// patterns.
func (s *streams) begin(ctx context.Context, do *scenario.Open, p *prepared, only []*transcript.Pattern) (*stream, error) {
	operation := s.run.opts.Contract.Operation(p.wire.Method, p.wire.Target)
	st := s.newStream(do, operation, len(only) > 0)
	st.sent = p
	watching := s.watching(st, only)
	if do.Wire == "" {
		st.wire = s.run.target.Client.OpenStream(ctx, s.run.t.Started, p.wire, func(body io.ReadCloser) *watch.Watch {
			return sse.Open(body, watching)
		})
		return st, nil
	}
	opts := ws.Options{Without: do.Request.Without, NoPong: do.Socket.NoPong, NoClose: do.Socket.NoEcho}
	for i := range do.Socket.Protocols {
		name, err := do.Socket.Protocols[i].Text(&s.run.values, nil)
		if err != nil {
			return nil, err
		}
		opts.Subprotocols = append(opts.Subprotocols, name)
	}
	st.wire = socket{ws.Open(ctx, s.run.target.Client, s.run.t.Started, p.wire, &opts, watching)}
	return st, nil
}

// newStream returns a stream that has no wire yet.
func (s *streams) newStream(do *scenario.Open, operation string, only bool) *stream {
	return &stream{
		rec:     &transcript.Stream{Name: do.Name, Wire: do.Wire, Operation: operation, Only: only},
		outside: func(ev *transcript.Event) bool { return s.run.opts.Outside(do.Name, operation, ev) },
		name:    s.run.opts.Contract.EventNamer(operation),
		agreed:  -1,
		x:       &transcript.Exchange{},
	}
}

// watching returns what a stream records.
func (s *streams) watching(st *stream, only []*transcript.Pattern) *watch.Options {
	return &watch.Options{
		Start: s.run.t.Started,
		Name:  st.name,
		Keep: func(ev *transcript.Event) bool { // comments belong to every scenario
			return len(only) == 0 || ev.Comment ||
				slices.ContainsFunc(only, func(p *transcript.Pattern) bool { return match.Event(p, ev) })
		},
		MaxEvents: s.run.opts.Events,
	}
}

// ready returns the event by which a stream shows that it is ready. It returns nil when the scenario does not wait for
// one.
func (s *streams) ready(do *scenario.Open) (*transcript.Pattern, error) {
	if do.Ready == nil {
		return nil, nil
	}
	event, err := do.Ready.Event.Text(&s.run.values, nil)
	return &transcript.Pattern{Event: &event}, err
}

// shortHeadWait is how long a step waits for the response head of an operation that has sent its head late before.
const shortHeadWait = 3 * tick

// awaitHead waits for the head of a stream's response. It reports whether the head has arrived or will never arrive.
//
// Most servers send the head at once, and then the client is subscribed. No step that causes events may run before
// that. Some servers send the head with the first event, which a later step may cause, so the step cannot wait forever.
// If no head arrives within the settle limit, the step goes on, and the head is read at the end of the scenario. Once
// an operation has sent its head late, lockstep expects that again and waits only briefly; otherwise each of its
// streams would take as long. A step with its own limit waits that long.
//
// No server has a reason to delay the response to the handshake of a socket, so it may take as long as a step.
func (s *streams) awaitHead(ctx context.Context, within time.Duration, st *stream) bool {
	if within > 0 || st.rec.Wire == transcript.WireSocket {
		ctx, cancel := s.run.within(ctx, within)
		defer cancel()
		select {
		case <-st.wire.Head():
		case <-ctx.Done():
			st.wire.GiveUp(context.Cause(ctx))
		}
		return true
	}
	limit, late := s.run.opts.Settle, &s.run.target.lateHeads
	if _, isLate := late.Load(st.rec.Operation); isLate {
		limit = min(limit, shortHeadWait)
	}
	ctx, cancel := withPatience(ctx, limit)
	defer cancel()
	select {
	case <-st.wire.Head():
		late.Delete(st.rec.Operation)
		return true
	case <-ctx.Done():
		late.Store(st.rec.Operation, true)
		return false
	}
}
