package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// clients are the tools of the client c. The guards deny the tool "denied", and ask about the tools "asked" and
// "asked_too". A call returns what it was called with; {"wait":1} waits for its end, {"report":1} reports progress. compose may
// be what the client does during a call.
type clients struct {
	tools   []string
	compose func(ctx context.Context, call func(context.Context, toolbox.ServerCall) message.ToolResult)

	mu    sync.Mutex
	calls []string
}

func (c *clients) Tools(clientID string) (tools []toolbox.ClientTool) {
	if clientID != "c" {
		return nil
	}
	for _, name := range c.tools {
		tools = append(tools, toolbox.ClientTool{
			Tool:     message.Tool{Name: name, Description: "about " + name, Schema: json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)},
			ClientID: clientID, ID: "client_c_" + name,
		})
	}
	return tools
}

func (c *clients) Check(call toolbox.ClientCall) (ask bool, refused *message.ToolResult) {
	c.note("check " + call.Tool.Name)
	if call.Tool.Name == "denied" {
		return false, new(message.FailedResult("Not allowed"))
	}
	return strings.HasPrefix(call.Tool.Name, "asked"), nil
}

func (c *clients) Start(call toolbox.ClientCall) (wait func(context.Context) message.ToolResult, sent bool) {
	c.note(fmt.Sprintf("call %s of %s: %s %s %s%s", call.Tool.ID, call.Tool.ClientID, call.SessionID, call.MessageID, call.RequestID, call.Arguments))
	return func(ctx context.Context) message.ToolResult {
		if c.compose != nil {
			c.compose(ctx, call.Compose)
		}
		switch string(call.Arguments) {
		case `{"wait":1}`:
			<-ctx.Done()
			return message.FailedResult("ended")
		case `{"panic":1}`:
			panic("broken")
		case `{"report":1}`:
			call.Notify(toolbox.Notification{Method: "notifications/progress", Params: json.RawMessage(`{"progress":1}`)})
		}
		return message.TextResult("ran" + string(call.Arguments))
	}, call.Tool.Name != "limited"
}

func (c *clients) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, what)
}

// take returns the notes since its last call, in their order.
func (c *clients) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

// ofClient returns a rig whose session belongs to the client c, with these tools.
func ofClient(t *testing.T, answer answer, names ...string) (*rig, *clients) {
	r := newRig(t, echoing(), answer)
	r.store.session.ExtensionData = session.ClientData("c")
	c := &clients{tools: names}
	r.service.Clients = c
	return r, c
}

// offered returns the names of the tools in a request to the model.
func offered(t *testing.T, body string) (names []string) {
	t.Helper()
	var asked struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(body), &asked); err != nil {
		t.Fatal(err)
	}
	for _, tool := range asked.Tools {
		names = append(names, tool.Function.Name)
	}
	return names
}

func TestToolsOfTheClientAreOfferedAfterAllOthers(t *testing.T) {
	timeless(t, func(t *testing.T) {
		var c *clients
		answers := says(llmtest.Calls("c1", "z", "{}"), llmtest.Says("c2", "Done."))
		r, c := ofClient(t, func(w http.ResponseWriter, asked llmtest.Asked, n int) {
			if n == 0 {
				c.tools = append(c.tools, "later")
			}
			answers(w, asked, n)
		}, "z", "a", "dev__echo", "show_map")
		log := new(syncbuffer.Buffer)
		r.service.Log = slog.New(slog.NewTextHandler(log, nil))
		own := []string{"dev__echo", "dynamic_task__create_task", "platform__manage_schedule", "show_map", "subagent__execute_task"}
		r.reply(user("hi"))
		same(t, "offered", append(slices.Clone(own), "z", "a"), offered(t, r.asked()[0]))
		same(t, "offered in the next call of the model", append(slices.Clone(own), "z", "a", "later"), offered(t, r.asked()[1]))
		if want := `{"type":"function","function":{"name":"z","description":"about z","parameters":{"properties":{"n":{"type":"integer"}}}}}`; !strings.Contains(r.asked()[0], want) {
			t.Errorf("the request is\n%s\nwant %s in it", r.asked()[0], want)
		}
		for _, id := range []string{"client_c_dev__echo", "client_c_show_map"} {
			if !strings.Contains(log.String(), id) {
				t.Errorf("the log does not name %s, which is not offered:\n%s", id, log)
			}
		}
		names := func(of session.Session) (names []string) {
			for _, tool := range r.agent.ClientTools(t.Context(), c, of) {
				names = append(names, tool.Name)
			}
			return names
		}
		same(t, "listed", []string{"z", "a", "later"}, names(r.store.session))
		same(t, "listed for another session", []string(nil), names(session.Session{ExtensionData: session.ClientData("d")}))

		r.store.session.ExtensionData = json.RawMessage("{}")
		r.reply(user("again"))
		same(t, "offered without a client", own, offered(t, r.asked()[2]))
	})
}

func TestACallGoesToTheClient(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r, c := ofClient(t, says(llmtest.Calls("c1", "z", `{"n":"5","x":1}`, "dev__echo", "{}", "z", "", "z", `{"panic":1}`, "denied", "{}"), llmtest.Says("c2", "Done.")), "z", "denied")
		same(t, "events", []string{
			`a c1 call:call_1:z{"n":"5","x":1} call:call_2:dev__echo{} call:call_3:z{} call:call_4:z{"panic":1} call:call_5:denied{} 0`,
			`u * result:call_1:ran{"n":5,"x":1} 27`, "u * result:call_2:echo{} 27", "u * result:call_3:ran{} 27",
			"u * result:call_4:Error: -32603: Internal error 27", "u * result:call_5:Error: Not allowed 27",
			"a c2 Done. 27", "Finish stop 15/42",
		}, r.reply(user("hi")))
		same(t, "calls", []string{
			"check z", "check z", "check z", "check denied",
			`call client_c_z of c: s1 c1 call_1{"n":5,"x":1}`, "call client_c_z of c: s1 c1 call_3{}", `call client_c_z of c: s1 c1 call_4{"panic":1}`,
		}, c.take())
		if got, want := strings.Join(r.saved(), "\n"), "a call:call_1:z{\"n\":5,\"x\":1}\nu result:call_1:ran{\"n\":5,\"x\":1}"; !strings.Contains(got, want) {
			t.Errorf("saved:\n%s\nwant in it:\n%s", got, want)
		}
	})
}

func TestACallGoesToTheToolThatWasOffered(t *testing.T) {
	timeless(t, func(t *testing.T) {
		var r *rig
		var c *clients
		answers := says(llmtest.Calls("c1", "z", "{}"), llmtest.Says("c2", "Done."))
		r, c = ofClient(t, func(w http.ResponseWriter, asked llmtest.Asked, n int) {
			if n == 0 { // after the model was asked
				box := r.agent.Extensions.(*tools)
				box.snapshot.Tools = append(box.snapshot.Tools, llm.Tool{Name: "z", Schema: json.RawMessage(`{}`)})
			}
			answers(w, asked, n)
		}, "z")
		r.reply(user("hi"))
		same(t, "calls", []string{"check z", "call client_c_z of c: s1 c1 call_1{}"}, c.take())
		if !strings.Contains(r.asked()[0], "about z") || strings.Contains(r.asked()[1], "about z") {
			t.Errorf("the model is offered another tool of that name: %q", r.asked())
		}
	})
}

// TestAClientLeavesDuringItsTool also shows that all calls of one turn run at once.
func TestAClientLeavesDuringItsTool(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r, c := ofClient(t, says(llmtest.Calls("c1", "z", `{"wait":1}`, "z", `{"wait":1}`)), "z")
		s := r.open(user("hi"))
		synctest.Wait()
		same(t, "calls", []string{"check z", "check z", `call client_c_z of c: s1 c1 call_1{"wait":1}`, `call client_c_z of c: s1 c1 call_2{"wait":1}`}, c.take())
		s.cancel()
		s.body.Close()
		synctest.Wait()
		same(t, "saved", []string{"u hi"}, r.saved())
	})
}

func TestGuardsComeAfterTheDecisionOfGoose(t *testing.T) {
	const (
		refused  = "result:call_1:The user has declined this tool call. Do not try it again."
		onlyChat = "result:call_1:Tools do not run in chat mode. Explain what you would do with this call."
		ran      = "result:call_1:ran{}"
		denied   = "result:call_1:Error: Not allowed"
	)
	confirm := func(tool string) string { return "a- confirm:call_1:" + tool + "{} 27" }
	for _, tc := range []struct {
		name, mode, tool string
		permission       permission.Level
		decision         string // what is decided before the question; "" if there is none
		result           string
		after            permission.Level
	}{
		{"auto asks for a guard", "auto", "asked", "", "allow_once", ran, ""},
		{"always", "auto", "asked", "", "always_allow", ran, "always_allow"},
		{"not again", "auto", "asked", "always_allow", "", ran, "always_allow"},
		{"never", "auto", "asked", "never_allow", "", refused, "never_allow"},
		{"refused", "auto", "asked", "ask_before", "deny", refused, "ask_before"},
		{"one question in approve", "approve", "asked", "", "allow_once", ran, ""},
		{"none after always", "approve", "asked", "always_allow", "", ran, "always_allow"},
		{"nobody asks in chat", "chat", "asked", "", "", onlyChat, ""},
		{"approve asks without a guard", "smart_approve", "z", "", "allow_once", ran, ""},
		{"denied without a question", "auto", "denied", "", "", denied, ""},
		{"denied after the question of goose", "approve", "denied", "", "allow_once", denied, ""},
		{"the user before the guard", "approve", "denied", "", "deny", refused, ""},
		{"chat before the guard", "chat", "denied", "", "", onlyChat, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r, _ := ofClient(t, says(llmtest.Calls("c1", tc.tool, "{}"), llmtest.Says("c2", "Done.")), "z", "asked", "denied")
				r.settings["GOOSE_MODE"] = quoted(tc.mode)
				if tc.permission != "" {
					r.allowed[tc.tool] = tc.permission
				}
				want := []string{"a c1 call:call_1:" + tc.tool + "{} 0"}
				if tc.decision != "" {
					r.decide("call_1", tc.decision)
					want = append(want, confirm(tc.tool))
				}
				same(t, "events", append(want, "u * "+tc.result+" 27", "a c2 Done. 27", "Finish stop 15/42"), r.reply(user("hi")))
				same(t, "permission", tc.after, r.allowed[tc.tool])
			})
		})
	}
}

func TestGuardsAskBeforeAnyToolRuns(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r, c := ofClient(t, says(llmtest.Calls("c1", "z", "{}", "asked", "{}", "asked_too", "{}"), llmtest.Says("c2", "Done.")), "z", "asked", "asked_too")
		r.settings["security_prompt_enabled"] = "true"
		s := r.open(user("hi"))
		want := func(events ...string) {
			t.Helper()
			for _, want := range events {
				if got, _ := s.next(); got != want {
					t.Errorf("event %q, want %q", got, want)
				}
			}
			synctest.Wait()
		}
		want(`a c1 call:call_1:z{} call:call_2:asked{} call:call_3:asked_too{} 0`, "a- confirm:call_2:asked{} 27")
		same(t, "before the first answer", []string{"check z", "check asked", "check asked_too"}, c.take())
		r.service.Confirm("s1", "call_2", "allow_once")
		want("a- confirm:call_3:asked_too{} 27")
		r.service.Confirm("s1", "call_3", "deny")
		want("u * result:call_1:ran{} 27", "u * result:call_2:ran{} 27", "u * result:call_3:The user has declined this tool call. Do not try it again. 27")
		s.rest()
	})
}

func TestADangerousCallIsAskedAboutOnce(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r, _ := ofClient(t, says(llmtest.Calls("c1", "asked", `{"s":"rm -rf /"}`), llmtest.Says("c2", "Done.")), "asked")
		r.settings["security_prompt_enabled"] = "true"
		r.allowed["asked"] = permission.AlwaysAllow
		r.decide("call_1", "allow_once")
		events := r.reply(user("hi"))
		if questions := strings.Count(strings.Join(events, "\n"), "confirm:call_1:asked"); questions != 1 || !slices.Contains(events, `u * result:call_1:ran{"s":"rm -rf /"} 27`) {
			t.Errorf("%d questions in %q, want one and a result", questions, events)
		}
	})
}

func TestProgressIsANotification(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r, _ := ofClient(t, says(llmtest.Calls("c1", "z", `{"report":1}`), llmtest.Says("c2", "Done.")), "z")
		same(t, "events", []string{
			`a c1 call:call_1:z{"report":1} 0`, `Notification call_1 {"method":"notifications/progress","params":{"progress":1}}`,
			`u * result:call_1:ran{"report":1} 27`, "a c2 Done. 27", "Finish stop 15/42",
		}, r.reply(user("hi")))
	})
}
