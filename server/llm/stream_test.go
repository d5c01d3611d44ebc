package llm_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// A streamCase is a streamed answer of a model, and the pieces that it becomes.
type streamCase struct {
	name     string
	provider string
	events   []string
	want     []string
}

func testStreams(t *testing.T, answers []streamCase) {
	for _, tc := range answers {
		t.Run(tc.name, func(t *testing.T) {
			_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { llmtest.Events(w, tc.events...) })
			got, err := pieces(t, provider(t, tc.provider, "m", both, transport, nil))
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("Answer: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestTextsAreStreamedInPieces(t *testing.T) {
	testStreams(t, []streamCase{
		{"texts, an empty one too, and usage", "openai", []string{
			`{"id":"c1","model":"m","choices":[{"delta":{"role":"assistant","content":""}}]}`,
			`{"id":"c1","model":"m","choices":[{"delta":{"content":"Hel"}}],"usage":null}`,
			`{"id":"c2","model":"m","choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}`,
			`{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
			`[DONE]`,
			`{"id":"c1","model":"m","choices":[{"delta":{"content":"late"}}]}`,
		}, []string{
			`["c1",{"type":"text","text":""}]`, `["c1",{"type":"text","text":"Hel"}]`, `["c1",{"type":"text","text":"lo"}]`, `[1,2,3]`,
		}},
		{"nothing at all", "openai", nil, nil},
	})
}

func TestUsageOfAStream(t *testing.T) {
	testStreams(t, []streamCase{
		{"usage without a model does not count", "openai", []string{
			`{"id":"c1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `[DONE]`,
		}, nil},
		{"numbers of usage have 31 bits", "openai", []string{
			`{"model":"m","usage":{"prompt_tokens":2147483647,"completion_tokens":2147483648,"total_tokens":4e0}}`,
			`{"model":"m","usage":{"prompt_tokens":-1,"completion_tokens":1.5,"total_tokens":"7"}}`,
			`{"model":"m","usage":{"prompt_tokens":2147483647,"completion_tokens":1.0}}`,
			`{"model":"m","usage":{"prompt_tokens":1e999,"completion_tokens":9223372036854775807,"total_tokens":0}}`,
			`[DONE]`,
		}, []string{`[2147483647,null,4]`, `[null,null,null]`, `[2147483647,1,2147483647]`, `[null,null,0]`}},
		{"sums of usage have 31 bits", "anthropic", []string{
			`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":2147483000,"cache_read_input_tokens":600,"cache_creation_input_tokens":600,"output_tokens":-1}}}`,
			`{"type":"message_delta","usage":{"input_tokens":2147483648,"output_tokens":9}}`,
			`{"type":"message_stop"}`,
		}, []string{`[2147483647,9,2147483647]`}},
	})
}

func TestToolCallsOfAStream(t *testing.T) {
	testStreams(t, []streamCase{
		{"tool calls are in the order of their indexes, and their first names and ids count", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":5,"id":"a","function":{"name":"x","arguments":"{"}}]}}]}`,
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":2,"function":{"name":""}},{"index":5,"id":"late","function":{"name":"late","arguments":"}"}}]}}]}`,
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":2,"id":"b","function":{"name":"y"}}]},"finish_reason":"tool_calls"}]}`,
			`[DONE]`,
		}, []string{`["c1",{"type":"toolRequest","id":"b","toolCall":{"status":"success","value":{"name":"y","arguments":{}}}},` +
			`{"type":"toolRequest","id":"a","toolCall":{"status":"success","value":{"name":"x","arguments":{}}}}]`}},
		{"tool calls are put together", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"Look","tool_calls":[{"index":0,"id":"a","function":{"name":"x__y","arguments":""}}]}}]}`,
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"b\": 1.0,"}}]}}]}`,
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"z"}}]}}]}`,
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a\":2}"}}]}}]}`,
			`{"id":"c1","choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
			`[DONE]`,
		}, []string{
			`["c1",{"type":"text","text":"Look"}]`,
			`["c1",{"type":"toolRequest","id":"a","toolCall":{"status":"success","value":{"name":"x__y","arguments":{"b":1.0,"a":2}}}},` +
				`{"type":"toolRequest","id":"b","toolCall":{"status":"success","value":{"name":"z","arguments":{}}}}]`,
		}},
		{"tool calls come at [DONE] if no reason was given", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"z"}}]}}]}`, `[DONE]`,
		}, []string{`["c1",{"type":"toolRequest","id":"a","toolCall":{"status":"success","value":{"name":"z","arguments":{}}}}]`}},
		{"tool calls of an answer that breaks off are lost", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"Look"}}]}`,
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"z"}}]}}]}`,
		}, []string{`["c1",{"type":"text","text":"Look"}]`}},
		{"malformed tool calls", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"z","arguments":"{"}},` +
				`{"index":1,"id":"b","function":{"name":"z","arguments":"[]"}},{"index":2,"id":"c","function":{"name":"a b"}}]},"finish_reason":"tool_calls"}]}`,
		}, []string{`["c1",{"type":"toolRequest","id":"a","toolCall":{"status":"error","error":"-32602: Invalid arguments of tool call a"}},` +
			`{"type":"toolRequest","id":"b","toolCall":{"status":"error","error":"-32602: Invalid arguments of tool call b"}},` +
			`{"type":"toolRequest","id":"c","toolCall":{"status":"error","error":"-32600: Invalid tool name: a b"}}]`}},
		{"half a surrogate pair in arguments is no JSON", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"a\":\"\\ud800\"}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
		}, []string{`["c1",{"type":"toolRequest","id":"a","toolCall":{"status":"error","error":"-32602: Invalid arguments of tool call a"}}]`}},
	})
}

func TestAStreamEndsAtItsFirstDefect(t *testing.T) {
	testStreams(t, []streamCase{
		{"what is no JSON ends the answer", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"a"}}]}`, `{"id":`, `{"id":"c1","choices":[{"delta":{"content":"b"}}]}`,
		}, []string{`["c1",{"type":"text","text":"a"}]`}},
		{"an error in the stream ends the answer", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"a"}}]}`, `{"error":{"message":"overloaded"}}`, `{"id":"c1","choices":[{"delta":{"content":"b"}}]}`,
		}, []string{`["c1",{"type":"text","text":"a"}]`}},
		{"bytes that are no UTF-8 end the answer", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"a"}}]}`, `{"id":"c1","choices":[{"delta":{"content":"` + "\xff" + `"}}]}`, `{"id":"c1","choices":[{"delta":{"content":"b"}}]}`,
		}, []string{`["c1",{"type":"text","text":"a"}]`}},
		{"what is no object ends the answer", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"a"}}]}`, `null`, `{"id":"c1","choices":[{"delta":{"content":"b"}}]}`,
		}, []string{`["c1",{"type":"text","text":"a"}]`}},
		{"half a surrogate pair is no JSON", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"\\ud83d\\ud800 \ud83d\ude00"}}]}`, `{"id":"c1","choices":[{"delta":{"content":"\ud800"}}]}`, `{"id":"c1","choices":[{"delta":{"content":"c"}}]}`,
		}, []string{`["c1",{"type":"text","text":"\\ud83d\\ud800 😀"}]`}},
	})
}

func TestMessagesAreStreamedInPieces(t *testing.T) {
	testStreams(t, []streamCase{
		{"Messages", "anthropic", []string{
			`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"ping"}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"x__y","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
			`{"type":"content_block_stop","index":2}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"redacted_thinking","data":"xx"}}`,
			`{"type":"content_block_stop","index":3}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`,
			`{"type":"message_stop"}`,
		}, []string{
			`["msg_1",{"type":"thinking","thinking":"Hmm","signature":"sig"}]`,
			`["msg_1",{"type":"text","text":"Hello"}]`,
			`["msg_1",{"type":"redactedThinking","data":"xx"}]`,
			`["msg_1",{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"x__y","arguments":{"a":1}}}},15,7,22]`,
		}},
		{"blocks end once, and the first id counts", "anthropic", []string{
			`{"type":"message_start","message":{"id":"msg_1"}}`,
			`{"type":"message_start","message":{"id":"msg_2"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"not a delta"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"d"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"before its end"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"x","input":{}}}`,
			`{"type":"content_block_stop","index":2}`,
			`{"type":"content_block_stop","index":2}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"u","name":"x","input":{}}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_stop"}`,
		}, []string{
			`["msg_1",{"type":"text","text":"before its end"}]`, `["msg_1",{"type":"redactedThinking","data":"d"}]`,
			`["msg_1",{"type":"toolRequest","id":"t","toolCall":{"status":"success","value":{"name":"x","arguments":{}}}}]`,
		}},
		{"Messages that break off", "anthropic", []string{
			`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":10,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"x","input":{}}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		}, []string{`[10,1,11]`}},
	})
}

// TestAnAnswerCanBeLeftAtAnyPiece checks that a caller that stops reading gets no more pieces, wherever it stops.
func TestAnAnswerCanBeLeftAtAnyPiece(t *testing.T) {
	for _, tc := range []struct {
		provider string
		events   []string
	}{
		{"openai", []string{
			`{"id":"c1","model":"m","choices":[{"delta":{"content":"Hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
			`{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":3}}`,
			`{"id":"c1","choices":[{"delta":{"content":"Look","tool_calls":[{"index":0,"id":"a","function":{"name":"z"}}]},"finish_reason":"tool_calls"}]}`,
			`{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":4}}`,
			`[DONE]`,
		}},
		{"anthropic", []string{
			`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"x"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Hi"}}`,
			`{"type":"message_stop"}`,
		}},
	} {
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { llmtest.Events(w, tc.events...) })
		p := provider(t, tc.provider, "m", both, transport, nil)
		all, err := pieces(t, p)
		if err != nil || len(all) < 4 {
			t.Fatalf("%s: pieces %q, %v; want four or more", tc.provider, all, err)
		}
		for wanted := 1; wanted <= len(all); wanted++ {
			var got []string
			for piece := range p.Answer(t.Context(), llm.Request{}) {
				if got = append(got, show(piece)); len(got) == wanted {
					break
				}
			}
			if diff := cmp.Diff(all[:wanted], got); diff != "" {
				t.Errorf("%s: left at piece %d (-want +got):\n%s", tc.provider, wanted, diff)
			}
		}
	}
}
