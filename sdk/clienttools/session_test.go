package clienttools_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

const (
	started = `POST /agent/start {"working_dir":"/w","clientID":"c1"}`
	// The clock of a bubble begins at the start of 2000.
	hello = `POST /reply {"messages":[{"role":"user","created":946684800,"content":[{"type":"text","text":"hello"}],"metadata":{"userVisible":true,"agentVisible":true}}],"session_id":"s_1"}`
)

// session returns a session whose replies consist of these events.
func session(t *testing.T, o clienttools.Options, events ...string) (*script, *clienttools.Session) {
	t.Helper()
	s := newScript(t)
	s.set("POST /agent/start", response{body: `{"id":"s_1","name":"New session 1"}`})
	s.set("POST /reply", response{body: "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"})
	c := s.newClient(o)
	session, err := c.StartSession(t.Context(), "/w")
	must(t, err)
	s.want(started, registerNone, pending)
	return s, session
}

func said(role, content string) string {
	return `{"type":"Message","message":{"id":"m","role":"` + role + `","created":1,"content":[` + content + `]},"token_state":{}}`
}

// S63: a session is started, and a prompt returns the assistant's text.
func TestPromptReturnsTheTextOfTheAssistant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, session := session(t, clienttools.Options{},
			`{"type":"Ping"}`,
			said("assistant", `{"type":"text","text":"Hel"},{"type":"image","data":"iVBO","mimeType":"image/png"}`),
			said("user", `{"type":"toolResponse","id":"c"},{"type":"text","text":"no"}`),
			said("assistant", `{"type":"text","text":"lo"}`),
			`{"type":"Finish","reason":"stop"}`,
			said("assistant", `{"type":"text","text":" after the end"}`),
		)
		if session.ID != "s_1" || string(session.Info) != `{"id":"s_1","name":"New session 1"}` {
			t.Errorf("session %+v", session)
		}
		text, err := session.Prompt(t.Context(), "hello")
		if text != "Hello" || err != nil {
			t.Errorf("Prompt: %q, %v", text, err)
		}
		s.want(hello)
		var types []string
		for event, err := range session.Events(t.Context(), "hello") {
			must(t, err)
			types = append(types, event.Type)
		}
		if diff := cmp.Diff([]string{"Ping", "Message", "Message", "Message", "Finish"}, types); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		must(t, session.Close())
	})
}

// S63: messages are separated by a line feed, and the pieces of one message are not.
func TestPromptSeparatesMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		piece := func(id, text string) string {
			return `{"type":"Message","message":{"id":` + id + `,"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}}`
		}
		_, session := session(t, clienttools.Options{},
			piece(`"m1"`, "Let "), piece(`"m1"`, "me look."), piece(`"m2"`, ""), piece(`"m2"`, "One."), piece("null", "A notice."), piece("null", "Done."),
			`{"type":"Finish","reason":"stop"}`,
		)
		if text, err := session.Prompt(t.Context(), "hello"); text != "Let me look.\nOne.\nA notice.\nDone." || err != nil {
			t.Errorf("Prompt: %q, %v", text, err)
		}
	})
}

// S63: the server gets the model of a session, and may reject it.
func TestSetModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, session := session(t, clienttools.Options{})
		s.set("POST /agent/update_provider", response{}, response{400, `{"message":"Unknown provider: x"}`})
		const request = `POST /agent/update_provider {"provider":"openai","model":"gpt-4o","session_id":"s_1"}`
		must(t, session.SetModel(t.Context(), "openai", "gpt-4o"))
		s.want(request)
		if err := session.SetModel(t.Context(), "openai", "gpt-4o"); err == nil || err.Error() != "set model: 400: Unknown provider: x" {
			t.Errorf("SetModel: %v", err)
		}
		s.want(request)
	})
}

// S63: an Error event is an error, as is a reply without Finish.
func TestPromptReturnsTheErrorOfTheReply(t *testing.T) {
	half := said("assistant", `{"type":"text","text":"half"}`)
	for name, tt := range map[string]struct {
		events []string
		check  func(error) bool
	}{
		"Error":      {[]string{half, `{"type":"Error","error":"no model"}`}, func(err error) bool { return cmp.Equal(err, error(&clienttools.ReplyError{Message: "no model"})) }},
		"no Finish":  {[]string{half}, func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		"not a JSON": {[]string{half, "x"}, func(err error) bool { return err.Error() == "reply: an event is not a JSON object with a type" }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, session := session(t, clienttools.Options{}, tt.events...)
				text, err := session.Prompt(t.Context(), "hello")
				if text != "half" || err == nil || !tt.check(err) {
					t.Errorf("Prompt: %q, %v", text, err)
				}
			})
		})
	}
}

// S63: a confirmation is answered by the option, and denied without it.
func TestConfirmationsAreAnswered(t *testing.T) {
	question := said("assistant", `{"type":"actionRequired","data":{"actionType":"toolConfirmation","id":"call_1","toolName":"developer__shell","arguments":{"command":"ls"},"prompt":null}}`)
	elicitation := said("assistant", `{"type":"actionRequired","data":{"actionType":"elicitation","id":"e","message":"Name?"}}`)
	var asked []clienttools.Confirmation
	allow := func(_ context.Context, c clienttools.Confirmation) clienttools.Decision {
		asked = append(asked, c)
		return clienttools.AlwaysAllow
	}
	for action, confirm := range map[string]func(context.Context, clienttools.Confirmation) clienttools.Decision{"deny": nil, "always_allow": allow} {
		t.Run(action, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, session := session(t, clienttools.Options{Confirm: confirm}, question, elicitation, `{"type":"Finish","reason":"stop"}`)
				if _, err := session.Prompt(t.Context(), "hello"); err != nil {
					t.Fatal(err)
				}
				s.want(hello, `POST /action-required/tool-confirmation {"id":"call_1","action":"`+action+`","sessionId":"s_1"}`)
			})
		})
	}
	want := []clienttools.Confirmation{{SessionID: "s_1", ID: "call_1", ToolName: "developer__shell", Arguments: []byte(`{"command":"ls"}`)}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestTheEndOfTheLoopCancelsTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, session := session(t, clienttools.Options{}, `{"type":"Ping"}`, `{"type":"Ping"}`)
		for event, err := range session.Events(t.Context(), "hello") {
			must(t, err)
			if event.Type != "Ping" {
				t.Errorf("event %+v", event)
			}
			break
		}
		s.want(hello)
	})
}

func TestStartSessionExplainsItsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c := s.newClient(clienttools.Options{})
		for _, tt := range []struct {
			answer response
			want   string
		}{
			{response{401, ""}, "start session: 401: Unauthorized"},
			{response{400, `{"message":"no recipe"}`}, "start session: 400: no recipe"},
			{response{200, `{"name":"x"}`}, "start session: the response has no id"},
			{response{200, `{`}, "start session: response to POST /agent/start: unexpected end of JSON input"},
		} {
			s.set("POST /agent/start", tt.answer)
			if _, err := c.StartSession(t.Context(), "/w"); err == nil || err.Error() != tt.want {
				t.Errorf("StartSession: %v, want %s", err, tt.want)
			}
			s.want(started)
		}
	})
}
