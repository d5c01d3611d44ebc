package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
)

const connected = `data: {"type":"server.connected","properties":{}}` + "\n\n"

func registeredEvent(client string, ids ...string) string {
	return `{"type":"client-tool.registered","properties":{"clientID":"` + client + `","toolIDs":[` + list(ids) + `]}}`
}

func unregisteredEvent(client string, ids ...string) string {
	return `{"type":"client-tool.unregistered","properties":{"clientID":"` + client + `","toolIDs":[` + list(ids) + `]}}`
}

func failedEvent(client, tool, text string) string {
	return `{"type":"client-tool.failed","properties":{"sessionID":"","messageID":"","callID":"","tool":"` + tool + `","clientID":"` + client + `","error":"` + text + `"}}`
}

func list(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return `"` + strings.Join(ids, `","`) + `"`
}

// TestStreamsByteForByte checks every byte on the wire, including head and chunks.
func TestStreamsByteForByte(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nCache-Control: no-cache\r\nConnection: keep-alive\r\n" +
		"Content-Type: text/event-stream\r\n%sDate: Sat, 01 Jan 2000 00:00:00 GMT\r\nTransfer-Encoding: chunked\r\n\r\n"
	const event = `{"type":"client-tool.registered","properties":{"clientID":"c","toolIDs":[]}}`
	for _, tc := range []struct{ target, header, atOnce, later string }{
		{"/client-tools/pending/x", "X-Accel-Buffering: no\r\n", "", "14\r\nevent: ping\ndata: \n\n\r\n"},
		{"/event", "", "33\r\n" + connected + "\r\n", "54\r\ndata: " + event + "\n\n\r\nd\r\n: heartbeat\n\n\r\n"},
		{"/global/event", "", "", "77\r\n" + `data: {"directory":"/default","payload":` + event + "}\n\n\r\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, server.Config{})
			c := r.connect("GET " + tc.target + " HTTP/1.1\r\nHost: test\r\nAccept: application/json\r\nLast-Event-ID: 7\r\n\r\n")
			received := make(chan string, 1)
			go func() {
				all, _ := io.ReadAll(c)
				received <- string(all)
			}()
			synctest.Wait()
			r.register("c")
			time.Sleep(45 * time.Second)
			c.Close()
			want := fmt.Sprintf(head, tc.header) + tc.atOnce + tc.later
			if got := <-received; got != want {
				t.Errorf("%s:\n got %q\nwant %q", tc.target, got, want)
			}
		})
	}
}

func TestTheHeadComesBeforeAnyEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		began := time.Now()
		for _, target := range []string{"/client-tools/pending/x", "/event", "/global/event"} {
			s := r.open(target)
			same(t, target, 200, s.answer.status)
			want := http.Header{
				"Access-Control-Allow-Origin": {"*"}, "Cache-Control": {"no-cache"}, "Connection": {"keep-alive"},
				"Content-Type": {"text/event-stream"}, "Date": s.answer.header["Date"],
			}
			if target == "/client-tools/pending/x" {
				want["X-Accel-Buffering"] = []string{"no"} // decision S44
			}
			same(t, target, want, s.answer.header)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the heads came after %s, want at once", waited)
		}
	})
}

func TestPingsAreCountedFromTheOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{KeepaliveInterval: 700 * time.Millisecond})
		r.register("x", "a")
		time.Sleep(300 * time.Millisecond)
		s := r.open("/client-tools/pending/x")
		opened := time.Now()
		var pings []time.Duration
		for range 30 {
			r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_x_a","timeout":50}`)) // another event between the keepalives
			time.Sleep(100 * time.Millisecond)
			for _, frame := range s.take() {
				if frame == "event: ping\ndata: \n\n" {
					pings = append(pings, time.Since(opened))
				}
			}
		}
		same(t, "pings", []time.Duration{700 * time.Millisecond, 1400 * time.Millisecond, 2100 * time.Millisecond, 2800 * time.Millisecond}, pings)
	})
}

func TestEventsAreScopedToTheirDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{Directory: "/default"})
		byDefault, a, byHeader, global := r.open("/event"), r.open("/event?directory=/a"), r.open("/event", "x-opencode-directory: /a"), r.open("/global/event?directory=/a&directory=/b")
		for _, s := range []*stream{byDefault, a, byHeader, global} {
			s.take()
		}
		register := func(request, client string, headers ...string) {
			r.json(request, `{"clientID":"`+client+`","tools":[]}`, headers...)
		}
		register("POST /client-tools/register", "1")
		register("POST /client-tools/register?directory=/a", "2")
		register("POST /client-tools/register?directory=", "3", "X-OpenCode-Directory: /a")
		register("POST /client-tools/register?directory=/b", "4", "X-OpenCode-Directory: /a")

		same(t, "the default directory", []string{data(registeredEvent("1"))}, byDefault.take())
		same(t, "/a", []string{data(registeredEvent("2")), data(registeredEvent("3"))}, a.take())
		same(t, "/a by header", []string{data(registeredEvent("2")), data(registeredEvent("3"))}, byHeader.take())
		wrapped := func(directory, client string) string {
			return data(`{"directory":"` + directory + `","payload":` + registeredEvent(client) + `}`)
		}
		same(t, "all", []string{wrapped("/default", "1"), wrapped("/a", "2"), wrapped("/a", "3"), wrapped("/b", "4")}, global.take())
	})
}

func TestTwoDirectoriesAreRefusedOnEveryScopedRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		for _, path := range []string{"/event", "/client-tools/pending/x", "/client-tools/tools", "/client-tools/tools/x"} {
			a := r.do("GET " + path + "?directory=/tmp&directory=/var")
			a.is(t, path, 400, `{"data":{"directory":["/tmp","/var"]},"error":[{"expected":"string","code":"invalid_type","path":["directory"],`+
				`"message":"Invalid input: expected string, received array"}],"success":false}`)
		}
	})
}

func TestAClosedPendingStreamRemovesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		bus := r.open("/event")
		r.register("c", "a", "b")
		r.register("d", "a")
		one, two := r.open("/client-tools/pending/c"), r.open("/client-tools/pending/c")
		answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		synctest.Wait()
		bus.take()

		one.close()
		same(t, "events", []string{
			data(failedEvent("c", "client_c_a", "Client disconnected")),
			data(unregisteredEvent("c", "client_c_a", "client_c_b")),
		}, bus.take())
		a := <-answered
		a.is(t, "execute", 500, `{"error":{"code":"INTERNAL_ERROR","message":"Client disconnected"}}`)
		r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"error","error":""}}`).is(t, "result", 404, `{"error":"Unknown request ID"}`)
		r.do("GET /client-tools/tools").is(t, "tools", 200, `{"client_d_a":{"id":"client_d_a","description":"","parameters":{}}}`)

		// The client's other stream still works, and gets requests for newly registered tools.
		two.take()
		r.register("c", "a")
		bus.take()
		again := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r2"}`))
		same(t, "requests on the stream that is left", 1, len(two.take()))
		two.close()
		same(t, "events of the second close", []string{
			data(executingEvent("c", "client_c_a")), data(requestEvent("c", "client_c_a", "r2")),
			data(failedEvent("c", "client_c_a", "Client disconnected")), data(unregisteredEvent("c", "client_c_a")),
		}, bus.take())
		<-again
	})
}

func TestTheCloseOfAClientWithoutToolsIsNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		bus := r.open("/event")
		bus.take()
		r.open("/client-tools/pending/c").close()
		same(t, "events", 0, len(bus.take()))
	})
}

func TestAStreamOfAnotherDirectoryRemovesItsClientEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		here, there := r.open("/event"), r.open("/event?directory=/there")
		r.register("c", "a")
		elsewhere := r.open("/client-tools/pending/c?directory=/there")
		r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		synctest.Wait()
		same(t, "requests from the default directory", 0, len(elsewhere.take()))
		here.take()
		there.take()
		elsewhere.close()
		same(t, "events here", 0, len(here.take()))
		same(t, "events there", []string{
			data(failedEvent("c", "client_c_a", "Client disconnected")), data(unregisteredEvent("c", "client_c_a")),
		}, there.take())
	})
}

func TestTheCloseOfAnEventStreamHasNoEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		r.open("/event").close()
		r.open("/global/event").close()
		r.do("GET /client-tools/tools/c").is(t, "tools", 200, `[{"id":"client_c_a","description":"","parameters":{}}]`)
	})
}

func TestAStreamWhoseRequestHasABodyNoticesItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		c := r.connect("GET /client-tools/pending/c HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello")
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Fatal(err)
		}
		c.Close()
		synctest.Wait()
		r.do("GET /client-tools/tools").is(t, "tools", 200, "{}")
	})
}

func TestAStreamIsNotEndedByWhatItsClientSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		s := r.open("/client-tools/pending/c")
		for range 3 {
			io.WriteString(s.conn, "\r\n")
			time.Sleep(31 * time.Second)
		}
		same(t, "pings", 3, len(s.take()))
		r.do("GET /client-tools/tools/c").is(t, "tools", 200, `[{"id":"client_c_a","description":"","parameters":{}}]`)
		s.close()
		r.do("GET /client-tools/tools").is(t, "tools after the end", 200, "{}")
	})
}

func TestAStalledReaderIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{WriteTimeout: 20 * time.Second})
		r.register("c", "a")
		c := r.connect("GET /client-tools/pending/c HTTP/1.1\r\nHost: test\r\n\r\n") // and never reads
		defer c.Close()
		time.Sleep(20 * time.Second)
		r.do("GET /client-tools/tools/c").is(t, "tools", 200, `[{"id":"client_c_a","description":"","parameters":{}}]`)
		time.Sleep(20 * time.Second / 8)
		synctest.Wait()
		r.do("GET /client-tools/tools").is(t, "tools later", 200, "{}")
		if want := "stream dropped"; !strings.Contains(r.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, r.log)
		}
	})
}

func TestNothingOfARequestIsLoggedThatCouldBeSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.open("/event?directory=/secret-directory&token=secret-token", "Authorization: secret-key").close()
		r.json("POST /client-tools/register?key=secret-query", `{"clientID":"c","tools":[],"secret-body":1}`)
		r.send("GET /secret HTTP/1.1\r\n\r\n") // without a Host header, so net/http logs an error
		if log := r.log.String(); strings.Contains(log, "secret") {
			t.Errorf("the log holds a secret:\n%s", log)
		}
	})
}
