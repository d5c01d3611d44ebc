package turn_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

func TestToolsWithNamesThatProvidersRejectAreNotOffered(t *testing.T) {
	named := func(names ...string) (named []llm.Tool) {
		for _, name := range names {
			named = append(named, llm.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
		}
		return named
	}
	longest := strings.Repeat("x", 64)
	timeless(t, func(t *testing.T) {
		box := &tools{snapshot: toolbox.Snapshot{
			Tools:    named("dev__a.b", "dev__a-B_0", "dev__"+longest, "dev__ü", "dev__a\n"),
			Frontend: named("show map", "", longest, longest+"x"),
		}}
		r := newRig(t, box, says(llmtest.Calls("c1", longest+"x", "{}"), llmtest.Says("c2", "Hello")))
		var log strings.Builder
		r.service.Log = slog.New(slog.NewTextHandler(&log, nil))
		same(t, "events", []string{
			"a c1 call:call_1:" + longest + "x{} 0",
			"u * result:call_1:Error: -32002: " + longest + "x 27", // and the client is not waited for
			"a c2 Hello 27", "Finish stop 15/42",
		}, r.reply(user("hi")))
		var asked struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(r.asked()[0]), &asked); err != nil {
			t.Fatal(err)
		}
		var offered []string
		for _, tool := range asked.Tools {
			offered = append(offered, tool.Function.Name)
		}
		same(t, "offered", []string{"dev__a-B_0", "dynamic_task__create_task", "platform__manage_schedule", "subagent__execute_task", longest}, offered)
		const told = `level=WARN msg="tools not offered: providers take no such names" session=s1 count=7 first=dev__a.b`
		if !strings.Contains(log.String(), told) {
			t.Errorf("the log has\n%s\nwant\n%s", log.String(), told)
		}
	})
}

func TestALongNameIsCutInTheLog(t *testing.T) {
	timeless(t, func(t *testing.T) {
		name := strings.Repeat("ü", 1<<20)
		r := newRig(t, &tools{snapshot: toolbox.Snapshot{Frontend: []llm.Tool{{Name: name}}}}, says(llmtest.Says("c1", "Hello")))
		var log strings.Builder
		r.service.Log = slog.New(slog.NewTextHandler(&log, nil))
		r.reply(user("hi"))
		if !strings.Contains(log.String(), "first="+strings.Repeat("ü", 50)+"...") || log.Len() > 1000 {
			t.Errorf("the log has %d bytes: %.300s", log.Len(), log.String())
		}
	})
}
