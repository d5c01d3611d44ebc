package server_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

// A socket is an open WebSocket of a client.
type socket struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (r *rig) socket(target string) *socket {
	r.t.Helper()
	c := r.connect("GET " + target + " HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	r.t.Cleanup(func() { c.Close() })
	s := &socket{r.t, c, bufio.NewReader(c)}
	resp, err := http.ReadResponse(s.in, nil)
	if err != nil || resp.StatusCode != 101 {
		r.t.Fatalf("%s: %v, %v; want status 101", target, resp, err)
	}
	return s
}

// send sends a message in one frame, with a mask of zeros.
func (s *socket) send(message string) {
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0x80 | 126}, uint16(len(message)))
	if _, err := io.WriteString(s.conn, string(frame)+"\x00\x00\x00\x00"+message); err != nil {
		s.t.Errorf("send %s: %v", message, err)
	}
}

// want reads the next frame, and checks it. A close is its code.
func (s *socket) want(message string) {
	s.t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(s.in, head); err != nil {
		s.t.Fatalf("waiting for %s: %v", message, err)
	}
	size := int(head[1])
	if size == 126 {
		long := make([]byte, 2)
		io.ReadFull(s.in, long)
		size = int(binary.BigEndian.Uint16(long))
	}
	payload := make([]byte, size)
	io.ReadFull(s.in, payload)
	got := string(payload)
	if head[0] == 0x88 && size == 2 {
		got = fmt.Sprint(binary.BigEndian.Uint16(payload))
	}
	same(s.t, "message", message, got)
}

const toolA = `{"id":"a","description":"A","parameters":{}}`

func TestACallOverASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		bus := r.open("/event?directory=/d")
		bus.take()
		s, pending := r.socket("/client-tools/ws/c?directory=/d"), r.open("/client-tools/pending/c?directory=/d")
		s.send(`{"type":"register","tools":[` + toolA + `]}`)
		s.want(`{"type":"registered","toolIDs":["client_c_a"]}`)
		answered := r.start(withJSON("POST /client-tools/execute?directory=/d", `{"toolID":"client_c_a","requestID":"r"}`))
		s.want(`{"type":"request","request":` + request("client_c_a", "r") + `}`)
		same(t, "pending", []string{toolRequest(request("client_c_a", "r"))}, pending.take())
		s.send(`{"type":"client-tool-response","requestID":"r","result":{"status":"success","title":"T","output":"O"}}`)
		(<-answered).is(t, "execute", 200, `{"status":"success","title":"T","output":"O"}`)
		bus.take()

		answered = r.start(withJSON("POST /client-tools/execute?directory=/d", `{"toolID":"client_c_a","requestID":"r"}`))
		s.want(`{"type":"request","request":` + request("client_c_a", "r") + `}`)
		s.conn.Close()
		(<-answered).is(t, "execute", 500, coded("INTERNAL_ERROR", "Client disconnected"))
		all := strings.Join(bus.take(), "")
		for _, event := range []string{failedEvent("c", "client_c_a", "Client disconnected"), unregisteredEvent("c", "client_c_a")} {
			if !strings.Contains(all, event) {
				t.Errorf("no event %s in %s", event, all)
			}
		}
	})
}

func TestMessagesOfASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{Bounds: clienttools.Bounds{MaxTools: 2, MaxClients: 1}})
		s, other := r.socket("/client-tools/ws/c"), r.socket("/client-tools/ws/d")
		for _, tc := range []struct{ message, want string }{
			{`{`, "Invalid JSON"},
			{`[]`, "Invalid message"},
			{`{"type":1}`, "Invalid message"},
			{`{"type":"register"}`, "tools: Invalid input: expected array, received undefined"},
			{`{"type":"register","tools":[` + toolA + `,{"id":"b","description":7}]}`, "tools.1.description: Invalid input: expected string, received number"},
			{`{"type":"register","tools":[1,1,1]}`, "Too many tools"},
			{`{"type":"result","requestID":"r","result":{}}`, "result.status: Invalid input"},
			{`{"type":"unregister","toolIDs":[1]}`, "toolIDs.0: Invalid input: expected string, received number"},
		} {
			s.send(tc.message)
			s.want(`{"type":"error","error":"` + tc.want + `"}`)
		}
		s.send(`{"type":"nothing"}`)
		s.send(`{"type":"result","requestID":"r","result":{"status":"error","error":""}}`)
		s.send(`{"type":"register","tools":[` + toolA + `,` + strings.ReplaceAll(toolA, `"a"`, `"b"`) + `]}`)
		s.want(`{"type":"registered","toolIDs":["client_c_a","client_c_b"]}`)
		s.send(`{"type":"register","tools":[` + strings.ReplaceAll(toolA, `"a"`, `"x"`) + `]}`)
		s.want(`{"type":"error","error":"Too many tools"}`)
		other.send(`{"type":"register","tools":[]}`)
		other.want(`{"type":"error","error":"Too many clients"}`)
		s.send(`{"type":"unregister","toolIDs":["a","nope"]}`)
		synctest.Wait()
		r.do("GET /client-tools/tools/c").is(t, "tools", 200, `[{"id":"client_c_b","description":"A","parameters":{}}]`)
		s.send(`{"type":"unregister"}`)
		synctest.Wait()
		r.do("GET /client-tools/tools/c").is(t, "tools", 200, `[]`)
	})
}

func TestASocketEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		s := r.socket("/client-tools/ws/c")
		s.send(`{"type":"register","tools":[` + toolA + `]}`)
		s.want(`{"type":"registered","toolIDs":["client_c_a"]}`)
		answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		s.want(`{"type":"request","request":` + request("client_c_a", "r") + `}`)
		go r.stop()
		(<-answered).is(t, "execute", 500, coded("INTERNAL_ERROR", "Server is shutting down"))
		s.want("1001")
		if rest, err := io.ReadAll(s.in); err != nil || len(rest) > 0 {
			t.Errorf("after the close: %q, %v; want the end", rest, err)
		}
	})
}

// TestASocketThatDoesNotReadIsClosed fills the queue while the client does not read.
func TestASocketThatDoesNotReadIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{Queue: events.Options{MaxEvents: 3}})
		s := r.socket("/client-tools/ws/c")
		for range 5 {
			s.send(`{}`)
			synctest.Wait()
		}
		s.want(`{"type":"error","error":"Invalid message"}`)
		s.want("1013")
		s.conn.Close()
		synctest.Wait()
		if !strings.Contains(r.log.String(), events.ErrSlowReader.Error()) {
			t.Errorf("the log does not say why the socket was closed:\n%s", r.log)
		}
	})
}
