package turn_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// TestEventsObeyTheContract checks every kind of event against openapi.yaml.
func TestEventsObeyTheContract(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromFile("../../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schema := document.Components.Schemas["MessageEvent"].Value
	seen := map[string]int{}
	check := func(s *stream) {
		for {
			data, ok := s.raw()
			if !ok {
				return
			}
			var event map[string]any
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			if err := schema.VisitJSON(event, openapi3.VisitAsResponse(), openapi3.MultiErrors()); err != nil {
				t.Errorf("%s:\n%v", data, err)
			}
			seen[event["type"].(string)]++
		}
	}
	timeless(t, func(t *testing.T) {
		box := echoing()
		box.run["dev__echo"] = func(ctx context.Context, call toolbox.Call) message.ToolResult {
			call.Notify(toolbox.Notification{Method: "notifications/message", Params: json.RawMessage(`{"level":"info","data":"x"}`)})
			call.Notify(toolbox.Notification{Method: "notifications/progress", Params: json.RawMessage(`{"progressToken":1,"progress":1}`)})
			_, err := call.Elicit(ctx, "Your name?", json.RawMessage(`{"type":"object"}`))
			return result(err.Error())
		}
		r := newRig(t, box, summing(says(llmtest.Calls("c", "dev__echo", "{}", "dev__nope", "", "bad name", ""), llmtest.Says("c", "x"))))
		r.settings["GOOSE_MODE"] = `"approve"`
		r.decide("call_1", "allow_once")
		r.decide("call_2", "deny")
		check(r.open(user("hi")))
		check(r.open(user("/compact")))
		r.settings["GOOSE_LEAD_MODEL"] = `"o3"`
		r.lead()
		check(r.open(user("hi")))
		r.agent.SetModels(llm.Models{})
		check(r.open(user("hi")))
	})
	for _, kind := range []string{"Message", "Error", "Finish", "Notification", "UpdateConversation", "ModelChange", "Ping"} {
		if seen[kind] == 0 {
			t.Errorf("there was no %s", kind)
		}
	}
}
