package turn_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// If the session of a reply is deleted, the reply ends normally at the next point where it would save something. Each
// of these tests deletes the session at a different moment.

func TestASessionIsDeletedDuringAResponseOfTheModel(t *testing.T) {
	timeless(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, none, func(w http.ResponseWriter, _ llmtest.Asked, n int) {
			if n == 1 {
				r.store.deleteSession()
			}
			llmtest.Events(w, llmtest.Says("c1", "Hel", "lo")...)
		})
		r.reply(user("hi"))
		same(t, "events", []string{"a c1 Hel 15", "a c1 lo 15", "Finish stop 15/15"}, r.reply(user("more")))
		same(t, "saved", []string{}, r.saved())
	})
}

func TestASessionIsDeletedWhileAToolRuns(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		box.run["dev__echo"] = func(context.Context, toolbox.Call) message.ToolResult {
			r.store.deleteSession()
			return result("echoed")
		}
		same(t, "events", []string{"a c1 call:call_1:dev__echo{} 0", "u * result:call_1:echoed 0", "Finish stop 0/0"}, r.reply(user("hi")))
		same(t, "saved", []string{}, r.saved())
		if got := len(r.asked()); got != 1 {
			t.Errorf("the model was asked %d times", got)
		}
	})
}

func TestASessionIsDeletedBeforeAServerAsksTheUser(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}")))
		answers := make(chan error, 1)
		box.run["dev__echo"] = func(ctx context.Context, call toolbox.Call) message.ToolResult {
			r.store.deleteSession()
			_, err := call.Elicit(ctx, "Your name?", json.RawMessage(`{}`))
			answers <- err
			return result("")
		}
		same(t, "events", []string{"a c1 call:call_1:dev__echo{} 0", "Finish stop 0/0"}, r.reply(user("hi")))
		if err := <-answers; err == nil || err.Error() != "Timeout waiting for user response" {
			t.Errorf("what the server gets: %v", err)
		}
	})
}

func TestASessionIsDeletedWhileItIsCompacted(t *testing.T) {
	timeless(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, none, func(w http.ResponseWriter, _ llmtest.Asked, n int) {
			if n == 0 {
				llmtest.Events(w, llmtest.Says("c1", "Hello")...)
				return
			}
			r.store.deleteSession()
			llmtest.Whole(w, "A summary")
		})
		r.reply(user("hi"))
		same(t, "events", []string{
			"a thinkingMessage:goose is compacting the conversation... 15", "Finish stop 15/15",
		}, r.reply(user("/compact")))
	})
}

func TestASessionIsDeletedBeforeItIsReadAgain(t *testing.T) {
	timeless(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, none, func(w http.ResponseWriter, _ llmtest.Asked, n int) {
			if n == 0 {
				r.store.deleteSession()
				tooLong(w)
				return
			}
			llmtest.Whole(w, "A summary")
		})
		same(t, "events", []string{
			"a inlineMessage:Context limit reached. Compacting to continue conversation... 0",
			"a thinkingMessage:goose is compacting the conversation... 0", "Finish stop 0/0",
		}, r.reply(user("hi")))
	})
}

func TestASessionIsDeletedWhenItsReplyBegins(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
		r.store.deleteWhenRead = true
		same(t, "events", []string{"Error Failed to read session: Session not found"}, r.reply(user("hi")))
	})
}

// TestALifeEndsDuringAResponseOfTheModel checks that the session's memory, and with it every reply, ends before the
// session is deleted (decision G29).
func TestALifeEndsDuringAResponseOfTheModel(t *testing.T) {
	timeless(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, none, func(w http.ResponseWriter, _ llmtest.Asked, n int) {
			llmtest.Events(w, llmtest.Says("c1", "Hel")[:1]...)
			_ = http.NewResponseController(w).Flush()
			r.memory.End()
			llmtest.Events(w, llmtest.Says("c1", "Hel", "lo")[1:]...)
		})
		events := r.reply(user("hi"))
		if got := events[len(events)-1]; got != "Finish stop 0/0" && got != "Finish stop 15/15" {
			t.Errorf("the stream ends with %s", got)
		}
		same(t, "saved", []string{"u hi"}, r.saved())
	})
}

func TestALifeEndsWhileAToolRuns(t *testing.T) {
	timeless(t, func(t *testing.T) {
		box := echoing()
		r := newRig(t, box, says(llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		box.run["dev__echo"] = func(ctx context.Context, _ toolbox.Call) message.ToolResult {
			r.memory.End()
			if ctx.Err() == nil { // otherwise it would report the connection that is closed then
				t.Error("the tool runs on when the life has ended")
			}
			return result("echoed")
		}
		same(t, "events", []string{"a c1 call:call_1:dev__echo{} 0", "Finish stop 27/27"}, r.reply(user("hi")))
		same(t, "saved", []string{"u hi"}, r.saved())
		if got := len(r.asked()); got != 1 {
			t.Errorf("the model was asked %d times", got)
		}
	})
}
