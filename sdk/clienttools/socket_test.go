package clienttools_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

const (
	handshake = "GET /client-tools/ws/c1"
	greeting  = `message {"type":"register","tools":[{"id":"echo","description":"d","parameters":{}}]}`
	echoed    = `message {"type":"result","requestID":"r1","result":{"status":"success","title":"echo","output":"{}"}}`
)

func TestCallsThroughASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c := s.newClient(clienttools.Options{Transport: clienttools.WebSocket})
		must(t, c.Register(t.Context(), echo("echo"), raw("work", func(ctx context.Context, call *clienttools.Call) (*clienttools.Result, error) {
			return &clienttools.Result{}, call.Progress(ctx, clienttools.Progress{Progress: 2})
		})))
		must(t, c.Connect(t.Context()))
		tools := `"tools":[{"id":"echo","description":"d","parameters":{}},{"id":"work","description":"","parameters":{"type":"object"}}]}`
		s.want(register+` {"clientID":"c1",`+tools, handshake, `message {"type":"register",`+tools)
		s.send(`{"type":"registered","toolIDs":["client_c1_echo"]}`)
		s.send(`{"type":"later","error":1}`)
		s.send(`{"type":"request","request":` + requestJSON("r1", "echo", "{}") + `}`)
		s.want(echoed)
		s.send(`{"type":"request","request":` + requestJSON("r2", "work", "{}") + `}`)
		s.want(`message {"type":"progress","requestID":"r2","progress":2}`, // S62
			`message {"type":"result","requestID":"r2","result":{"status":"success","title":"","output":""}}`)
		must(t, c.Unregister(t.Context(), "work"))
		must(t, c.Register(t.Context()))
		s.want(`DELETE /client-tools/unregister {"clientID":"c1","toolIDs":["client_c1_work"]}`, registerEcho)
		s.reported(nil, nil)
		must(t, c.Close())
		s.want("closed 1000")
	})
}

// S60: messages that are invalid go to OnError, and the socket stays open.
func TestInvalidMessagesAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := connected(t, clienttools.Options{Transport: clienttools.WebSocket}, echo("echo"))
		for _, tt := range []struct{ message, want string }{
			{`{`, "Invalid message"},
			{`["type"]`, "Invalid message"},
			{`{"type":1}`, "Invalid message"},
			{`{"Type":"request"}`, "Invalid message"},
			{`{"type":"request"}`, "Invalid message"},
			{`{"type":"request","request":{"requestID":"r"}}`, "Invalid message"},
			{`{"type":"error","error":"tools: wrong"}`, "tools: wrong"},
			{`{"type":"error"}`, "Invalid message"},
		} {
			s.send(tt.message)
			s.reported([]string{tt.want}, nil)
		}
		s.send(`{"type":"request","request":` + requestJSON("r1", "echo", "{}") + `}`)
		s.want(echoed)
	})
}

// S58: the socket is lost when it ends. Until the next one is open, results are posted.
func TestALostSocketIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		slow := raw("slow", func(context.Context, *clienttools.Call) (*clienttools.Result, error) {
			<-free
			return &clienttools.Result{}, nil
		})
		s, c := connected(t, clienttools.Options{Transport: clienttools.WebSocket}, slow)
		s.set(list, response{body: `[{}]`})
		s.send(`{"type":"request","request":` + requestJSON("r1", "slow", "{}") + `}`)
		s.lose()
		s.note(func() { s.requests = nil })
		close(free)
		s.want(result("r1", `{"status":"success","title":"","output":""}`))
		time.Sleep(time.Minute)
		tools := `"tools":[{"id":"slow","description":"","parameters":{"type":"object"}}]}`
		s.want(register+` {"clientID":"c1",`+tools, handshake, `message {"type":"register",`+tools, list)
		s.reported(nil, []string{"1 1s"})
		must(t, c.Close())
	})
}

// S57: a refused handshake counts as a lost stream, and Connect waits for the socket.
func TestARefusedHandshakeIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.set(handshake, response{status: 426}, response{})
		c := s.newClient(clienttools.Options{Transport: clienttools.WebSocket})
		must(t, c.Register(t.Context(), echo("echo")))
		must(t, c.Connect(t.Context()))
		s.want(registerEcho, handshake, registerEcho, handshake, greeting)
		s.reported(nil, []string{"1 1s"})
	})
}

// S60: a message of more than 16 MiB ends the socket.
func TestATooLongMessageLosesTheSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := connected(t, clienttools.Options{Transport: clienttools.WebSocket}, echo("echo"))
		st := s.current()
		st.send <- strings.Repeat(" ", 16<<20+1)
		time.Sleep(500 * time.Millisecond)
		s.want("closed 1009")
		s.reported(nil, []string{"1 1s"})
	})
}

// A server that reads nothing delays neither the attempts nor Close without limit.
func TestASilentPeerDelaysNothingForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.deaf = true
		c := s.newClient(clienttools.Options{Transport: clienttools.WebSocket})
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
		defer cancel()
		start := time.Now()
		if err := c.Connect(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Connect: %v, want DeadlineExceeded", err)
		}
		if waited := time.Since(start); waited > time.Minute {
			t.Errorf("Connect took %s", waited)
		}
		s.reported(nil, []string{"1 1s"}) // after a write of 30 s
		s.note(func() {
			for st := range s.streams {
				close(st.lost)
			}
		})
	})
}
