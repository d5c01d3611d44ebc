package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
)

func TestProgressRestartsTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		bus := r.open("/event?directory=/d")
		report := func(body string, status int, want string) {
			t.Helper()
			r.json("POST /client-tools/progress?directory=/elsewhere", body).is(t, body, status, want)
		}
		began := time.Now()
		answered := r.start(withJSON("POST /client-tools/execute?directory=/d", `{"toolID":"client_c_a","requestID":"r","sessionID":"s","messageID":"m","callID":"k","timeout":1000}`))
		bus.take()
		time.Sleep(999 * time.Millisecond)
		report(`{"requestID":"r","progress":2.50,"total":-1e1,"message":"","x":1}`, 200, `{"success":true}`)
		same(t, "events", []string{`data: {"type":"client-tool.progress","properties":{"sessionID":"s","messageID":"m","callID":"k","clientID":"c","requestID":"r","tool":"client_c_a","progress":2.5,"total":-10,"message":""}}` + "\n\n"}, bus.take())
		for range 9 {
			time.Sleep(999 * time.Millisecond)
			report(`{"requestID":"r","progress":0}`, 200, `{"success":true}`)
		}
		(<-answered).is(t, "execute", 504, coded("TIMEOUT", "Client tool execution timed out after 1000ms"))
		if lasted := time.Since(began); lasted != 10*time.Second {
			t.Errorf("the execution lasted %s, want ten times its timeout", lasted)
		}
		report(`{"requestID":"r","progress":0}`, 404, `{"error":"Unknown request ID"}`)
		report(`{"requestID":"r","progress":-0.1}`, 400, `{"data":{"requestID":"r","progress":-0.1},"error":[{"origin":"number","code":"too_small","minimum":0,"inclusive":true,"path":["progress"],"message":"Too small: expected number to be >=0"}],"success":false}`)
		report(`{"requestID":"r","progress":1,"total":null}`, 400, `{"data":{"requestID":"r","progress":1,"total":null},"error":[{"expected":"number","code":"invalid_type","path":["total"],"message":"Invalid input: expected number, received null"}],"success":false}`)
	})
}

func TestTheServersToolsOfASession(t *testing.T) {
	const key = "X-Secret-Key: test"
	r := startTCP(t, server.Config{})
	session := r.importOwned(`{}`)
	a := r.do("GET /client-tools/server-tools?x=1&sessionID="+session+"&sessionID=2", key)
	if want := `[{"id":"dynamic_task__create_task","description":"`; a.status != 200 || len(a.body) < len(want) || a.body[:len(want)] != want {
		t.Errorf("%d %s, want the tools", a.status, a.body)
	}
	same(t, "CORS", "*", a.header.Get("Access-Control-Allow-Origin"))
	r.do("GET /client-tools/server-tools?sessionID=nope", key).is(t, "another session", 404, `{"error":"Unknown session"}`)
	r.do("GET /client-tools/server-tools", key).is(t, "no session", 404, `{"error":"Unknown session"}`)
	r.do("GET /client-tools/server-tools?sessionID="+session).is(t, "without a key", 401, "")
	r.do("POST /client-tools/server-tools").is(t, "method", 405, "")
	same(t, "directory", 400, r.do("GET /client-tools/server-tools?directory=a&directory=b").status)
}
