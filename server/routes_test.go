package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
)

func TestPathsAndMethods(t *testing.T) {
	const get, post, del = "GET, HEAD", "POST", "DELETE"
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for _, tc := range []struct {
			request string
			status  int
			allow   string
		}{
			{"GET /client-tools", 404, ""},
			{"GET /client-tools/", 404, ""},
			{"GET /client-tools/nope", 404, ""},
			{"POST /client-tools/nope", 404, ""},
			{"GET /client-tools/ws", 404, ""},
			{"GET /client-tools/ws/c/", 404, ""},
			{"GET /client-tools/ws/c/d", 404, ""},
			{"GET /client-tools/pending", 404, ""},
			{"GET /client-tools/pending/", 404, ""},
			{"GET /client-tools/pending/c/", 404, ""},
			{"GET /client-tools/pending/c/d", 404, ""},
			{"GET /client-tools/tools/", 404, ""},
			{"GET /client-tools/tools/c/", 404, ""},
			{"GET /client-tools/tools/c/d", 404, ""},
			{"GET /client-tools/tools//", 404, ""},
			{"GET /client-tools/tools//c", 404, ""},
			{"POST /client-tools/tools/c/d", 404, ""}, // the path is checked before the method
			{"GET /client-tools//tools", 404, ""},
			{"GET //client-tools/tools", 404, ""},
			{"GET /CLIENT-TOOLS/tools", 404, ""},
			{"GET /client-tools/Tools", 404, ""},
			{"POST /client-tools/register/", 404, ""},
			{"POST /client-tools/register/x", 404, ""},
			{"POST /client-toolsregister", 404, ""},
			{"GET /event/", 404, ""},
			{"GET /global", 404, ""},
			{"GET /global/event/", 404, ""},
			{"GET /client-tools%2Ftools", 404, ""},
			{"GET /client-tools/tools/.", 404, ""},
			{"GET /client-tools/tools/%2e", 404, ""},
			{"GET /client-tools/tools/..", 404, ""},
			{"GET /client-tools/tools/%2E.", 404, ""},
			{"GET /client-tools/tools/c/..", 404, ""},
			{`GET /client-tools/tools/c\d`, 404, ""},
			{"GET /", 404, ""},
			{"GET /status/", 404, ""},
			{"GET *", 404, ""},

			{"GET /client-tools/tools", 200, ""},
			{"GET /client-tools/tools/c", 200, ""},
			{"GET /client-tools/tools?x=/../y", 200, ""},
			{`GET /client-tools\tools`, 200, ""},
			{"GET /client-tools/x/../tools", 200, ""},
			{"GET /x/%2e%2E/client-tools/./tools", 200, ""},
			{"GET /../client-tools/tools", 200, ""},
			{"GET /%63lient%2dtools/tools/c", 200, ""},
			{"GET http://elsewhere/client-tools/tools", 200, ""},
			{"GET /client-tools/tools/...", 200, ""},
			{"GET /client-tools/tools/%2F", 200, ""},

			{"GET /client-tools/register", 405, post},
			{"DELETE /client-tools/register", 405, post},
			{"HEAD /client-tools/register", 405, post},
			{"POST /client-tools/unregister", 405, del},
			{"GET /client-tools/result", 405, post},
			{"PUT /client-tools/execute", 405, post},
			{"POST /client-tools/tools", 405, get},
			{"DELETE /client-tools/tools/c", 405, get},
			{"POST /client-tools/pending/c", 405, get},
			{"GET /client-tools/ws/c", 426, ""},
			{"HEAD /client-tools/ws/c", 426, ""},
			{"POST /client-tools/ws/c?directory=/a&directory=/b", 405, get},
			{"POST /event", 405, get},
			{"PATCH /global/event", 405, get},
			{"BREW /event", 405, get},
			{"post /client-tools/register", 405, post},
			{"POST /client-tools/tools?directory=/a&directory=/b", 405, get}, // the method is checked before the directory
			{"POST /status", 405, "GET,HEAD"},                                // in the format of goose-server
		} {
			a := r.do(tc.request, secret)
			if a.status != tc.status || a.header.Get("Allow") != tc.allow {
				t.Errorf("%s: %d, Allow %q; want %d, %q", tc.request, a.status, a.header.Get("Allow"), tc.status, tc.allow)
			}
			if got := a.header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != "*" {
				t.Errorf("%s: Access-Control-Allow-Origin %q, want *", tc.request, got)
			}
			if a.status == 200 {
				continue
			}
			if a.body != "" || a.header.Get("Content-Length") != "0" || a.header.Get("Content-Type") != "" {
				t.Errorf("%s: body %q with %v; want none", tc.request, a.body, a.header)
			}
		}
	})
}

// secret is the header field that goose-server's paths require.
const secret = "X-Secret-Key: test"

func TestTheSecretIsCheckedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{SecretKey: "s3cret"})
		for _, request := range []string{
			"GET /", "GET *", "GET /sessions", "GET /sessions/nope", "DELETE /sessions", "POST /agent/start", "POST /nope?x", "PATCH /sessions", "GET /status/",
			"HEAD /sessions", "GET /mcp-ui-proxy/", "GET //client-tools/tools",
		} {
			for _, headers := range [][]string{nil, {secret}, {"X-Secret-Key: s3cret", "x-secret-key: s3cret"}, {"X-Secret-Key: s3cr\u00e9t"}, {"Authorization: s3cret"}} {
				a := r.do(request, headers...)
				if a.status != 401 || a.body != "" || a.header.Get("Content-Length") != "0" || a.header.Get("Content-Type") != "" || a.header.Get("Allow") != "" {
					t.Errorf("%s with %q: %d %q, %v", request, headers, a.status, a.body, a.header)
				}
				if a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Vary") == "" {
					t.Errorf("%s: a 401 without the headers of every answer: %v", request, a.header)
				}
			}
			if a := r.do(request, "x-SECRET-key:  s3cret "); a.status == 401 {
				t.Errorf("%s with the secret: 401", request)
			}
		}
		for request, status := range map[string]int{
			"GET /status": 200, "HEAD /status": 200, "POST /status": 405, "GET /mcp-ui-proxy": 404, "OPTIONS /sessions": 200, "OPTIONS /nope": 200,
			"GET /client-tools/tools": 200, "GET /client-tools/nope": 404, "GET /event/x": 404, "POST /global/event": 405,
		} {
			if a := r.do(request); a.status != status {
				t.Errorf("%s without a secret: %d, want %d", request, a.status, status)
			}
		}
	})
}

func TestARejectedBodyIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		a := r.send("POST /agent/start HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		a.is(t, "without the secret", 401, "")
	})
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		a := r.do("GET /status?directory=/a&directory=/b", "Origin: http://x")
		a.is(t, "status", 200, "ok")
		a.header.Del("Date")
		same(t, "header", http.Header{
			"Access-Control-Allow-Origin": {"*"},
			"Content-Length":              {"2"},
			"Content-Type":                {"text/plain; charset=utf-8"},
			"Vary":                        {"origin, access-control-request-method, access-control-request-headers"},
		}, a.header)
	})
}

func TestOptionsAreAnsweredOnEveryPath(t *testing.T) {
	const methods = "GET,HEAD,PUT,POST,DELETE,PATCH"
	const goose = "origin, access-control-request-method, access-control-request-headers"
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for _, tc := range []struct {
			path    string
			headers []string
			status  int
			want    http.Header
		}{
			{"/client-tools/register", nil, 204, http.Header{"Access-Control-Allow-Methods": {methods}}},
			{"/client-tools", nil, 204, http.Header{"Access-Control-Allow-Methods": {methods}}},
			{"/client-tools/nope/x?directory=a&directory=b", nil, 204, http.Header{"Access-Control-Allow-Methods": {methods}}},
			{"/event", nil, 204, http.Header{"Access-Control-Allow-Methods": {methods}}},
			{"/event/below", nil, 204, http.Header{"Access-Control-Allow-Methods": {methods}}},
			{"/x/../global/event", nil, 204, http.Header{"Access-Control-Allow-Methods": {methods}}},
			{"/client-tools/pending/c", []string{"Origin: http://x", "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: X-A, x-b"}, 204,
				http.Header{"Access-Control-Allow-Methods": {methods}, "Access-Control-Allow-Headers": {"X-A, x-b"}, "Vary": {"Access-Control-Request-Headers"}}},
			{"/event", []string{"Access-Control-Request-Headers: "}, 204, http.Header{"Access-Control-Allow-Methods": {methods}}},
			{"/status", []string{"Access-Control-Request-Headers: X-A"}, 200,
				http.Header{"Access-Control-Allow-Methods": {"*"}, "Access-Control-Allow-Headers": {"*"}, "Vary": {goose}, "Content-Length": {"0"}}},
			{"/global", nil, 200, http.Header{"Access-Control-Allow-Methods": {"*"}, "Access-Control-Allow-Headers": {"*"}, "Vary": {goose}, "Content-Length": {"0"}}},
			{"/client-toolsX", nil, 200, http.Header{"Access-Control-Allow-Methods": {"*"}, "Access-Control-Allow-Headers": {"*"}, "Vary": {goose}, "Content-Length": {"0"}}},
			{"*", nil, 200, http.Header{"Access-Control-Allow-Methods": {"*"}, "Access-Control-Allow-Headers": {"*"}, "Vary": {goose}, "Content-Length": {"0"}}},
		} {
			a := r.do("OPTIONS "+tc.path, tc.headers...)
			a.is(t, tc.path, tc.status, "")
			a.header.Del("Date")
			tc.want.Set("Access-Control-Allow-Origin", "*")
			same(t, "header of "+tc.path, tc.want, a.header)
		}
	})
}

func TestHeadHasTheHeadersOfGetAndNoBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a", "b")
		for _, path := range []string{
			"/client-tools/tools", "/client-tools/tools/c", "/status", "/nope", "/client-tools/tools?directory=1&directory=2",
		} {
			head, get := r.do("HEAD "+path), r.do("GET "+path)
			head.is(t, "HEAD "+path, get.status, "")
			same(t, "header of "+path, get.header, head.header)
			if head.header.Get("Content-Length") == "" {
				t.Errorf("HEAD %s: no Content-Length", path)
			}
		}
		for _, path := range []string{"/event", "/global/event", "/client-tools/pending/c"} {
			head, s := r.do("HEAD "+path), r.open(path)
			head.is(t, "HEAD "+path, 200, "")
			same(t, "header of "+path, s.answer.header, head.header)
		}
	})
}

func TestHeadOnAPendingStreamChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		bus := r.open("/event")
		r.register("c", "a")
		bus.take()
		r.do("HEAD /client-tools/pending/c")
		same(t, "events", 0, len(bus.take()))
		r.do("GET /client-tools/tools/c").is(t, "tools", 200, `[{"id":"client_c_a","description":"","parameters":{}}]`)
	})
}

// TestClientIDsAreDecoded lists the tools of clients whose IDs are hard to write in a path.
func TestClientIDsAreDecoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for segment, id := range map[string]string{
			"plain":           "plain",
			"%41":             "A",
			"a%2Fb":           "a/b",
			"a%2fb":           "a/b",
			"ü":               "ü",
			"%C3%BC":          "ü",
			"%c5%bc%C5%BC":    "żż",
			"a%ZZ":            "a%ZZ",
			"a%25ZZ":          "a%ZZ",
			"a+b":             "a+b",
			"a%20b":           "a b",
			"a%2Bb":           "a+b",
			"%2541":           "%41",
			"%":               "%",
			"%FF":             "%FF",
			"%ff":             "%ff",
			"a%2Fb%FF":        "a/b%FF",
			"%C3%28":          "%C3(",
			"a%7Eb~":          "a~b~",
			"a%5Cb":           `a\b`,
			"%252e":           "%2e",
			"...":             "...",
			"%22%3C%26%0A":    "\"<&\n",
			"a;b,c=d:e@f!$'*": "a;b,c=d:e@f!$'*",
			"%3A%3F%23":       ":?#",
			"%F0%9F%98%80":    "😀",
			"%2F%2F":          "//",
			"%00":             "\x00",
			"a%2":             "a%2",
			"*":               "*",
			":clientID":       ":clientID",
		} {
			r.register(strings.Trim(string(quoted(t, id)), `"`), "t")
			want := `[{"id":` + string(quoted(t, "client_"+id+"_t")) + `,"description":"","parameters":{}}]`
			r.do("GET /client-tools/tools/"+segment).is(t, segment, 200, want)
			s := r.open("/client-tools/pending/" + segment)
			s.close()
			r.do("GET /client-tools/tools/"+segment).is(t, segment+", after its stream has closed", 200, "[]")
		}
	})
}

// quoted returns JSON as the server writes it; encoding/json would escape more.
func quoted(t *testing.T, s string) []byte {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
