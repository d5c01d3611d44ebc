package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// sampling returns a rig with a tool that asks the model. The model streams a call, then an end, and answers the
// tool's question with answer.
func sampling(t *testing.T, question toolbox.Sampling, answer func(w http.ResponseWriter)) *rig {
	box := echoing()
	box.run["dev__echo"] = func(ctx context.Context, call toolbox.Call) message.ToolResult {
		said, err := call.Sample(ctx, question)
		if err != nil {
			return result("failed: " + err.Error())
		}
		return result(said.Model + " says " + said.Text)
	}
	n := 0
	return newRig(t, box, func(w http.ResponseWriter, asked llmtest.Asked, _ int) {
		if !asked.Streams() {
			answer(w)
			return
		}
		llmtest.Events(w, [][]string{llmtest.Calls("c1", "dev__echo", "{}"), llmtest.Says("c2", "Done.")}[min(n, 1)]...)
		n++
	})
}

func TestAServerAsksTheModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pixel.png")
	testfile.Write(t, path, "\x89PNG\r\n\x1a\n")
	text := func(role message.Role, text string) message.Message {
		return message.Message{Role: role, Content: []message.Content{message.Text{Text: text}}}
	}
	picture := message.Message{Role: message.User, Content: []message.Content{
		message.Text{Text: "Look"}, message.Image{Data: "eA==", MIMEType: "image/png"},
	}}
	drawn := message.Message{Role: message.Assistant, Content: picture.Content[1:]} // chat completions cannot express it
	for _, tc := range []struct {
		name, model string
		maxTokens   int64 // of the session's model configuration
		question    toolbox.Sampling
		want        string
	}{
		{"as it came", "gpt-4o", 0, toolbox.Sampling{System: "Be short.", MaxTokens: 5, Temperature: "0.50", Messages: []message.Message{
			text(message.Assistant, " first "), text(message.User, path), text(message.User, ""), picture, drawn, text(message.Assistant, "last"),
		}}, `{"model":"gpt-4o","messages":[{"role":"system","content":"Be short."},{"role":"assistant","content":" first "},{"role":"user","content":` + quoted(path) + `},` +
			`{"role":"user","content":""},{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},` +
			`{"role":"assistant","content":"last"}],"temperature":0.50,"max_tokens":5}`},
		{"nothing but a message", "gpt-4o", 0, toolbox.Sampling{MaxTokens: 7, Messages: []message.Message{text(message.User, "Hi")}},
			`{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}],"max_tokens":7}`},
		{"more than the session wants", "gpt-4o", 6, toolbox.Sampling{MaxTokens: 7, Messages: []message.Message{text(message.User, "Hi")}},
			`{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}],"max_tokens":6}`},
		{"a model that reasons", "o3-low", 8, toolbox.Sampling{System: "S", MaxTokens: 7, Temperature: "1", Messages: []message.Message{text(message.User, "Hi")}},
			`{"model":"o3","messages":[{"role":"developer","content":"S"},{"role":"user","content":"Hi"}],"reasoning_effort":"low","max_completion_tokens":7}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := sampling(t, tc.question, func(w http.ResponseWriter) {
					fmt.Fprint(w, `{"model":"another","choices":[{"message":{"content":"Yes"}}],"usage":{"prompt_tokens":100,"completion_tokens":100}}`)
				})
				r.agent.SetModels(llm.Models{Worker: r.provider(tc.model, tc.maxTokens)})
				same(t, "events", []string{
					"a c1 call:call_1:dev__echo{} 0", "u * result:call_1:" + tc.model + " says Yes 27", "a c2 Done. 27", "Finish stop 15/42",
				}, r.reply(user("hi")))
				same(t, "asked", tc.want, r.asked()[1])
			})
		})
	}
}

// provider returns a model with a limit, or without one for 0.
func (r *rig) provider(model string, maxTokens int64) *llm.Provider {
	r.t.Helper()
	config, err := r.service.Providers.Config(model)
	if err != nil {
		r.t.Fatal(err)
	}
	if maxTokens > 0 {
		config.MaxTokens = &maxTokens
	}
	p, err := r.service.Providers.New("openai", config)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func TestWhatAServerLearnsAboutAModel(t *testing.T) {
	question := toolbox.Sampling{MaxTokens: 1, Messages: []message.Message{{Role: message.User, Content: []message.Content{message.Text{Text: "Hi"}}}}}
	for _, tc := range []struct {
		name   string
		answer string // a number is a status
		want   string
		asked  int
	}{
		{"an answer", `{"choices":[{"message":{"content":"Yes"}}]}`, "gpt-4o says Yes", 1},
		{"only tool calls", `{"choices":[{"message":{"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}}]}`, "gpt-4o says ", 1},
		{"a refusal", "401", "failed: Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no\n", 1},
		{"no luck at all", "503", "failed: Server error: Server error (503 Service Unavailable): no\n", 4},
		{"nonsense", "[]", "failed: Request failed: The answer of the model cannot be read", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := sampling(t, question, func(w http.ResponseWriter) {
					var status int
					if json.Unmarshal([]byte(tc.answer), &status) == nil {
						http.Error(w, "no", status)
						return
					}
					fmt.Fprint(w, tc.answer)
				})
				if got, want := r.reply(user("hi"))[1], "u * result:call_1:"+tc.want+" 27"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				asked := 0
				for _, body := range r.asked() {
					if !strings.Contains(body, `"stream"`) {
						asked++
					}
				}
				if asked != tc.asked {
					t.Errorf("asked %d times, want %d", asked, tc.asked)
				}
			})
		})
	}
}
