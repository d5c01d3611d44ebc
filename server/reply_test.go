package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// modelEnv returns an environment with a model.
func modelEnv(more ...string) settings.Lookup {
	env := map[string]string{"OPENAI_API_KEY": "sk-secret", "OPENAI_HOST": "http://model.test", "GOOSE_PROVIDER_SKIP_BACKOFF": "true"}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
}

// naming reports whether a request asks for the name of a session.
func naming(asked llmtest.Asked) bool { return strings.Contains(asked.Body, "Describe the topic") }

// startModel starts a server with a model that streams events, and a session with that model.
func startModel(t *testing.T, config server.Config, answer func(w http.ResponseWriter, asked llmtest.Asked)) (r *rig, session string) {
	t.Helper()
	_, config.Models = llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
		if naming(asked) {
			llmtest.Whole(w, "A name")
			return
		}
		answer(w, asked)
	})
	if config.Env == nil {
		config.Env = modelEnv()
	}
	r = start(t, config)
	session = r.newSession("/w")
	r.post("POST /agent/update_provider", `{"provider":"openai","model":"gpt-4o","session_id":"`+session+`"}`).is(t, "update_provider", 200, "")
	return r, session
}

func hello(w http.ResponseWriter, _ llmtest.Asked) {
	llmtest.Events(w, llmtest.Says("c1", "Hel", "lo")...)
}

// ask returns the body of a request for a reply.
func ask(session, text string) string {
	return `{"session_id":"` + session + `","messages":[{"role":"user","created":7,"content":[{"type":"text","text":"` + text +
		`"}],"metadata":{"userVisible":true,"agentVisible":true}}]}`
}

func TestAReplyOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, session := startModel(t, server.Config{}, hello)
		a := r.post("POST /reply", ask(session, "hi"))
		const zero = `"token_state":{"inputTokens":0,"outputTokens":0,"totalTokens":0,"accumulatedInputTokens":0,"accumulatedOutputTokens":0,"accumulatedTotalTokens":0}`
		piece := func(text string) string {
			return data(`{"type":"Message","message":{"id":"c1","role":"assistant","created":946684800,"content":[{"type":"text","text":"` + text +
				`"}],"metadata":{"userVisible":true,"agentVisible":true}},` + zero + `}`)
		}
		a.is(t, "reply", 200, data(`{"type":"Ping"}`)+piece("Hel")+piece("lo")+
			data(`{"type":"Finish","reason":"stop","token_state":{"inputTokens":10,"outputTokens":5,"totalTokens":15,`+
				`"accumulatedInputTokens":10,"accumulatedOutputTokens":5,"accumulatedTotalTokens":15}}`))
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "Connection": "keep-alive", "Access-Control-Allow-Origin": "*",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		synctest.Wait()
		stored := r.get("GET /sessions/" + session).body
		for _, want := range []string{
			`"name":"A name"`, `"total_tokens":15`, `"message_count":2`, `"provider_name":"openai"`,
			`"model_config":{"model_name":"gpt-4o","context_limit":128000,"temperature":null,"max_tokens":null,"toolshim":false,"toolshim_model":null,"fast_model":"gpt-4o-mini"}`,
			`{"id":"msg_` + session + `_0","role":"user","created":7,"content":[{"type":"text","text":"hi"}]`,
			`{"id":"msg_` + session + `_1","role":"assistant","created":946684800,"content":[{"type":"text","text":"Hello"}]`,
		} {
			if !strings.Contains(stored, want) {
				t.Errorf("the session is\n%s\nwant it to have %s", stored, want)
			}
		}
	})
}

func TestRepliesThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, session := startModel(t, server.Config{}, hello)
		r.post("POST /reply", ask("20000101_99", "hi")).is(t, "unknown session", 200, data(`{"type":"Error","error":"Failed to read session: Session not found"}`))
		r.post("POST /reply", `{"messages":[],"session_id":"`+session+`"}`).is(t, "no messages", 200, data(`{"type":"Error","error":"Reply started with empty messages"}`))
		fresh := r.newSession("/w")
		r.post("POST /reply", ask(fresh, "hi")).is(t, "no provider", 200, data(`{"type":"Error","error":"Provider not set"}`))
		if stored := r.get("GET /sessions/" + fresh).body; !strings.Contains(stored, `"message_count":1`) {
			t.Errorf("without a provider the message is not saved: %s", stored)
		}
		r.post("POST /reply", `{"session_id":"x"}`).is(t, "without messages", 422,
			"Failed to deserialize the JSON body into the target type: missing field `messages` at line 1 column 18")
		if a := r.post("POST /reply", `{`); a.status != 400 || !strings.HasPrefix(a.body, "Failed to parse the request body as JSON: ") {
			t.Errorf("no JSON: %d %s", a.status, a.body)
		}
		if a := r.do("POST /reply", secret); a.status != 415 {
			t.Errorf("without a content type: %d", a.status)
		}
		if a := r.json("POST /reply", ask(session, "hi")); a.status != 401 || a.body != "" {
			t.Errorf("without the key: %d %s", a.status, a.body)
		}
	})
}

func TestChoosingAModel(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  []string
		body string
		want string // the body of a 400; "" for 200
	}{
		{"no model", nil, `{"provider":"openai","session_id":"S"}`, "No model specified"},
		{"null is no model", nil, `{"provider":"openai","model":null,"session_id":"S"}`, "No model specified"},
		{"the model of the settings", []string{"GOOSE_MODEL", "gpt-5"}, `{"provider":"openai","session_id":"S"}`, ""},
		{"a session that is not stored", nil, `{"provider":"openai","model":"m","session_id":"20990101_1"}`, ""},
		{"a bad environment", []string{"GOOSE_CONTEXT_LIMIT", "5"}, `{"provider":"nope","model":"m","session_id":"S"}`,
			`Invalid model config: Value for 'GOOSE_CONTEXT_LIMIT' is out of valid range: must be greater than 4K`},
		{"an unknown provider", nil, `{"provider":"nope","model":"m","session_id":"S"}`, "Failed to create nope provider: Unknown provider: nope"},
		{"no key", nil, `{"provider":"anthropic","model":"m","session_id":"S"}`,
			"Failed to create anthropic provider: Configuration value not found: ANTHROPIC_API_KEY"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, server.Config{Env: modelEnv(tc.env...)})
				session := r.newSession("/w")
				status := 200
				if tc.want != "" {
					status = 400
				}
				a := r.post("POST /agent/update_provider", strings.ReplaceAll(tc.body, `"S"`, `"`+session+`"`))
				a.is(t, "update_provider", status, tc.want)
				if got := a.header.Get("Content-Type"); tc.want != "" && got != "text/plain; charset=utf-8" {
					t.Errorf("content type %q", got)
				}
				stored := r.get("GET /sessions/" + session).body
				if chosen := strings.Contains(stored, `"provider_name":"openai"`); chosen != (tc.name == "the model of the settings") {
					t.Errorf("afterwards the session is %s", stored)
				}
			})
		})
	}
}

func TestOtherOperationsOfReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, session := startModel(t, server.Config{}, hello)
		r.post("POST /agent/update_router_tool_selector", `{"session_id":"other"}`).is(t, "selector without a provider", 500, "")
		r.post("POST /agent/update_router_tool_selector", `{"session_id":"`+session+`"}`).is(t, "selector", 200, `"Tool selection strategy updated successfully"`)
		confirm := func(body string) answer { return r.post("POST /action-required/tool-confirmation", body) }
		confirm(`{"id":"nobody asked","action":"allow_once","sessionId":"nowhere"}`).is(t, "confirmation", 200, "{}")
		confirm(`{"id":"x","principalType":"Extension","action":"whatever","sessionId":"`+session+`"}`).is(t, "confirmation", 200, "{}")
		if a := confirm(`{"id":"x","principalType":"Nobody","action":"deny","sessionId":"x"}`); a.status != 422 {
			t.Errorf("another principal: %d %s", a.status, a.body)
		}
		confirm(`{"id":"x","action":"deny"}`).is(t, "without a session", 422,
			"Failed to deserialize the JSON body into the target type: missing field `sessionId` at line 1 column 26")
	})
}

func TestAToolIsAllowedOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		asked := 0
		r, session := startModel(t, server.Config{Directories: d, Env: modelEnv("GOOSE_MODE", "approve")}, func(w http.ResponseWriter, a llmtest.Asked) {
			if asked++; asked%2 == 1 {
				llmtest.Events(w, llmtest.Calls("c1", "platform__manage_schedule", `{"action":"list"}`)...)
				return
			}
			hello(w, a)
		})
		s := r.openReply(ask(session, "hi"))
		synctest.Wait()
		time.Sleep(10 * time.Second)
		if last := s.take(); !strings.Contains(strings.Join(last, ""), `"actionType":"toolConfirmation","id":"call_1","toolName":"platform__manage_schedule","arguments":{"action":"list"},"prompt":null`) {
			t.Errorf("there is no question in %q", last)
		}
		r.post("POST /action-required/tool-confirmation", `{"id":"call_1","action":"always_allow","sessionId":"`+session+`"}`)
		<-s.ended
		if last := strings.Join(s.take(), ""); !strings.Contains(last, `"toolResult":{"status":"error","error":"-32603: platform__manage_schedule is not built on this server"}`) {
			t.Errorf("there is no result in %s", last)
		}
		text, err := os.ReadFile(filepath.Join(d.Config, "permission.yaml"))
		if err != nil || !strings.Contains(string(text), `- platform__manage_schedule`) {
			t.Errorf("permission.yaml: %v\n%s", err, text)
		}
		if again := r.post("POST /reply", ask(session, "more")).body; strings.Contains(again, "toolConfirmation") || !strings.Contains(again, "toolResponse") {
			t.Errorf("the tool is asked about again: %s", again)
		}
	})
}

// openReply opens the stream of a reply.
func (r *rig) openReply(body string) *stream {
	r.t.Helper()
	c := r.connect(withJSON("POST /reply", body, secret))
	r.t.Cleanup(func() { c.Close() })
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	s := &stream{t: r.t, conn: c, answer: answer{status: resp.StatusCode, header: resp.Header}, ended: make(chan struct{})}
	go s.read(bufio.NewReader(resp.Body))
	return s
}

func TestAClientThatDisconnectsInTheMiddleOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		gone := make(chan struct{})
		r, session := startModel(t, server.Config{}, func(w http.ResponseWriter, asked llmtest.Asked) {
			if calls++; calls == 1 {
				hello(w, asked)
				return
			}
			llmtest.Events(w, llmtest.Says("c2", "Half")[0])
			<-asked.Gone
			close(gone)
		})
		r.post("POST /reply", ask(session, "hi"))
		s := r.openReply(ask(session, "more"))
		synctest.Wait()
		s.close()
		<-gone
		synctest.Wait()
		stored := r.get("GET /sessions/" + session).body
		if !strings.Contains(stored, `"message_count":3`) || strings.Contains(stored, "Half") {
			t.Errorf("after a client has gone the session is %s", stored)
		}
	})
}

func TestAReplyDelaysTheStopAndIsCutAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, session := startModel(t, server.Config{StopTimeout: 3 * time.Second}, func(_ http.ResponseWriter, asked llmtest.Asked) { <-asked.Gone })
		s := r.openReply(ask(session, "hi"))
		synctest.Wait()
		start := time.Now()
		r.stop()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("the server took %s to stop, want 3s", took)
		}
		<-s.ended
		synctest.Wait() // until the end of the cancelled call is logged
	})
}

// TestManyRepliesAtOnce runs replies in many sessions concurrently, and checks the order in each stream.
func TestManyRepliesAtOnce(t *testing.T) {
	const sessions, pieces = 200, 5
	synctest.Test(t, func(t *testing.T) {
		_, models := llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
			if naming(asked) {
				llmtest.Whole(w, "A name")
				return
			}
			_, text, _ := strings.Cut(asked.Body, `</context>\n`)
			text, _, _ = strings.Cut(text, `"`)
			texts := make([]string, pieces)
			for n := range texts {
				texts[n] = fmt.Sprintf("%s-%d ", text, n)
			}
			llmtest.Events(w, llmtest.Says("c-"+text, texts...)...)
		})
		r := start(t, server.Config{Env: modelEnv(), Models: models, MaxActiveAgents: sessions})
		var all sync.WaitGroup
		for n := range sessions {
			session := r.newSession("/w")
			all.Go(func() {
				if a, err := r.try(withJSON("POST /agent/update_provider", `{"provider":"openai","model":"gpt-4o","session_id":"`+session+`"}`, secret)); err != nil || a.status != 200 {
					t.Errorf("update_provider: %v %d", err, a.status)
				}
				name := fmt.Sprint("s", n)
				a, err := r.try(withJSON("POST /reply", ask(session, name), secret))
				if err != nil {
					t.Errorf("reply %d: %v", n, err)
				}
				if got, want := said(t, a.body), wanted(name, pieces); got != want {
					t.Errorf("reply %d:\n got %s\nwant %s", n, got, want)
				}
			})
		}
		all.Wait()
	})
}

// said returns the texts of a stream and how it ended, without Pings.
func said(t *testing.T, body string) string {
	t.Helper()
	var said strings.Builder
	for frame := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		var e struct {
			Type    string
			Message struct {
				ID      string
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &e); err != nil {
			t.Errorf("%q: %v", frame, err)
			return ""
		}
		switch e.Type {
		case "Ping":
		case "Message":
			said.WriteString(e.Message.ID + ":" + e.Message.Content[0].Text)
		default:
			said.WriteString(e.Type)
		}
	}
	return said.String()
}

func wanted(name string, pieces int) string {
	var want strings.Builder
	for n := range pieces {
		fmt.Fprintf(&want, "c-%s:%s-%d ", name, name, n)
	}
	return want.String() + "Finish"
}

func TestAConnectionServesMoreThanOneReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, session := startModel(t, server.Config{}, hello)
		c := r.connect("")
		defer c.Close()
		answers := bufio.NewReader(c)
		for n := range 3 {
			go io.WriteString(c, withJSON("POST /reply", ask(session, "hi"), secret))
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("reply %d: %v", n, err)
			}
			body, err := io.ReadAll(resp.Body)
			if got := said(t, string(body)); got != "c1:Helc1:loFinish" || err != nil {
				t.Errorf("reply %d: %s, %v", n, got, err)
			}
		}
	})
}
