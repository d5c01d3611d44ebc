package server_test

import (
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/httpapi/access"
)

// TestWhatAForeignPageGets checks the order of checks and the head (decision S71).
func TestWhatAForeignPageGets(t *testing.T) {
	const origin = "Origin: http://evil.example"
	refused := func(message string) string { return coded("PERMISSION_DENIED", message) }
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{Access: access.Rules{Origins: []string{"https://app.example"}}})
		for _, request := range []string{
			"GET /client-tools/tools", "OPTIONS /client-tools/tools", "GET /client-tools/nope", "PUT /event", "GET /global/event?directory=a&directory=b",
			"GET /client-tools/ws/c", "POST /client-tools/execute", "POST /session/s/permissions/p", "GET /%63lient-tools/tools",
		} {
			a := r.send(request + " HTTP/1.1\r\nHost: localhost\r\n" + origin + "\r\n\r\n")
			a.is(t, request, 403, refused("Origin not allowed"))
			if got := a.header.Values("Access-Control-Allow-Origin"); len(got) > 0 || a.header.Get("Connection") != "" {
				t.Errorf("%s: the head is %v, want no CORS headers", request, a.header)
			}
		}
		head := r.send("HEAD /client-tools/tools HTTP/1.1\r\nHost: localhost\r\n" + origin + "\r\n\r\n")
		same(t, "HEAD", 403, head.status)
		r.send("GET /client-tools/pending/c HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n\r\n").
			is(t, "without CORS", 403, refused("Origin not allowed"))
		r.send("GET /client-tools/tools HTTP/1.1\r\nHost: evil.example\r\n\r\n").is(t, "a foreign host", 403, refused("Host not allowed"))
		r.json("POST /client-tools/register", "{", origin).is(t, "register", 403, refused("Origin not allowed"))
		for _, allowed := range []string{"https://app.example", "http://localhost:8080"} {
			a := r.send("GET /client-tools/tools HTTP/1.1\r\nHost: localhost\r\nOrigin: " + allowed + "\r\n\r\n")
			a.is(t, allowed, 200, "{}")
			same(t, "Access-Control-Allow-Origin", "*", a.header.Get("Access-Control-Allow-Origin"))
		}
		r.send("GET /status HTTP/1.1\r\nHost: evil.example\r\n"+origin+"\r\n\r\n").is(t, "the other family", 200, "ok")
	})
}
