package server_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// call sends a call of a server's tool by a client, and returns its answer later.
func (r *rig) call(requestID, tool, more string) <-chan answer {
	r.t.Helper()
	return r.start(withJSON("POST /client-tools/call", `{"requestID":"`+requestID+`","tool":"`+tool+`"`+more+`}`, secret))
}

const written = `{"status":"success","content":[{"type":"text","text":"Updated (3 chars)"}]}`

// pending starts an execution of the tool z outside of a reply, which waits.
func (r *rig) pending(requestID, session string) <-chan answer {
	r.t.Helper()
	answered := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_z","requestID":"`+requestID+`","sessionID":"`+session+`","callID":"x"}`))
	synctest.Wait()
	return answered
}

// withTodo adds the extension todo to a session.
func (r *rig) withTodo(session string) {
	r.t.Helper()
	r.post("POST /agent/add_extension", `{"session_id":"`+session+`","config":{"type":"platform","name":"todo","description":""}}`).is(r.t, "todo", 200, "")
}

func TestWhichCallsOfClientsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		session := r.newSession("/w")
		r.withTodo(session)
		r.post("POST /agent/add_extension", `{"session_id":"`+session+`","config":`+frontendConfig+`}`).is(t, "add", 200, "")
		r.register("c", "z")
		r.pending("r", session)
		r.pending("s", "nope")
		for _, tc := range []struct {
			requestID, tool, more string
			status                int
			want                  string
		}{
			{"nope", "todo__todo_write", "", 404, `{"error":"Unknown request ID"}`},
			{"s", "todo__todo_write", "", 404, `{"error":"Unknown request ID"}`},
			{"r", "nope", "", 404, `{"error":"Unknown tool"}`},
			{"r", "show", "", 404, `{"error":"Unknown tool"}`},
			{"r", "client_c_z", "", 404, `{"error":"Unknown tool"}`},
			{"nope", "nope", `,"input":null`, 400, `{"data":{"requestID":"nope","tool":"nope","input":null},"error":[{"expected":"record","code":"invalid_type","path":["input"],"message":"Invalid input: expected record, received null"}],"success":false}`},
			{"r", "todo__todo_write", `,"input":{"content":"abc"}`, 200, written},
		} {
			(<-r.call(tc.requestID, tc.tool, tc.more)).is(t, tc.requestID+" "+tc.tool, tc.status, tc.want)
		}
		r.json("POST /client-tools/call", `{"requestID":"r","tool":"nope"}`).is(t, "no key", 401, "")
		same(t, "a body without a key", 500, r.json("POST /client-tools/call", "{").status)
		r.json("POST /client-tools/call?directory=a&directory=b", "{}").is(t, "the directory comes before the key", 400,
			`{"data":{"directory":["a","b"]},"error":[{"expected":"string","code":"invalid_type","path":["directory"],"message":"Invalid input: expected string, received array"}],"success":false}`)
		for n := 2; n <= 100; n++ { // the first was in the table
			if a := <-r.call("r", "todo__todo_write", `,"input":{"content":"abc"}`); a.status != 200 || a.body != written {
				t.Fatalf("call %d: %d %s", n, a.status, a.body)
			}
		}
		(<-r.call("r", "nope", "")).is(t, "an unknown tool after the last call", 404, `{"error":"Unknown tool"}`)
		(<-r.call("r", "todo__todo_write", "")).is(t, "the 101st call", 429, coded("RATE_LIMITED", "Too many calls"))
	})
}

func TestACallOutsideOfAReplyHasNobodyToAsk(t *testing.T) {
	const unasked = `{"status":"error","error":"The user cannot be asked about this call"}`
	for mode, want := range map[string]string{
		"auto": written, "approve": unasked, "smart_approve": unasked,
		"chat": `{"status":"success","content":[{"type":"text","text":"Tools do not run in chat mode. Explain what you would do with this call."}]}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			d := settings.Below(t.TempDir())
			r := start(t, server.Config{Directories: d, Env: modelEnv("GOOSE_MODE", mode)})
			session := r.newSession("/w")
			r.withTodo(session)
			r.register("c", "z")
			r.pending("r", session)
			bus := r.open("/event")
			bus.take()
			(<-r.call("r", "todo__todo_write", `,"input":{"content":"abc"}`)).is(t, mode, 200, want)
			same(t, "events", 0, len(bus.take()))
			if stored := r.get("GET /sessions/" + session).body; !strings.Contains(stored, `"conversation":[]`) {
				t.Errorf("%s: something is stored: %s", mode, stored)
			}
			testfile.Write(t, filepath.Join(d.Config, "permission.yaml"), "user: {always_allow: [], ask_before: [], never_allow: [todo__todo_write]}\n")
			if strings.HasSuffix(mode, "approve") {
				(<-r.call("r", "todo__todo_write", "")).is(t, mode, 200,
					`{"status":"success","content":[{"type":"text","text":"The user has declined this tool call. Do not try it again."}]}`)
			}
		})
	}
}

// startComposing starts a reply whose client runs its tool and may call the tool todo_write, which its user is asked about.
func startComposing(t *testing.T) (r *turnRig, reply *stream, requestID string) {
	d := settings.Below(t.TempDir())
	r = startTurns(t, server.Config{Directories: d, Env: modelEnv("GOOSE_MODE", "approve"), DefaultTimeout: 30 * time.Second}, "client_c_z", "{}")
	testfile.Write(t, filepath.Join(d.Config, "permission.yaml"), allowsZ)
	r.withTodo(r.session)
	reply = r.openReply(ask(r.session, "hi"))
	requestID, _ = r.request()
	reply.take()
	r.bus.take()
	return r, reply, requestID
}

func (r *turnRig) confirm(id, action string) {
	r.t.Helper()
	r.post("POST /action-required/tool-confirmation", `{"id":"`+id+`","action":"`+action+`","sessionId":"`+r.session+`"}`).is(r.t, "confirm", 200, "{}")
}

func TestTheUserIsAskedAboutACallOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, reply, id := startComposing(t)
		first, second := r.call(id, "todo__todo_write", `,"input":{"content":"abc"}`), (<-chan answer)(nil)
		question := func(n int) string {
			return fmt.Sprintf(`"content":[{"type":"actionRequired","data":{"actionType":"toolConfirmation","id":"call_1.%d","toolName":"todo__todo_write","arguments":{"content":"abc"},"prompt":null}}]`, n)
		}
		asked := func(n int) {
			t.Helper()
			if frames := strings.Join(reply.take(), ""); !strings.Contains(frames, question(n)) {
				t.Fatalf("question %d is not asked: %s", n, frames)
			}
		}
		asked(1)
		second = r.call(id, "todo__todo_write", `,"input":{"content":"abc"}`)
		asked(2) // while the first waits
		r.confirm("call_1.2", "deny")
		(<-second).is(t, "denied", 200, `{"status":"success","content":[{"type":"text","text":"The user has declined this tool call. Do not try it again."}]}`)
		r.confirm("call_1.1", "always_allow")
		(<-first).is(t, "allowed", 200, written)
		(<-r.call(id, "todo__todo_write", `,"input":{"content":"abc"}`)).is(t, "allowed for ever", 200, written)
		same(t, "events", 0, len(r.bus.take()))
		r.result(id, `{"status":"success","title":"","output":"done"}`, 200)
		<-reply.ended
		if stored := r.get("GET /sessions/" + r.session).body; strings.Contains(stored, "toolConfirmation") || strings.Contains(stored, `"name":"todo__todo_write"`) {
			t.Errorf("the conversation has a call of the client: %s", stored)
		}
	})
}

func TestCallsEndWithTheirExecution(t *testing.T) {
	for what, end := range map[string]func(r *turnRig, reply *stream, id string){
		"result":      func(r *turnRig, _ *stream, id string) { r.result(id, `{"status":"error","error":"E"}`, 200) },
		"timeout":     func(*turnRig, *stream, string) { time.Sleep(30 * time.Second) },
		"disconnect":  func(r *turnRig, _ *stream, _ string) { r.requests.close() },
		"reader left": func(_ *turnRig, reply *stream, _ string) { reply.close() },
		"agent stopped": func(r *turnRig, _ *stream, _ string) {
			r.post("POST /agent/stop", `{"session_id":"`+r.session+`"}`).is(r.t, "stop", 200, "")
		},
		"session deleted": func(r *turnRig, _ *stream, _ string) {
			r.do("DELETE /sessions/"+r.session, secret).is(r.t, "delete", 200, "")
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, reply, id := startComposing(t)
				answered := r.call(id, "todo__todo_write", `,"input":{"content":"abc"}`)
				reply.take()
				end(r, reply, id)
				(<-answered).is(t, "call", 200, `{"status":"error","error":"The execution has ended"}`)
				(<-r.call(id, "todo__todo_write", "")).is(t, "later", 404, `{"error":"Unknown request ID"}`)
			})
		})
	}
}

func TestACallEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, reply, id := startComposing(t)
		c := r.connect(withJSON("POST /client-tools/call", `{"requestID":"`+id+`","tool":"todo__todo_write"}`, secret))
		reply.take()
		c.Close()
		synctest.Wait()
		r.confirm("call_1.1", "allow_once") // no question waits for it
		r.result(id, `{"status":"success","title":"","output":"done"}`, 200)
		<-reply.ended
		same(t, "results", 1, len(results(reply.take())))
	})
}
