package turn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// led returns a rig whose worker is gpt-4o. The models answer with the given texts in turn, not streamed. A text that
// starts with a slash is an error status. After an exclamation mark, a text has a tool call.
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
		text, name, ok := strings.Cut(text, "!")
		said, calls := quoted(text), ""
		if ok {
			calls = fmt.Sprintf(`,"tool_calls":[{"id":"call_%d","function":{"name":%q,"arguments":"{}"}}]`, n, name)
		}
		fmt.Fprintf(w, `{"model":%q,"choices":[{"message":{"role":"assistant","content":%s%s}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
			"the "+modelOf(asked.Body), said, calls)
	})
	for key, value := range set {
		r.settings[key] = value
	}
	r.store.session.UserSetName = true
	r.lead()
	return r
}

// lead sets the agent's models again.
func (r *rig) lead() {
	r.t.Helper()
	config, err := r.service.Providers.Config("gpt-4o")
	if err != nil {
		r.t.Fatal(err)
	}
	models, err := llm.ChooseModels(r.settings, r.service.Providers, "openai", config)
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

// whoWasAsked returns which models were asked, in order: L for the lead, W for the worker.
func (r *rig) whoWasAsked() (models string) {
	for _, body := range r.asked() {
		models += map[string]string{"o3": "L", "gpt-4o": "W"}[modelOf(body)]
	}
	return models
}

func TestLeadAndWorkerTakeTurns(t *testing.T) {
	const tool, malformed = "!dev__echo", "!bad name"
	for _, tc := range []struct {
		name  string
		set   settings // in addition to the lead's model
		texts []string // the last one ends the reply
		want  string
	}{
		{"the lead begins", settings{}, []string{tool, tool, tool, tool, "done"}, "LLLWW"},
		{"as often as is set", settings{"GOOSE_LEAD_TURNS": "1"}, []string{tool, tool, "done"}, "LWW"},
		{"two failures bring it back for two answers that do not fail", settings{"GOOSE_LEAD_TURNS": "1"},
			[]string{tool, malformed, malformed, malformed, tool, malformed, tool, tool, "done"}, "LWWLLLLWW"},
		{"the row is empty then", settings{"GOOSE_LEAD_TURNS": "1", "GOOSE_LEAD_FALLBACK_TURNS": "1"},
			[]string{tool, malformed, malformed, malformed, tool, malformed, malformed, tool, "done"}, "LWWLLWWLW"},
		{"what an answer says", settings{"GOOSE_LEAD_TURNS": "1"},
			[]string{tool, "No, I was WRONG.!dev__echo", "So I Try Again.!dev__echo", "Actually, yes!dev__echo", tool, tool, "done"}, "LWWLLLW"},
		{"another answer between them", settings{"GOOSE_LEAD_TURNS": "1"}, []string{tool, malformed, "It is wrong, no, incorrect.!dev__echo", malformed, tool, "done"}, "LWWWWW"},
		{"what a tool comes to", settings{"GOOSE_LEAD_TURNS": "1"}, []string{tool, "!dev__nope", "!dev__nope", "done"}, "LWWW"},
		{"first answers that fail", settings{"GOOSE_LEAD_TURNS": "2"}, []string{malformed, malformed, malformed, tool, tool, "done"}, "LLWLLW"},
		{"an answer that does not fail behind them", settings{"GOOSE_LEAD_TURNS": "2"}, []string{malformed, malformed, tool, malformed, "done"}, "LLWWW"},
		{"one failure, one answer", settings{"GOOSE_LEAD_TURNS": "1", "GOOSE_LEAD_FAILURE_THRESHOLD": "1", "GOOSE_LEAD_FALLBACK_TURNS": "1"},
			[]string{tool, malformed, tool, malformed, tool, "done"}, "LWLWLW"},
		{"numbers that are none", settings{"GOOSE_LEAD_TURNS": "0", "GOOSE_LEAD_FAILURE_THRESHOLD": "1.0", "GOOSE_LEAD_FALLBACK_TURNS": `"1"`},
			[]string{tool, tool, tool, malformed, malformed, tool, tool, "done"}, "LLLWWLLW"},
		{"numbers that are too large", settings{"GOOSE_LEAD_TURNS": "1000001"}, []string{tool, tool, tool, "done"}, "LLLW"},
		{"a worker that cannot answer", settings{"GOOSE_LEAD_TURNS": "1"},
			[]string{tool, "/401", tool, malformed, "/401", malformed, tool, tool, "done"}, "LWLWWLLLW"},
		{"a lead that cannot answer", settings{"GOOSE_LEAD_TURNS": "2"}, []string{"/401", tool, "/401", tool, "done"}, "LLLLW"},
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
		r.lead() // starts again with the lead
		r.reply(user("hi"))
		delete(r.settings, "GOOSE_LEAD_MODEL") // the setting is not read again
		r.reply(user("hi"))
		if got := r.whoWasAsked(); got != "LLWLL" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestModelChangesNameTheModelThatAnswered(t *testing.T) {
	usage := `,"usage":{"prompt_tokens":1,"completion_tokens":1}`
	for _, tc := range []struct{ name, model, usage, want string }{
		{"the lead", `"model":"o3-high",`, usage, `{"type":"ModelChange","model":"o3-high","mode":"lead"}`},
		{"the worker", `"model":"gpt-4o",`, usage, `{"type":"ModelChange","model":"gpt-4o","mode":"worker"}`},
		{"somebody else", `"model":"o3",`, usage, `{"type":"ModelChange","model":"o3","mode":"unknown"}`},
		{"nobody is named", "", usage, `{"type":"ModelChange","model":"o3","mode":"unknown"}`},
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

func TestTheLeadAnswersWhenTheWorkerFails(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := led(t, settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_LEAD_TURNS": "1"}, "one", "/503", "/503", "/503", "/503", "two", "/401", "/413")
		r.reply(user("hi"))
		same(t, "events", []string{`{"type":"ModelChange","model":"the o3","mode":"unknown"}`, "a two 2", "Finish stop 2/4"}, r.reply(user("hi")))
		asked := r.asked()
		if worker, lead := strings.ReplaceAll(asked[1], "gpt-4o", "?"), asked[5]; !strings.Contains(lead, messagesOf(worker)) {
			t.Errorf("the lead was asked\n%s\nthe worker\n%s", lead, worker)
		}
		same(t, "both fail, and the first error is told", []string{
			"a Ran into this error: Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no\n.\n\nPlease try again. 2", "Finish stop 2/4",
		}, r.reply(user("hi")))
		if got := r.whoWasAsked(); got != "LWWWWLWL" {
			t.Errorf("asked %s", got)
		}
	})
}

// messagesOf returns the part of a request after the system prompt, whose role is different for reasoning models.
func messagesOf(body string) string {
	_, messages, _ := strings.Cut(body, `{"role":"user"`)
	messages, _, _ = strings.Cut(messages, "]")
	return messages
}

func TestANameIsCounted(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := led(t, settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_LEAD_TURNS": "2"}, "done")
		r.store.session.UserSetName = false
		r.reply(user("hi"))
		synctest.Wait()
		r.reply(user("hi"))
		if got := r.whoWasAsked(); got != "LW" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestASummaryIsCounted(t *testing.T) {
	timeless(t, func(t *testing.T) {
		set := settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_LEAD_TURNS": "2", "GOOSE_AUTO_COMPACT_THRESHOLD": "0"}
		r := led(t, set, "done", "/413", "/413", "A summary", "done")
		r.reply(user("hi"))
		same(t, "events", []string{
			"a inlineMessage:Context limit reached. Compacting to continue conversation... 2",
			"a thinkingMessage:goose is compacting the conversation... 2",
			"UpdateConversation u- hi | a- done | U- hi | U A summary | A The conversation so far was replaced by this summary. I go on from there without mentioning it. | u hi",
			`{"type":"ModelChange","model":"the gpt-4o","mode":"unknown"}`, "a done 2", "Finish stop 2/6",
		}, r.reply(user("hi")))
		if got := r.whoWasAsked(); got != "LLLLW" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestTheContextLimitsOfLeadAndWorker(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c", "x")))
		config, err := r.service.Providers.Config("gpt-4o")
		if err != nil {
			t.Fatal(err)
		}
		for limit, want := range map[string]int64{
			"1": 1, `"2147483647"`: 2147483647, `"007"`: 7, "0": 128000, "2147483648": 128000, "1.0": 128000, `"+1"`: 128000, `""`: 128000, "-1": 128000, "true": 128000,
		} {
			set := settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_WORKER_CONTEXT_LIMIT": limit}
			models, err := llm.ChooseModels(set, r.service.Providers, "openai", config)
			if err != nil || *models.Worker.Config().ContextLimit != want {
				t.Errorf("%s: %d, %v, want %d", limit, *models.Worker.Config().ContextLimit, err, want)
			}
			delete(set, "GOOSE_LEAD_MODEL")
			if models, err := llm.ChooseModels(set, r.service.Providers, "openai", config); err != nil || *models.Worker.Config().ContextLimit != 128000 {
				t.Errorf("%s: %d, %v without a lead", limit, *models.Worker.Config().ContextLimit, err)
			}
		}
		own := *r.service.Providers
		own.Env = func(name string) (string, bool) {
			value, set := map[string]string{"GOOSE_CONTEXT_LIMIT": "x", "GOOSE_LEAD_CONTEXT_LIMIT": "5000"}[name]
			return value, set
		}
		if lead, err := own.LeadConfig("o3"); err != nil || *lead.ContextLimit != 5000 {
			t.Errorf("the lead's own limit: %+v, %v", lead, err)
		}
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
			{"nope", "openai", "Unknown provider: nope"},
			{"anthropic", "openai", "Configuration value not found: ANTHROPIC_API_KEY"},
			{"anthropic", "nope", "Unknown provider: nope"},
			{"", "openai", "<nil>"},
		} {
			set := settings{"GOOSE_LEAD_MODEL": `"o3"`, "GOOSE_LEAD_PROVIDER": quoted(tc.lead)}
			if _, err := llm.ChooseModels(set, r.service.Providers, tc.worker, config); fmt.Sprint(err) != tc.want {
				t.Errorf("%s: %v, want %s", tc.lead, err, tc.want)
			}
		}
		broken := *r.service.Providers
		broken.Env = func(name string) (string, bool) { return "x", name == "GOOSE_CONTEXT_LIMIT" }
		_, err = llm.ChooseModels(settings{"GOOSE_LEAD_MODEL": `"o3"`}, &broken, "openai", config)
		if invalid, ok := errors.AsType[llm.InvalidModel](err); !ok || invalid.Error() != "Invalid value for 'GOOSE_CONTEXT_LIMIT': 'x' - must be a positive integer" {
			t.Errorf("in a bad environment: %v", err)
		}
		for _, model := range []string{`""`, `7`, `null`} {
			set := settings{"GOOSE_LEAD_MODEL": model, "GOOSE_LEAD_PROVIDER": `"nope"`}
			if _, err := llm.ChooseModels(set, r.service.Providers, "openai", config); err != nil {
				t.Errorf("the model %s: %v", model, err)
			}
		}
	})
}
