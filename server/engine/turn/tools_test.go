package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

type calling = func(context.Context, toolbox.Call) message.ToolResult

// echoing has a tool that answers with its arguments, and one that the client runs.
func echoing() *tools {
	return &tools{
		snapshot: toolbox.Snapshot{
			Tools: []llm.Tool{{Name: "dev__echo", Schema: json.RawMessage(
				`{"type":"object","properties":{"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"}}}`)}},
			Frontend: []llm.Tool{{Name: "show_map", Schema: json.RawMessage(`{"type":"object"}`)}},
		},
		run: map[string]calling{
			"dev__echo": func(_ context.Context, call toolbox.Call) message.ToolResult {
				return result("echo" + string(call.Arguments))
			},
		},
	}
}

func TestToolsRunAndTheModelIsAskedAgain(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(
			append(llmtest.Says("c1", "Look.")[:1], llmtest.Calls("c1", "dev__echo", `{"n":"5","f":"1.50","b":"true","s":"7","x":"1"}`, "dev__nope", "")...),
			llmtest.Says("c2", "Done."),
		))
		same(t, "events", []string{
			"a c1 Look. 0",
			`a c1 call:call_1:dev__echo{"n":"5","f":"1.50","b":"true","s":"7","x":"1"} call:call_2:dev__nope{} 0`,
			`u * result:call_1:echo{"n":5,"f":1.50,"b":true,"s":"7","x":"1"} 27`,
			`u * result:call_2:Error: -32002: dev__nope 27`,
			"a c2 Done. 27",
			"Finish stop 15/42",
		}, r.reply(user("hi")))
		same(t, "saved", []string{
			"u hi", "a Look.",
			`a call:call_1:dev__echo{"n":5,"f":1.50,"b":true,"s":"7","x":"1"}`, `u result:call_1:echo{"n":5,"f":1.50,"b":true,"s":"7","x":"1"}`,
			"a call:call_2:dev__nope{}", "u result:call_2:Error: -32002: dev__nope",
			"a Done.",
		}, r.saved())
		want := `{"role":"assistant","content":"Look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"dev__echo",` +
			`"arguments":"{\"n\":5,\"f\":1.50,\"b\":true,\"s\":\"7\",\"x\":\"1\"}"}}]},{"role":"tool","tool_call_id":"call_1",`
		if asked := r.asked()[1]; !strings.Contains(asked, want) {
			t.Errorf("second request:\n got %s\nwant %s", asked, want)
		}
	})
}

func TestAMalformedRequestIsNotAnswered(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", `{"n":`), llmtest.Says("c2", "Sorry.")))
		same(t, "events", []string{"a c1 broken:call_1 0", "a c2 Sorry. 27", "Finish stop 15/42"}, r.reply(user("hi")))
		same(t, "saved", []string{"u hi", "a Sorry."}, r.saved())
	})
}

func TestTextInTheSameMessageAsRequestsIsSaved(t *testing.T) {
	timeless(t, func(t *testing.T) {
		event := `{"id":"c1","model":"m","choices":[{"delta":{"content":"Look.","tool_calls":[{"index":0,"id":"call_1","function":{"name":"dev__echo"}}]},"finish_reason":"tool_calls"}]}`
		r := newRig(t, echoing(), says([]string{event, "[DONE]"}, llmtest.Says("c2", "Done.")))
		r.reply(user("hi"))
		same(t, "saved", []string{"u hi", "a Look.", "a call:call_1:dev__echo{}", "u result:call_1:echo{}", "a Done."}, r.saved())
	})
}

func TestModes(t *testing.T) {
	const declined = "u * result:call_1:The user has declined this tool call. Do not try it again. 27"
	const call, echoed = "a c1 call:call_1:dev__echo{} 0", "u * result:call_1:echo{} 27"
	const question = "a- confirm:call_1:dev__echo{} 27"
	for _, tc := range []struct {
		name, mode string
		permission permission.Level
		early      string // what is decided before the question
		want       []string
		permitted  permission.Level // afterwards
	}{
		{"unknown", "wild", "", "", []string{call, echoed}, ""},
		{"auto does not look at permissions", "auto", "never_allow", "", []string{call, echoed}, "never_allow"},
		{"chat", "chat", "always_allow", "", []string{call, "u * result:call_1:Tools do not run in chat mode. Explain what you would do with this call. 27"}, "always_allow"},
		{"allowed for ever", "approve", "always_allow", "", []string{call, echoed}, "always_allow"},
		{"never", "approve", "never_allow", "", []string{call, declined}, "never_allow"},
		{"allowed once", "approve", "ask_before", "allow_once", []string{call, question, echoed}, "ask_before"},
		{"allowed from now on", "smart_approve", "", "always_allow", []string{call, question, echoed}, "always_allow"},
		{"denied", "approve", "", "deny", []string{call, question, declined}, ""},
		{"any other word denies", "approve", "", "ALLOW_ONCE", []string{call, question, declined}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
				r.settings["GOOSE_MODE"] = quoted(tc.mode)
				if tc.permission != "" {
					r.allowed["dev__echo"] = tc.permission
				}
				if tc.early != "" {
					r.decide("call_1", tc.early)
				}
				same(t, "events", append(tc.want, "a c2 Done. 27", "Finish stop 15/42"), r.reply(user("hi")))
				if got := r.allowed["dev__echo"]; got != tc.permitted {
					t.Errorf("the permission is %q afterwards, want %q", got, tc.permitted)
				}
			})
		})
	}
}

func TestQuestionsAreAskedOneByOne(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(
			llmtest.Calls("c1", "dev__echo", `{"n":1}`, "extensionmanager__manage_extensions", `{}`, "dev__echo", `{"n":3}`), llmtest.Says("c2", "Done."),
		))
		r.settings["GOOSE_MODE"] = `"approve"`
		s := r.open(user("hi"))
		s.next()
		var got []string
		for _, step := range []struct{ id, action string }{{"call_1", "deny"}, {"call_2", "allow_once"}, {"call_3", "allow_once"}} {
			event, _ := s.next()
			got = append(got, event)
			time.Sleep(time.Hour) // a question has no time limit, and the next is not asked meanwhile
			r.service.Confirm("s1", "no such question", "allow_once")
			r.service.Confirm("s1", step.id, step.action)
		}
		same(t, "events", []string{
			`a- confirm:call_1:dev__echo{"n":1} 27`,
			`a- confirm:call_2:extensionmanager__manage_extensions{}:Extension management requires approval for security 27`,
			`a- confirm:call_3:dev__echo{"n":3} 27`,
			"u * result:call_1:The user has declined this tool call. Do not try it again. 27",
			"u * result:call_2:Error: -32002: extensionmanager__manage_extensions 27",
			`u * result:call_3:echo{"n":3} 27`,
			"a c2 Done. 27", "Finish stop 15/42",
		}, append(got, s.rest()...))
	})
}

func TestTwoRepliesThatAskWithOneID(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(
			llmtest.Calls("c1", "dev__echo", `{"n":1}`), llmtest.Calls("c2", "dev__echo", `{"n":2}`), llmtest.Says("c3", "Done."),
		))
		r.settings["GOOSE_MODE"] = `"approve"`
		first := r.open(user("hi"))
		first.next()
		first.next()
		second := r.open(user("more"))
		second.next()
		second.next()
		r.service.Confirm("s1", "call_1", "allow_once")
		same(t, "who asked first", []string{`u * result:call_1:echo{"n":1} 27`, "a c3 Done. 27", "Finish stop 15/69"}, first.rest())
		r.service.Confirm("s1", "call_1", "allow_once")
		same(t, "who asked second", []string{`u * result:call_1:echo{"n":2} 15`, "a c3 Done. 15", "Finish stop 15/84"}, second.rest())
	})
}

func TestAnAnswerOutsideOfRepliesIsDropped(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(llmtest.Says("c0", "Hi."), llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		r.settings["GOOSE_MODE"] = `"approve"`
		r.service.Confirm("s1", "call_1", "allow_once")
		r.decide("call_1", "allow_once") // the next reply does not ask
		r.reply(user("hi"))
		s := r.open(user("more"))
		s.next()
		s.next()
		time.Sleep(time.Hour)
		r.service.Confirm("s1", "call_1", "deny")
		if got := s.rest()[0]; !strings.Contains(got, "declined") {
			t.Errorf("what was answered before counts: %s", got)
		}
	})
}

func TestAClientThatDisconnectsDuringAQuestion(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		r.settings["GOOSE_MODE"] = `"approve"`
		s := r.open(user("hi"))
		s.next()
		s.next()
		s.cancel()
		synctest.Wait()
		same(t, "saved", []string{"u hi"}, r.saved())
		r.service.Confirm("s1", "call_1", "allow_once")
		if got := len(r.asked()); got != 1 {
			t.Errorf("the model was asked %d times, want once", got)
		}
	})
}

func TestAFrontendToolWaitsForItsClient(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", "{}", "show_map", `{"at":1}`)))
		s := r.open(user("hi"))
		var got []string
		for range 2 {
			event, _ := s.next()
			got = append(got, event)
		}
		same(t, "events", []string{"a c1 call:call_1:dev__echo{} 0", `a frontend:call_2:show_map{"at":1} 27`}, got)
		time.Sleep(time.Hour)
		s.cancel()
		synctest.Wait()
		same(t, "saved", []string{"u hi"}, r.saved())
	})
}

func TestNotificationsAreSentWhileAToolRuns(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		var late func(toolbox.Notification)
		box.run["dev__echo"] = func(_ context.Context, call toolbox.Call) message.ToolResult {
			late = call.Notify
			for n := range 3 {
				call.Notify(toolbox.Notification{Method: "notifications/progress", Params: json.RawMessage(fmt.Sprintf(`{"progress":%d}`, n))})
			}
			return result("ok")
		}
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		got := r.reply(user("hi"))
		late(toolbox.Notification{}) // it is ignored
		same(t, "events", []string{
			"a c1 call:call_1:dev__echo{} 0",
			`Notification call_1 {"method":"notifications/progress","params":{"progress":0}}`,
			`Notification call_1 {"method":"notifications/progress","params":{"progress":1}}`,
			`Notification call_1 {"method":"notifications/progress","params":{"progress":2}}`,
			"u * result:call_1:ok 27", "a c2 Done. 27", "Finish stop 15/42",
		}, got)
	})
}

func TestTooManyNotificationsAreDropped(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		box.run["dev__echo"] = func(_ context.Context, call toolbox.Call) message.ToolResult {
			for range 1000 {
				call.Notify(toolbox.Notification{Method: "notifications/message", Params: json.RawMessage(`{"data":"` + strings.Repeat("x", 1000) + `"}`)})
			}
			return result("ok")
		}
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		s := r.open(user("hi"))
		synctest.Wait() // the reader takes nothing
		if got := len(s.rest()); got > 150 {
			t.Errorf("%d events, want little more than the queue holds: what nobody takes is dropped", got)
		}
	})
}

func TestToolsOfOneTurnRunAtTheSameTime(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		box.run["dev__echo"] = func(_ context.Context, call toolbox.Call) message.ToolResult {
			time.Sleep(time.Second)
			return result(string(call.Arguments))
		}
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", `{"n":1}`, "dev__echo", `{"n":2}`, "dev__echo", `{"n":3}`), llmtest.Says("c2", "Done.")))
		start := time.Now()
		r.reply(user("hi"))
		if took := time.Since(start); took != time.Second {
			t.Errorf("three tools of a second took %s", took)
		}
	})
}

func TestAToolEndsWhenTheClientDisconnects(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		ended := make(chan error, 1)
		box.run["dev__echo"] = func(ctx context.Context, _ toolbox.Call) message.ToolResult {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return result("")
		}
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		s := r.open(user("hi"))
		s.next()
		synctest.Wait()
		s.cancel()
		<-ended
		synctest.Wait()
		same(t, "saved", []string{"u hi"}, r.saved())
	})
}

func TestAPanicOfAToolIsItsFailure(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		box.run["dev__echo"] = func(context.Context, toolbox.Call) message.ToolResult { panic("broken") }
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		same(t, "events", "u * result:call_1:Error: -32603: Internal error 27", r.reply(user("hi"))[1])
	})
}

func TestALargeTextOfAToolGoesIntoAFile(t *testing.T) {
	timeless(t, func(t *testing.T) {
		large := strings.Repeat("ü", 200_001)
		box := echoing()
		box.run["dev__echo"] = func(context.Context, toolbox.Call) message.ToolResult { return result(large) }
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		event := r.reply(user("hi"))[1]
		const before, after = "u * result:call_1:The text of this tool was larger than 200000 characters. It is in the file ", ". 27"
		path := strings.TrimSuffix(strings.TrimPrefix(event, before), after)
		text, err := os.ReadFile(path)
		if err != nil || string(text) != large {
			t.Errorf("event %.200s: %v, and %d bytes in the file", event, err, len(text))
		}
		os.Remove(path)
		large = large[2:]
		r = newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		if event := r.reply(user("hi"))[1]; event != "u * result:call_1:"+large+" 27" {
			t.Errorf("a text of 200,000 characters was replaced: %.200s", event)
		}
	})
}

func TestAnMCPServerAsksTheUser(t *testing.T) {
	asking := func(answers chan<- string) *tools {
		box := echoing()
		box.run["dev__echo"] = func(ctx context.Context, call toolbox.Call) message.ToolResult {
			data, err := call.Elicit(ctx, "Your name?", json.RawMessage(`{"type":"object"}`))
			answers <- fmt.Sprint(string(data), err)
			return result("thanks")
		}
		return box
	}
	response := func(id string) string {
		return `{"role":"user","created":8,"content":[{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"` + id +
			`","user_data":{"name":"x"}}}],"metadata":{"userVisible":true,"agentVisible":true}}`
	}
	t.Run("answered", func(t *testing.T) {
		timeless(t, func(t *testing.T) {
			answers := make(chan string, 1)
			r := newRig(t, asking(answers), says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
			s := r.open(user("hi"))
			s.next()
			event, _ := s.next()
			same(t, "question", `a elicit:Your name?{"type":"object"} 27`, event)
			asked := r.store.messages()[1].Content[0].(message.ActionRequired).Data.(message.Elicitation)
			same(t, "answer to an unknown id", []string{"a Failed to submit elicitation response: Request not found: nope 27", "Finish stop 27/27"}, r.reply(response("nope")))
			same(t, "answer", []string{"Finish stop 27/27"}, r.reply(response(asked.ID)))
			same(t, "what the server gets", `{"name":"x"}<nil>`, <-answers)
			same(t, "rest", []string{"u * result:call_1:thanks 27", "a c2 Done. 27", "Finish stop 15/42"}, s.rest())
			same(t, "saved", []string{
				"u hi", `a elicit:Your name?{"type":"object"}`, `u response:{"name":"x"}`, "a call:call_1:dev__echo{}", "u result:call_1:thanks", "a Done.",
			}, r.saved())
		})
	})
	t.Run("not answered", func(t *testing.T) {
		timeless(t, func(t *testing.T) {
			answers := make(chan string, 1)
			r := newRig(t, asking(answers), says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
			start := time.Now()
			r.reply(user("hi"))
			same(t, "what the server gets", "Timeout waiting for user response", <-answers)
			if took := time.Since(start); took != 300*time.Second {
				t.Errorf("the server waited %s, want 5m", took)
			}
		})
	})
}

func TestAQuestionEndsWithItsReply(t *testing.T) {
	timeless(t, func(t *testing.T) {
		answers := make(chan error, 1)
		box := echoing()
		box.run["dev__echo"] = func(_ context.Context, call toolbox.Call) message.ToolResult {
			_, err := call.Elicit(context.Background(), "Your name?", json.RawMessage(`{}`))
			answers <- err
			return result("")
		}
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}")))
		s := r.open(user("hi"))
		s.next()
		s.next()
		s.cancel()
		if err := <-answers; err == nil || err.Error() != "Timeout waiting for user response" {
			t.Errorf("a question whose reply has ended: %v", err)
		}
	})
}

// TestTheTurnsAreCounted checks decision M31.
func TestTheTurnsAreCounted(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", "{}")))
		r.service.MaxTurns = 3
		got := r.reply(user("hi"))
		same(t, "end", []string{
			"a I have reached the maximum number of actions that I may take without you. Do you want me to go on? 27", "Finish stop 27/81",
		}, got[len(got)-2:])
		if last := r.saved()[len(r.saved())-1]; last != "u result:call_1:echo{}" {
			t.Errorf("the last message is %q", last)
		}
	})
}

func TestWhichToolsAreOffered(t *testing.T) {
	names := func(body string) (names []string) {
		var b struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		for _, tool := range b.Tools {
			names = append(names, tool.Function.Name)
		}
		return names
	}
	box := &tools{snapshot: toolbox.Snapshot{
		Tools:    []llm.Tool{{Name: "z__a", Schema: json.RawMessage("{}")}, {Name: "a__z", Schema: json.RawMessage("{}")}},
		Frontend: []llm.Tool{{Name: "show", Schema: json.RawMessage("{}")}, {Name: "z__a", Schema: json.RawMessage("{}"), Description: "another"}},
	}}
	for _, tc := range []struct {
		mode, model string
		want        []string
	}{
		{"auto", "gpt-4o", []string{"a__z", "dynamic_task__create_task", "platform__manage_schedule", "show", "subagent__execute_task", "z__a"}},
		{"approve", "gpt-4o", []string{"a__z", "platform__manage_schedule", "show", "z__a"}},
		{"auto", "gemini-2", []string{"a__z", "platform__manage_schedule", "show", "z__a"}},
	} {
		timeless(t, func(t *testing.T) {
			r := newRig(t, box, says(llmtest.Says("c1", "Hello")))
			r.settings["GOOSE_MODE"] = quoted(tc.mode)
			r.choose(tc.model)
			r.reply(user("hi"))
			if got := names(r.asked()[0]); !slices.Equal(got, tc.want) {
				t.Errorf("%s, %s: %q, want %q", tc.mode, tc.model, got, tc.want)
			}
		})
	}
}

func TestAToolThatIsNotBuiltIsAnError(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Calls("c1", "platform__manage_schedule", `{"action":"list"}`), llmtest.Says("c2", "Done.")))
		same(t, "result", "u * result:call_1:Error: -32603: platform__manage_schedule is not built on this server 27", r.reply(user("hi"))[1])
	})
}

func TestAnAnswerInOnePieceHasNoID(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), func(w http.ResponseWriter, asked llmtest.Asked, n int) {
			if asked.Streams() {
				t.Error("a stream was asked for")
			}
			llmtest.Whole(w, "Hello")
		})
		custom := t.TempDir()
		testfile.Write(t, custom+"/custom_x.json", `{"name":"x","display_name":"X","models":[],"engine":"openai","api_key_env":"OPENAI_API_KEY","base_url":"http://m","supports_streaming":false}`)
		r.service.Providers.Definitions = definition.NewStore(custom)
		p, err := r.service.Providers.New("custom_x", llm.ModelConfig{ModelName: "m"})
		if err != nil {
			t.Fatal(err)
		}
		r.agent.SetModels(llm.Models{Worker: p})
		same(t, "events", []string{"a Hello 5", "Finish stop 5/5"}, r.reply(user("hi")))
		same(t, "saved", []string{"u hi", "a Hello"}, r.saved())
	})
}

func TestAFinalOutputIsDemanded(t *testing.T) {
	timeless(t, func(t *testing.T) {
		const wrong = "-32602: Validation failed:\n- : missing property 'n'\n\nExpected format:\n{\n  \"type\": \"object\",\n  \"properties\": {\n" +
			"    \"n\": {\n      \"type\": \"integer\"\n    }\n  },\n  \"required\": [\n    \"n\"\n  ]\n}\n\n" +
			"Please correct your output to match the expected JSON schema and try again."
		output, err := turn.NewFinalOutput(json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`))
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, none, says(
			llmtest.Says("c1", "Working."),
			llmtest.Calls("c2", "recipe__final_output", `{"m":1}`),
			llmtest.Calls("c3", "recipe__final_output", `{ "n": 1,  "a": 2 }`),
		))
		r.agent.SetOutput(output)
		same(t, "events", []string{
			"a c1 Working. 0",
			"u You MUST call the `final_output` tool NOW with the final output for the user. 15",
			`a c2 call:call_1:recipe__final_output{"m":1} 15`,
			"u * result:call_1:Error: " + wrong + " 27",
			`a c3 call:call_1:recipe__final_output{"n":1,"a":2} 27`,
			"u * result:call_1:Final output successfully collected. 27",
			`a {"n":1,"a":2} 27`,
			"Finish stop 27/69",
		}, r.reply(user("hi")))
		same(t, "saved", []string{
			"u hi", "a Working.", "u You MUST call the `final_output` tool NOW with the final output for the user.",
			`a call:call_1:recipe__final_output{"m":1}`, "u result:call_1:Error: " + wrong,
			`a call:call_1:recipe__final_output{"n":1,"a":2}`, "u result:call_1:Final output successfully collected.",
		}, r.saved())
		if second := r.reply(user("more")); second[0] != `a c3 call:call_1:recipe__final_output{"n":1,"a":2} 27` {
			t.Errorf("the second reply begins with %q: an output belongs to one reply", second[0])
		}
		for _, schema := range []string{"", "{}", "true", "null", "[]", `"object"`, `{"type":"nonsense"}`, `{"maximum":1e1000000}`} {
			if _, err := turn.NewFinalOutput(json.RawMessage(schema)); err == nil {
				t.Errorf("%q was taken for a schema", schema)
			}
		}
	})
}
