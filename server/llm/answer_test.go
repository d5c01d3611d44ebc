package llm_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// pieces asks and returns what comes, and the error if there is one.
func pieces(t testing.TB, p *llm.Provider) (shown []string, err error) {
	t.Helper()
	for piece, err := range p.Answer(t.Context(), llm.Request{}) {
		if err != nil {
			return shown, err
		}
		shown = append(shown, show(piece))
	}
	return shown, nil
}

func TestAnAnswerIsStreamedInPieces(t *testing.T) {
	for _, tc := range []struct {
		name     string
		provider string
		events   []string
		want     []string
	}{
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
		{"and so have their sums", "anthropic", []string{
			`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":2147483000,"cache_read_input_tokens":600,"cache_creation_input_tokens":600,"output_tokens":-1}}}`,
			`{"type":"message_delta","usage":{"input_tokens":2147483648,"output_tokens":9}}`,
			`{"type":"message_stop"}`,
		}, []string{`[2147483647,9,2147483647]`}},
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
		{"what is no JSON ends the answer", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"a"}}]}`, `{"id":`, `{"id":"c1","choices":[{"delta":{"content":"b"}}]}`,
		}, []string{`["c1",{"type":"text","text":"a"}]`}},
		{"an error in the stream ends the answer", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"a"}}]}`, `{"error":{"message":"overloaded"}}`, `{"id":"c1","choices":[{"delta":{"content":"b"}}]}`,
		}, []string{`["c1",{"type":"text","text":"a"}]`}},
		{"nothing at all", "openai", nil, nil},
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
		{"half a surrogate pair is no JSON", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"content":"\\ud83d\\ud800 \ud83d\ude00"}}]}`, `{"id":"c1","choices":[{"delta":{"content":"\ud800"}}]}`, `{"id":"c1","choices":[{"delta":{"content":"c"}}]}`,
		}, []string{`["c1",{"type":"text","text":"\\ud83d\\ud800 😀"}]`}},
		{"nor is it one in arguments", "openai", []string{
			`{"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"a\":\"\\ud800\"}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`,
		}, []string{`["c1",{"type":"toolRequest","id":"a","toolCall":{"status":"error","error":"-32602: Invalid arguments of tool call a"}}]`}},
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
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { llmtest.Events(w, tc.events...) })
			got, err := pieces(t, provider(t, tc.provider, "m", both, transport, nil))
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("Answer: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// both has what OpenAI and Anthropic need.
var both = settings{
	"OPENAI_API_KEY": `"sk-secret"`, "OPENAI_HOST": `"http://model.test"`,
	"ANTHROPIC_API_KEY": `"sk-secret"`, "ANTHROPIC_HOST": `"http://model.test"`,
}

func TestAnAnswerInOnePiece(t *testing.T) {
	for _, tc := range []struct{ name, provider, answer, want string }{
		{"text", "openai", `{"id":"c1","choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":9}}`,
			`["",{"type":"text","text":"Hi"},1,2,9]`},
		{"text and calls", "openai", `{"choices":[{"message":{"content":"Hi","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"b","function":{"name":"y"}}]}}]}`,
			`["",{"type":"text","text":"Hi"},{"type":"toolRequest","id":"a","toolCall":{"status":"success","value":{"name":"x","arguments":{}}}},` +
				`{"type":"toolRequest","id":"b","toolCall":{"status":"success","value":{"name":"y","arguments":{}}}}]`},
		{"nothing", "openai", `{"choices":[{"message":{"content":null}}]}`, `["",{"type":"text","text":""}]`},
		{"no choices", "openai", `{"choices":[]}`, "Request failed: The answer of the model cannot be read"},
		{"no JSON", "openai", `<html>`, "Request failed: The answer of the model cannot be read"},
		{"Messages", "anthropic", `{"id":"m1","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"x","input":{"b":1.50,"a":2}}],"usage":{"input_tokens":1,"output_tokens":2}}`,
			`["",{"type":"text","text":"Hi"},{"type":"toolRequest","id":"t","toolCall":{"status":"success","value":{"name":"x","arguments":{"b":1.50,"a":2}}}},1,2,3]`},
		{"no content", "anthropic", `[]`, "Request failed: The answer of the model cannot be read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { io.WriteString(w, tc.answer) })
			piece, err := provider(t, tc.provider, "m", both, transport, nil).Complete(t.Context(), llm.Request{})
			got := show(piece)
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("Complete:\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestErrorsAreToldAsTheDocumentSays(t *testing.T) {
	for _, tc := range []struct {
		status     int
		body, want string
	}{
		{401, `{"error":{"message":"bad key"}}`, "Authentication error: Authentication failed. Status: 401 Unauthorized. Response: bad key"},
		{403, `no`, "Authentication error: Authentication failed. Status: 403 Forbidden. Response: no"},
		{400, `{"error":{"message":"bad tool"}}`, "Request failed: Bad request (400): bad tool"},
		{400, `{"error":{"message":"maximum context length is 8"}}`, "Context length exceeded: maximum context length is 8"},
		{400, `{"error":{"message":"no","code":"context_length_exceeded"}}`, "Context length exceeded: no"},
		{413, `{"message":"big"}`, "Context length exceeded: big"},
		{404, `{"error":"nope"}`, `Request failed: Resource not found (404): {"error":"nope"}`},
		{418, `tea`, "Request failed: Request failed with status 418: tea"},
		{422, `no`, "Request failed: Request failed with status 422 Unprocessable Content: no"},
		{508, `round`, "Server error: Server error (508): round"},
		{302, ``, "Request failed: Request failed with status 302 Found: "},
		{429, `{"error":{"message":"slow down"}}`, "Rate limit exceeded: slow down"},
		{500, `oops`, "Server error: Server error (500 Internal Server Error): oops"},
		{599, `oops`, "Server error: Server error (599): oops"},
		{404, strings.Repeat("x", 100<<10), "Request failed: Resource not found (404): " + strings.Repeat("x", 64<<10)},
	} {
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) {
			w.WriteHeader(tc.status)
			io.WriteString(w, tc.body)
		})
		p := provider(t, "openai", "m", openAI, transport, variables{"GOOSE_PROVIDER_SKIP_BACKOFF": "true"})
		if _, err := pieces(t, p); err == nil || err.Error() != tc.want {
			t.Errorf("%d %.40s:\n got %.200v\nwant %.200s", tc.status, tc.body, err, tc.want)
		}
	}
}

func TestOnlyWhatMayPassIsTriedAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status []int // one after the other
		env    variables
		tries  int
		from   time.Duration // at least
		to     time.Duration // at most
		want   string
	}{
		{"429 until it succeeds", []int{429, 429, 200}, nil, 3, 2400 * time.Millisecond, 3600 * time.Millisecond, ""},
		{"500 for ever", []int{500, 503, 502, 500, 200}, nil, 4, 5600 * time.Millisecond, 8400 * time.Millisecond, "Server error: Server error (500 Internal Server Error): no"},
		{"without pauses", []int{429, 429, 429, 429, 200}, variables{"GOOSE_PROVIDER_SKIP_BACKOFF": "true"}, 4, 0, 0, "Rate limit exceeded: no"},
		{"400 at once", []int{400, 200}, nil, 1, 0, 0, "Request failed: Bad request (400): no"},
		{"401 at once", []int{401, 200}, nil, 1, 0, 0, "Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				try := 0
				model, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) {
					status := tc.status[try]
					try++
					if status == 200 {
						llmtest.Events(w, llmtest.Says("c", "ok")...)
						return
					}
					w.WriteHeader(status)
					io.WriteString(w, "no")
				})
				start := time.Now()
				_, err := pieces(t, provider(t, "openai", "m", openAI, transport, tc.env))
				took := time.Since(start)
				got := ""
				if err != nil {
					got = err.Error()
				}
				if got != tc.want || len(model.Asked()) != tc.tries || took < tc.from || took > tc.to {
					t.Errorf("%q after %d tries and %s; want %q after %d and %s to %s", got, len(model.Asked()), took, tc.want, tc.tries, tc.from, tc.to)
				}
			})
		})
	}
}

func TestACallEndsWithItsContextAndWithItsTime(t *testing.T) {
	for _, tc := range []struct {
		timeout string
		want    string
		took    time.Duration
	}{
		{"7", "7", 7 * time.Second},
		{"0.5", "0.5", time.Second / 2},
		{"0", "600", 600 * time.Second},
		{`"7"`, "600", 600 * time.Second},
		{"1e99", "31536000", 365 * 24 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			_, transport := llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
				if tries++; tries == 1 { // a try that fails takes no time from the next one
					time.Sleep(400 * time.Millisecond)
					w.WriteHeader(500)
					return
				}
				<-asked.Gone
			})
			limited := settings{"OPENAI_API_KEY": `"k"`, "OPENAI_HOST": `"http://model.test"`, "OPENAI_TIMEOUT": tc.timeout}
			start := time.Now()
			_, err := pieces(t, provider(t, "openai", "m", limited, transport, variables{"GOOSE_PROVIDER_SKIP_BACKOFF": "true"}))
			want, took := "Request failed: No answer of the model within "+tc.want+" s", tc.took+400*time.Millisecond
			if err == nil || err.Error() != want || time.Since(start) != took {
				t.Errorf("%v after %s, want %q after %s", err, time.Since(start), want, took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a stream that is cut by its time ends like any that breaks off
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
			llmtest.Events(w, `{"id":"c","choices":[{"delta":{"content":"a"}}]}`)
			<-asked.Gone
		})
		start := time.Now()
		got, err := pieces(t, provider(t, "openai", "m", openAI, transport, nil))
		if err != nil || len(got) != 1 || time.Since(start) != 600*time.Second {
			t.Errorf("%q, %v after %s; want one piece and no error after 10m", got, err, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
			llmtest.Events(w, `{"id":"c","choices":[{"delta":{"content":"a"}}]}`)
			<-asked.Gone
		})
		p := provider(t, "openai", "m", openAI, transport, nil)
		for range p.Answer(t.Context(), llm.Request{}) {
			break // and the connection is closed, or the model would wait for ever
		}
	})
}

func TestNoConnectionIsToldWithoutItsReason(t *testing.T) {
	p := provider(t, "openai", "m", openAI, refusing{}, nil)
	if _, err := pieces(t, p); err == nil || err.Error() != "Request failed: No connection to the model" || !errors.Is(err, errRefused) {
		t.Errorf("%v, want that there is no connection, because it was refused", err)
	}
}

var errRefused = errors.New("dial 127.0.0.1:1: refused")

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errRefused }

func TestWhatAModelSendsIsBounded(t *testing.T) {
	text := `{"id":"c","choices":[{"delta":{"content":"a"}}]}`
	for _, tc := range []struct {
		name string
		send func(w io.Writer)
		want int // pieces
	}{
		{"a line as long as allowed", func(w io.Writer) {
			io.WriteString(w, "data: "+text+strings.Repeat(" ", 4<<20-len(text)-8)+"\n\ndata: "+text+"\n\n")
		}, 2},
		{"a line that is longer", func(w io.Writer) {
			io.WriteString(w, "data: "+text+strings.Repeat(" ", 4<<20)+"\n\ndata: "+text+"\n\n")
		}, 0},
		{"a stream that is too long", func(w io.Writer) {
			io.WriteString(w, "data: "+text+"\n\n")
			comment := ": " + strings.Repeat("x", 1<<20) + "\n"
			for range 64 {
				io.WriteString(w, comment)
			}
			io.WriteString(w, "data: "+text+"\n\n")
		}, 1},
		{"a line without a blank", func(w io.Writer) { io.WriteString(w, "data:\n\ndata:"+text+"\n\ndata: "+text+"\n\n") }, 1},
		{"a last line without an end", func(w io.Writer) { io.WriteString(w, "data: "+text+"\r\n\r\ndata: "+text) }, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { tc.send(w) })
			got, err := pieces(t, provider(t, "openai", "m", openAI, transport, nil))
			if err != nil || len(got) != tc.want {
				t.Errorf("%d pieces, %v; want %d", len(got), err, tc.want)
			}
		})
	}
}

func TestTheFastModelIsAskedFirst(t *testing.T) {
	model, transport := llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
		if strings.Contains(asked.Body, `"model":"gpt-4o-mini"`) {
			w.WriteHeader(400)
			return
		}
		llmtest.Whole(w, "named")
	})
	p := provider(t, "openai", "gpt-4o", openAI, transport, nil)
	piece, err := p.Complete(t.Context(), llm.Request{})
	if got := show(piece); err != nil || got != `["",{"type":"text","text":"named"},3,2,5]` {
		t.Errorf("Complete: %s, %v", got, err)
	}
	var asked []string
	for _, a := range model.Asked() {
		name, _, _ := strings.Cut(a.Body, ",")
		asked = append(asked, name)
	}
	if want := []string{`{"model":"gpt-4o-mini"`, `{"model":"gpt-4o"`}; !slices.Equal(asked, want) {
		t.Errorf("asked %s, want %s", asked, want)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where a pause takes no time, and a machine that is busy none either
		dialed := 0
		ln := memnet.Listen()
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			llmtest.Events(w, llmtest.Says("c", "ok")...)
		})}
		served := make(chan error, 1)
		go func() { served <- srv.Serve(ln) }()
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialed++
			return ln.Dial(ctx)
		}}
		p := provider(t, "openai", "m", openAI, transport, nil)
		for range 3 {
			if got, err := pieces(t, p); err != nil || len(got) != 2 {
				t.Errorf("%q, %v", got, err)
			}
		}
		if dialed != 1 {
			t.Errorf("three calls took %d connections, want one", dialed)
		}
		transport.CloseIdleConnections()
		srv.Close()
		<-served
	})
}
