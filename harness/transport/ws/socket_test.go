package ws

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

const (
	textM   = transcript.ItemText
	binaryM = transcript.ItemBinary
	pingF   = transcript.ItemPing
	pongF   = transcript.ItemPong
	closeF  = transcript.ItemClose
	bytesM  = transcript.ItemBytes
)

func TestASocketRecordsBothSidesInOneOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = time.Second
		c := piped(t, func(p *peer) {
			p.say(p.accept("Sec-WebSocket-Protocol: chat"), "\x81\x02hi")
			if got := p.receive(); got != "81 masked hello" {
				t.Errorf("the server received %q", got)
			}
			time.Sleep(second)
			p.say("\x01\x03one")
			p.say("\x89\x01!\x00\x00")
			if got := p.receive(); got != "8a masked !" {
				t.Errorf("the server received %q", got)
			}
			time.Sleep(second)
			p.say("\x80\x04\xe2\x82\xac.\x82\x01\xff")
			p.say("\x88\x05\x03\xe8bye")
			if got := p.receive(); got != "88 masked \x03\xe8" {
				t.Errorf("the server received %q", got)
			}
		})
		s := opened(t, c, &Options{Subprotocols: []string{"chat"}}, nil)
		if _, err := s.Await(t.Context(), 0, func(*transcript.Event) bool { return true }); err != nil {
			t.Fatal(err)
		}
		send(t, s, &Message{Item: textM, Data: []byte("hello")})
		if err := s.AwaitEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
		at := func(ev transcript.Event, at time.Duration) transcript.Event {
			ev.At = at
			return ev
		}
		want := transcript.Stream{Ended: transcript.EndedByServer, Until: 2 * second, Events: []transcript.Event{
			got(textM, "hi", "text 2"),
			sent(textM, "hello", "text 5"),
			at(got(pingF, "!", "ping 1"), second),
			at(sent(pongF, "!", "pong 1"), second),
			at(got(textM, "one€.", "text 3, continuation 0, end 4"), 2*second),
			at(got(binaryM, "\xff", "binary 1"), 2*second),
			at(got(closeF, `{"code":1000,"reason":"bye"}`, "close 5"), 2*second),
			at(sent(closeF, `{"code":1000,"reason":""}`, "close 2"), 2*second),
		}}
		if diff := cmp.Diff(want, record(s)); diff != "" {
			t.Errorf("stream (-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsSent(t *testing.T) {
	announced := uint64(300)
	for _, tc := range []struct {
		name    string
		message Message
		want    []string // what the server receives
		record  transcript.Event
	}{
		{"text", Message{Item: textM, Data: []byte("a\xff")}, []string{"81 masked a\xff"}, sent(textM, "a\xff", "text 2")},
		{"nothing", Message{Item: binaryM}, []string{"82 masked "}, sent(binaryM, "", "binary 0")},
		{
			"fragments", Message{Item: textM, Data: []byte("hello"), Fragments: []int{3, 0}},
			[]string{"01 masked hel", "00 masked ", "80 masked lo"}, sent(textM, "hello", "text 3, continuation 0, end 2"),
		},
		{
			"an empty last fragment", Message{Item: binaryM, Data: []byte("hello"), Fragments: []int{5}},
			[]string{"02 masked hello", "80 masked "}, sent(binaryM, "hello", "binary 5, end 0"),
		},
		{"a ping", Message{Item: pingF, Data: []byte("1")}, []string{"89 masked 1"}, sent(pingF, "1", "ping 1")},
		{"a pong", Message{Item: pongF}, []string{"8a masked "}, sent(pongF, "", "pong 0")},
		{
			"a close", Message{Item: closeF, Code: 4000, Reason: `"<ä>"`, Malformed: true}, []string{"88 masked \x0f\xa0\"<ä>\""},
			func() transcript.Event {
				ev := sent(closeF, `{"code":4000,"reason":"\"<ä>\""}`, "close 8")
				ev.Malformed = true
				return ev
			}(),
		},
		{"a close without a code", Message{Item: closeF}, []string{"88 masked "}, sent(closeF, "{}", "close 0")},
		{
			"a large message", Message{Item: binaryM, Data: []byte(strings.Repeat("x", 70_000))},
			[]string{"82 masked " + strings.Repeat("x", 70_000)}, sent(binaryM, strings.Repeat("x", 70_000), "binary 70000"),
		},
		{
			"a frame", Message{Item: bytesM, Data: []byte("abc"), Frame: &Frame{Opcode: 3, RSV: 5, Unmasked: true}},
			[]string{"53 abc"}, sent(bytesM, "abc", "opcode 3, rsv 5, unmasked, 3"),
		},
		{
			"a wrong length", Message{Item: bytesM, Data: []byte("abc"), Frame: &Frame{Opcode: 1, Fin: true, Announced: &announced}},
			[]string{"81 masked cut after 3 of 300"}, sent(bytesM, "abc", "opcode 1, fin, 3 of 300"),
		},
		{"bytes", Message{Item: bytesM, Data: []byte("\x81\x01a\x81\x01b")}, []string{"81 a", "81 b"}, sent(bytesM, "\x81\x01a\x81\x01b", "")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := piped(t, func(p *peer) {
				p.say(p.accept())
				for _, want := range append(tc.want, "EOF") {
					if got := p.receive(); got != want {
						t.Errorf("the server received %.100q, want %.100q", got, want)
					}
					if strings.Contains(want, "cut") {
						return
					}
				}
			})
			s := opened(t, c, nil, nil)
			send(t, s, &tc.message)
			s.Close()
			want := transcript.Stream{Ended: transcript.EndedByClient, Events: []transcript.Event{tc.record}}
			if diff := cmp.Diff(want, ended(t, s)); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	c := piped(t, func(p *peer) {
		p.say(p.accept())
		if got := p.receive(); got != "EOF" {
			t.Errorf("the server received %q", got)
		}
	})
	s := opened(t, c, nil, nil)
	long := make([]byte, 126)
	for _, tc := range []struct {
		message Message
		want    string
	}{
		{Message{}, `a socket cannot send "": use text, binary, ping, pong, close or bytes`},
		{Message{Item: transcript.ItemLine}, `a socket cannot send "line": use text, binary, ping, pong, close or bytes`},
		{Message{Item: pingF, Data: long}, "a ping of 126 bytes: use 125 at most, or a frame with opcode 9 (RFC 6455 §5.5)"},
		{Message{Item: pingF, Fragments: []int{0}}, "ping in fragments: use frames"},
		{Message{Item: textM, Data: []byte("abc"), Fragments: []int{2, 2}}, "the fragments [2 2] do not fit a message of 3 bytes"},
		{Message{Item: textM, Fragments: []int{-1}}, "the fragments [-1] do not fit a message of 0 bytes"},
		{Message{Item: textM, Frame: &Frame{}}, "a frame for the item text: use bytes"},
		{Message{Item: bytesM, Frame: &Frame{Opcode: 16}}, "a frame with opcode 16: use 0 to 15"},
		{Message{Item: bytesM, Frame: &Frame{RSV: 8}}, "a frame with the reserved bits 8: use 0 to 7"},
		{Message{Item: closeF, Data: []byte("x")}, "a close with data: use a code and a reason, or a frame with opcode 8"},
		{Message{Item: closeF, Reason: "x"}, "a close with a reason, but without a code: add a code (RFC 6455 §5.5.1)"},
		{Message{Item: closeF, Code: 1000, Reason: "\xff"}, `a close with the reason "\xff", which is not UTF-8: use a frame with opcode 8 (RFC 6455 §5.5.1)`},
		{Message{Item: closeF, Code: 1000, Reason: string(long[:124])}, "a close with a reason of 124 bytes: use 123 at most, or a frame with opcode 8 (RFC 6455 §5.5)"},
	} {
		if err := s.Send(t.Context(), &tc.message); err == nil || err.Error() != tc.want {
			t.Errorf("Send(%+v): %v\nwant %s", tc.message, err, tc.want)
		}
	}
	if n := len(record(s).Events); n != 0 {
		t.Errorf("%d events are recorded", n)
	}
}

func TestWhatIsAnsweredAutomatically(t *testing.T) {
	var (
		aPing  = got(pingF, "p", "ping 1")
		aPong  = sent(pongF, "p", "pong 1")
		aClose = got(closeF, "{}", "close 0")
		ours   = sent(closeF, "{}", "close 0")
	)
	for _, tc := range []struct {
		name  string
		opts  Options
		first bool // the client closes first
		says  string
		want  []string // what the server receives
		rec   []transcript.Event
	}{
		{"both", Options{}, false, "\x89\x01p\x88\x00", []string{"8a masked p", "88 masked "}, []transcript.Event{aPing, aPong, aClose, ours}},
		{"no pong", Options{NoPong: true}, false, "\x89\x01p\x88\x00", []string{"88 masked "}, []transcript.Event{aPing, aClose, ours}},
		{"no close", Options{NoClose: true}, false, "\x89\x01p\x88\x00", []string{"8a masked p"}, []transcript.Event{aPing, aPong, aClose}},
		{"a close once", Options{}, true, "\x89\x01p\x88\x00", []string{"88 masked ", "8a masked p"}, []transcript.Event{ours, aPing, aPong, aClose}},
		{"no pong after a close", Options{}, false, "\x88\x00\x89\x01p", []string{"88 masked "}, []transcript.Event{aClose, ours, aPing}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := loopback(t, func(p *peer) {
				p.say(p.accept())
				if tc.first {
					if got := p.receive(); got != tc.want[0] {
						t.Errorf("the server received %q, want %q", got, tc.want[0])
					}
					tc.want = tc.want[1:]
				}
				p.say(tc.says)
				for _, want := range tc.want {
					if got := p.receive(); got != want {
						t.Errorf("the server received %q, want %q", got, want)
					}
				}
			})
			s := opened(t, c, &tc.opts, nil)
			if tc.first {
				send(t, s, &Message{Item: closeF})
			}
			want := transcript.Stream{Ended: transcript.EndedByServer, Events: tc.rec}
			if diff := cmp.Diff(want, ended(t, s)); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASendThatTheServerDoesNotReadIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		c := piped(t, func(p *peer) {
			p.say(p.accept())
			<-done
			p.say("\x88\x00")
		})
		s := opened(t, c, nil, nil)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("the step is over"))
		defer cancel()
		start := time.Now()
		err := s.Send(ctx, &Message{Item: textM})
		if err == nil || err.Error() != "the step is over" || time.Since(start) != time.Minute {
			t.Errorf("Send: %v after %s", err, time.Since(start))
		}
		if err := s.Send(t.Context(), &Message{Item: textM}); !errors.Is(err, errCut) {
			t.Errorf("Send: %v, want that a message was cut", err)
		}
		close(done)
		rec := ended(t, s)
		if rec.Ended != transcript.EndedByServer || len(rec.Events) != 2 {
			t.Errorf("stream %+v", rec)
		}
		if err := s.Send(t.Context(), &Message{Item: textM}); !errors.Is(err, watch.ErrEnded) {
			t.Errorf("Send after the end: %v", err)
		}
	})
}

// The server sends a ping, and does not read the pong. The client goes on reading after its limit.
func TestAPongThatIsNotReadDoesNotStopTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := piped(t, func(p *peer) {
			p.say(p.accept(), "\x89\x00")
			p.say("\x81\x01a\x88\x00")
		})
		s := opened(t, c, &Options{Reply: time.Minute}, nil)
		rec := ended(t, s)
		want := []transcript.Event{got(pingF, "", "ping 0"), sent(pongF, "", "pong 0"), got(textM, "a", "text 1"), got(closeF, "{}", "close 0")}
		if diff := cmp.Diff(want, rec.Events); diff != "" || rec.Ended != transcript.EndedByServer {
			t.Errorf("ended by %s; events (-want +got):\n%s", rec.Ended, diff)
		}
		if until := record(s).Until; until != time.Minute {
			t.Errorf("it took %s", until)
		}
	})
}

func TestClosingEndsASendAndTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		defer close(done)
		c := piped(t, func(p *peer) {
			p.say(p.accept())
			<-done
		})
		s := opened(t, c, nil, nil)
		sent := make(chan error)
		go func() { sent <- s.Send(t.Context(), &Message{Item: textM}) }()
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-sent; err == nil || err.Error() != "closed by us" {
			t.Errorf("Send: %v", err)
		}
		if rec := ended(t, s); rec.Ended != transcript.EndedByClient || rec.Failure != nil {
			t.Errorf("stream %+v", rec)
		}
	})
}

func TestARequestIsSentAsTheScenarioSays(t *testing.T) {
	var head []string
	c := piped(t, func(p *peer) {
		head = p.head
		p.say("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno")
	})
	req := &httpwire.Request{Method: "GET", Target: "/chat", Header: transcript.Header{{Name: "sec-websocket-key", Value: "x"}}}
	s := Open(t.Context(), c, time.Now(), req, &Options{Subprotocols: []string{"a", "b"}, Without: []string{"connection"}}, nil)
	ex, is, err := s.Opened()
	if err != nil || is || ex.Failure != nil || ex.Response.Status != 400 || string(ex.Response.Body.Bytes) != "no" {
		t.Errorf("Opened: %+v, %t, %v", ex, is, err)
	}
	if err := s.Send(t.Context(), &Message{Item: textM}); !errors.Is(err, watch.ErrEnded) {
		t.Errorf("Send: %v, want that it has ended", err)
	}
	s.Close()
	want := []string{
		"GET /chat HTTP/1.1", "Host: server", "User-Agent: lockstep", "sec-websocket-key: x",
		"Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: a, b",
	}
	if diff := cmp.Diff(want, head); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	if len(req.Header) != 1 {
		t.Errorf("the caller's request has become %v", req.Header)
	}
}
