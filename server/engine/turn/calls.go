package turn

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/chatstream"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// calls runs tools, each on a goroutine of its own. What they send to the client goes through the goroutine of run.
type calls struct {
	service   *Service
	agent     *Agent
	session   *storedSession
	client    clientStream
	output    *FinalOutput // that the model was asked for, or nil
	collected *atomic.Pointer[string]
	sends     chan func(context.Context) error // nil if there is no client, and no run
}

// run runs the requests that have no result yet.
func (c calls) run(ctx context.Context, requests []*request) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.runAll(ctx, requests)
	}()
	for {
		select {
		case send := <-c.sends:
			if err := send(ctx); err != nil {
				cancel(err)
				<-done
				return err
			}
		case <-done:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		}
	}
}

// later makes the goroutine of run send something, unless the context ends first.
func (c calls) later(ctx context.Context, send func(context.Context) error) {
	select {
	case c.sends <- send:
	case <-ctx.Done():
	}
}

// runAll runs the requests, at most maxCalls at a time.
func (c calls) runAll(ctx context.Context, requests []*request) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, maxCalls)
	for _, r := range requests {
		if r.decided {
			continue
		}
		places <- struct{}{}
		if ctx.Err() != nil {
			return
		}
		within, span := c.service.Telemetry.Tool(ctx, r.call.Name, r.announced.ID)
		r.span = span
		run := func() { c.runOne(within, r) }
		if r.client != nil {
			run = c.startClient(within, r)
		}
		running.Go(func() {
			defer func() { <-places }()
			run()
		})
	}
}

// maxCalls is how many tools of one reply run at the same time; the others wait.
const maxCalls = 64

// maxNotifications is how many notifications of a call may wait to be sent (GA 18.4).
const maxNotifications = 16

// elicitationTime is how long a question of an MCP server stays open (GA 8.3).
const elicitationTime = 300 * time.Second

// noAnswer is the error for an MCP server whose question got no answer, whatever the reason (decision X9).
const noAnswer = Failure("Timeout waiting for user response")

// runOne runs one tool.
func (c calls) runOne(ctx context.Context, r *request) {
	notify, over := c.notifications(ctx, r.announced.ID)
	defer over()
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	call := toolbox.Call{
		SessionID:  c.session.initial.ID,
		RequestID:  r.announced.ID,
		WorkingDir: c.session.initial.WorkingDir,
		Name:       r.call.Name,
		Arguments:  r.call.Arguments,
		Notify:     notify,
		Elicit: func(asker context.Context, text string, schema json.RawMessage) (json.RawMessage, error) {
			// The question also ends with the reply, whatever context the server uses.
			asker, cancel := context.WithCancelCause(asker)
			defer cancel(nil)
			defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
			said, err := c.elicit(asker, text, schema)
			if errors.Is(err, errUnasked) {
				end(errUnasked) // the tool cannot go on (decision S81)
				return nil, errUnasked
			}
			if err != nil {
				c.service.Log.Debug("no answer to an MCP server", "err", err)
				return nil, noAnswer
			}
			return said, nil
		},
		Sample: func(asker context.Context, s toolbox.Sampling) (toolbox.Sampled, error) {
			return sample(telemetry.Within(asker, ctx), c.agent, s, c.service.Log)
		},
	}
	r.result = c.recovered(ctx, call.Name, func() message.ToolResult { return c.call(running, call) })
	if context.Cause(running) == errUnasked {
		r.result = message.FailedResult(string(errUnasked))
	}
	r.span.End(ctx, r.result.Error)
	r.result = c.settled(ctx, r, !unknown(call.Name, r.result))
}

// notifications returns a function that sends notifications of a call. It drops those that come too fast or after the
// call. over returns when the others have been sent.
func (c calls) notifications(ctx context.Context, requestID string) (notify func(toolbox.Notification), over func()) {
	if c.sends == nil {
		return func(toolbox.Notification) {}, func() {}
	}
	queued := make(chan toolbox.Notification, maxNotifications)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for n := range queued {
			c.later(ctx, func(ctx context.Context) error {
				return c.client.events.Push(ctx, chatstream.Notification(requestID, n.Method, n.Params))
			})
		}
	}()
	var mu sync.Mutex // guards queued, because a late notification must not be sent to a closed channel
	closed := false
	notify = func(n toolbox.Notification) {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return
		}
		select {
		case queued <- n:
		default:
		}
	}
	return notify, func() {
		mu.Lock()
		closed = true
		close(queued)
		mu.Unlock()
		<-sent
	}
}

// recovered runs a tool. A panic becomes a failed result.
func (c calls) recovered(ctx context.Context, tool string, run func() message.ToolResult) (result message.ToolResult) {
	defer func() {
		if broken := recover(); broken != nil {
			c.service.Log.ErrorContext(ctx, "panic in a tool", "tool", tool, "err", broken)
			result = message.FailedResult("-32603: Internal error")
		}
	}()
	return run()
}

// call runs a built-in tool, or a tool of an extension.
func (c calls) call(ctx context.Context, call toolbox.Call) message.ToolResult {
	switch {
	case call.Name == outputTool:
		return takeOutput(call.Arguments, c.output, c.collected)
	case isBuiltIn(call.Name):
		return message.FailedResult("-32603: " + call.Name + " is not built on this server")
	}
	return c.agent.Extensions.Call(ctx, call)
}

// elicit asks the user a question of an MCP server (GA 8.3).
func (c calls) elicit(ctx context.Context, text string, schema json.RawMessage) (json.RawMessage, error) {
	if c.sends == nil {
		return nil, errUnasked
	}
	id := uuid.NewString()
	question := c.agent.memory.elicitations.Ask(id)
	defer question.Close()
	ctx, cancel := context.WithTimeout(ctx, elicitationTime)
	defer cancel()
	asked := message.New(message.Assistant, message.ActionRequired{Data: message.Elicitation{ID: id, Message: text, RequestedSchema: schema}})
	if err := c.ask(ctx, asked, true); err != nil {
		return nil, err
	}
	return question.Wait(ctx)
}

// ask sends a question through the goroutine of run, after it has saved it if it should.
func (c calls) ask(ctx context.Context, question message.Message, save bool) error {
	asked := make(chan error, 1)
	c.later(ctx, func(ctx context.Context) (err error) {
		if save {
			err = c.session.add(ctx, question)
		}
		if err == nil {
			err = c.client.send(ctx, question)
		}
		asked <- err
		return err
	})
	select {
	case err := <-asked:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// elicitationResponse returns the answer to an MCP server's question in a message, if there is one.
func elicitationResponse(m message.Message) (message.ElicitationResponse, bool) {
	for _, item := range m.Content {
		if action, ok := item.(message.ActionRequired); ok {
			if response, ok := action.Data.(message.ElicitationResponse); ok {
				return response, true
			}
		}
	}
	return message.ElicitationResponse{}, false
}

// sample asks the agent's model for an MCP server. The user is not asked first, and the usage does not count towards
// the reply. sample runs on goroutines of connections, so it turns a panic into an error, which must not end the
// server.
func sample(ctx context.Context, a *Agent, s toolbox.Sampling, log *slog.Logger) (said toolbox.Sampled, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			log.ErrorContext(ctx, "panic in a call for an MCP server", "err", broken)
			err = internal
		}
	}()
	models := a.chosen()
	if models.Worker == nil {
		return toolbox.Sampled{}, noProvider
	}
	question := llm.Request{System: s.System, Messages: s.Messages, TextsAlone: true}
	piece, by, err := models.Ask(ctx, models.Next(), func(p *llm.Provider) (llm.Piece, error) {
		return p.Sample(ctx, question, s.MaxTokens, s.Temperature)
	})
	if err != nil {
		return toolbox.Sampled{}, err
	}
	text, _ := piece.Message.PlainText()
	return toolbox.Sampled{Text: text, Model: by.Config().ModelName}, nil
}
