package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
)

func executingEvent(client, tool string) string {
	return `{"type":"client-tool.executing","properties":{"sessionID":"","messageID":"","callID":"","tool":"` + tool + `","clientID":"` + client + `"}}`
}

func request(tool, id string) string {
	return `{"type":"client-tool-request","requestID":"` + id + `","sessionID":"","messageID":"","callID":"","tool":"` + tool + `","input":{}}`
}

func requestEvent(client, tool, id string) string {
	return `{"type":"client-tool.request","properties":{"clientID":"` + client + `","request":` + request(tool, id) + `}}`
}

func toolRequest(request string) string { return "event: tool-request\ndata: " + request + "\n\n" }

func coded(code, message string) string {
	return `{"error":{"code":"` + code + `","message":"` + message + `"}}`
}

// TestTheLifeOfAnExecution is the story of CT 1 with every byte.
func TestTheLifeOfAnExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		bus, global := r.open("/event"), r.open("/global/event")
		same(t, "first event", []string{connected}, bus.take())
		r.register("x1", "a")
		pending := r.open("/client-tools/pending/x1")
		bus.take()
		global.take()

		answered := r.start(withJSON("POST /client-tools/execute",
			`{"input":{"b":[1.0,"\ud800<"],"a":1},"toolID":"client_x1_a","requestID":"req-1","sessionID":"ses_1","messageID":"msg_1","callID":"call_1","extra":1}`))
		const requested = `{"type":"client-tool-request","requestID":"req-1","sessionID":"ses_1","messageID":"msg_1","callID":"call_1","tool":"client_x1_a","input":{"b":[1.0,"\ud800<"],"a":1}}`
		const call = `"sessionID":"ses_1","messageID":"msg_1","callID":"call_1","tool":"client_x1_a","clientID":"x1"`
		same(t, "pending stream", []string{toolRequest(requested)}, pending.take())
		same(t, "bus", []string{
			data(`{"type":"client-tool.executing","properties":{` + call + `}}`),
			data(`{"type":"client-tool.request","properties":{"clientID":"x1","request":` + requested + `}}`),
		}, bus.take())

		r.json("POST /client-tools/result", `{"requestID":"req-1","result":{"status":"success","title":"T\ud800","output":"5","metadata":{"z":1.0,"a":{}},"attachments":[{"x":1}]}}`).
			is(t, "result", 200, `{"success":true}`)
		same(t, "bus, later", []string{data(`{"type":"client-tool.completed","properties":{` + call + `,"success":true}}`)}, bus.take())
		(<-answered).is(t, "execute", 200, `{"status":"success","title":"T\ud800","output":"5","metadata":{"z":1.0,"a":{}}}`)
		same(t, "events of all directories", 3, len(global.take()))
		same(t, "pending stream, later", 0, len(pending.take()))
	})
}

func TestWhatExecuteAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{DefaultTimeout: 7 * time.Second})
		r.register("c", "a")
		bus := r.open("/event")
		bus.take()
		notFound, bad := coded("NOT_FOUND", "Tool not found"), coded("INVALID_REQUEST", "Invalid JSON body")
		for _, tc := range []struct {
			body   string
			status int
			want   string
			after  time.Duration
		}{
			{`{}`, 404, notFound, 0},
			{`null`, 404, notFound, 0},
			{`{"toolID":"a"}`, 404, notFound, 0},
			{`{"toolid":"client_c_a"}`, 404, notFound, 0},
			{`{"toolID":"client_c_b","input":{}}`, 404, notFound, 0},
			{`[]`, 400, bad, 0},
			{`{"toolID":"client_c_a","timeout":1.5}`, 400, bad, 0},
			{`{"toolID":"client_c_a","input":[]}`, 400, bad, 0},
			{`{"toolID":"client_c_a"}`, 504, coded("TIMEOUT", "Client tool execution timed out after 7000ms"), 7 * time.Second},
			{`{"toolID":"client_c_a","timeout":0}`, 504, coded("TIMEOUT", "Client tool execution timed out after 7000ms"), 7 * time.Second},
			{`{"toolID":"client_c_a","timeout":-5}`, 504, coded("TIMEOUT", "Client tool execution timed out after 7000ms"), 7 * time.Second},
			{`{"toolID":"client_c_a","timeout":4e2}`, 504, coded("TIMEOUT", "Client tool execution timed out after 400ms"), 400 * time.Millisecond},
			{`{"toolID":"client_c_a","timeout":99999999999}`, 504, coded("TIMEOUT", "Client tool execution timed out after 2147483647ms"), 2147483647 * time.Millisecond},
		} {
			began := time.Now()
			a := r.send(fmt.Sprintf("POST /client-tools/execute HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s", len(tc.body), tc.body)) // without a content type
			a.is(t, tc.body, tc.status, tc.want)
			same(t, tc.body, tc.after, time.Since(began))
			same(t, tc.body, "application/json", a.header.Get("Content-Type"))
			if events := bus.take(); tc.status != 504 && len(events) > 0 {
				t.Errorf("%s published %q", tc.body, events)
			}
		}
	})
}

func TestAnErrorOfTheClientReachesTheCallerUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		bus := r.open("/event")
		for _, text := range []string{"The <index> is locked", "", `\ud800\n`} {
			answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
			bus.take()
			r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"error","error":"`+text+`"}}`).is(t, "result", 200, `{"success":true}`)
			(<-answered).is(t, "execute", 500, coded("INTERNAL_ERROR", text))
			same(t, "events", []string{data(failedEvent("c", "client_c_a", text))}, bus.take())
		}
	})
}

func TestAnInvalidResultLeavesTheRequestPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		synctest.Wait()
		for _, body := range []string{
			`{"requestID":"r"}`, `{"requestID":"r","status":"success","title":"t","output":"o"}`, `{"requestID":"r","result":{"status":"weird"}}`,
			`{"requestID":"r","result":{"status":"success","title":"t","output":"o","metadata":null}}`,
		} {
			if a := r.json("POST /client-tools/result", body); a.status != 400 {
				t.Errorf("%s: %d, want 400", body, a.status)
			}
		}
		r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"success","title":"","output":"","metadata":{}}}`).is(t, "result", 200, `{"success":true}`)
		(<-answered).is(t, "execute", 200, `{"status":"success","title":"","output":"","metadata":{}}`)
		for _, id := range []string{"r", "", "never"} {
			r.json("POST /client-tools/result", `{"requestID":"`+id+`","result":{"status":"error","error":""}}`).is(t, id, 404, `{"error":"Unknown request ID"}`)
		}
	})
}

func TestEveryStreamOfAClientGetsEveryRequestInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{RateLimit: &clienttools.RateLimit{}})
		r.register("c", "a")
		r.register("d", "a")
		one, two, other := r.open("/client-tools/pending/c"), r.open("/client-tools/pending/c"), r.open("/client-tools/pending/d")
		var want []string
		for i := range 130 {
			r.start(withJSON("POST /client-tools/execute", fmt.Sprintf(`{"toolID":"client_c_a","requestID":"r%d"}`, i)))
			synctest.Wait() // so that they are sent one after another
			want = append(want, toolRequest(request("client_c_a", fmt.Sprintf("r%d", i))))
		}
		same(t, "one stream", want, one.take())
		same(t, "another stream", want, two.take())
		same(t, "another client's stream", 0, len(other.take()))
		late := r.open("/client-tools/pending/c")
		same(t, "a stream opened later", 0, len(late.take()))
		r.json("POST /client-tools/result", `{"requestID":"r7","result":{"status":"error","error":""}}`).is(t, "a result without a stream", 200, `{"success":true}`)
	})
}

func TestARequestWaitsEvenWithoutAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		time.Sleep(29 * time.Second)
		r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"success","title":"t","output":"o"}}`).is(t, "result", 200, `{"success":true}`)
		(<-answered).is(t, "execute", 200, `{"status":"success","title":"t","output":"o"}`)
	})
}

func TestRequestIDsAreGeneratedWhenMissingOrEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		pending := r.open("/client-tools/pending/c")
		ms := time.Now().UnixMilli()
		for _, body := range []string{
			`{"toolID":"client_c_a","callID":"k"}`, `{"toolID":"client_c_a","callID":"k","requestID":""}`, `{"toolID":"client_c_a"}`,
		} {
			r.start(withJSON("POST /client-tools/execute", body))
			synctest.Wait()
		}
		var made []string
		for _, frame := range pending.take() {
			var request struct{ RequestID string }
			if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "event: tool-request\ndata: ")), &request); err != nil {
				t.Fatal(err)
			}
			made = append(made, request.RequestID)
		}
		same(t, "request IDs", []string{fmt.Sprintf("c_k_%d", ms), fmt.Sprintf("c_k_%d_2", ms), fmt.Sprintf("c__%d", ms)}, made)
	})
}

func TestARequestIDThatIsPendingIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		bus := r.open("/event")
		bus.take()
		r.json("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`).is(t, "the same again", 400, coded("INVALID_REQUEST", "Request ID is already pending"))
		same(t, "events", 0, len(bus.take()))
		r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"error","error":"E"}}`).is(t, "result", 200, `{"success":true}`)
		(<-answered).is(t, "the first", 500, coded("INTERNAL_ERROR", "E"))
	})
}

func TestACallerThatDisconnectsIsForgottenSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		bus, pending := r.open("/event"), r.open("/client-tools/pending/c")
		c := r.connect(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		synctest.Wait()
		bus.take()
		pending.take()
		c.Close()
		same(t, "events", 0, len(bus.take()))
		r.json("POST /client-tools/result", `{"requestID":"r","result":{"status":"error","error":""}}`).is(t, "result", 404, `{"error":"Unknown request ID"}`)
		r.do("GET /client-tools/tools/c").is(t, "tools", 200, `[{"id":"client_c_a","description":"","parameters":{}}]`)
	})
}

func TestOneOfEightResultsIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		bus := r.open("/event")
		answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"r"}`))
		bus.take()
		var results []<-chan answer
		for i := range 8 {
			results = append(results, r.start(withJSON("POST /client-tools/result", fmt.Sprintf(`{"requestID":"r","result":{"status":"success","title":"","output":"%d"}}`, i))))
		}
		statuses := make(map[int]int)
		winner := ""
		for i, result := range results {
			a := <-result
			statuses[a.status]++
			if a.status == http.StatusOK {
				winner = fmt.Sprint(i)
			}
		}
		same(t, "statuses", map[int]int{200: 1, 404: 7}, statuses)
		(<-answered).is(t, "execute", 200, `{"status":"success","title":"","output":"`+winner+`"}`)
		same(t, "terminal events", 1, len(bus.take()))
	})
}

func TestAResultMayComeFromAnotherDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		here, there := r.open("/event?directory=/here"), r.open("/event?directory=/there")
		pending := r.open("/client-tools/pending/c?directory=/here")
		answered := r.start(withJSON("POST /client-tools/execute?directory=/here", `{"toolID":"client_c_a","requestID":"r"}`))
		same(t, "requests", 1, len(pending.take()))
		same(t, "events here", []string{connected, data(executingEvent("c", "client_c_a")), data(requestEvent("c", "client_c_a", "r"))}, here.take())
		r.json("POST /client-tools/result?directory=/there", `{"requestID":"r","result":{"status":"error","error":"E"}}`).is(t, "result", 200, `{"success":true}`)
		<-answered
		same(t, "events here, later", 0, len(here.take()))
		same(t, "events there", []string{connected, data(failedEvent("c", "client_c_a", "E"))}, there.take())
	})
}
