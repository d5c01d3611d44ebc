package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// echo is a call of the tool dev__echo by a client.
func echo(n int, arguments string) toolbox.ServerCall {
	tool := message.Tool{Name: "dev__echo", Schema: json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)}
	return toolbox.ServerCall{RequestID: fmt.Sprintf("call_1.%d", n), Tool: tool, Arguments: json.RawMessage(arguments)}
}

func TestAClientCallsAToolOfTheServer(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r, c := ofClient(t, says(llmtest.Calls("c1", "z", "{}"), llmtest.Says("c2", "Done.")), "z")
		box := r.agent.Extensions.(*tools)
		answer := make(chan string, 1)
		box.run["dev__echo"] = func(ctx context.Context, call toolbox.Call) message.ToolResult {
			call.Notify(toolbox.Notification{Method: "notifications/message", Params: json.RawMessage(`{"n":1}`)})
			synctest.Wait() // a question is not sent in the order of notifications
			said, err := call.Elicit(ctx, "Who?", json.RawMessage(`{}`))
			answer <- fmt.Sprint(string(said), err)
			return result(call.SessionID + call.WorkingDir + string(call.Arguments))
		}
		var got message.ToolResult
		var early func(context.Context, toolbox.ServerCall) message.ToolResult
		c.compose = func(ctx context.Context, call func(context.Context, toolbox.ServerCall) message.ToolResult) {
			got, early = call(ctx, echo(1, `{"n":"5"}`)), call
		}
		s := r.open(user("hi"))
		s.next()
		event, _ := s.next()
		same(t, "notification", `Notification call_1.1 {"method":"notifications/message","params":{"n":1}}`, event)
		raw, _ := s.raw()
		_, id, _ := strings.Cut(raw, `"actionType":"elicitation","id":"`)
		id, _, _ = strings.Cut(id, `"`)
		r.reply(`{"role":"user","created":8,"content":[{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"` + id +
			`","user_data":{"name":"x"}}}],"metadata":{"userVisible":true,"agentVisible":true}}`)
		same(t, "rest", []string{"u * result:call_1:ran{} 27", "a c2 Done. 27", "Finish stop 15/42"}, s.rest())
		same(t, "what the tool gets", `{"name":"x"}<nil>`, <-answer)
		same(t, "what the client gets", result(`s1/w{"n":5}`), got)
		same(t, "saved", []string{"u hi", "a elicit:Who?{}", `u response:{"name":"x"}`, "a call:call_1:z{}", "u result:call_1:ran{}", "a Done."}, r.saved())
		if late := early(t.Context(), echo(2, "{}")); late.Error == nil {
			t.Errorf("a call after the end of the client's tool runs: %v", late)
		}
	})
}

// brokenLevels are permissions that cannot be read.
type brokenLevels struct{ levels }

func (brokenLevels) Permission(string) (permission.Level, error) {
	return "", errors.New("disk on fire")
}

// outside is a rig in which a client calls the tool dev__echo with some arguments.
type outside struct {
	*rig
	arguments string
}

func TestACallOfAClientOutsideOfAReply(t *testing.T) {
	asks := func(ctx context.Context, call toolbox.Call) message.ToolResult {
		_, err := call.Elicit(ctx, "Who?", json.RawMessage(`{}`))
		return result(fmt.Sprint(err, ctx.Err()))
	}
	for _, tc := range []struct {
		name string
		set  func(r *outside)
		want message.ToolResult
	}{
		{"runs", func(*outside) {}, result(`echo{"n":5}`)},
		{"asks its user", func(r *outside) { r.agent.Extensions.(*tools).run["dev__echo"] = asks }, message.FailedResult("The user cannot be asked about this call")},
		{"panics", func(r *outside) {
			r.agent.Extensions.(*tools).run["dev__echo"] = func(context.Context, toolbox.Call) message.ToolResult { panic("broken") }
		}, message.FailedResult("-32603: Internal error")},
		{"looks dangerous", func(r *outside) { r.settings["security_prompt_enabled"], r.arguments = "true", `{"s":"rm -rf /"}` }, message.FailedResult("The user cannot be asked about this call")},
		{"permissions broken", func(r *outside) {
			r.settings["GOOSE_MODE"], r.service.Permissions = `"approve"`, brokenLevels{}
		}, message.FailedResult("Permissions cannot be read")},
		{"no session", func(r *outside) { r.store.deleteSession() }, message.FailedResult("Failed to read session: Session not found")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := &outside{newRig(t, echoing(), says()), `{"n":"5"}`}
				tc.set(r)
				same(t, "result", tc.want, r.service.Compose(t.Context(), "s1", echo(1, r.arguments)))
				same(t, "saved", []string{}, r.saved())
			})
		})
	}
}

func TestAFinalOutputOfAClientEndsTheReply(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r, c := ofClient(t, says(llmtest.Calls("c1", "z", "{}"), llmtest.Says("c2", "Never.")), "z")
		output, err := turn.NewFinalOutput(json.RawMessage(`{"type":"object","required":["a"]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.agent.SetOutput(output)
		call := toolbox.ServerCall{RequestID: "call_1.1", Tool: message.Tool{Name: "recipe__final_output"}, Arguments: json.RawMessage(`{"a":1}`)}
		c.compose = func(ctx context.Context, compose func(context.Context, toolbox.ServerCall) message.ToolResult) {
			compose(ctx, call)
		}
		same(t, "outside of a reply", result("Final output successfully collected."), r.service.Compose(t.Context(), "s1", call))
		same(t, "events", []string{"a c1 call:call_1:z{} 0", "u * result:call_1:ran{} 27", `a {"a":1} 27`, "Finish stop 27/27"}, r.reply(user("hi")))
	})
}
