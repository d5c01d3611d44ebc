package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Turns are the tools of clients in the turns of models (CT 11.6). It implements [toolbox.Clients].
type Turns struct {
	Guards *Guards
	// Directory is the directory in which executions are published.
	Directory string
	// Timeout is how long an execution waits.
	Timeout time.Duration
	Log     *slog.Logger
}

// Tools returns the tools of a client that models are offered. Of two tools with the same alias, it returns the one
// that was registered first.
func (t *Turns) Tools(clientID string) []toolbox.ClientTool {
	var offered []toolbox.ClientTool
	taken := map[string]bool{}
	for _, tool := range t.Guards.Registry.Tools(clientID) {
		if t.Guards.Permissions.of(tool.ID) == Deny {
			continue
		}
		name := offeredName(clientID, tool.ID)
		if taken[name] {
			t.Log.Warn("client tool not offered: another one has its alias", "tool", excerpt.Quoted(tool.ID), "alias", name)
			continue
		}
		taken[name] = true
		offered = append(offered, toolbox.ClientTool{
			Tool: message.Tool{
				Name:        name,
				Description: jsonwire.WellFormed(tool.Description),
				Schema:      json.RawMessage(jsonwire.Text(tool.Parameters).WellFormed()),
			},
			ClientID: clientID, ID: tool.ID,
		})
	}
	return offered
}

// Check runs the guards before the question to the user (CT 10). The session belongs to the client of the call. The
// tool may have been removed since the model was offered it (decision S73).
func (t *Turns) Check(call toolbox.ClientCall) (ask bool, refused *message.ToolResult) {
	wanted := t.call(call)
	tool, _, err := t.Guards.Registry.find(wanted)
	if err == nil {
		err = t.Guards.permit(tool, wanted.Input)
	}
	if err != nil {
		return false, new(notRun(call, err))
	}
	return t.Guards.Permissions.of(tool.ID) == Ask, nil
}

// Start executes the tool, within the rate limit.
func (t *Turns) Start(call toolbox.ClientCall) (wait func(context.Context) message.ToolResult, sent bool) {
	e, err := t.Guards.Registry.Start(t.Directory, t.call(call))
	if err != nil {
		return func(context.Context) message.ToolResult { return notRun(call, err) }, false
	}
	return func(ctx context.Context) message.ToolResult {
		result, err := e.Wait(ctx)
		if err != nil {
			return notRun(call, err)
		}
		return message.Success(contents(result))
	}, true
}

func (t *Turns) call(c toolbox.ClientCall) Call {
	return Call{
		ToolID: c.Tool.ID, ClientID: c.Tool.ClientID,
		SessionID: c.SessionID, MessageID: c.MessageID, CallID: c.RequestID,
		Input: message.ObjectOrEmpty(c.Arguments), Timeout: t.Timeout,
		Over: c.Over, Compose: c.Compose,
		Progress: func(report api.ProgressRequest) {
			if c.Notify != nil {
				c.Notify(toolbox.Notification{Method: "notifications/progress", Params: progress(c.RequestID, report)})
			}
		},
	}
}

// progress returns the parameters of MCP's notification about a report (CT 14.2, decision S77).
func progress(callID string, report api.ProgressRequest) json.RawMessage {
	values := []jsonwire.Text{jsonwire.Marshal(callID), jsonwire.Marshal(report.Progress), nil, nil}
	if report.Total != nil {
		values[2] = jsonwire.Marshal(*report.Total)
	}
	if report.Message != nil {
		values[3] = jsonwire.Marshal(*report.Message)
	}
	return json.RawMessage(jsonwire.Object([]string{"progressToken", "progress", "total", "message"}, values))
}

// notRun returns the result of a call that has failed.
func notRun(call toolbox.ClientCall, err error) message.ToolResult {
	if errors.Is(err, ErrToolNotFound) {
		return mcperror.UnknownTool(call.Tool.Name)
	}
	return message.FailedResult(jsonwire.WellFormed(err.Error()))
}

// maxMetadataLevels is the maximum depth of metadata in a conversation, as in messages of MCP servers.
const maxMetadataLevels = 1000

// contents returns the content of a client's result (CT 11.6): its output, with the title and the metadata beside
// it, and its attachments.
func contents(result Result) []message.ToolContent {
	metadata := jsonwire.Text("{}")
	if sent := jsonwire.Text(value(result.Metadata)).WellFormed(); sent != nil && sent.Levels() <= maxMetadataLevels {
		metadata = sent
	}
	meta := jsonwire.NewWriter(nil)
	meta.Open('{')
	meta.Name("clientTool").Open('{')
	meta.Name("title").String(jsonwire.WellFormed(result.Title))
	meta.Name("metadata").Raw(metadata)
	meta.Close('}')
	meta.Close('}')
	output := message.ToolText{Text: jsonwire.WellFormed(result.Output), Meta: json.RawMessage(meta.Text())}
	return append([]message.ToolContent{output}, attached(jsonwire.Text(result.Attachments).WellFormed())...)
}

var _ toolbox.Clients = (*Turns)(nil)
