package reply

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/server/message"
)

// runAllowed runs the requests that have no result yet, all at once, and sends what they have to say meanwhile.
func (t *turn) runAllowed(ctx context.Context) error {
	news := make(chan func(context.Context) error)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.runAll(ctx, news)
	}()
	for {
		select {
		case tell := <-news:
			if err := tell(ctx); err != nil {
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

// runAll runs the requests, as many at a time as may run.
func (t *turn) runAll(ctx context.Context, news chan<- func(context.Context) error) {
	var calls sync.WaitGroup
	defer calls.Wait()
	places := make(chan struct{}, maxCalls)
	for i := range t.wanted {
		r := &t.wanted[i]
		if r.decided || r.frontend {
			continue
		}
		places <- struct{}{}
		if ctx.Err() != nil {
			return
		}
		calls.Go(func() {
			defer func() { <-places }()
			t.run(ctx, r, news)
		})
	}
}

// maxCalls is how many tools run at the same time for one reply; the others wait for their turn.
const maxCalls = 64

// maxNotifications is how many notifications of a call may wait to be sent (GA 18.4).
const maxNotifications = 16

// elicitationTime is how long an MCP server's question is open (GA 8.3).
const elicitationTime = 300 * time.Second

// noAnswer is what an MCP server is told of a question that nobody has answered, for whatever reason (decision X9).
const noAnswer = Failure("Timeout waiting for user response")

// run runs one tool. What there is to tell meanwhile it passes to news, whose receiver tells it.
func (t *turn) run(ctx context.Context, r *request, news chan<- func(context.Context) error) {
	notes := make(chan Notification, maxNotifications)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for n := range notes {
			pass(ctx, news, func(ctx context.Context) error {
				return t.out.push(ctx, notificationEvent(r.announced.ID, n))
			})
		}
	}()
	var open sync.Mutex // over notes, which a late notification must not find closed
	over := false
	r.result = t.call(ctx, Call{
		SessionID:  t.session.ID,
		RequestID:  r.announced.ID,
		WorkingDir: t.session.WorkingDir,
		Name:       r.call.Name,
		Arguments:  r.call.Arguments,
		Notify: func(n Notification) {
			open.Lock()
			defer open.Unlock()
			if over {
				return
			}
			select {
			case notes <- n:
			default: // its reader is too slow, or the server too talkative
			}
		},
		Elicit: func(asker context.Context, text string, schema json.RawMessage) (json.RawMessage, error) {
			// The question ends with the reply, too, whatever context a server is served with.
			asker, cancel := context.WithCancelCause(asker)
			defer cancel(nil)
			defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
			said, err := t.elicit(asker, text, schema, news)
			if err != nil {
				t.Log.Debug("no answer to an MCP server", "err", err)
				return nil, noAnswer
			}
			return said, nil
		},
		Sample: t.sample,
	})
	open.Lock()
	over = true
	close(notes)
	open.Unlock()
	<-told
}

// pass hands something over, unless the context ends.
func pass(ctx context.Context, news chan<- func(context.Context) error, tell func(context.Context) error) {
	select {
	case news <- tell:
	case <-ctx.Done():
	}
}

// call runs a tool of the server's own, or of an extension. A panic is the tool's failure.
func (t *turn) call(ctx context.Context, call Call) (result message.Result[[]message.ToolContent]) {
	defer func() {
		if broken := recover(); broken != nil {
			t.Log.Error("panic in a tool", "tool", call.Name, "err", broken)
			result = message.Failure[[]message.ToolContent]("-32603: Internal error")
		}
	}()
	if result, ok := t.callBuiltIn(call); ok {
		return result
	}
	return t.agent.live.texts.shortened(t.agent.Tools.Call(ctx, call))
}

// elicit asks the user for an MCP server (GA 8.3).
func (t *turn) elicit(ctx context.Context, text string, schema json.RawMessage, news chan<- func(context.Context) error) (json.RawMessage, error) {
	id := uuid.NewString()
	question := t.agent.live.elicitations.Ask(id)
	defer question.Close()
	asked := make(chan error, 1)
	pass(ctx, news, func(ctx context.Context) error {
		m := made(message.Assistant, message.ActionRequired{Data: message.Elicitation{ID: id, Message: text, RequestedSchema: schema}})
		err := t.add(ctx, m)
		if err == nil {
			err = t.send(ctx, m)
		}
		asked <- err
		return err
	})
	ctx, cancel := context.WithTimeout(ctx, elicitationTime)
	defer cancel()
	select {
	case err := <-asked:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return question.Wait(ctx)
}

// elicitationResponse returns the answer to a question of an MCP server in a message, if it has one.
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
