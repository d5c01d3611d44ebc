package turn_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// summing is a model that answers requests for summaries, and passes all others to next.
func summing(next answer) answer {
	n := -1
	return func(w http.ResponseWriter, asked llmtest.Asked, _ int) {
		if !asked.Streams() {
			llmtest.Whole(w, "SUMMARY")
			return
		}
		n++
		next(w, asked, n)
	}
}

const thinking = "a thinkingMessage:goose is compacting the conversation..."

// summary is the two messages that replace a conversation, in short form.
const summary = "U SUMMARY | A The conversation so far was replaced by this summary. I go on from there without mentioning it."

func TestCompactionByHand(t *testing.T) {
	for _, command := range []string{"/compact", " /summarize\n", "Please compact this conversation"} {
		timeless(t, func(t *testing.T) {
			r := newRig(t, none, summing(says(llmtest.Says("c1", "Hello"))))
			r.reply(user("hi"))
			same(t, "events", []string{
				thinking + " 15",
				"UpdateConversation u- hi | a- Hello | u- " + command + " | " + summary,
				"a inlineMessage:Compaction complete 2",
				"Finish stop 2/20",
			}, r.reply(user(command)))
			tokens := r.store.session.Tokens
			if *tokens.Input != 2 || tokens.Output != nil || *tokens.AccumulatedInput != 13 || *tokens.AccumulatedOutput != 7 {
				t.Errorf("tokens %+v, want the summary's output as input, and no output", tokens)
			}
			asked := r.asked()
			const want = `{"model":"gpt-4o-mini","messages":[{"role":"system","content":"Summarize the conversation between a user and an AI agent ` +
				`that follows, so that the agent can go on with the summary alone. Keep the user's goals, what was done and found out, names of files, ` +
				`decisions, errors, and what is left to do."},{"role":"user","content":"user: hi\n\nassistant: Hello\n\nuser: `
			if last := asked[len(asked)-1]; !strings.HasPrefix(last, want) {
				t.Errorf("asked for a summary with\n%s\nwant\n%s", last, want)
			}
			r.reply(user("on"))
			asked = r.asked()
			if last := asked[len(asked)-1]; strings.Contains(last, "Hello") || !strings.Contains(last, `{"role":"user","content":"SUMMARY\n<context>`) {
				t.Errorf("the next request is\n%s\nwant one with the summary alone", last)
			}
		})
	}
}

// slowly is a model that calls meanwhile before it answers with a summary.
func slowly(meanwhile func()) answer {
	return func(w http.ResponseWriter, asked llmtest.Asked, _ int) {
		if asked.Streams() {
			llmtest.Events(w, llmtest.Says("c1", "Hello")...)
			return
		}
		meanwhile()
		llmtest.Whole(w, "SUMMARY")
	}
}

func TestMessagesSavedDuringASummaryAreKept(t *testing.T) {
	for _, tc := range []struct {
		name               string
		during, rightAtEnd bool // while the model makes the summary, and just before it is saved
	}{
		{"while it is made", true, false},
		{"before it is saved", false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				var r *rig
				when := func(now bool) func() {
					return func() {
						if !now {
							return
						}
						other := message.Message{Role: message.User, Content: []message.Content{message.Text{Text: "and I"}}, Metadata: message.Visible}
						if err := r.store.AddMessages(t.Context(), "", other); err != nil {
							t.Error(err)
						}
					}
				}
				r = newRig(t, none, slowly(when(tc.during)))
				r.store.beforeCompact = when(tc.rightAtEnd)
				r.reply(user("hi"))
				same(t, "events", []string{
					thinking + " 15",
					"UpdateConversation u- hi | a- Hello | u- /compact | " + summary + " | u and I",
					"a inlineMessage:Compaction complete 2",
					"Finish stop 2/20",
				}, r.reply(user("/compact")))
				r.reply(user("on"))
				asked := r.asked()
				if last := asked[len(asked)-1]; !strings.Contains(last, "and I") {
					t.Errorf("the next request is\n%s\nwant one with what was said meanwhile", last)
				}
			})
		})
	}
}

func TestMessagesDeletedDuringASummaryDoNotComeBack(t *testing.T) {
	timeless(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, none, slowly(func() { r.store.keep(1) }))
		r.reply(user("hi"))
		same(t, "events", []string{
			thinking + " 15", "UpdateConversation u- hi | " + summary, "a inlineMessage:Compaction complete 2", "Finish stop 2/20",
		}, r.reply(user("/compact")))
	})
}

func TestCompactionByHandWithoutAModel(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
		r.agent.SetModels(llm.Models{})
		same(t, "events", []string{thinking + " 0", "Error Provider not set", "Finish stop 0/0"}, r.reply(user("/compact")))
		same(t, "saved", []string{"u /compact"}, r.saved())
	})
}

func TestAConversationThatIsTooLongIsCompactedFirst(t *testing.T) {
	for _, tc := range []struct {
		name      string
		total     int64
		threshold string
		percent   string // "" if it is not compacted
	}{
		{"as long as allowed", 102_400, "", ""},
		{"longer", 102_401, "", "80"},
		{"longer than is set", 72_961, "0.57", "56"}, // 56.99999999999999
		{"switched off", 1_000_000, "0", ""},
		{"switched off from above", 1_000_000, "1.0", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := newRig(t, none, summing(says(llmtest.Says("c1", "Hello"))))
				r.reply(user("hi"))
				r.store.session.Tokens.Total = &tc.total
				if tc.threshold != "" {
					r.settings["GOOSE_AUTO_COMPACT_THRESHOLD"] = tc.threshold
				}
				got := r.reply(user("more"))
				if tc.percent == "" {
					if len(got) != 2 {
						t.Errorf("events %q, want an answer and no compaction", got)
					}
					return
				}
				if !strings.HasPrefix(got[0], "a inlineMessage:Exceeded auto-compact threshold of "+tc.percent+"%. Performing auto-compaction... ") {
					t.Errorf("first event %q, want a notice about %s%%", got[0], tc.percent)
				}
				same(t, "events", []string{
					"UpdateConversation u- hi | a- Hello | U- more | " + summary + " | u more",
					"a inlineMessage:Compaction complete 2",
					"a c1 Hello 2", "Finish stop 15/35",
				}, got[2:])
				same(t, "saved", []string{"u- hi", "a- Hello", "U- more", "U SUMMARY", strings.Split(summary, " | ")[1], "u more", "a Hello"}, r.saved())
			})
		})
	}
}

func TestTheSizeIsEstimatedWhenItIsNotKnown(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, summing(says(llmtest.Says("c1", "Hello"))))
		same(t, "events", 2, len(r.reply(user(strings.Repeat("x", 102_400*4)))))
		r = newRig(t, none, summing(says(llmtest.Says("c1", "Hello"))))
		same(t, "events", 6, len(r.reply(user(strings.Repeat("x", 102_400*4+1)))))
	})
}

// tooLong answers that the conversation is too long for the model.
func tooLong(w http.ResponseWriter) {
	w.WriteHeader(400)
	io.WriteString(w, `{"error":{"message":"too long","code":"context_length_exceeded"}}`)
}

func TestAModelThatFindsTheConversationTooLong(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), summing(func(w http.ResponseWriter, _ llmtest.Asked, n int) {
			switch n {
			case 0:
				llmtest.Events(w, llmtest.Calls("c1", "dev__echo", "{}")...)
			case 1:
				tooLong(w)
			default:
				llmtest.Events(w, llmtest.Says("c2", "Done.")...)
			}
		}))
		same(t, "events", []string{
			"a c1 call:call_1:dev__echo{} 0", "u * result:call_1:echo{} 27",
			"a inlineMessage:Context limit reached. Compacting to continue conversation... 27",
			thinking + " 27",
			"UpdateConversation u- hi | a- call:call_1:dev__echo{} | u- result:call_1:echo{} | " + summary + " | u hi",
			"a c2 Done. 2", "Finish stop 15/47",
		}, r.reply(user("hi")))
	})
}

func TestAConversationThatStaysTooLong(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, summing(func(w http.ResponseWriter, _ llmtest.Asked, _ int) { tooLong(w) }))
		got := r.reply(user("hi"))
		same(t, "end", []string{"a Ran into this error: Context length exceeded: too long.\n\nPlease try again. 2", "Finish stop 2/5"}, got[3:])
	})
}

func TestAConversationThatIsTooLongEvenForASummary(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), func(w http.ResponseWriter, asked llmtest.Asked, n int) {
			switch {
			case n == 0:
				llmtest.Events(w, llmtest.Calls("c1", "dev__echo", "{}")...)
			case n == 1:
				llmtest.Events(w, llmtest.Says("c2", "Done.")...)
			case strings.Contains(asked.Body, "tool answers: "):
				tooLong(w)
			default:
				llmtest.Whole(w, "SUMMARY")
			}
		})
		r.reply(user("hi"))
		if got := r.reply(user("/compact")); len(got) != 4 {
			t.Errorf("events %q, want a compaction without the results of tools", got)
		}
	})
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, func(w http.ResponseWriter, asked llmtest.Asked, n int) {
			w.WriteHeader(404)
			io.WriteString(w, "no model")
		})
		same(t, "events", []string{
			thinking + " 0", "a Ran into this error trying to compact: Request failed: Resource not found (404): no model. 0", "Finish stop 0/0",
		}, r.reply(user("/compact")))
		same(t, "saved", []string{"u /compact"}, r.saved())
	})
}

func TestSlashCommands(t *testing.T) {
	for _, tc := range []struct {
		text  string
		saved []string
	}{
		{"/Do it", []string{"U Be good.\n\nDo {{ it }}.", "u- /Do it", "a Hello"}},
		{"  //do", []string{"U Be good.\n\nDo {{ it }}.", "u-   //do", "a Hello"}},
		{"/second", []string{"U P", "u- /second", "a Hello"}},
		{"/gone", []string{"u /gone", "a Hello"}},
		{"/unknown", []string{"u /unknown", "a Hello"}},
		{"do", []string{"u do", "a Hello"}},
		{"/", []string{"u /", "a Hello"}},
	} {
		timeless(t, func(t *testing.T) {
			r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
			r.settings["slash_commands"] = `[5,{"command":"do","recipe_path":"/r/do.yaml"},{"command":"do","recipe_path":"/r/second.yaml"},` +
				`{"command":"second","recipe_path":"/r/second.yaml"},{"command":"gone","recipe_path":"/r/gone.yaml"},{"command":7}]`
			r.service.ReadRecipe = func(path string) (recipe.Recipe, error) {
				switch path {
				case "/r/do.yaml":
					return recipe.Recipe{Instructions: new("Be good."), Prompt: new("Do {{ it }}.")}, nil
				case "/r/second.yaml":
					return recipe.Recipe{Prompt: new("P")}, nil
				}
				return recipe.Recipe{}, os.ErrNotExist
			}
			same(t, tc.text, []string{"a c1 Hello 0", "Finish stop 15/15"}, r.reply(user(tc.text)))
			same(t, tc.text, tc.saved, r.saved())
		})
	}
}
