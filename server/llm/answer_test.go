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

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// pieces calls the model and returns the pieces of the answer, and the error if there is one.
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

// both has the settings for OpenAI and Anthropic.
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

func TestErrorsHaveTheTextsOfTheDocument(t *testing.T) {
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

func TestOnlyTemporaryErrorsAreRetried(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status []int // in order
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
				if tries++; tries == 1 { // a failed try must not use up the time of the next
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
	synctest.Test(t, func(t *testing.T) { // a stream that is cut by its time limit ends like any that breaks off
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
			break // the connection must be closed, or the model would wait forever
		}
	})
}

func TestAMissingConnectionIsReportedWithoutItsReason(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) { // where pauses and a busy machine take no time
		dialed := 0
		ln := memnet.Listen()
		memnet.Serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			llmtest.Events(w, llmtest.Says("c", "ok")...)
		})}, ln)
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
	})
}
