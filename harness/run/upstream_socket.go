package run

import (
	"context"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/stdio"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/harness/transport/ws"
)

// maxSocketBytes limits what is kept of the messages on one socket of a stub.
const maxSocketBytes = 16 << 20

// A stubSocket is a socket that a target has opened to a stub.
type stubSocket struct {
	rec     *transcript.Stream
	peer    partner
	outside func(*transcript.Event) bool
	frozen  int // with that many events it was open when the scenario ended; -1 before
}

// stubSockets are the sockets that a target has opened to one stub.
type stubSockets struct {
	mu   sync.Mutex
	list []*stubSocket
}

func (s *stubSockets) add(socket *stubSocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, socket)
}

// state returns how many events count, and whether the target has ended the socket.
func (s *stubSocket) state() (events int, ended bool) {
	if s.frozen >= 0 {
		return s.frozen, false
	}
	ended = s.peer.Ended() // asked first, so that no event comes after the count
	events, _ = s.peer.Count(func(ev *transcript.Event) bool { return !s.outside(ev) })
	return events, ended
}

// counts adds the number of messages of each socket, and which of them the target has ended.
func (s *stubSockets) counts(to requestCounts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, socket := range s.list {
		events, ended := socket.state()
		to[socket.rec.Name+messages] = events
		if ended {
			to[socket.rec.Name+letGo] = 1
		}
	}
}

// messages is appended to the name of a stub's socket to count its messages.
const messages = " messages"

// freeze is called when programs are about to be ended. That the sockets of a program end with it is not its doing.
func (s *stubSockets) freeze(agreed requestCounts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, socket := range s.list {
		events, ended := socket.state()
		if n, ok := agreed[socket.rec.Name+messages]; ok {
			events, ended = n, agreed[socket.rec.Name+letGo] > 0
		}
		if !ended {
			socket.frozen = events
		}
	}
}

// record returns what was recorded on the sockets of those exchanges that count, without what came after the agreement.
func (s *stubSockets) record(steps []transcript.Step, agreed requestCounts) (out []*transcript.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, socket := range s.list {
		x := exchangeOf(steps, socket.rec.Name)
		if x == nil {
			continue
		}
		events, open := socket.frozen, socket.frozen >= 0
		if n, ok := agreed[socket.rec.Name+messages]; ok {
			events, open = n, agreed[socket.rec.Name+letGo] == 0
		}
		socket.peer.Record(socket.rec)
		socket.rec.At = x.Head
		if events >= 0 && open {
			socket.rec.Ended, socket.rec.Failure = transcript.EndedByClient, nil
		}
		if events >= 0 {
			socket.rec.Events = slices.DeleteFunc(socket.rec.Events, func(ev transcript.Event) bool {
				if !socket.outside(&ev) {
					events--
					return events < 0
				}
				return false
			})
		}
		out = append(out, socket.rec)
	}
	return out
}

func exchangeOf(steps []transcript.Step, stream string) *transcript.Exchange {
	for i := range steps {
		for _, x := range steps[i].Exchanges {
			if x.Stream == stream {
				return x
			}
		}
	}
	return nil
}

// takeover returns the response of a rule that begins a talk. The number counts the requests of the rule.
func (u *upstream) takeover(rule *scenario.StubRule, step *transcript.Step, number int) *stub.Takeover {
	name := step.ID
	if number > 1 {
		name += " " + strconv.Itoa(number)
	}
	script := rule.Answer.Script
	s := &stubSocket{
		rec: &transcript.Stream{Name: name, Step: step.ID, Wire: script.Wire, Stub: true}, frozen: -1,
		outside: func(ev *transcript.Event) bool { return u.run.opts.Outside(name, "", ev) },
	}
	watching := watch.Options{Start: u.run.t.Started, MaxEvents: u.run.opts.Events, MaxBytes: maxSocketBytes}
	return &stub.Takeover{
		Name: name,
		Accept: func(r *transcript.Request) (transcript.Header, error) {
			if script.Wire == transcript.WireProgram {
				return transcript.Header{{Name: "Upgrade", Value: stdio.Upgrade}, {Name: "Connection", Value: "Upgrade"}}, nil
			}
			if err := ws.CheckRequest(r); err != nil {
				return nil, err
			}
			return ws.ResponseHeader(r), nil
		},
		Talk: func(ctx context.Context, conn net.Conn, input io.Reader) {
			if script.Wire == transcript.WireProgram {
				s.peer = programPeer{stdio.Accept(conn, input, &watching)}
			} else {
				s.peer = socketPeer{ws.Accept(conn, input, watching.Start, nil, &watching)}
			}
			defer s.peer.Close()
			u.sockets.add(s)
			t := talk{run: u.run, to: s.peer, number: number}
			t.script(ctx, script.Turns)
			u.talked(step, &t)
			u.linger(ctx, s.peer)
		},
	}
}

// linger waits for the end of a connection after its script. A program exits at the end of its input, as most do.
func (u *upstream) linger(ctx context.Context, with partner) {
	program, isProgram := with.(programPeer)
	for !with.Ended() && ctx.Err() == nil {
		ends, changed := with.Count(func(ev *transcript.Event) bool { return ev.Item == transcript.ItemEOF })
		if isProgram && ends > 0 {
			_ = program.Exit(ctx, 0, "") // it may have ended
		}
		u.asked.notify() // see settleUpstreams
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	u.asked.notify()
}

// talked records how the script of a socket ended. From now on, nothing waits for the socket.
func (u *upstream) talked(step *transcript.Step, t *talk) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.unmet[step] == nil {
		u.unmet[step] = t.unmet
	}
	if step.Fault == "" && t.err != nil {
		step.Fault = ruleError(step.ID, t.err).Error()
	}
	u.underWay[step]--
	u.asked.notify()
}
