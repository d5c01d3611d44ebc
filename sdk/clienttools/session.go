package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// A Session is a conversation with the server's model, which may call the client's tools.
type Session struct {
	ID   string
	Info json.RawMessage // the server's description of the session (GA 4.7)

	c *Client
}

// StartSession makes a session that offers the client's tools, with a working directory on the server, and connects.
func (c *Client) StartSession(ctx context.Context, workingDir string) (*Session, error) {
	s := &Session{c: c}
	err := c.exchange(ctx, http.MethodPost, "/agent/start", struct {
		WorkingDir string `json:"working_dir"`
		ClientID   string `json:"clientID"`
	}{workingDir, c.ID()}, &s.Info)
	if err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	var ok bool
	if s.ID, ok = text(members(s.Info)["id"]); !ok {
		return nil, errors.New("start session: the response has no id")
	}
	if err := c.Connect(ctx); err != nil {
		return nil, fmt.Errorf("connect session %s: %w", s.ID, err)
	}
	return s, nil
}

// Close closes the client of the session. The server keeps the session.
func (s *Session) Close() error { return s.c.Close() }

// SetModel selects the model of the session, such as "gpt-4o" of the provider "openai". A new session has none, and its
// prompts fail. The server has the provider's key and address in its settings, such as OPENAI_API_KEY (GA 6.5).
func (s *Session) SetModel(ctx context.Context, provider, model string) error {
	err := s.c.exchange(ctx, http.MethodPost, "/agent/update_provider", struct {
		Provider  string `json:"provider"`
		Model     string `json:"model"`
		SessionID string `json:"session_id"`
	}{provider, model, s.ID}, nil)
	if err != nil {
		return fmt.Errorf("set model: %w", err)
	}
	return nil
}

// Prompt sends a message of the user, and returns the text of the assistant's messages when it has finished. A line feed
// separates messages. Events shows what happens meanwhile. The error is a ReplyError if the server reports one; the text
// so far is returned with any error.
func (s *Session) Prompt(ctx context.Context, text string) (string, error) {
	var reply strings.Builder
	var last *string // the ID of the last message (GA 7.7)
	separate := false
	for event, err := range s.Events(ctx, text) {
		if err != nil {
			return reply.String(), err
		}
		m := event.message()
		if m.Role != "assistant" {
			continue
		}
		separate = separate || m.ID == nil || last == nil || *m.ID != *last
		last = m.ID
		if piece := event.Text(); piece != "" {
			if separate && reply.Len() > 0 {
				reply.WriteByte('\n')
			}
			reply.WriteString(piece)
			separate = false
		}
	}
	return reply.String(), nil
}

// Events sends a message of the user, and returns the events of the reply (GA 4.6) until it has finished. The last pair
// has the error, if there is one. The end of the loop cancels the reply. Options.Confirm has answered a confirmation
// before its event is returned.
func (s *Session) Events(ctx context.Context, text string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		response, err := s.c.do(ctx, http.MethodPost, "/reply", chatRequest(s.ID, text))
		if err != nil {
			yield(Event{}, fmt.Errorf("reply: %w", err))
			return
		}
		defer response.Body.Close()
		for events := newEventReader(response.Body); ; {
			event, err := s.next(ctx, events)
			if !yield(event, err) || err != nil || event.Type == "Finish" {
				return
			}
		}
	}
}

func (s *Session) next(ctx context.Context, events *eventReader) (Event, error) {
	_, data, err := events.next()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // Finish has not come
	}
	if err != nil {
		return Event{}, fmt.Errorf("reply: %w", err)
	}
	m := members(data)
	event := Event{Data: data}
	var ok bool
	if event.Type, ok = text(m["type"]); !ok {
		return Event{}, errors.New("reply: an event is not a JSON object with a type")
	}
	if event.Type == "Error" {
		message, _ := text(m["error"])
		return event, &ReplyError{message}
	}
	for _, item := range event.message().Content {
		if item.Type == "actionRequired" && item.Data.ActionType == "toolConfirmation" {
			if err := s.confirm(ctx, item.Data.Confirmation); err != nil {
				return event, fmt.Errorf("confirm %s: %w", item.Data.ToolName, err)
			}
		}
	}
	return event, nil
}

func (s *Session) confirm(ctx context.Context, question Confirmation) error {
	decision := Deny
	if s.c.options.Confirm != nil {
		question.SessionID = s.ID
		decision = s.c.options.Confirm(ctx, question)
	}
	return s.c.exchange(ctx, http.MethodPost, "/action-required/tool-confirmation", struct {
		ID        string   `json:"id"`
		Action    Decision `json:"action"`
		SessionID string   `json:"sessionId"`
	}{question.ID, decision, s.ID}, nil)
}

// A Confirmation is the server's question whether the model may call a tool (GA 4.4).
type Confirmation struct {
	SessionID string          `json:"-"`
	ID        string          `json:"id"`
	ToolName  string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
	Prompt    string          `json:"prompt"` // why the server asks; may be empty
}

// A Decision answers a Confirmation (GA 8.1).
type Decision string

// The decisions.
const (
	AllowOnce   Decision = "allow_once"
	AlwaysAllow Decision = "always_allow"
	Deny        Decision = "deny"
)

// A ReplyError is the server's report that a reply failed.
type ReplyError struct{ Message string }

func (e *ReplyError) Error() string { return e.Message }

// An Event is an event of a reply. Data has all of it, as GA 4.6 describes.
type Event struct {
	Type string
	Data json.RawMessage
}

// Text returns the text that the event adds to the assistant's messages.
func (e Event) Text() string {
	m := e.message()
	if m.Role != "assistant" {
		return ""
	}
	var all strings.Builder
	for _, item := range m.Content {
		if item.Type == "text" {
			all.WriteString(item.Text)
		}
	}
	return all.String()
}

type replyMessage struct {
	ID      *string `json:"id"`
	Role    string  `json:"role"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Data struct {
			ActionType string `json:"actionType"`
			Confirmation
		} `json:"data"`
	} `json:"content"`
}

func (e Event) message() replyMessage {
	var event struct {
		Message replyMessage `json:"message"`
	}
	if e.Type != "Message" {
		return event.Message
	}
	_ = json.Unmarshal(e.Data, &event) // an image's data is text, not an object: the rest is decoded all the same
	return event.Message
}

func chatRequest(sessionID, text string) any {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type metadata struct {
		UserVisible  bool `json:"userVisible"`
		AgentVisible bool `json:"agentVisible"`
	}
	type message struct {
		Role     string    `json:"role"`
		Created  int64     `json:"created"`
		Content  []content `json:"content"`
		Metadata metadata  `json:"metadata"`
	}
	return struct {
		Messages  []message `json:"messages"`
		SessionID string    `json:"session_id"`
	}{[]message{{"user", time.Now().Unix(), []content{{"text", text}}, metadata{true, true}}}, sessionID}
}
