package run

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const handshakeKey = "dGhlIHNhbXBsZSBub25jZQ=="

// A member is a client of a stub's socket, which can do anything wrong.
type member struct {
	net.Conn
	r *bufio.Reader
}

// join connects to a stub. edit changes the opening handshake.
func join(url string, edit func(string) string) *member {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		panic(err)
	}
	request := "GET /feed HTTP/1.1\r\nHost: stub\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + handshakeKey + "\r\n\r\n"
	if edit != nil {
		request = edit(request)
	}
	io.WriteString(c, request)
	m := &member{c, bufio.NewReader(c)}
	resp, err := http.ReadResponse(m.r, nil)
	if err == nil && resp.StatusCode != 101 {
		io.Copy(io.Discard, resp.Body)
	}
	return m
}

// frame is a masked frame of a client.
func frame(first byte, payload string) string {
	out := []byte{first, 0x80 | byte(len(payload)), 1, 2, 3, 4}
	for i := range payload {
		out = append(out, payload[i]^byte(1+i%4))
	}
	return string(out)
}

func closing(code uint16) string { return string(binary.BigEndian.AppendUint16(nil, code)) }

func (m *member) say(frames ...string) { io.WriteString(m, strings.Join(frames, "")) }

// hear reads a frame of the stub.
func (m *member) hear() (opcode byte, payload string) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(m.r, head); err != nil {
		return 0, ""
	}
	if head[1]&0x80 != 0 {
		panic("the stub has masked a frame")
	}
	size := int(head[1])
	if size == 126 {
		long := make([]byte, 2)
		io.ReadFull(m.r, long)
		size = int(binary.BigEndian.Uint16(long))
	}
	body := make([]byte, size)
	io.ReadFull(m.r, body)
	return head[0] & 0xf, string(body)
}

// well behaves as the script of the feed wants.
func well(m *member) {
	m.hear()
	m.say(frame(0x81, `{"type":"subscribe","room":"r1"}`))
	m.hear()
	_, ping := m.hear()
	m.say(frame(0x8a, ping), frame(0x81, `{"type":"bye"}`))
	_, code := m.hear()
	m.say(frame(0x88, code))
	io.Copy(io.Discard, m.r)
}

const feedStory = `
isolate: fresh
stubs:
  api:
    - name: feed
      when: {http: GET /feed}
      answer:
        socket:
          - send: {json: {type: hello}}
          - await: {match: {json: {$.type: subscribe}}, within: 300ms, capture: {room: $.room}}
          - send: {json: {type: joined, room: "${{ room }}"}}
          - send: {ping: p, within: 300ms}
          - await: {match: {json: {$.type: bye}}, within: 300ms}
          - close: {code: 1001, reason: oops, within: 300ms}
steps:
  - {http: POST /go}
`

// converse runs a story on a target that connects to its stub as a client does.
func converse(t *testing.T, text string, client func(url string)) *transcript.Transcript {
	t.Helper()
	up, err := stub.Start("api", stub.HTTP, stub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	to := target(t, "ref", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { client(up.URL()) }))
	to.Stubs = map[string]*stub.Server{"api": up}
	o := options()
	o.Settle = 300 * time.Millisecond
	o.Step = 3 * time.Second
	return Scenario(t.Context(), story(t, text), []*Target{to}, o)[0]
}

// faults returns what is wrong in the requests to a stub, and on its sockets.
func faults(tr *transcript.Transcript) (out []string) {
	for _, s := range tr.Upstream {
		for _, x := range s.Exchanges {
			if x.Failure != nil {
				out = append(out, x.Failure.Text)
			}
		}
		if s.Unmet != nil {
			out = append(out, s.Unmet.Kind+": "+s.Unmet.What+", "+s.Unmet.Why)
		}
		if s.Fault != "" {
			out = append(out, "fault: "+s.Fault)
		}
	}
	for _, s := range tr.Streams {
		if s.Failure != nil {
			out = append(out, s.Failure.Text)
		}
	}
	return out
}

func TestASocketOfAStubPlaysItsScript(t *testing.T) {
	tr := converse(t, feedStory, func(url string) {
		m := join(url, nil)
		defer m.Close()
		well(m)
	})
	same(t, "what is wrong", faults(tr), []string(nil))
	same(t, "what crossed the wire", labels(tr, "api.feed"), []string{
		`> text {"type":"hello"}`, `< text {"type":"subscribe","room":"r1"}`, `> text {"type":"joined","room":"r1"}`, "> ping p", "< pong p",
		`< text {"type":"bye"}`, `> close {"code":1001,"reason":"oops"}`, `< close {"code":1001,"reason":"oops"}`,
	})
	st := tr.Streams[0]
	if !st.Stub || st.Step != "api.feed" || st.Ended != transcript.EndedByServer || tr.Upstream[0].Exchanges[0].Stream != st.Name {
		t.Errorf("the stream is %+v", st)
	}
}

// Each client breaks one rule, and each is found, with the words for it.
func TestAClientThatMisbehavesIsFound(t *testing.T) {
	replace := func(old, new string) func(string) string {
		return func(request string) string { return strings.Replace(request, old, new, 1) }
	}
	subscribed := func(then func(m *member)) func(m *member) {
		return func(m *member) {
			m.hear()
			m.say(frame(0x81, `{"type":"subscribe","room":"r1"}`))
			m.hear()
			then(m)
			io.Copy(io.Discard, m.r)
		}
	}
	for _, tc := range []struct {
		name   string
		edit   func(string) string
		client func(m *member)
		want   string
	}{
		{"a key that is too short", replace(handshakeKey, "AAAA"), nil, `the opening handshake has the Sec-WebSocket-Key "AAAA", want one with 16 bytes in Base64 (RFC 6455 §4.1)`},
		{"no key", replace("Sec-WebSocket-Key: "+handshakeKey+"\r\n", ""), nil, "Sec-WebSocket-Key missing"},
		{"an old version", replace("Version: 13", "Version: 8"), nil, `Sec-WebSocket-Version "8", want 13`},
		{"no upgrade", replace("Upgrade: websocket\r\n", ""), nil, "the Upgrade missing, want websocket"},
		{"no mask", nil, func(m *member) { m.hear(); m.say("\x81\x02hi"); io.Copy(io.Discard, m.r) }, "an unmasked text frame came (RFC 6455 §5.1: a client must mask its frames)"},
		{"reserved bits", nil, func(m *member) { m.hear(); m.say(frame(0xc1, "hi")); io.Copy(io.Discard, m.r) }, "reserved bits 4 came"},
		{"text that is not UTF-8", nil, func(m *member) { m.hear(); m.say(frame(0x81, "\xff")); io.Copy(io.Discard, m.r) }, "not UTF-8"},
		{"a fragmented ping", nil, func(m *member) { m.hear(); m.say(frame(0x09, "")); io.Copy(io.Discard, m.r) }, "a ping frame without the FIN bit came"},
		{"another message", nil, func(m *member) { m.hear(); m.say(frame(0x81, `{"type":"other"}`)); io.Copy(io.Discard, m.r) },
			`event: a message with "subscribe" at $.type, it did not come within 300ms; 1 other message came since`},
		{"no message", nil, func(m *member) { io.Copy(io.Discard, m.r) }, "it did not come within 300ms; no other message came since"},
		{"no pong", nil, subscribed(func(m *member) {}), `pong: a pong with the payload "p", it did not come within 300ms`},
		{"another pong", nil, subscribed(func(m *member) { m.hear(); m.say(frame(0x8a, "q")) }), `pong: a pong with the payload "p"`},
		{"no close frame", nil, subscribed(func(m *member) { m.hear(); m.Close() }), "without a close frame"},
		{"a close frame that is not answered", nil, subscribed(func(m *member) {
			m.hear()
			m.say(frame(0x8a, "p"), frame(0x81, `{"type":"bye"}`))
		}), "closing: an answer to the close frame, and the end of the connection, it did not come within 300ms"},
		{"data after a close frame", nil, subscribed(func(m *member) { m.say(frame(0x88, closing(1000)), frame(0x81, "late")) }), "a text frame came after a close frame"},
		{"a code that is not allowed", nil, subscribed(func(m *member) { m.say(frame(0x88, closing(1005))) }), "a close frame with the code 1005 came"},
		{"an early end", nil, subscribed(func(m *member) { m.say(frame(0x88, closing(1000))) }), "pong: a pong"},
		{"no connection", nil, func(*member) {}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tr := converse(t, feedStory, func(url string) {
				if tc.name == "no connection" {
					return
				}
				m := join(url, tc.edit)
				defer m.Close()
				m.SetDeadline(time.Now().Add(time.Second))
				if tc.client != nil {
					tc.client(m)
				}
			})
			got := strings.Join(faults(tr), "\n")
			if tc.want == "" {
				tc.want = "upstream: a request, none came"
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("outcomes:\n%s\nwant one with:\n%s", got, tc.want)
			}
		})
	}
}

func TestASocketThatIsDroppedIsConnectedAgain(t *testing.T) {
	const text = `
isolate: fresh
stubs:
  api:
    - name: feed
      times: 3
      answer: {socket: [{await: {match: {event: text}}}, {drop: true}]}
    - name: last
      cadence: {every: 1s, tolerance: 500ms, since: feed}
      answer: {headers: {Sec-WebSocket-Protocol: v1}, socket: [{send: {text: stay}}]}
steps:
  - {http: POST /go}
`
	stay := make(chan *member, 1)
	tr := converse(t, text, func(url string) {
		for i := range 3 {
			m := join(url, nil)
			m.say(frame(0x81, fmt.Sprint("again ", i)))
			io.Copy(io.Discard, m.r)
			m.Close()
		}
		m := join(url, nil)
		m.hear()
		stay <- m
	})
	defer (<-stay).Close()
	same(t, "what is wrong", faults(tr), []string(nil))
	var got []string
	for _, s := range tr.Streams {
		got = append(got, fmt.Sprint(s.Name, ", ", s.Step, ", ", s.Ended, ", ", len(s.Events)))
	}
	same(t, "the sockets", got, []string{"api.feed, api.feed, client, 1", "api.feed 2, api.feed, client, 1", "api.feed 3, api.feed, client, 1", "api.last, api.last, client, 1"})
	same(t, "the cadence", tr.Upstream[1].Cadence, &transcript.Cadence{Every: time.Second, Tolerance: 500 * time.Millisecond, Since: scenario.UpstreamID("api", "feed")})
}
