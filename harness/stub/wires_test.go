package stub_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const messages = "http://memory/v1/messages"

// thoughtful returns a message with a thought, a text and a tool call.
func thoughtful() *stub.Message {
	return &stub.Message{ID: "m1", Model: "terse-1", Input: 9, Output: 4, Pieces: []stub.Piece{
		{Thinking: text("Hm")}, {Text: text("Let ")}, {Text: text("me"), After: 50 * time.Millisecond},
		{Tool: &stub.Tool{ID: "t1", Name: "add", Arguments: []string{`{"a":`, `2}`}}},
	}}
}

func TestAMessageOfAnthropic(t *testing.T) {
	stage(t, stub.Anthropic, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		defer s.Attach(&play{answer: &stub.Answer{Message: thoughtful()}}, "", true, time.Now())()
		status, got, err := ask(t, c, messages, `{}`)
		const want = `{"id":"m1","type":"message","role":"assistant","model":"terse-1","content":[{"type":"thinking","thinking":"Hm","signature":"c3R1Yg=="},` +
			`{"type":"text","text":"Let me"},{"type":"tool_use","id":"t1","name":"add","input":{"a":2}}],"stop_reason":"tool_use","stop_sequence":null,` +
			`"usage":{"input_tokens":9,"output_tokens":4}}`
		if d := cmp.Diff(want, got); status != 200 || err != nil || d != "" {
			t.Errorf("%d, %v (-want +got):\n%s", status, err, d)
		}
	})
}

func TestAStreamOfAnthropic(t *testing.T) {
	stage(t, stub.Anthropic, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		defer s.Attach(&play{answer: &stub.Answer{Message: thoughtful()}}, "", true, time.Now())()
		_, got, err := ask(t, c, messages, `{"stream":true}`)
		want := []string{
			`message_start {"message":{"id":"m1","type":"message","role":"assistant","model":"terse-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":0}},"type":"message_start"}`,
			`content_block_start {"content_block":{"type":"thinking","thinking":"","signature":""},"index":0,"type":"content_block_start"}`,
			`content_block_delta {"delta":{"thinking":"Hm","type":"thinking_delta"},"index":0,"type":"content_block_delta"}`,
			`content_block_delta {"delta":{"signature":"c3R1Yg==","type":"signature_delta"},"index":0,"type":"content_block_delta"}`,
			`content_block_stop {"index":0,"type":"content_block_stop"}`,
			`content_block_start {"content_block":{"type":"text","text":""},"index":1,"type":"content_block_start"}`,
			`content_block_delta {"delta":{"text":"Let ","type":"text_delta"},"index":1,"type":"content_block_delta"}`,
			`content_block_delta {"delta":{"text":"me","type":"text_delta"},"index":1,"type":"content_block_delta"}`,
			`content_block_stop {"index":1,"type":"content_block_stop"}`,
			`content_block_start {"content_block":{"type":"tool_use","id":"t1","name":"add","input":{}},"index":2,"type":"content_block_start"}`,
			`content_block_delta {"delta":{"partial_json":"{\"a\":","type":"input_json_delta"},"index":2,"type":"content_block_delta"}`,
			`content_block_delta {"delta":{"partial_json":"2}","type":"input_json_delta"},"index":2,"type":"content_block_delta"}`,
			`content_block_stop {"index":2,"type":"content_block_stop"}`,
			`message_delta {"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"output_tokens":4}}`,
			`message_stop {"type":"message_stop"}`,
		}
		var events []string
		for _, e := range strings.Split(strings.TrimSuffix(got, "\n\n"), "\n\n") {
			name, data, _ := strings.Cut(strings.TrimPrefix(e, "event: "), "\ndata: ")
			events = append(events, name+" "+data)
		}
		if d := cmp.Diff(want, events); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	})
}

func TestACutStreamOfAnthropic(t *testing.T) {
	stage(t, stub.Anthropic, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		m := &stub.Message{Pieces: []stub.Piece{{Text: text("half")}}}
		defer s.Attach(&play{answer: &stub.Answer{Message: m, End: stub.Cut}}, "", true, time.Now())()
		_, got, err := ask(t, c, messages, `{"stream":true}`)
		if !strings.HasSuffix(got, `"index":0,"type":"content_block_delta"}`+"\n\n") || err == nil {
			t.Errorf("%v: %s", err, got)
		}
	})
}

func TestErrorsAreWrittenAsTheUpstreamWritesThem(t *testing.T) {
	for _, tc := range []struct {
		kind   stub.Kind
		status int
		want   string
	}{
		{stub.OpenAI, 429, `{"error":{"code":null,"message":"Slow <down>","param":null,"type":"rate_limit_error"}}`},
		{stub.OpenAI, 503, `{"error":{"code":null,"message":"Slow <down>","param":null,"type":"server_error"}}`},
		{stub.OpenAI, 400, `{"error":{"code":null,"message":"Slow <down>","param":null,"type":"invalid_request_error"}}`},
		{stub.Anthropic, 529, `{"error":{"message":"Slow <down>","type":"overloaded_error"},"type":"error"}`},
		{stub.Anthropic, 500, `{"error":{"message":"Slow <down>","type":"api_error"},"type":"error"}`},
		{stub.Anthropic, 422, `{"error":{"message":"Slow <down>","type":"invalid_request_error"},"type":"error"}`},
		{stub.HTTP, 404, `{"error":{"message":"Slow <down>","status":404}}`},
	} {
		stage(t, tc.kind, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
			header := transcript.Header{{Name: "Retry-After", Value: "1"}}
			defer s.Attach(&play{answer: &stub.Answer{Status: tc.status, Error: text("Slow <down>"), Header: header}}, "", true, time.Now())()
			resp, err := c.Get("http://memory/any")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if resp.StatusCode != tc.status || string(got) != tc.want || err != nil || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Retry-After") != "1" {
				t.Errorf("%s %d: %d %s %v, %v", tc.kind, tc.status, resp.StatusCode, got, resp.Header, err)
			}
		})
	}
}

func TestModelsOfAnthropic(t *testing.T) {
	stage(t, stub.Anthropic, stub.Options{Models: []string{"a", "b"}}, func(t *testing.T, s *stub.Server, c *http.Client) {
		resp, err := c.Get("http://memory/v1/models?limit=10")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, _ := io.ReadAll(resp.Body)
		const want = `{"data":[{"created_at":"2023-11-14T22:13:20Z","display_name":"a","id":"a","type":"model"},{"created_at":"2023-11-14T22:13:20Z","display_name":"b","id":"b","type":"model"}],"first_id":"a","has_more":false,"last_id":"b"}`
		if string(got) != want {
			t.Errorf("models: %s", got)
		}
	})
}

func TestTheTextsOfAChat(t *testing.T) {
	result := "5"
	for _, tc := range []struct {
		name, body string
		want       stub.Chat
	}{
		{"of OpenAI", `{"model":"m","stream":true,"messages":[{"role":"system","content":"Be terse"},{"role":"developer","content":"And kind"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"tools":[{"type":"function","function":{"name":"add"}}]}`,
			stub.Chat{Model: "m", Stream: true, System: "Be terse\nAnd kind", Last: "a\nb", Tools: []string{"add"}}},
		{"a tool's result of OpenAI", `{"messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c","content":"5"}]}`, stub.Chat{Last: "5", Result: &result}},
		{"of Anthropic", `{"system":[{"type":"text","text":"Be terse"}],"messages":[{"role":"user","content":"a"}],"tools":[{"name":"add","input_schema":{}}]}`,
			stub.Chat{System: "Be terse", Last: "a", Tools: []string{"add"}}},
		{"a tool's result of Anthropic", `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"5"}]}]}]}`, stub.Chat{Last: "5", Result: &result}},
		{"none", `nonsense`, stub.Chat{}},
		{"no message", `{"messages":[]}`, stub.Chat{}},
		{"other types", `{"model":7,"messages":"x","stream":"yes"}`, stub.Chat{}},
	} {
		got := stub.ChatOf(&transcript.Request{Body: transcript.Body{Bytes: []byte(tc.body)}})
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}
