package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/settings"
)

func TestAStartNamesTheClientOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		const owned = `"extension_data":{"client_tools.v0":{"clientID":"c/1 \"x\""}}`
		r.post("POST /agent/start", `{"clientID":"c/1 \"x\"","working_dir":"/w"}`).is(t, "start", 200, with(fresh, `"extension_data":{}`, owned))
		for body, want := range map[string]string{
			`{"working_dir":"/w","clientID":null}`:               "clientID: invalid type: null, expected a string at line 1 column 35",
			`{"working_dir":"/w","clientID":7}`:                  "clientID: invalid type: number, expected a string at line 1 column 32",
			`{"working_dir":"/w","clientID":""}`:                 "clientID: invalid value: empty string at line 1 column 33",
			`{"clientID":""}`:                                    "missing field `working_dir` at line 1 column 15",
			`{"clientID":"a","clientID":"a","working_dir":"/w"}`: "duplicate field `clientID` at line 1 column 30",
		} {
			r.post("POST /agent/start", body).is(t, body, 422, "Failed to deserialize the JSON body into the target type: "+want)
		}
		var exported string
		if err := json.Unmarshal([]byte(r.get("GET /sessions/20000101_1/export").body), &exported); err != nil {
			t.Fatal(err)
		}
		r.stop()

		r = start(t, server.Config{Directories: d})
		for what, a := range map[string]answer{
			"after a restart": r.get("GET /sessions/20000101_1"),
			"imported":        r.post("POST /sessions/import", `{"json":`+string(must(json.Marshal(exported)))+`}`),
		} {
			if a.status != 200 || !strings.Contains(a.body, owned) {
				t.Errorf("%s: %d %s, want %s in it", what, a.status, a.body, owned)
			}
		}
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A turnRig is a server with a scripted model and a session of the client c, whose tool is z.
type turnRig struct {
	*rig
	session  string
	requests *stream // of the client
	bus      *stream

	mu    sync.Mutex
	asked []string // the bodies of the requests to the model
	again bool     // the model's second answer calls the tools again
}

// startTurns starts a server whose model calls tools in its first answer: the arguments are those of llmtest.Calls.
func startTurns(t *testing.T, config server.Config, calls ...string) *turnRig {
	t.Helper()
	r := &turnRig{}
	r.rig, _ = startModel(t, config, func(w http.ResponseWriter, asked llmtest.Asked) {
		r.mu.Lock()
		r.asked = append(r.asked, asked.Body)
		calling := len(r.asked) == 1 || len(r.asked) == 2 && r.again
		r.mu.Unlock()
		if calling {
			llmtest.Events(w, llmtest.Calls("c1", calls...)...)
			return
		}
		hello(w, asked)
	})
	r.session = field(t, r.post("POST /agent/start", `{"working_dir":"/w","clientID":"c"}`).body, "id")
	r.useModel(r.session)
	r.register("c", "z")
	r.requests, r.bus = r.open("/client-tools/pending/c"), r.open("/event")
	r.bus.take()
	return r
}

func (r *rig) useModel(session string) {
	r.t.Helper()
	r.post("POST /agent/update_provider", `{"provider":"openai","model":"gpt-4o","session_id":"`+session+`"}`).is(r.t, "update_provider", 200, "")
}

// modelSaw returns what the model was asked at last.
func (r *turnRig) modelSaw() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[len(r.asked)-1]
}

// request returns the only request that has arrived at the client.
func (r *turnRig) request() (id, text string) {
	r.t.Helper()
	frames := r.requests.take()
	if len(frames) != 1 {
		r.t.Fatalf("requests: %q, want one", frames)
	}
	text = strings.TrimSuffix(strings.TrimPrefix(frames[0], "event: tool-request\ndata: "), "\n\n")
	return field(r.t, text, "requestID"), text
}

func (r *turnRig) result(id, result string, status int) {
	r.t.Helper()
	want := `{"success":true}`
	if status == 404 {
		want = `{"error":"Unknown request ID"}`
	}
	r.json("POST /client-tools/result", `{"requestID":"`+id+`","result":`+result+`}`).is(r.t, "result", status, want)
}

// results returns the results of tools in the frames of a reply.
func results(frames []string) (results []string) {
	for _, frame := range frames {
		if _, result, found := strings.Cut(frame, `"toolResult":`); found {
			result, _, _ = strings.Cut(result, `}],"metadata":{"userVisible"`)
			results = append(results, result)
		}
	}
	return results
}

func TestATurnCallsATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTurns(t, server.Config{Directory: "/default"}, "client_c_z", `{"b":1.0,"a":[]}`)
		elsewhere := r.open("/event?directory=/w")
		elsewhere.take()
		reply := r.openReply(ask(r.session, "hi"))
		id, text := r.request()
		if !strings.HasPrefix(id, "c_call_1_9466848") {
			t.Errorf("the request ID is %s", id)
		}
		call := `"sessionID":"` + r.session + `","messageID":"c1","callID":"call_1","tool":"client_c_z"`
		same(t, "request", `{"type":"client-tool-request","requestID":"`+id+`",`+call+`,"input":{"b":1.0,"a":[]}}`, text)
		same(t, "events", []string{
			data(`{"type":"client-tool.executing","properties":{` + call + `,"clientID":"c"}}`),
			data(`{"type":"client-tool.request","properties":{"clientID":"c","request":` + text + `}}`),
		}, r.bus.take())
		r.result(id, `{"status":"success","title":"T","output":"It rains.","metadata":{"b":1,"a":2},"attachments":[{"mime":"image/png","url":"data:image/png;base64,aGk="}]}`, 200)
		<-reply.ended
		same(t, "events, later", []string{data(`{"type":"client-tool.completed","properties":{` + call + `,"clientID":"c","success":true}}`)}, r.bus.take())
		same(t, "events of another directory", 0, len(elsewhere.take()))
		const result = `{"status":"success","value":[{"type":"text","text":"It rains.","_meta":{"clientTool":{"title":"T","metadata":{"b":1,"a":2}}}},{"type":"image","data":"aGk=","mimeType":"image/png"}]}`
		same(t, "results", []string{result}, results(reply.take()))
		if saw := r.modelSaw(); !strings.Contains(saw, "It rains.") || !strings.Contains(saw, "data:image/png;base64,aGk=") {
			t.Errorf("the model saw %s", saw)
		}
		if stored := r.get("GET /sessions/" + r.session).body; !strings.Contains(stored, result) {
			t.Errorf("stored:\n%s\nwant in it:\n%s", stored, result)
		}
	})
}

func TestHowACallOfATurnFails(t *testing.T) {
	for what, tc := range map[string]struct {
		fail func(r *turnRig, id string)
		want string
	}{
		"error":      {func(r *turnRig, id string) { r.result(id, `{"status":"error","error":"No \ud800"}`, 200) }, "No \uFFFD"},
		"empty":      {func(r *turnRig, id string) { r.result(id, `{"status":"error","error":""}`, 200) }, ""},
		"timeout":    {func(*turnRig, string) { time.Sleep(7 * time.Second) }, "Client tool execution timed out after 7000ms"},
		"disconnect": {func(r *turnRig, _ string) { r.requests.close() }, "Client disconnected"},
		"stop": {func(r *turnRig, id string) {
			r.post("POST /agent/stop", `{"session_id":"`+r.session+`"}`).is(r.t, "stop", 200, "")
			synctest.Wait()
			r.result(id, `{"status":"error","error":"late"}`, 404)
			same(r.t, "events after the stop", 0, len(r.bus.take()))
		}, "The agent was stopped"},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startTurns(t, server.Config{DefaultTimeout: 7 * time.Second}, "client_c_z", "{}")
				reply := r.openReply(ask(r.session, "hi"))
				id, _ := r.request()
				r.bus.take()
				tc.fail(r, id)
				<-reply.ended
				same(t, "results", []string{`{"status":"error","error":"` + tc.want + `"}`}, results(reply.take()))
				if saw := r.modelSaw(); !strings.Contains(saw, "Error: "+tc.want) {
					t.Errorf("the model saw %s", saw)
				}
			})
		})
	}
}

func TestCallsAreWithdrawnSilently(t *testing.T) {
	for what, end := range map[string]func(r *turnRig, reply *stream){
		"the client of the reply leaves": func(_ *turnRig, reply *stream) { reply.close() },
		"the session is deleted": func(r *turnRig, reply *stream) {
			r.do("DELETE /sessions/"+r.session, secret).is(r.t, "delete", 200, "")
			<-reply.ended
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startTurns(t, server.Config{}, "client_c_z", "{}", "client_c_z", `{"n":2}`)
				reply := r.openReply(ask(r.session, "hi"))
				requests := r.requests.take()
				same(t, "requests at once", 2, len(requests))
				r.bus.take()
				end(r, reply)
				same(t, "events", 0, len(r.bus.take()))
				for _, request := range requests {
					_, id, _ := strings.Cut(request, `"requestID":"`)
					id, _, _ = strings.Cut(id, `"`)
					r.result(id, `{"status":"success","title":"","output":""}`, 404)
				}
				same(t, "tools afterwards", `[{"id":"client_c_z","description":"","parameters":{}}]`, r.do("GET /client-tools/tools/c").body)
			})
		})
	}
}

func TestAToolThatIsGoneIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTurns(t, server.Config{}, "client_c_gone", "{}", "client_d_z", "{}")
		r.register("d", "z") // of another client
		reply := r.post("POST /reply", ask(r.session, "hi"))
		for _, tool := range []string{"client_c_gone", "client_d_z"} {
			if want := `{"status":"error","error":"-32603: -32002: ` + tool + `"}`; !strings.Contains(reply.body, want) {
				t.Errorf("the reply is\n%s\nwant %s in it", reply.body, want)
			}
		}
		same(t, "requests", 0, len(r.requests.take()))
		if saw := r.modelSaw(); strings.Contains(saw, `"name":"client_d_z","description"`) || !strings.Contains(saw, `"name":"client_c_z","description"`) {
			t.Errorf("the model is offered other tools: %s", saw)
		}
	})
}

// allowsZ is a permission.yaml that allows one tool of a client.
const allowsZ = "user: {always_allow: [client_c_z], ask_before: [], never_allow: []}\n"

func TestToolsOfTheClientAreListedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d, Env: modelEnv("GOOSE_MODE", "approve")})
		session := field(t, r.post("POST /agent/start", `{"working_dir":"/w","clientID":"c"}`).body, "id")
		r.json("POST /client-tools/register", `{"clientID":"c","tools":[{"id":"z","description":"Z","parameters":{"properties":{"b":{},"a":{}}}},{"id":"ä","description":"","parameters":{}}]}`)
		r.register("d", "x")
		testfile.Write(t, filepath.Join(d.Config, "permission.yaml"), allowsZ)
		const tools = `{"name":"client_c_z","description":"Z","parameters":["b","a"],"permission":"always_allow"},` +
			`{"name":"ct_5f91814fea__","description":"","parameters":[],"permission":"ask_before"}`
		asked := strings.NewReplacer(`"permission":null`, `"permission":"ask_before"`)
		own := asked.Replace(taskTool + "," + scheduleTool + "," + subagentTool)
		list := func(query string) answer { return r.get("GET /agent/tools?session_id=" + query) }
		list(session).is(t, "all", 200, "["+own+","+tools+"]")
		list(session+"&extension_name=client_tools").is(t, "those of the client", 200, "["+tools+"]")
		list(session+"&extension_name=platform").is(t, "those of an extension", 200, "["+asked.Replace(taskTool+","+scheduleTool)+"]")
		list("nope").is(t, "of an unknown session", 200, "["+own+"]")
		list("nope&extension_name=client_tools").is(t, "of an unknown session", 200, "[]")
		list(r.newSession("/w")+"&extension_name=client_tools").is(t, "of a session without a client", 200, "[]")
	})
}

func TestAnAliasIsAllowedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := startTurns(t, server.Config{Directories: d, Env: modelEnv("GOOSE_MODE", "approve")}, "ct_5f91814fea__", "{}")
		r.register("c", "ä")
		reply := r.openReply(ask(r.session, "hi"))
		if asked := strings.Join(reply.take(), ""); !strings.Contains(asked, `"actionType":"toolConfirmation","id":"call_1","toolName":"ct_5f91814fea__","arguments":{},"prompt":null`) {
			t.Errorf("there is no question in %s", asked)
		}
		same(t, "requests before the answer", 0, len(r.requests.take()))
		r.post("POST /action-required/tool-confirmation", `{"id":"call_1","action":"always_allow","sessionId":"`+r.session+`"}`)
		id, text := r.request()
		if tool := field(t, text, "tool"); tool != "client_c_ä" {
			t.Errorf("the client gets a call of %s", tool)
		}
		r.result(id, `{"status":"success","title":"","output":"done"}`, 200)
		<-reply.ended
		written, err := os.ReadFile(filepath.Join(d.Config, "permission.yaml"))
		if err != nil || !strings.Contains(string(written), `- ct_5f91814fea__`) {
			t.Errorf("permission.yaml: %v\n%s", err, written)
		}
	})
}

func TestAnImportedSessionHasItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTurns(t, server.Config{}, "client_c_z", "{}")
		imported := strings.Replace(with(fresh, `"extension_data":{}`, `"extension_data":{"todo.v0":1,"client_tools.v0":{"clientID":"c"}}`), "20000101_1", "x", 1)
		r.session = field(t, r.post("POST /sessions/import", `{"json":`+string(must(json.Marshal(imported)))+`}`).body, "id")
		r.useModel(r.session)
		reply := r.openReply(ask(r.session, "hi"))
		id, _ := r.request()
		r.result(id, `{"status":"success","title":"","output":""}`, 200)
		<-reply.ended
		same(t, "results", []string{`{"status":"success","value":[{"type":"text","text":"","_meta":{"clientTool":{"title":"","metadata":{}}}}]}`}, results(reply.take()))
	})
}

func TestAStoppedAgentCallsNoClientAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTurns(t, server.Config{}, "client_c_z", "{}")
		r.again = true
		reply := r.openReply(ask(r.session, "hi"))
		r.request()
		r.post("POST /agent/stop", `{"session_id":"`+r.session+`"}`).is(t, "stop", 200, "")
		<-reply.ended
		const stopped = `{"status":"error","error":"The agent was stopped"}`
		same(t, "results", []string{stopped, stopped}, results(reply.take()))
		same(t, "requests after the stop", 0, len(r.requests.take()))

		reply = r.openReply(ask(r.session, "again"))
		same(t, "a reply of a new agent", 0, len(results(reply.take())))
	})
}

func TestAGuardAsksInTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startTurns(t, server.Config{Permissions: clienttools.Permissions{{Pattern: "*_z", Permission: clienttools.Ask}}}, "client_c_z", "{}")
		reply := r.openReply(ask(r.session, "hi"))
		if asked := strings.Join(reply.take(), ""); !strings.Contains(asked, `"actionType":"toolConfirmation","id":"call_1","toolName":"client_c_z"`) {
			t.Errorf("there is no question in %s", asked)
		}
		same(t, "events before the answer", 0, len(r.bus.take()))
		r.post("POST /action-required/tool-confirmation", `{"id":"call_1","action":"allow_once","sessionId":"`+r.session+`"}`)
		id, _ := r.request()
		r.result(id, `{"status":"error","error":"E"}`, 200)
		<-reply.ended
		same(t, "results", []string{`{"status":"error","error":"E"}`}, results(reply.take()))
	})
}
