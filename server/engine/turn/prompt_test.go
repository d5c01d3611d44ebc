package turn_test

import (
	"encoding/json"
	"testing"

	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

func TestTheSystemPromptAndTheNote(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := &tools{
			snapshot: toolbox.Snapshot{Instructions: []toolbox.Instructions{{Key: "a", Text: "Do a. \u00a0\v\n"}, {Key: "b", Text: " \n"}, {Key: "c", Text: "Do c."}}, Notes: []string{"Todo list:\n- x"}},
		}
		r := newRig(t, box, says(llmtest.Says("c1", "Hello"), llmtest.Calls("c2", "recipe__final_output", "{}")))
		r.agent.InDesktop()
		r.agent.Follow("Be brief.")
		output, err := turn.NewFinalOutput(json.RawMessage(`{"type":"object"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.agent.SetOutput(output)
		r.reply(user("hi"))
		var body struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(r.asked()[0]), &body); err != nil {
			t.Fatal(err)
		}
		same(t, "system prompt", "You are goose, an AI agent. You help people with their work, and you act through the tools that you are given.\n\n"+
			"# Extension a\nDo a.\n\n# Extension c\nDo c.\n\nYou follow a recipe. Its instructions are:\n\nBe brief.\n\n"+
			"When the work is done, call the tool recipe__final_output once, with the final output. It has to match this schema:\n{\n  \"type\": \"object\"\n}", body.Messages[0].Content)
		const note = "\nWorking directory: /w\nTodo list:\n- x\n</context>\nhi"
		if got := body.Messages[1].Content; len(got) < len(note) || got[len(got)-len(note):] != note {
			t.Errorf("the first message is %q, want it to end with %q", got, note)
		}
	})
}
