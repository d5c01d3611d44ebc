package stub_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/memnet"
)

// A play is a script that gives one response to every request, and records the calls of its methods.
type play struct {
	answer *stub.Answer

	mu         sync.Mutex
	told       []*transcript.Exchange
	candidates []string
}

func (p *play) Answer(*transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	return p.answer, func(x *transcript.Exchange) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, x)
	}
}

func (p *play) Unexpected(x *transcript.Exchange, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.candidates = append(p.candidates, x.Request.Method+" "+x.Request.Target+": "+why)
}

// stage runs a server over memory, with a fake clock, and calls f with a client for it.
func stage(t *testing.T, kind stub.Kind, options stub.Options, f func(t *testing.T, s *stub.Server, c *http.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		s := stub.Serve(l, "llm", kind, options)
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }}
		defer transport.CloseIdleConnections()
		defer s.Close()
		f(t, s, &http.Client{Transport: transport})
	})
}

const chat = "http://memory/v1/chat/completions"

// ask sends a request and returns the status, and the body as far as it arrives.
func ask(t *testing.T, c *http.Client, url, body string) (status int, text string, err error) {
	t.Helper()
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}

func text(s string) *string { return &s }

// message returns a message with a text, a tool call and a text.
func message() *stub.Message {
	return &stub.Message{ID: "m1", Model: "terse-1", Input: 9, Output: 4, Pieces: []stub.Piece{
		{Text: text("Let ")}, {Text: text("me"), After: 50 * time.Millisecond},
		{Tool: &stub.Tool{ID: "c1", Name: "add", Arguments: []string{`{"a":`, `2}`}}},
	}}
}

// timeless removes from a text what depends on the clock.
func timeless(s string) string {
	return strings.ReplaceAll(s, `"created":946684800`, `"created":0`)
}

func TestAMessageOfOpenAI(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		p := &play{answer: &stub.Answer{Message: message()}}
		defer s.Attach(p, "", true, time.Now())()
		start := time.Now()
		status, got, err := ask(t, c, chat, `{}`)
		const want = `{"id":"m1","object":"chat.completion","created":0,"model":"terse-1","choices":[{"index":0,"message":{"role":"assistant",` +
			`"content":"Let me","tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":2}"}}]},"finish_reason":"tool_calls"}],` +
			`"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`
		if d := cmp.Diff(want, timeless(got)); status != 200 || err != nil || d != "" {
			t.Errorf("%d, %v (-want +got):\n%s", status, err, d)
		}
		if took := time.Since(start); took != 50*time.Millisecond {
			t.Errorf("it took %s, want as long as the pieces", took)
		}
	})
}

func TestAStreamOfOpenAI(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		p := &play{answer: &stub.Answer{Message: message()}}
		detach := s.Attach(p, "", true, time.Now())
		_, got, err := ask(t, c, chat, `{"stream":true,"stream_options":{"include_usage":true}}`)
		chunk := func(choices, usage string) string {
			return `data: {"id":"m1","object":"chat.completion.chunk","created":0,"model":"terse-1","choices":[` + choices + `]` + usage + "}\n\n"
		}
		delta := func(d string) string { return chunk(`{"index":0,"delta":`+d+`,"finish_reason":null}`, "") }
		want := delta(`{"role":"assistant","content":""}`) + delta(`{"content":"Let "}`) + delta(`{"content":"me"}`) +
			delta(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"add","arguments":""}}]}`) +
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}`) +
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}`) +
			chunk(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`, "") +
			chunk("", `,"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}`) + "data: [DONE]\n\n"
		if d := cmp.Diff(want, timeless(got)); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
		detach()
		x := p.told[0]
		if string(x.Response.Body.Bytes) != got || x.Head != 0 || x.Done != 50*time.Millisecond {
			t.Errorf("told: head at %s, done at %s, %q", x.Head, x.Done, x.Response.Body.Bytes)
		}
	})
}

func TestPiecesComeWhenTheyAreDue(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		m := &stub.Message{Pieces: []stub.Piece{{Raw: text("a\n")}, {Raw: text("b\n"), After: 2 * time.Second}}}
		defer s.Attach(&play{answer: &stub.Answer{After: time.Second, Message: m}}, "", true, time.Now())()
		start := time.Now()
		resp, err := c.Post(chat, "application/json", strings.NewReader(`{"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var came []time.Duration
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			came = append(came, time.Since(start))
		}
		if d := cmp.Diff([]time.Duration{time.Second, 3 * time.Second}, came); d != "" {
			t.Errorf("lines came (-want +got):\n%s", d)
		}
	})
}

func TestEndsOfAConnection(t *testing.T) {
	whole := []byte(`{"what":"is cut"}`)
	for _, row := range []struct {
		name   string
		answer stub.Answer
		body   string // body of the request
		want   string // what the client receives
		status int
	}{
		{"cut before the answer", stub.Answer{End: stub.Cut}, `{}`, "", 0},
		{"cut in a body", stub.Answer{Body: whole, End: stub.Cut}, `{}`, `{"what":`, 200},
		{"cut in a stream", stub.Answer{Message: &stub.Message{Pieces: []stub.Piece{{Raw: text("data: {}\n\n")}}}, End: stub.Cut}, `{"stream":true}`, "data: {}\n\n", 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
				p := &play{answer: &row.answer}
				detach := s.Attach(p, "", true, time.Now())
				status, got, err := ask(t, c, chat, row.body)
				if status != row.status || got != row.want || err == nil {
					t.Errorf("%d %q, %v; want %d %q and an error", status, got, err, row.status, row.want)
				}
				detach()
				if f := p.told[0].Failure; f != nil {
					t.Errorf("the target is said to have failed: %+v", f)
				}
			})
		})
	}
}

func TestAnAnswerThatHangsEndsWithItsScenario(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		p := &play{answer: &stub.Answer{End: stub.Hang}}
		detach := s.Attach(p, "", true, time.Now())
		time.AfterFunc(time.Minute, detach)
		start := time.Now()
		if _, _, err := ask(t, c, chat, `{}`); err == nil {
			t.Error("an answer came")
		}
		synctest.Wait()
		if took := time.Since(start); took != time.Minute || p.told[0].Failure != nil || p.told[0].Done != time.Minute {
			t.Errorf("it hung for %s: %+v", took, p.told[0])
		}
	})
}

func TestATargetThatHangsUpIsReported(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		p := &play{answer: &stub.Answer{End: stub.Hang}}
		detach := s.Attach(p, "", true, time.Now())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, chat, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(r); err == nil {
			t.Error("an answer came")
		}
		synctest.Wait()
		detach()
		if f := p.told[0].Failure; f == nil || f.Kind != transcript.FailCanceled || p.told[0].Done != time.Second {
			t.Errorf("told: %+v at %s", f, p.told[0].Done)
		}
	})
}

func TestCloseEndsWhatHangs(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		p := &play{answer: &stub.Answer{End: stub.Hang}}
		s.Attach(p, "", true, time.Now())
		time.AfterFunc(time.Second, s.Close)
		if _, _, err := ask(t, c, chat, `{}`); err == nil {
			t.Error("an answer came")
		}
	})
}

func TestARequestFindsItsScenario(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{}, func(t *testing.T, s *stub.Server, c *http.Client) {
		said := func(word string) *stub.Answer { return &stub.Answer{Body: []byte(word)} }
		one, two := &play{answer: said("one")}, &play{answer: said("two")}
		leave := s.Attach(one, "uone", false, time.Now())
		defer s.Attach(two, "utwo", false, time.Now())()
		for body, want := range map[string]string{`{"a":"say uone"}`: "one", `["utwo"]`: "two"} {
			if _, got, err := ask(t, c, chat, body); got != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", body, got, err, want)
			}
		}
		if _, got, _ := ask(t, c, chat+"?for=utwo", ""); got != "two" {
			t.Errorf("by the query: %q", got)
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, chat, nil)
		r.Header.Set("X-Session", "uone-7")
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, _ := io.ReadAll(resp.Body); string(got) != "one" {
			t.Errorf("by a header field: %q", got)
		}
		for body, why := range map[string]string{`{}`: "no scenario's ${{ unique }} is in it", `"uone utwo"`: "it has the unique tokens of 2 scenarios in it"} {
			status, got, _ := ask(t, c, chat, body)
			var refusal struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(got), &refusal); err != nil || status != 501 || !strings.Contains(refusal.Error.Message, why) {
				t.Errorf("%s: %d %s", body, status, got)
			}
		}
		if len(one.candidates) != 2 || len(two.candidates) != 2 {
			t.Errorf("candidates: %q and %q", one.candidates, two.candidates)
		}
		leave()
		if status, _, _ := ask(t, c, chat, `"uone"`); status != 501 || len(two.candidates) != 2 {
			t.Errorf("a late request: %d, candidates %q", status, two.candidates)
		}
	})
}

func TestRequestsBeforeAnyScenarioAreReported(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{Models: []string{"terse-1"}}, func(t *testing.T, s *stub.Server, c *http.Client) {
		resp, err := c.Get("http://memory/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, _ := io.ReadAll(resp.Body)
		if want := `{"data":[{"created":1700000000,"id":"terse-1","object":"model","owned_by":"stub"}],"object":"list"}`; string(got) != want {
			t.Errorf("models: %s, want %s", got, want)
		}
		ask(t, c, chat, `{}`)
		s.Forget() // as for a process that has failed to start
		ask(t, c, chat, `{}`)
		shared, later := &play{}, &play{}
		defer s.Attach(shared, "u1", false, time.Now())()
		defer s.Attach(later, "u2", false, time.Now())()
		if len(shared.candidates) != 1 || !strings.HasPrefix(shared.candidates[0], "POST /v1/chat/completions: no scenario") || len(later.candidates) != 0 {
			t.Errorf("candidates: %q and %q", shared.candidates, later.candidates)
		}
	})
}

func TestARequestThatIsTooLargeIsNotKept(t *testing.T) {
	stage(t, stub.OpenAI, stub.Options{MaxBody: 10}, func(t *testing.T, s *stub.Server, c *http.Client) {
		p := &play{answer: &stub.Answer{Body: []byte("no")}}
		detach := s.Attach(p, "", true, time.Now())
		ask(t, c, chat, `"0123456789"`)
		detach()
		if len(p.told)+len(p.candidates) != 1 {
			t.Errorf("told %v, candidates %q", p.told, p.candidates)
		}
	})
}
