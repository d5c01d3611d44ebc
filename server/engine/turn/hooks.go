package turn

import (
	"context"
	"errors"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// hook runs the hooks before a call once, unless the call has a result (decision S85). Its error is the cause of the end
// of ctx.
func (a approver) hook(ctx context.Context, r *request) error {
	if r.decided || r.hooked {
		return nil
	}
	r.hooked = true
	input, replaced, err := a.hooks.Before(ctx, r.seen(a.sessionID))
	if replaced {
		r.call.Arguments, r.replaced = input, true
	}
	denial := (*hooks.Denial)(nil)
	switch {
	case errors.As(err, &denial):
		r.result, r.decided = message.FailedResult(denial.Text), true
	case errors.Is(err, hooks.ErrStopped):
		r.result, r.decided = message.FailedResult(string(shuttingDown)), true
	default:
		return err
	}
	return nil
}

// shuttingDown is the error of a call whose hook the stop of the server has ended.
const shuttingDown = Failure("Server is shutting down")

// seen returns a request as hooks see it.
func (r *request) seen(sessionID string) hooks.Call {
	call := hooks.Call{Tool: r.call.Name, Input: message.ObjectOrEmpty(r.call.Arguments), SessionID: sessionID, CallID: r.announced.ID}
	if r.client != nil {
		call.ClientID = &r.client.ClientID
	}
	return call
}

// settled returns the result of a request after the hooks have seen it, if the call was sent to its tool, and without
// large texts.
func (c calls) settled(ctx context.Context, r *request, sent bool) message.ToolResult {
	result := r.result
	if sent && ctx.Err() == nil {
		isClient := r.client != nil
		if text, replaced := c.service.Hooks.After(ctx, r.seen(c.session.initial.ID), outcome(result, isClient)); replaced {
			result = withText(result, isClient, text)
		}
	}
	return c.agent.memory.texts.shortened(result)
}

// unknown reports whether a result says that there is no such tool, so that nothing was called.
func unknown(tool string, result message.ToolResult) bool {
	return result.Error != nil && (*result.Error == *mcperror.UnknownTool(tool).Error || *result.Error == *mcperror.UnavailableTool(tool).Error)
}

// outcome returns a result as hooks see it: the output of a client's tool is its first item (decision S86).
func outcome(result message.ToolResult, isClient bool) hooks.Outcome {
	if result.Error != nil {
		return hooks.Outcome{Text: *result.Error, Failed: true}
	}
	var texts []string
	for i, item := range result.Value {
		if text, ok := item.(message.ToolText); ok && (i == 0 || !isClient) {
			texts = append(texts, text.Text)
		}
	}
	return hooks.Outcome{Text: strings.Join(texts, "\n")}
}

// withText returns a result with another text.
func withText(result message.ToolResult, isClient bool, text string) message.ToolResult {
	if result.Error != nil {
		return message.FailedResult(text)
	}
	first := -1
	var items []message.ToolContent
	for i, item := range result.Value {
		old, ok := item.(message.ToolText)
		switch {
		case !ok || isClient && i > 0:
			items = append(items, item)
		case first < 0:
			first = i
			old.Text = text
			items = append(items, old)
		}
	}
	if first < 0 {
		items = append([]message.ToolContent{message.ToolText{Text: text}}, items...)
	}
	return message.Success(items)
}
