package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
)

const malformed = `{"name":"UnknownError","data":{"message":"Error: Malformed JSON in request body"}}`

func TestJSONComesBackAsItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		body := `{"clientID":"c\ud800","tools":[{"description":"</ü\u2028\"\u0001\ud83d\ude00","id":"a","x":1,
			"parameters":{"b":1.0,"10":[1e400,-0,12345678901234567890],"a":{"\udc00":"<&>"},"b":2.50}}]}`
		r.json("POST /client-tools/register", body).is(t, "register", 200, `{"registered":["client_c\ud800_a"]}`)
		tool := `{"id":"client_c\ud800_a","description":"</ü` + "\u2028" + `\"\u0001😀","parameters":{"b":2.50,"10":[1e400,-0,12345678901234567890],"a":{"\udc00":"<&>"}}}`
		a := r.do("GET /client-tools/tools")
		a.is(t, "list", 200, `{"client_c\ud800_a":`+tool+`}`)
		a.header.Del("Date")
		same(t, "header", http.Header{
			"Access-Control-Allow-Origin": {"*"}, "Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(len(a.body))},
		}, a.header)
	})
}

func TestListsKeepTheOrderOfRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.do("GET /client-tools/tools").is(t, "nothing", 200, "{}")
		r.do("GET /client-tools/tools/c").is(t, "nothing of c", 200, "[]")
		r.register("z", "zeta", "beta")
		r.register("a", "x")
		tool := func(id string) string { return `{"id":"` + id + `","description":"","parameters":{}}` }
		for range 3 {
			r.do("GET /client-tools/tools/z").is(t, "z", 200, "["+tool("client_z_zeta")+","+tool("client_z_beta")+"]")
			r.do("GET /client-tools/tools").is(t, "all", 200,
				`{"client_z_zeta":`+tool("client_z_zeta")+`,"client_z_beta":`+tool("client_z_beta")+`,"client_a_x":`+tool("client_a_x")+`}`)
		}
	})
}

func TestUnregisterOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("u1", "client_x", "a", "b")
		for _, tc := range []struct{ request, body, want string }{
			{"DELETE /client-tools/unregister?clientID=u1", `{"clientID":"unknown"}`, `{"success":true,"unregistered":[]}`},
			{"DELETE /client-tools/unregister", `{"clientID":"u1","toolIDs":[]}`, `{"success":true,"unregistered":[]}`},
			{"DELETE /client-tools/unregister", `{"clientID":"u1","toolIDs":["client_x","nope"]}`, `{"success":true,"unregistered":[]}`},
			{"DELETE /client-tools/unregister", `{"clientID":"u1","toolIDs":["b","client_u1_client_x"]}`, `{"success":true,"unregistered":["client_u1_b","client_u1_client_x"]}`},
			{"DELETE /client-tools/unregister", `{"clientID":"u1"}`, `{"success":true,"unregistered":["client_u1_a"]}`},
			{"DELETE /client-tools/unregister", `{"clientID":"u1"}`, `{"success":true,"unregistered":[]}`},
		} {
			r.json(tc.request, tc.body).is(t, tc.body, 200, tc.want)
		}
	})
}

func TestBodiesThatAreNotRead(t *testing.T) {
	const noClient = `{"data":{},"error":[{"expected":"string","code":"invalid_type","path":["clientID"],"message":"Invalid input: expected string, received undefined"},` +
		`{"expected":"array","code":"invalid_type","path":["tools"],"message":"Invalid input: expected array, received undefined"}],"success":false}`
	const directories = `{"data":{"directory":["/a","/b"]},"error":[{"expected":"string","code":"invalid_type","path":["directory"],` +
		`"message":"Invalid input: expected string, received array"}],"success":false}`
	const valid = `{"clientID":"c","tools":[{"id":"a","description":"","parameters":{}}]}`
	raw := func(request, body string, headers ...string) string {
		return request + " HTTP/1.1\r\nHost: test\r\n" + lines(headers) + "\r\n" + body
	}
	length := func(body string) string { return fmt.Sprintf("Content-Length: %d", len(body)) }
	const jsonType, chunked = "Content-Type: application/json", "Transfer-Encoding: chunked"
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{MaxBodyBytes: 100})
		bus := r.open("/event")
		bus.take()
		for _, tc := range []struct {
			name, raw string
			status    int
			body      string
		}{
			{"no content type", raw("POST /client-tools/register", valid, length(valid)), 400, noClient},
			{"another content type", raw("POST /client-tools/register", "{", "Content-Type: text/plain", length("{")), 400, noClient},
			{"nothing at all", raw("POST /client-tools/register", ""), 400, noClient},
			{"no body", raw("POST /client-tools/register", "", jsonType), 500, malformed},
			{"an empty body", raw("DELETE /client-tools/unregister", "", jsonType, length("")), 500, malformed},
			{"an empty chunked body", raw("POST /client-tools/result", "0\r\n\r\n", jsonType, chunked), 500, malformed},
			{"not JSON", raw("POST /client-tools/result", "{]", jsonType, length("{]")), 500, malformed},
			{"text behind the value", raw("POST /client-tools/register", "{} x", jsonType, length("{} x")), 500, malformed},
			{"two directories", raw("POST /client-tools/register?directory=/a&directory=/b", "{]", jsonType, length("{]")), 400, directories},
			{"two directories and too large", raw("POST /client-tools/register?directory=/a&directory=/b", "", jsonType, "Content-Length: 101"), 400, directories},
			{"too large by its announcement", raw("POST /client-tools/register", "", jsonType, "Content-Length: 101"), 413, `{"error":"Request body too large"}`},
			{"too large and no JSON by type", raw("DELETE /client-tools/unregister", "", "Content-Length: 101"), 413, `{"error":"Request body too large"}`},
			{"too large in chunks", raw("POST /client-tools/result", "65\r\n"+strings.Repeat(" ", 101)+"\r\n0\r\n\r\n", jsonType, chunked), 413, `{"error":"Request body too large"}`},
			{"too large for a stream", raw("GET /event", "", "Content-Length: 101"), 413, `{"error":"Request body too large"}`},
			{"execute, too large", raw("POST /client-tools/execute", "", "Content-Length: 101"), 413, `{"error":{"code":"INVALID_REQUEST","message":"Request body too large"}}`},
			{"execute, two directories", raw("POST /client-tools/execute?directory=/a&directory=/b", "", "Content-Length: 101"), 400,
				`{"error":{"code":"INVALID_REQUEST","message":"Invalid input: expected string, received array"}}`},
			{"execute, no body", raw("POST /client-tools/execute", ""), 400, `{"error":{"code":"INVALID_REQUEST","message":"Invalid JSON body"}}`},
			{"execute, text behind the value", raw("POST /client-tools/execute", "{} x", length("{} x")), 400, `{"error":{"code":"INVALID_REQUEST","message":"Invalid JSON body"}}`},
		} {
			a := r.send(tc.raw)
			a.is(t, tc.name, tc.status, tc.body)
			same(t, tc.name, "*", a.header.Get("Access-Control-Allow-Origin"))
			same(t, tc.name, "application/json", a.header.Get("Content-Type"))
		}
		same(t, "events", 0, len(bus.take()))
		r.do("GET /client-tools/tools").is(t, "tools", 200, "{}")

		r.send(raw("POST /client-tools/register", "\uFEFF"+valid, jsonType, length("\uFEFF"+valid))).is(t, "a byte order mark", 200, `{"registered":["client_c_a"]}`)
		inChunks := fmt.Sprintf("5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", valid[:5], len(valid)-5, valid[5:])
		r.send(raw("POST /client-tools/register", inChunks, jsonType, chunked)).is(t, "chunks", 200, `{"registered":["client_c_a"]}`)
	})
}

func TestARejectedRequestChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		bus := r.open("/event")
		bus.take()
		a := r.json("POST /client-tools/register", `{"clientID":"c","tools":[{"id":"good","description":"","parameters":{}},{"id":"bad"}]}`)
		if a.status != 400 {
			t.Errorf("status %d, want 400", a.status)
		}
		same(t, "events", 0, len(bus.take()))
		r.do("GET /client-tools/tools").is(t, "tools", 200, "{}")
	})
}

func TestALargeBodyIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		description := strings.Repeat("0123456789", 300_000)
		r.json("POST /client-tools/register", `{"clientID":"c","tools":[{"id":"a","description":"`+description+`","parameters":{}}]}`).
			is(t, "register", 200, `{"registered":["client_c_a"]}`)
		if a := r.do("GET /client-tools/tools/c"); len(a.body) < len(description) {
			t.Errorf("the list has %d bytes, want more than %d", len(a.body), len(description))
		}
	})
}
