package reply_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// led is a rig whose worker is gpt-4o. The models answer with one text after the other, not streamed; a text that begins
// with a slash is the status and the body of an error, one that begins with an exclamation mark a tool call.
func led(t *testing.T, set settings, texts ...string) *rig {
	r := newRig(t, echoing(), func(w http.ResponseWriter, asked llmtest.Asked, n int) {
		if asked.Streams() {
			t.Error("a turn is streamed")
		}
		text := texts[min(n, len(texts)-1)]
		if status, ok := strings.CutPrefix(text, "/"); ok {
			http.Error(w, "no", map[string]int{"503": 503, "401": 401, "413": 413}[status])
			return
		}
		said, calls := quoted(text), ""
		if name, ok := strings.CutPrefix(text, "!"); ok {
			said = "null"
			calls = fmt.Sprintf(`,"tool_calls":[{"id":"call_%d","function":{"name":%q,"arguments":"{}"}}]`, n, name)
		}
		fmt.Fprintf(w, `{"model":%q,"choices":[{"message":{"role":"assistant","content":%s%s}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
			"the "+modelOf(asked.Body), said, calls)
	})
	for key, value := range set {
		r.settings[key] = value
	}
	r.lead()
	return r
}

// lead gives the agent its models again.
func (r *rig) lead() {
	r.t.Helper()
	config, err := r.service.Providers.Config("gpt-4o")
	if err != nil {
		r.t.Fatal(err)
	}
	models, err := reply.Choose(r.settings, r.service.Providers, "openai", config)
	if err != nil {
		r.t.Fatal(err)
	}
	r.agent.SetModels(models)
}

func modelOf(body string) string {
	var b struct{ Model string }
	_ = json.Unmarshal([]byte(body), &b)
	return b.Model
}

// whoWasAsked returns the models in their order: L is the lead, W the worker.
func (r *rig) whoWasAsked() (models string) {
	for _, body := range r.asked() {
		models += map[string]string{"o3": "L", "gpt-4o": "W"}[modelOf(body)]
	}
	return models
}

func TestWhoHasWhichTurn(t *testing.T) {
	const tool, unknown, malformed = "!dev__echo", "!dev__nope", "!bad name"
	for _, tc := range []struct {
		name  string
		set   settings // besides the lead's model
		texts []string // the last one ends the reply
		want  string
	}{
		{"the lead begins", settings{}, []string{tool, tool, tool, tool, "done"}, "LLLWW"},
		{"as often as is set", settings{"GOOSE_LEAD_TURNS": "1"}, []string{tool, tool, "done"}, "LWW"},
		{"two failures bring it back for two turns", settings{"GOOSE_LEAD_TURNS": "1"},
			[]string{tool, unknown, malformed, tool, tool, tool, "done"}, "LWWLLWW"},
		{"whatever else comes between them", settings{"GOOSE_LEAD_TURNS": "1"}, []string{tool, unknown, tool, unknown, tool, "done"}, "LWWWWW"},
		{"failures of the lead do not count", settings{"GOOSE_LEAD_TURNS": "2", "GOOSE_LEAD_FAILURE_THRESHOLD": "1"},
			[]string{unknown, malformed, tool, "done"}, "LLWW"},
		{"one failure, one turn", settings{"GOOSE_LEAD_TURNS": "1", "GOOSE_LEAD_FAILURE_THRESHOLD": "1", "GOOSE_LEAD_FALLBACK_TURNS": "1"},
			[]string{tool, unknown, tool, unknown, tool, "done"}, "LWLWLW"},
		{"numbers that are none", settings{"GOOSE_LEAD_TURNS": "0", "GOOSE_LEAD_FAILURE_THRESHOLD": "1.0", "GOOSE_LEAD_FALLBACK_TURNS": `"1"`},
			[]string{tool, tool, tool, unknown, unknown, tool, tool, "done"}, "LLLWWLLW"},
		{"numbers that are too large", settings{"GOOSE_LEAD_TURNS": "1000001"}, []string{tool, tool, tool, "done"}, "LLLW"},
		{"a worker that cannot answer", settings{"GOOSE_LEAD_TURNS": "1"}, []string{tool, "/401", tool, unknown, "/401", tool, unknown, tool, "done"}, "LWLWWLWLL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				tc.set["GOOSE_LEAD_MODEL"] = `"o3-high"`
				r := led(t, tc.set, tc.texts...)
				r.reply(user("hi"))
				if got := r.whoWasAsked(); got != tc.want {
					t.Errorf("asked %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestTurnsAreCountedOverReplies(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := led(t, settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_LEAD_TURNS": "2"}, "done")
		for range 3 {
			r.reply(user("hi"))
		}
		r.lead() // which begins anew
		r.reply(user("hi"))
		delete(r.settings, "GOOSE_LEAD_MODEL") // which nobody looks at now
		r.reply(user("hi"))
		if got := r.whoWasAsked(); got != "LLWLL" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestWhoHasAnswered(t *testing.T) {
	usage := `,"usage":{"prompt_tokens":1,"completion_tokens":1}`
	for _, tc := range []struct{ name, model, usage, want string }{
		{"the lead", `"model":"o3",`, usage, `{"type":"ModelChange","model":"o3","mode":"lead"}`},
		{"the worker", `"model":"gpt-4o",`, usage, `{"type":"ModelChange","model":"gpt-4o","mode":"worker"}`},
		{"somebody else", `"model":"o3-high",`, usage, `{"type":"ModelChange","model":"o3-high","mode":"unknown"}`},
		{"nobody is named", "", usage, `{"type":"ModelChange","model":"o3","mode":"lead"}`},
		{"no usage", `"model":"o3",`, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := newRig(t, none, func(w http.ResponseWriter, _ llmtest.Asked, _ int) {
					fmt.Fprintf(w, `{%s"choices":[{"message":{"content":"Hello"}}]%s}`, tc.model, tc.usage)
				})
				r.settings["GOOSE_LEAD_MODEL"] = `"o3-high"`
				r.lead()
				want := []string{"a Hello 2", "Finish stop 2/2"}
				if tc.want == "" {
					want = []string{"a Hello 0", "Finish stop 0/0"}
				} else {
					want = append([]string{tc.want}, want...)
				}
				same(t, "events", want, r.reply(user("hi")))
			})
		})
	}
}

func TestTheLeadAnswersForTheWorker(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := led(t, settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_LEAD_TURNS": "1"}, "one", "/503", "/503", "/503", "/503", "two", "/401", "/401")
		r.reply(user("hi"))
		same(t, "events", []string{`{"type":"ModelChange","model":"the o3","mode":"unknown"}`, "a two 2", "Finish stop 2/4"}, r.reply(user("hi")))
		asked := r.asked()
		if worker, lead := strings.ReplaceAll(asked[1], "gpt-4o", "?"), asked[5]; !strings.Contains(lead, messagesOf(worker)) {
			t.Errorf("the lead was asked\n%s\nthe worker\n%s", lead, worker)
		}
		same(t, "both fail", []string{
			"a Ran into this error: Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no\n.\n\nPlease try again. 2", "Finish stop 2/4",
		}, r.reply(user("hi")))
		if got := r.whoWasAsked(); got != "LWWWWLWL" {
			t.Errorf("asked %s", got)
		}
	})
}

// messagesOf returns what a request says behind the system prompt, which has another role for models that reason.
func messagesOf(body string) string {
	_, messages, _ := strings.Cut(body, `{"role":"user"`)
	messages, _, _ = strings.Cut(messages, "]")
	return messages
}

func TestOtherCallsAskTheWorker(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := led(t, settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_AUTO_COMPACT_THRESHOLD": "0"}, "done", "/413", "A summary", "done")
		r.reply(user("hi"))
		same(t, "events", []string{
			"a inlineMessage:Context limit reached. Compacting to continue conversation... 2",
			"a thinkingMessage:goose is compacting the conversation... 2",
			"UpdateConversation u- hi | a- done | U- hi | U A summary | A The conversation so far was replaced by this summary. I go on from there without mentioning it. | u hi",
			`{"type":"ModelChange","model":"the o3","mode":"unknown"}`, "a done 2", "Finish stop 2/6",
		}, r.reply(user("hi")))
		var models []string
		for _, body := range r.asked() {
			models = append(models, modelOf(body))
		}
		same(t, "models", []string{"o3", "o3", "gpt-4o-mini", "o3"}, models)
	})
}

func TestALeadThatCannotBeBuilt(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c", "x")))
		config, err := r.service.Providers.Config("gpt-4o")
		if err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct{ lead, worker, want string }{
			{"nope", "openai", "Lead provider nope: Unknown provider: nope"},
			{"anthropic", "openai", "Lead provider anthropic: Configuration value not found: ANTHROPIC_API_KEY"},
			{"anthropic", "nope", "Unknown provider: nope"},
			{"", "openai", "<nil>"},
		} {
			set := settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_LEAD_PROVIDER": quoted(tc.lead)}
			if _, err := reply.Choose(set, r.service.Providers, tc.worker, config); fmt.Sprint(err) != tc.want {
				t.Errorf("%s: %v, want %s", tc.lead, err, tc.want)
			}
		}
		broken := *r.service.Providers
		broken.Env = func(name string) (string, bool) { return "x", name == "GOOSE_CONTEXT_LIMIT" }
		_, err = reply.Choose(settings{"GOOSE_LEAD_MODEL": `"o3"`}, &broken, "openai", config)
		if invalid, ok := errors.AsType[reply.InvalidModel](err); !ok || invalid.Error() != "Invalid value for 'GOOSE_CONTEXT_LIMIT': 'x' - must be a positive integer" {
			t.Errorf("in a bad environment: %v", err)
		}
		for _, model := range []string{`""`, `7`, `null`} {
			set := settings{"GOOSE_LEAD_MODEL": model, "GOOSE_LEAD_PROVIDER": `"nope"`}
			if _, err := reply.Choose(set, r.service.Providers, "openai", config); err != nil {
				t.Errorf("the model %s: %v", model, err)
			}
		}
	})
}
