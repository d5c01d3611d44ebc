package ws

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/internal/ratio"
)

func TestHowASocketBreaks(t *testing.T) {
	const (
		malformed = transcript.FailMalformed
		closed    = transcript.FailClosed
		limit     = transcript.FailLimit
	)
	long := strings.Repeat("x", 126)
	for _, tc := range []struct {
		name   string
		says   string
		kind   transcript.FailureKind
		text   string
		events string // what was recorded before
	}{
		{"a reserved bit", "\xc1\x01a", malformed, "a text frame with the reserved bits 4 came (RFC 6455 §5.2: they are 0 without an extension)", ""},
		{"a reserved opcode", "\x83\x01a", malformed, "a frame with the opcode 3 came (RFC 6455 §5.2: it is reserved)", ""},
		{"a reserved control opcode", "\x8b\x00", malformed, "a frame with the opcode 11 came (RFC 6455 §5.2: it is reserved)", ""},
		{"a mask", "\x81\x81\x00\x00\x00\x00a", malformed, "a masked text frame came (RFC 6455 §5.1: a server must not mask its frames)", ""},
		{"a ping in fragments", "\x09\x01a", malformed, "a ping frame without the FIN bit came (RFC 6455 §5.5: control frames are not fragmented)", ""},
		{"a long ping", "\x89\x7e\x00\x7e" + long, malformed, "a ping frame of more than 125 bytes came (RFC 6455 §5.5: control frames have 125 bytes at most)", ""},
		{"a long close", "\x88\x7f", malformed, "a close frame of more than 125 bytes came (RFC 6455 §5.5: control frames have 125 bytes at most)", ""},
		{"a continuation first", "\x80\x01a", malformed, "a continuation frame came outside of a message (RFC 6455 §5.4: it continues a message)", ""},
		{"a continuation after the end", "\x01\x01a\x80\x00\x80\x00", malformed, "a continuation frame came outside of a message (RFC 6455 §5.4: it continues a message)", "text"},
		{"a message in a message", "\x01\x01a\x82\x01b", malformed, "a binary frame came inside a text message (RFC 6455 §5.4: the frames of two messages are not mixed)", ""},
		{"not UTF-8", "\x81\x02a\xff", malformed, "a text message of 2 bytes that is not UTF-8 came (RFC 6455 §8.1: text is UTF-8)", "text"},
		{"a cut character", "\x01\x02\xe2\x82\x80\x00", malformed, "a text message of 2 bytes that is not UTF-8 came (RFC 6455 §8.1: text is UTF-8)", "text"},
		{"half a code", "\x88\x01\x03", malformed, `a close frame with the payload "\x03" came (RFC 6455 §5.5.1: a code has two bytes)`, ""},
		{"a reason that is not UTF-8", "\x88\x03\x03\xe8\xff", malformed, `a close frame with the reason "\xff" came (RFC 6455 §5.5.1: a reason is UTF-8)`, ""},
		{"the code 0", "\x88\x02\x00\x00", malformed, "a close frame with the code 0 came (RFC 6455 §7.4: a code is defined, registered or private)", "close"},
		{"the code 1005", "\x88\x02\x03\xed", malformed, "a close frame with the code 1005 came (RFC 6455 §7.4: a code is defined, registered or private)", "close"},
		{"a length in two bytes", "\x81\x7e\x00\x7d", malformed, "a text frame with a length of 125 in 2 bytes came (RFC 6455 §5.2: the minimal number of bytes is used)", ""},
		{"a length in eight bytes", "\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", malformed, "a binary frame with a length of 65535 in 8 bytes came (RFC 6455 §5.2: the minimal number of bytes is used)", ""},
		{"a negative length", "\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00", malformed, "a binary frame with a length of 9223372036854775808 came (RFC 6455 §5.2: the most significant bit is 0)", ""},
		{"a text after a close", "\x88\x00\x81\x01a", malformed, "a text frame came after a close frame (RFC 6455 §5.5.1: no data follows a close frame)", "close"},
		{"a long frame", "\x82\x7e\x03\xe9", limit, "a message of more than 1000 bytes came", ""},
		{"a long message", "\x02\x7e\x02\x00" + strings.Repeat("x", 512) + "\x00\x7e\x02\x00", limit, "a message of more than 1000 bytes came", ""},
		{"endless fragments", "\x01\x00" + strings.Repeat("\x00\x00", 100), limit, "a message of more than 1000 bytes came", ""},
		{"an end without a close", "\x81\x01a", closed, "the connection ended without a close frame", "text"},
		{"an end in a head", "\x81", closed, "the connection ended in the head of a frame", ""},
		{"an end in a length", "\x81\x7e\x01", closed, "the connection ended in the head of a frame", ""},
		{"an end in a frame", "\x01\x02ab\x80\x03a", closed, "the connection ended inside a text message, after 1 of 3 bytes of a frame", ""},
		{"an end in a ping", "\x89\x03a", closed, "the connection ended inside a ping frame, after 1 of 3 bytes", ""},
		{"an end in a message", "\x01\x02ab\x00\x00\x89\x00", closed, "the connection ended inside a text message, after the frames text 2, continuation 0", "ping"},
		{"an end in a frame after a close", "\x88\x00\x89\x02a", closed, "the connection ended inside a ping frame, after 1 of 2 bytes", "close"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := piped(t, func(p *peer) { p.say(p.accept(), tc.says) })
			s := opened(t, c, &Options{NoPong: true, NoClose: true, MaxMessage: 1000}, nil)
			rec := ended(t, s)
			var items []string
			for _, ev := range rec.Events {
				items = append(items, string(ev.Item))
			}
			want := &transcript.Failure{Kind: tc.kind, Phase: transcript.PhaseBody, Text: tc.text}
			if diff := cmp.Diff(want, rec.Failure); diff != "" || rec.Ended != transcript.EndedBroken {
				t.Errorf("ended by %s; failure (-want +got):\n%s", rec.Ended, diff)
			}
			if events := strings.Join(items, " "); events != tc.events {
				t.Errorf("the events %q, want %q", events, tc.events)
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestWhichCodesAServerMaySend(t *testing.T) {
	for code, want := range map[uint16]bool{
		0: false, 999: false, 1000: true, 1003: true, 1004: false, 1005: false, 1006: false, 1007: true, 1011: true, 1014: true,
		1015: false, 1016: false, 2999: false, 3000: true, 4999: true, 5000: false, 65535: false,
	} {
		if got := isCode(code); got != want {
			t.Errorf("isCode(%d): %t", code, got)
		}
	}
}

func TestTheHandshakeIsChecked(t *testing.T) {
	const right = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" // the example of RFC 6455 §1.3
	const accept = "Sec-WebSocket-Accept: " + right + "\r\n"
	for _, tc := range []struct{ name, head, text string }{
		{"valid", switching + accept + "Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Extensions: x-a; p=1\r\n", ""},
		{"other cases", "HTTP/1.1 101 x\r\nupgrade: WebSocket\r\nconnection: keep-alive, upgrade\r\n" + accept, ""},
		{"no Upgrade", "HTTP/1.1 101 x\r\nConnection: Upgrade\r\n" + accept, "101 with the Upgrade missing, want websocket (RFC 6455 §4.1)"},
		{"another Upgrade", "HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n" + accept, `101 with the Upgrade "h2c", want websocket (RFC 6455 §4.1)`},
		{"no Connection", "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: close\r\n" + accept, `101 with the Connection "close", want Upgrade (RFC 6455 §4.1)`},
		{"no accept", switching, `101 with the Sec-WebSocket-Accept missing, want "` + right + `", which belongs to the key "dGhlIHNhbXBsZSBub25jZQ==" (RFC 6455 §4.1)`},
		{"a wrong accept", switching + "Sec-WebSocket-Accept: x\r\n", `101 with the Sec-WebSocket-Accept "x", want "` + right + `", which belongs to the key "dGhlIHNhbXBsZSBub25jZQ==" (RFC 6455 §4.1)`},
		{"two accepts", switching + accept + accept, "101 with the Sec-WebSocket-Accept"},
		{"another extension", switching + accept + "Sec-WebSocket-Extensions: x-a, permessage-deflate; x\r\n", `101 with the extension "permessage-deflate", which was not offered (RFC 6455 §4.1)`},
		{"another subprotocol", switching + accept + "Sec-WebSocket-Protocol: Chat\r\n", `101 with the subprotocol "Chat", which was not offered (RFC 6455 §4.1)`},
		{"two subprotocols", switching + accept + "Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Protocol: chat\r\n", `101 with several subprotocols "chat, chat" (RFC 6455 §11.3.4)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := piped(t, func(p *peer) { p.say(tc.head, "\r\n\x88\x00") })
			s := openWith(t, c, &Options{Subprotocols: []string{"superchat", "chat"}, NoClose: true}, transcript.Header{
				{Name: "Sec-WebSocket-Key", Value: "dGhlIHNhbXBsZSBub25jZQ=="}, {Name: "Sec-WebSocket-Extensions", Value: "x-a, x-b"},
			})
			ex, is, err := s.Opened()
			if err != nil || is != (tc.text == "") {
				t.Fatalf("Opened: %+v, %t, %v", ex, is, err)
			}
			if is {
				if rec := ended(t, s); ex.Failure != nil || rec.Ended != transcript.EndedByServer || len(rec.Events) != 1 {
					t.Errorf("exchange %+v, stream %+v", ex, rec)
				}
				return
			}
			if f := ex.Failure; f == nil || f.Kind != transcript.FailMalformed || f.Phase != transcript.PhaseHead || !strings.HasPrefix(f.Text, tc.text) {
				t.Errorf("failure %+v, want %s", f, tc.text)
			}
			if rec := ended(t, s); len(rec.Events) > 0 || ex.Response.Status != 101 {
				t.Errorf("exchange %+v, stream %+v", ex, rec)
			}
		})
	}
}

func TestAnAcceptedExtensionIsALimitOfLockstep(t *testing.T) {
	c := piped(t, func(p *peer) { p.say(p.accept("Sec-WebSocket-Extensions: permessage-deflate"), "\xc1\x01a") })
	s := openWith(t, c, nil, transcript.Header{{Name: "Sec-WebSocket-Extensions", Value: "permessage-deflate"}})
	if f := ended(t, s).Failure; f == nil || f.Kind != transcript.FailLimit || !strings.Contains(f.Text, "do not offer them") {
		t.Errorf("failure %+v", f)
	}
}

func TestEndsOverTCP(t *testing.T) {
	reset := func(p *peer) { p.Conn.(*net.TCPConn).SetLinger(0) }
	for _, tc := range []struct {
		name  string
		serve func(*peer)
		ended transcript.Ending
		text  string
	}{
		{"a reset", func(p *peer) { reset(p) }, transcript.EndedBroken, "the connection was reset without a close frame"},
		{"a reset after the close frames", func(p *peer) {
			p.say("\x88\x00")
			p.receive()
			reset(p)
		}, transcript.EndedByServer, ""},
		{"an end without an answer to our close", func(p *peer) { p.receive() }, transcript.EndedBroken, "the connection ended without a close frame"},
		{"an end after our half-close", func(p *peer) { _, _ = io.Copy(io.Discard, p.Conn) }, transcript.EndedByServer, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := loopback(t, func(p *peer) {
				p.say(p.accept(), "\x81\x01a")
				p.receive()
				tc.serve(p)
			})
			s := opened(t, c, nil, nil)
			if _, err := s.Await(t.Context(), 0, func(*transcript.Event) bool { return true }); err != nil {
				t.Fatal(err)
			}
			send(t, s, &Message{Item: textM})
			if strings.Contains(tc.name, "our close") {
				send(t, s, &Message{Item: closeF, Code: 1000})
			}
			if strings.Contains(tc.name, "our half-close") {
				if err := s.CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			rec := ended(t, s)
			text := ""
			if rec.Failure != nil {
				text = rec.Failure.Text
			}
			if rec.Ended != tc.ended || text != tc.text {
				t.Errorf("ended by %s: %q, want by %s: %q", rec.Ended, text, tc.ended, tc.text)
			}
		})
	}
}

// The system reports a reset only once, to the reader or to the writer.
func TestAResetDuringASendIsAReset(t *testing.T) {
	large := &Message{Item: bytesM, Data: make([]byte, 8<<20)} // more than the system buffers
	for range 30 {
		c := loopback(t, func(p *peer) {
			p.say(p.accept())
			p.Conn.(*net.TCPConn).SetLinger(0)
			p.r.ReadByte()
		})
		s := opened(t, c, nil, nil)
		if err := s.Send(t.Context(), large); err == nil {
			t.Fatal("Send: no error")
		}
		if f := ended(t, s).Failure; f == nil || f.Kind != transcript.FailReset || f.Text != "the connection was reset without a close frame" {
			t.Fatalf("failure %+v, want a reset", f)
		}
	}
}

func TestWhatTheServerSeesOfTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name  string
		end   func(*Socket) error
		sees  string
		ended transcript.Ending
	}{
		{"Close", func(s *Socket) error { return s.Close() }, "EOF", transcript.EndedByClient},
		{"Reset", func(s *Socket) error { return s.Reset() }, "connection reset by peer", transcript.EndedByClient},
		{"CloseWrite", func(s *Socket) error { return s.CloseWrite() }, "EOF", transcript.EndedByServer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sees := make(chan string, 1)
			c := loopback(t, func(p *peer) {
				p.say(p.accept(), "\x81\x01a")
				sees <- p.receive()
				p.say("\x81\x01b\x88\x00")
			})
			s := opened(t, c, &Options{NoClose: true}, nil)
			if _, err := s.Await(t.Context(), 0, func(*transcript.Event) bool { return true }); err != nil {
				t.Fatal(err)
			}
			if err := tc.end(s); err != nil {
				t.Fatal(err)
			}
			if got := <-sees; !strings.HasSuffix(got, tc.sees) {
				t.Errorf("the server sees %q, want %q", got, tc.sees)
			}
			rec := ended(t, s)
			if want := map[transcript.Ending]int{transcript.EndedByClient: 1, transcript.EndedByServer: 3}[tc.ended]; rec.Ended != tc.ended || len(rec.Events) != want {
				t.Errorf("ended by %s with %d events, want by %s with %d", rec.Ended, len(rec.Events), tc.ended, want)
			}
			if err := errors.Join(s.Close(), s.Reset()); err != nil {
				t.Errorf("to end it again: %v", err)
			}
		})
	}
}

// The pongs are bounded, even if the pings are not recorded.
func TestAFloodOfPingsEnds(t *testing.T) {
	c := loopback(t, func(p *peer) {
		p.say(p.accept(), strings.Repeat("\x89\x00", 12))
		for !strings.Contains(p.receive(), "EOF") {
		}
	})
	s := opened(t, c, nil, &watch.Options{MaxEvents: 10, Keep: func(ev *transcript.Event) bool { return ev.Item != pingF }})
	rec := ended(t, s)
	if rec.Failure == nil || rec.Failure.Kind != transcript.FailLimit || len(rec.Events) != 10 || rec.Left != 11 {
		t.Errorf("%d events, %d left, failure %+v", len(rec.Events), rec.Left, rec.Failure)
	}
}

// A server that pings within the limit does not exceed it by lockstep's own pongs.
func TestPongsDoNotCountAsTheServersEvents(t *testing.T) {
	c := loopback(t, func(p *peer) {
		p.say(p.accept(), strings.Repeat("\x89\x00", 9), "\x88\x00")
		for got := ""; !strings.HasPrefix(got, "88") && !strings.Contains(got, "EOF"); {
			got = p.receive()
		}
	})
	rec := ended(t, opened(t, c, nil, &watch.Options{MaxEvents: 10}))
	if rec.Failure != nil || len(rec.Events) != 20 {
		t.Errorf("%d events, want 9 pings, their pongs and 2 close frames; failure %+v", len(rec.Events), rec.Failure)
	}
}

func TestAnAnnouncedMessageNeedsNoMemory(t *testing.T) {
	const most = 16 << 20
	for _, size := range []int{most, most + 1} {
		allocated := ratio.Allocated(func() {
			c := piped(t, func(p *peer) {
				p.say(p.accept(), fmt.Sprintf("\x82\x7f\x00\x00\x00\x00%c", size>>24), string([]byte{byte(size >> 16), byte(size >> 8), byte(size)}), "abc")
			})
			rec := ended(t, opened(t, c, nil, nil))
			want := "the connection ended inside a binary message, after 3 of 16777216 bytes of a frame"
			if size > most {
				want = "a message of more than 16777216 bytes came"
			}
			if rec.Failure == nil || rec.Failure.Text != want {
				t.Errorf("failure %+v, want %s", rec.Failure, want)
			}
		})
		if allocated > 1<<20 {
			t.Errorf("%d bytes are announced, and %d allocated", size, allocated)
		}
	}
}

func TestALargeMessageIsReadWhole(t *testing.T) {
	want := strings.Repeat("0123456789abcdef", 1<<20)
	c := piped(t, func(p *peer) { p.say(p.accept(), "\x82\x7f\x00\x00\x00\x00\x01\x00\x00\x00", want, "\x88\x00") })
	rec := ended(t, opened(t, c, &Options{NoClose: true}, nil))
	if rec.Ended != transcript.EndedByServer || len(rec.Events) != 2 || rec.Events[0].Data != want || rec.Events[0].Framing != "binary 16777216" {
		t.Errorf("ended by %s, %+v, with %d events", rec.Ended, rec.Failure, len(rec.Events))
	}
}
