package llm_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// read reads messages from JSON, and adds the parts that are the same for all.
func read(t testing.TB, role, contents string) message.Message {
	t.Helper()
	text := `{"role":"` + role + `","created":0,"content":` + contents + `,"metadata":{"userVisible":true,"agentVisible":true}}`
	m, err := decode.Text([]byte(text), message.Decode)
	if err != nil {
		t.Fatalf("%s: %v", contents, err)
	}
	return m
}

// sent returns the body of a provider's streaming request.
func sent(t testing.TB, name, model string, env variables, r llm.Request) string {
	t.Helper()
	m, transport := llmtest.Start(t, func(http.ResponseWriter, llmtest.Asked) {})
	for range provider(t, name, model, both, transport, env).Answer(t.Context(), r) {
	}
	asked := m.Asked()
	if len(asked) != 1 {
		t.Fatalf("%d requests, want 1", len(asked))
	}
	return asked[0].Body
}

func TestTheBodyOfARequest(t *testing.T) {
	tools := []llm.Tool{{Name: "a__b", Description: "does b", Schema: json.RawMessage(`{"type":"object","properties":{"z":{},"y":{}}}`)}}
	for _, tc := range []struct {
		name, provider, model string
		env                   variables
		request               llm.Request
		want                  string
	}{
		{"the least", "openai", "gpt-4o", nil, llm.Request{System: "S", Messages: []message.Message{read(t, "user", `[{"type":"text","text":"hi"}]`)}},
			`{"model":"gpt-4o","messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}`},
		{"tools and temperature", "openai", "gpt-4o", variables{"GOOSE_TEMPERATURE": "0.70"}, llm.Request{System: "S", Tools: tools},
			`{"model":"gpt-4o","messages":[{"role":"system","content":"S"}],"tools":[{"type":"function","function":{"name":"a__b","description":"does b",` +
				`"parameters":{"type":"object","properties":{"z":{},"y":{}}}}}],"temperature":0.7,"stream":true,"stream_options":{"include_usage":true}}`},
		{"a reasoning model", "openai", "o3-mini-high", variables{"GOOSE_TEMPERATURE": "1"}, llm.Request{System: "S"},
			`{"model":"o3-mini","messages":[{"role":"developer","content":"S"}],"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true}}`},
		{"a reasoning model without a suffix", "openai", "gpt-5", nil, llm.Request{System: "S"},
			`{"model":"gpt-5","messages":[{"role":"developer","content":"S"}],"reasoning_effort":"medium","stream":true,"stream_options":{"include_usage":true}}`},
		{"a suffix of another model is its name", "openai", "omni-high", nil, llm.Request{System: "S"},
			`{"model":"omni-high","messages":[{"role":"system","content":"S"}],"stream":true,"stream_options":{"include_usage":true}}`},
		{"Messages", "anthropic", "claude-x", variables{"GOOSE_TEMPERATURE": "0"}, llm.Request{System: "S", Tools: tools, Messages: []message.Message{read(t, "user", `[{"type":"text","text":"hi"}]`)}},
			`{"model":"claude-x","max_tokens":8192,"system":"S","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],` +
				`"tools":[{"name":"a__b","description":"does b","input_schema":{"type":"object","properties":{"z":{},"y":{}}}}],"temperature":0,"stream":true}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, sent(t, tc.provider, tc.model, tc.env, tc.request)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

const png = "\x89PNG\r\n\x1a\n"

func TestMessagesOnTheWire(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "a.PNG")
	fake := filepath.Join(t.TempDir(), "b.png")
	testfile.Write(t, picture, png)
	testfile.Write(t, fake, "text")
	for _, tc := range []struct{ name, role, content, chat, messages string }{
		{"texts", "user", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`,
			`{"role":"user","content":"a\nb"}`,
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{"an image", "user", `[{"type":"image","data":"QQ==","mimeType":"image/png"},{"type":"text","text":"b"}]`,
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}},{"type":"text","text":"b"}]}`,
			`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}},{"type":"text","text":"b"}]}`},
		{"named images", "user", `[{"type":"text","text":"see ` + picture + ` and ` + picture + ` and ` + fake + ` /no/c.jpg d.png"}]`,
			`{"role":"user","content":[{"type":"text","text":"see ` + picture + ` and ` + picture + ` and ` + fake + ` /no/c.jpg d.png"},` +
				`{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`,
			`{"role":"user","content":[{"type":"text","text":"see ` + picture + ` and ` + picture + ` and ` + fake + ` /no/c.jpg d.png"}]}`},
		{"calls", "assistant", `[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"redactedThinking","data":"d"},{"type":"text","text":"a"},` +
			`{"type":"toolRequest","id":"1","toolCall":{"status":"success","value":{"name":"x","arguments":{"b": 1.0, "a":"<ü"}}}},` +
			`{"type":"toolRequest","id":"2","toolCall":{"status":"success","value":{"name":"y"}}}]`,
			`{"role":"assistant","content":"a","tool_calls":[{"id":"1","type":"function","function":{"name":"x","arguments":"{\"b\":1.0,\"a\":\"<ü\"}"}},` +
				`{"id":"2","type":"function","function":{"name":"y","arguments":"{}"}}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"a"},` +
				`{"type":"tool_use","id":"1","name":"x","input":{"b":1.0,"a":"<ü"}},{"type":"tool_use","id":"2","name":"y","input":{}}]}`},
		{"a call alone", "assistant", `[{"type":"toolRequest","id":"1","toolCall":{"status":"success","value":{"name":"x"}}}]`,
			`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"x","arguments":"{}"}}]}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]}`},
		{"results", "user", `[{"type":"text","text":"note"},` +
			`{"type":"toolResponse","id":"1","toolResult":{"status":"success","value":[{"type":"text","text":"a"},{"type":"image","data":"QQ==","mimeType":"image/png"},` +
			`{"type":"text","text":"for the user","annotations":{"audience":["user"]}},{"type":"resource","resource":{"uri":"u:1","text":"r"}},` +
			`{"type":"resource","resource":{"uri":"u:2","blob":"QQ=="}},{"type":"resource_link","uri":"u:3","name":"n"},{"type":"audio","data":"QQ==","mimeType":"audio/wav"}]}},` +
			`{"type":"toolResponse","id":"2","toolResult":{"status":"error","error":"-32603: boom"}}]`,
			`{"role":"tool","tool_call_id":"1","content":"a\n[image]\nr\n[resource u:2]\n[resource u:3]\n[audio]"},` +
				`{"role":"tool","tool_call_id":"2","content":"Error: -32603: boom"},` +
				`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}},{"type":"text","text":"note"}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a\n[image]\nr\n[resource u:2]\n[resource u:3]\n[audio]"},` +
				`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}},` +
				`{"type":"tool_result","tool_use_id":"2","content":"Error: -32603: boom","is_error":true},{"type":"text","text":"note"}]}`},
		{"a result without anything", "user", `[{"type":"toolResponse","id":"1","toolResult":{"status":"success","value":[]}}]`,
			`{"role":"tool","tool_call_id":"1","content":""}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":""}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := llm.Request{System: "S", Messages: []message.Message{read(t, tc.role, tc.content)}}
			want := `{"model":"m","messages":[{"role":"system","content":"S"},` + tc.chat + `],"stream":true,"stream_options":{"include_usage":true}}`
			if diff := cmp.Diff(want, sent(t, "openai", "m", nil, r)); diff != "" {
				t.Errorf("chat completions (-want +got):\n%s", diff)
			}
			want = `{"model":"m","max_tokens":8192,"system":"S","messages":[` + tc.messages + `],"stream":true}`
			if diff := cmp.Diff(want, sent(t, "anthropic", "m", nil, r)); diff != "" {
				t.Errorf("Messages (-want +got):\n%s", diff)
			}
		})
	}
}
