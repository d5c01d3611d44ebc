package run

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// upgrade is a server whose sockets are served by a function. Frames of the client have at most 125 bytes.
func upgrade(serve func(s *peer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-WebSocket-Key") == "" {
			time.Sleep(moment)
			answer("{}")(w, r)
			return
		}
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "+
			base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\n")
		serve(&peer{conn, rw.Reader})
	}
}

// A peer is the server's side of a socket.
type peer struct {
	w io.Writer
	r *bufio.Reader
}

func (p *peer) send(opcode byte, payload string) {
	p.w.Write(append([]byte{0x80 | opcode, byte(len(payload))}, payload...))
}

// receive returns the next message of the client; opcode 8 at the end.
func (p *peer) receive() (opcode byte, payload string) {
	head := make([]byte, 6)
	if _, err := io.ReadFull(p.r, head); err != nil {
		return 8, ""
	}
	body := make([]byte, head[1]&0x7f)
	io.ReadFull(p.r, body)
	for i := range body {
		body[i] ^= head[2+i%4]
	}
	if head[0]&0x80 == 0 {
		_, rest := p.receive()
		return head[0] & 0xf, string(body) + rest
	}
	return head[0] & 0xf, string(body)
}

// echo answers each message with itself, and a close frame with its own.
func echo(p *peer) {
	for {
		opcode, payload := p.receive()
		p.send(opcode, payload)
		if opcode == 8 {
			return
		}
	}
}

// labels returns the events of a stream: "> text hello" for what was sent, "< text hello" for what came.
func labels(t *transcript.Transcript, stream string) []string {
	var out []string
	for _, s := range t.Streams {
		for _, ev := range s.Events {
			direction := "< "
			if ev.Sent {
				direction = "> "
			}
			if s.Name == stream {
				out = append(out, direction+string(ev.Item)+" "+ev.Data)
			}
		}
	}
	return out
}

func TestASocketIsOpenedUsedAndClosed(t *testing.T) {
	s := story(t, `
steps:
  - {open: chat, socket: "/chat/${{ unique }}"}
  - {send: chat, json: {text: hello}}
  - {await: chat, match: {json: {$.text: hello}}, capture: {said: $.text}}
  - {send: chat, text: "${{ said }} again", fragments: 2}
  - {await: chat, match: {data: "hello again"}}
  - {send: chat, binary: AAE=}
  - {await: chat, match: {data: "\u0000\u0001"}}
  - {close: chat, code: 3000, reason: bye}
`)
	walk(t, s, options(), upgrade(echo), upgrade(echo), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		for _, got := range []*transcript.Transcript{ref, cand} {
			same(t, "outcomes", outcomes(got), []string{"1 done", "2 done", "3 done", "4 done", "5 done", "6 done", "7 done", "8 done"})
			same(t, "messages", labels(got, "chat"), []string{
				`> text {"text":"hello"}`, `< text {"text":"hello"}`, "> text hello again", "< text hello again",
				"> binary \x00\x01", "< binary \x00\x01", `> close {"code":3000,"reason":"bye"}`, `< close {"code":3000,"reason":"bye"}`,
			})
			if st := got.Streams[0]; st.Ended != transcript.EndedByServer || st.Wire != transcript.WireSocket || st.Failure != nil {
				t.Errorf("the socket is a %s and ended %s, %+v", st.Wire, st.Ended, st.Failure)
			}
		}
		if took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestWhatBecomesOfASocket(t *testing.T) {
	for _, tc := range []struct {
		name, steps string
		serve       func(*peer)
		outcomes    []string
		messages    []string
		ended       transcript.Ending
		failure     string
	}{
		{
			"the server closes first", `
  - {open: chat, socket: /}
  - {await: chat, end: server}
  - {send: chat, text: late}
`, func(p *peer) { p.send(8, "\x03\xf0gone"); p.receive() },
			[]string{"1 done", "2 done", "3 unmet: to take the message: it had ended before"},
			[]string{`< close {"code":1008,"reason":"gone"}`, `> close {"code":1008,"reason":""}`}, transcript.EndedByServer, "",
		},
		{
			"the server breaks off", `
  - {open: chat, socket: /}
  - {await: chat, end: server}
`, func(p *peer) { p.send(1, "half") },
			[]string{"1 done", "2 done"}, []string{"< text half"}, transcript.EndedBroken, "the connection ended without a close frame",
		},
		{
			"the server sends a reserved opcode", `
  - {open: chat, socket: /}
  - {await: chat, end: server}
`, func(p *peer) { p.send(3, "x"); p.receive() },
			[]string{"1 done", "2 done"}, nil, transcript.EndedBroken, "*",
		},
		{
			"pings are answered", `
  - {open: chat, socket: /}
  - {await: chat, match: {event: text}}
`, func(p *peer) {
				p.send(9, "1")
				_, payload := p.receive()
				p.send(1, "got "+payload)
				p.receive()
			},
			[]string{"1 done", "2 done"}, []string{"< ping 1", "> pong 1", "< text got 1"}, transcript.EndedByClient, "",
		},
		{
			"pings are not answered", `
  - {open: chat, socket: /, manual: [pong]}
  - {await: chat, match: {event: ping}}
  - {send: chat, pong: late}
  - {await: chat, match: {data: got late}}
  - {drop: chat}
`, func(p *peer) {
				p.send(9, "1")
				_, payload := p.receive()
				p.send(1, "got "+payload)
				p.receive()
			},
			[]string{"1 done", "2 done", "3 done", "4 done", "5 done"}, []string{"< ping 1", "> pong late", "< text got late"}, transcript.EndedByClient, "",
		},
		{
			"frames and bytes are sent as they are", `
  - {open: chat, socket: /}
  - {send: chat, frames: [{opcode: 1, fin: false, text: he}, {opcode: 0, text: y}]}
  - {await: chat, match: {data: hey}}
  - {close: chat}
`, echo,
			[]string{"1 done", "2 done", "3 done", "4 done"},
			[]string{"> bytes he", "> bytes y", "< text hey", `> close {"code":1000,"reason":""}`, `< close {"code":1000,"reason":""}`}, transcript.EndedByServer, "",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			walk(t, story(t, "steps:"+tc.steps), options(), upgrade(tc.serve), upgrade(tc.serve), func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
				for _, got := range []*transcript.Transcript{ref, cand} {
					same(t, "outcomes", outcomes(got), tc.outcomes)
					same(t, "messages", labels(got, "chat"), tc.messages)
					st, failure := got.Streams[0], ""
					if st.Failure != nil {
						failure = st.Failure.Text
					}
					if st.Ended != tc.ended || failure != tc.failure && (tc.failure != "*" || failure == "") {
						t.Errorf("it ended %s: %s", st.Ended, failure)
					}
				}
			})
		})
	}
}

// A correct server may be slow to end the connection, so the default limit is that of a step.
func TestTheEndOfASocketIsAwaited(t *testing.T) {
	slowly := func(after time.Duration) http.HandlerFunc {
		return upgrade(func(p *peer) {
			echo(p)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				p.receive() // the end
			}()
			select {
			case <-time.After(after):
			case <-gone:
			}
		})
	}
	for _, tc := range []struct {
		name, within string
		after        time.Duration
		outcome      string
		ended        transcript.Ending
	}{
		{"the server takes longer than the settle limit", "", 3 * time.Second, "2 done", transcript.EndedByServer},
		{"the server takes too long for a step", "", time.Minute, "2 done", transcript.EndedByClient},
		{"the server takes longer than the step allows", ", within: 2s", 3 * time.Second, "2 unmet: the end of the stream: it did not come within 2s", transcript.EndedByClient},
		{"the server takes as long as the step allows", ", within: 4s", 3 * time.Second, "2 done", transcript.EndedByServer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := story(t, "steps: [{open: chat, socket: /}, {close: chat"+tc.within+"}]")
			walk(t, s, options(), upgrade(echo), slowly(tc.after), func(t *testing.T, _, cand *transcript.Transcript, _ time.Duration) {
				same(t, "outcomes", outcomes(cand), []string{"1 done", tc.outcome})
				if got := cand.Streams[0].Ended; got != tc.ended {
					t.Errorf("it ended by the %s, want by the %s", got, tc.ended)
				}
			})
		})
	}
}

func TestACloseThatCannotBeSentIsNoFaultOfLockstep(t *testing.T) {
	s := story(t, "steps: [{open: chat, socket: /}, {close: chat}]")
	walk(t, s, options(), upgrade(func(*peer) {}), upgrade(func(*peer) {}), func(t *testing.T, _, cand *transcript.Transcript, _ time.Duration) {
		same(t, "outcomes", outcomes(cand), []string{"1 done", "2 done"})
		if st := cand.Streams[0]; st.Ended != transcript.EndedBroken || st.Failure.Text != "the connection ended without a close frame" {
			t.Errorf("it ended %s: %+v", st.Ended, st.Failure)
		}
	})
}

func TestTheResponseToAHandshakeMayTakeAsLongAsAStep(t *testing.T) {
	refuse := func(after time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(after):
			case <-r.Context().Done():
			}
			w.WriteHeader(403)
		}
	}
	s := story(t, "steps: [{open: chat, socket: /, expect: {status: 403}}]")
	walk(t, s, options(), refuse(3*time.Second), refuse(time.Minute), func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		if x := ref.Steps[0].Exchanges[0]; x.Failure != nil || x.Response.Status != 403 {
			t.Errorf("after 3s, longer than the settle limit: %+v", x.Failure)
		}
		if f := cand.Steps[0].Exchanges[0].Failure; f == nil || f.Kind != transcript.FailTimeout {
			t.Errorf("after a minute, longer than a step: %+v", f)
		}
	})
}

func TestASocketCanBeRefused(t *testing.T) {
	s := story(t, `
steps:
  - {open: chat, socket: /, expect: {status: 403}}
  - {send: chat, text: hello}
  - {close: chat}
`)
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }
	walk(t, s, options(), http.HandlerFunc(refuse), http.HandlerFunc(refuse), func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		same(t, "outcomes", outcomes(cand), []string{"1 done", "2 unmet: a socket: there is no socket: the answer is 403", "3 done"})
		if x := cand.Steps[0].Exchanges[0]; x.Response.Status != 403 || x.Failure != nil {
			t.Errorf("the response is %+v", x)
		}
	})
}
