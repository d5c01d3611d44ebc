package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/stdio"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/harness/transport/ws"
)

// A message is what a step sends, with the target's values filled in.
type message struct {
	item      transcript.Item
	data      []byte
	fragments int
	frames    []ws.Message // are sent instead
	malformed bool
}

// A socket is a WebSocket as a wire.
type socket struct{ *ws.Socket }

func (s socket) send(ctx context.Context, m *message) error { return sendOn(ctx, s, m) }

// sendOn sends a message on either end of a socket.
func sendOn(ctx context.Context, s interface {
	Send(ctx context.Context, m *ws.Message) error
}, m *message) error {
	for i := range m.frames {
		m.frames[i].Malformed = m.malformed
		if err := s.Send(ctx, &m.frames[i]); err != nil {
			return err
		}
	}
	if m.frames != nil {
		return nil
	}
	return s.Send(ctx, &ws.Message{Item: m.item, Data: m.data, Fragments: fragments(len(m.data), m.fragments), Malformed: m.malformed})
}

// fragments returns the sizes of the first n-1 of n frames with so many bytes.
func fragments(size, n int) []int {
	var out []int
	for i := range n - 1 {
		out = append(out, size*(i+1)/n-size*i/n)
	}
	return out
}

// A program is a program as a wire.
type program struct{ *stdio.Program }

func (p program) send(ctx context.Context, m *message) error {
	if m.item == transcript.ItemBytes {
		return p.SendBytes(ctx, m.data)
	}
	return p.SendLine(ctx, m.data, m.malformed)
}

// send sends a message. When the target does not take it, that is recorded as unmet.
func (s *streams) send(ctx context.Context, do *scenario.Send, rec *transcript.Step) error {
	rec.Stream = do.Stream
	st := s.get(do.Stream)
	if st == nil {
		return s.missing(do.Stream)
	}
	m, err := fillMessage(&do.Message, &s.run.values)
	if err != nil {
		return err
	}
	if st.rec.Wire == transcript.WireProgram && m.item == transcript.ItemText {
		m.item = transcript.ItemLine
	}
	if m.malformed, err = malformed(do.Malformed, &s.run.values); err != nil {
		return err
	}
	if err := st.check(s.run.opts.Contract, m); err != nil {
		return err
	}
	ctx, cancel := s.run.within(ctx, do.Within)
	defer cancel()
	if err := st.wire.(sender).send(ctx, m); err != nil {
		rec.Unmet = &transcript.Unmet{Kind: "send", What: "to take " + do.Message.Noun(), Why: whyNotSent(err)}
	}
	return nil
}

// check checks a message against the contract. As for requests, only one that is marked malformed may break it.
func (s *stream) check(contract Contract, m *message) error {
	if m.frames != nil || m.item == transcript.ItemBytes {
		return nil // they are no message
	}
	ev := transcript.Event{Item: m.item, Data: string(m.data), Sent: true}
	ev.Name = s.name(&ev)
	objections := contract.MessageObjections(s.rec.Operation, &ev)
	switch {
	case len(objections) > 0 && !m.malformed:
		return notSent("message", objections)
	case len(objections) == 0 && m.malformed:
		return &faultError{"the message is marked malformed, but obeys the contract: remove the mark"}
	}
	return nil
}

func whyNotSent(err error) string {
	if errors.Is(err, watch.ErrEnded) {
		return "it had ended before"
	}
	return err.Error()
}

// fillMessage fills the target's values into a message.
func fillMessage(m *scenario.Message, env scenario.Env) (*message, error) {
	out := &message{item: m.Item, data: m.Bytes, fragments: m.Fragments}
	switch {
	case m.JSON.IsSet():
		raw, err := m.JSON.Resolve(env)
		out.data = raw
		return out, err
	case m.Text != nil:
		text, err := m.Text.Text(env, nil)
		out.data = []byte(text)
		return out, err
	}
	for i := range m.Frames {
		f := &m.Frames[i]
		payload := f.Bytes
		if f.Text != nil {
			text, err := f.Text.Text(env, nil)
			if err != nil {
				return nil, err
			}
			payload = []byte(text)
		}
		frame := &ws.Frame{Opcode: byte(f.Opcode), Fin: f.Fin, RSV: byte(f.RSV), Unmasked: !f.Masked}
		if f.Length >= 0 {
			announced := uint64(f.Length)
			frame.Announced = &announced
		}
		out.frames = append(out.frames, ws.Message{Item: transcript.ItemBytes, Data: payload, Frame: frame})
	}
	return out, nil
}

// closeSocket begins the closing handshake, and waits until the server has ended the connection (RFC 6455 §7.1.1). A
// server that does not is recorded as unmet only by the step's own limit: with the default one, lockstep ends it. That
// is the limit of a step and not the shorter settle limit, which a correct server exceeds on a busy machine.
func closeSocket(ctx context.Context, r *targetRun, do *scenario.Hangup, to socket, st *stream, rec *transcript.Step) error {
	m := &ws.Message{Item: transcript.ItemClose, Code: uint16(do.Code)}
	if do.Reason != nil {
		reason, err := do.Reason.Text(&r.values, nil)
		if err != nil {
			return err
		}
		m.Reason = reason
	}
	bounded, cancel := r.within(ctx, do.Within)
	defer cancel()
	err := to.Send(bounded, m)
	var onWire interface{ Failure() transcript.Failure }
	if err != nil && !errors.Is(err, watch.ErrEnded) && !errors.As(err, &onWire) {
		return &faultError{err.Error()}
	}
	// If the frame could not be sent, the server has ended the connection. The record says so.
	if err := to.AwaitEnd(bounded); err != nil && do.Within > 0 {
		rec.Unmet = &transcript.Unmet{Kind: "end", What: endOfStream, Why: whyNot(err)}
	}
	st.agreed, st.openAtAgreement = -1, false // what comes until the end belongs to the handshake
	st.closed = true
	_ = to.Close()
	return nil
}

// signal sends a signal to a program.
func (s *streams) signal(do *scenario.Signal, rec *transcript.Step) error {
	rec.Stream = do.Stream
	st := s.get(do.Stream)
	if st == nil {
		return s.missing(do.Stream)
	}
	if err := st.wire.(program).Signal(do.Name); err != nil {
		rec.Unmet = &transcript.Unmet{Kind: "send", What: "to get " + do.Name, Why: whyNotSent(err)}
	}
	return nil
}

// openProgram starts the target's program.
func (s *streams) openProgram(ctx context.Context, do *scenario.Open, rec *transcript.Step) error {
	o := ProgramOptions{Env: map[string]string{}}
	for i := range do.Program.Args {
		arg, err := do.Program.Args[i].Text(&s.run.values, nil)
		if err != nil {
			return err
		}
		o.Args = append(o.Args, arg)
	}
	for _, v := range do.Program.Env {
		value, err := v.Value.Text(&s.run.values, nil)
		if err != nil {
			return err
		}
		o.Env[v.Name] = value
	}
	if do.Program.Directory != nil {
		var err error
		if o.Dir, err = do.Program.Directory.Text(&s.run.values, nil); err != nil {
			return err
		}
	}
	st := s.newStream(do, string(transcript.WireProgram), false)
	started, err := startProgram(ctx, s.run.target, o, s.watching(st, nil))
	if err != nil {
		return err
	}
	st.wire, st.rec.Step, st.rec.At = started, rec.ID, s.run.since()
	s.add(st)
	return s.awaitReady(ctx, do, st, rec)
}

// startProgram starts the target's program, which ends with the scenario.
func startProgram(ctx context.Context, target *Target, o ProgramOptions, watching *watch.Options) (program, error) {
	if target.Program == nil {
		return program{}, &faultError{"the target is a server, not a program: give it program: [command] in lockstep.yaml"}
	}
	process, err := target.Program(ctx, o)
	if err != nil {
		return program{}, &faultError{fmt.Sprintf("the program cannot be started: %v", err)}
	}
	return program{stdio.Open(process, watching)}, nil
}
