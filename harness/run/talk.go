package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
	"github.com/lockstep-dev/lockstep/harness/match"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/stdio"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/harness/transport/ws"
)

// A partner is the client at the other end of a stub's connection. Its methods are those of ws.Peer.
type partner interface {
	Ended() bool
	Await(ctx context.Context, from int, match func(*transcript.Event) bool) (int, error)
	AwaitEnd(ctx context.Context) error
	Count(counts func(*transcript.Event) bool) (n int, changed <-chan struct{})
	Record(s *transcript.Stream)
	Close() error
	// send sends a message. The error is a watch.ErrEnded when the connection has ended.
	send(ctx context.Context, m *message) error
	// giveUp ends the connection with a reason.
	giveUp(ctx context.Context, why string)
}

// A socketPeer is a WebSocket as a partner.
type socketPeer struct{ *ws.Peer }

func (p socketPeer) send(ctx context.Context, m *message) error { return sendOn(ctx, p, m) }

func (p socketPeer) giveUp(ctx context.Context, why string) {
	const most = 120 // bytes of a reason (RFC 6455 §5.5)
	why = strings.ToValidUTF8(why[:min(len(why), most)], "")
	_ = p.Send(ctx, &ws.Message{Item: transcript.ItemClose, Code: 1011, Reason: why}) // it may have ended
}

// A programPeer is a started program as a partner.
type programPeer struct{ *stdio.Peer }

func (p programPeer) send(ctx context.Context, m *message) error {
	switch m.item {
	case transcript.ItemBytes:
		return p.SendBytes(ctx, m.data)
	case transcript.ItemStderr:
		return p.SendError(ctx, m.data)
	}
	return p.SendLine(ctx, m.data)
}

func (p programPeer) giveUp(ctx context.Context, why string) {
	if p.SendError(ctx, []byte(why)) == nil {
		_ = p.Exit(ctx, gaveUp, "") // it may have ended
	}
}

// gaveUp is the status of a program whose script cannot go on: EX_SOFTWARE of sysexits.h.
const gaveUp = 70

// A talk plays the script of a stub on one socket.
type talk struct {
	run    *targetRun
	to     partner
	number int // of the connection, among those of the rule
	passed int // index of the first event that no await has passed

	unmet  *transcript.Unmet // the first demand that the target did not meet
	err    error             // why the script cannot go on; a mistake of the scenario
	broken bool              // the connection broke, so the script cannot go on
}

// script plays the lines up to the first one that fails, and then closes the socket, so that the target need not wait.
// When the target has ended the socket, nothing is sent any more, but what the script awaits is still missing.
func (t *talk) script(ctx context.Context, turns []scenario.Turn) {
	for i := range turns {
		if turns[i].After > 0 && !t.to.Ended() && !waiting.Sleep(ctx, turns[i].After) {
			return
		}
		switch do := turns[i].Do.(type) {
		case *scenario.Send:
			t.send(ctx, do)
		case *scenario.Await:
			t.await(ctx, do)
		case *scenario.Hangup:
			t.hangUp(ctx, do)
		case *scenario.Exit:
			t.exit(ctx, do)
		}
		if t.err != nil || t.unmet != nil {
			t.giveUp(ctx)
		}
		if t.err != nil || t.unmet != nil || t.broken {
			return
		}
	}
}

func (t *talk) giveUp(ctx context.Context) {
	ctx, cancel := t.run.within(ctx, 0)
	defer cancel()
	why := "lockstep: the script of the stub ends here"
	if t.unmet != nil {
		why = "lockstep: the stub awaited " + t.unmet.What
	}
	t.to.giveUp(ctx, why)
}

func (t *talk) send(ctx context.Context, do *scenario.Send) {
	m, err := fillMessage(&do.Message, &t.run.values)
	if err != nil {
		t.err = err
		return
	}
	ctx, cancel := t.run.within(ctx, do.Within)
	defer cancel()
	from := t.length()
	switch err = t.to.send(ctx, m); {
	case err == nil:
	case ctx.Err() != nil:
		t.note("send", "to take "+do.Message.Noun(), err.Error())
		return
	case errors.Is(err, watch.ErrEnded):
		_ = t.to.AwaitEnd(ctx) // the connection is lost, and the record says how
	default:
		t.err = err
		return
	}
	if m.item != transcript.ItemPing {
		return
	}
	_, err = t.to.Await(ctx, from, func(ev *transcript.Event) bool {
		return !ev.Sent && ev.Item == transcript.ItemPong && ev.Data == string(m.data)
	})
	if err != nil {
		t.missing(ctx, err, "pong", fmt.Sprintf("a pong with the payload %q", m.data), whyNot(err))
	}
}

func (t *talk) length() int {
	n, _ := t.to.Count(func(*transcript.Event) bool { return true })
	return n
}

func (t *talk) await(ctx context.Context, do *scenario.Await) {
	ctx, cancel := t.run.within(ctx, do.Within)
	defer cancel()
	if do.End {
		if err := t.to.AwaitEnd(ctx); err != nil {
			t.note("hang-up", "the end of the connection", whyNot(err))
		}
		return
	}
	pattern, err := fillPattern(do.Match, &t.run.values)
	if err != nil {
		t.err = err
		return
	}
	var data string
	for range do.Times {
		i, err := t.to.Await(ctx, t.passed, func(ev *transcript.Event) bool {
			is := match.Event(pattern, ev)
			if is {
				data = ev.Data
			}
			return is
		})
		if err != nil {
			t.missing(ctx, err, "event", describe("message", pattern, do.Times), whyNot(err)+"; "+t.others())
			return
		}
		t.passed = i + 1
	}
	for _, c := range do.Capture {
		value, found := match.Select([]byte(data), c.Path)
		if !found {
			t.note("capture", c.Name+" from "+c.Path, match.Missing([]byte(data), c.Path))
			return
		}
		t.run.values.set(c.Name, value)
	}
}

// missing records that a wait was in vain. When the connection broke, that is a finding of its own, and the script ends.
func (t *talk) missing(ctx context.Context, err error, kind, what, why string) {
	if errors.Is(err, watch.ErrEnded) {
		_ = t.to.AwaitEnd(ctx) // it has seen the end already
		var s transcript.Stream
		t.to.Record(&s)
		if t.broken = s.Failure != nil; t.broken {
			return
		}
	}
	t.note(kind, what, why)
}

func (t *talk) others() string {
	n, i := 0, 0
	t.to.Count(func(ev *transcript.Event) bool {
		if i >= t.passed && !ev.Sent {
			n++
		}
		i++
		return false
	})
	switch n {
	case 0:
		return "no other message came since"
	case 1:
		return "1 other message came since"
	default:
		return fmt.Sprintf("%d other messages came since", n)
	}
}

// exit ends a program.
func (t *talk) exit(ctx context.Context, do *scenario.Exit) {
	ctx, cancel := t.run.within(ctx, 0)
	defer cancel()
	err := t.to.(programPeer).Exit(ctx, do.Status, do.Signal)
	if err != nil && !errors.Is(err, watch.ErrEnded) {
		t.note("send", "to let the program exit", err.Error())
	}
}

// hangUp closes or drops a socket.
func (t *talk) hangUp(ctx context.Context, do *scenario.Hangup) {
	socket := t.to.(socketPeer)
	if do.How == scenario.Drop {
		_ = socket.Reset() // the target may have ended it
		return
	}
	m := &ws.Message{Item: transcript.ItemClose, Code: uint16(do.Code)}
	if do.Reason != nil {
		if m.Reason, t.err = do.Reason.Text(&t.run.values, nil); t.err != nil {
			return
		}
	}
	ctx, cancel := t.run.within(ctx, do.Within)
	defer cancel()
	err := socket.Send(ctx, m)
	if err != nil && !errors.Is(err, watch.ErrEnded) && ctx.Err() == nil {
		t.err = err
		return
	}
	if err := socket.AwaitEnd(ctx); err != nil {
		t.note("closing", "an answer to the close frame, and the end of the connection", whyNot(err))
	}
}

// note records what the target did not do.
func (t *talk) note(kind, what, why string) {
	if t.number > 1 {
		what += fmt.Sprintf(" on connection %d", t.number)
	}
	t.unmet = &transcript.Unmet{Kind: kind, What: what, Why: why}
}
