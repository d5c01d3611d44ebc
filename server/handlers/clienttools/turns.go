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

// A Guard decides about calls before they reach a client (CT 10). The rate limit is not among its decisions, because
// a call is counted when the [Registry] starts it (decision S69).
type Guard interface {
	// Offers reports whether models may be offered a tool.
	Offers(toolID string) bool
	// Check reports whether the user has to be asked about a call, or returns why the call may not run. The text of
	// the error is for models.
	Check(call Call) (ask bool, refused error)
}

// Unguarded is the Guard that lets every call run.
type Unguarded struct{}

// Offers returns true.
func (Unguarded) Offers(string) bool { return true }

// Check lets the call run.
func (Unguarded) Check(Call) (ask bool, refused error) { return false, nil }

// Turns are the tools of clients in the turns of models (CT 11.6). It implements [toolbox.Clients].
type Turns struct {
	Registry *Registry
	Guard    Guard
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
	for _, tool := range t.Registry.Tools(clientID) {
		if !t.Guard.Offers(tool.ID) {
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

// Check looks the tool up, and asks the guard. The tool may have been removed since the model was offered it (decision
// S73).
func (t *Turns) Check(call toolbox.ClientCall) (ask bool, refused *message.ToolResult) {
	if !t.Registry.Has(call.Tool.ClientID, call.Tool.ID) {
		return false, new(mcperror.UnknownTool(call.Tool.Name))
	}
	ask, err := t.Guard.Check(t.call(call))
	if err != nil {
		return false, new(failedResult(err))
	}
	return ask, nil
}

// Call executes the tool.
func (t *Turns) Call(ctx context.Context, call toolbox.ClientCall) message.ToolResult {
	result, err := t.Registry.Execute(ctx, t.Directory, t.call(call))
	if errors.Is(err, ErrToolNotFound) {
		return mcperror.UnknownTool(call.Tool.Name)
	}
	if err != nil {
		return failedResult(err)
	}
	return message.Success(contents(result))
}

func (t *Turns) call(c toolbox.ClientCall) Call {
	return Call{
		ToolID: c.Tool.ID, ClientID: c.Tool.ClientID,
		SessionID: c.SessionID, MessageID: c.MessageID, CallID: c.RequestID,
		Input: message.ObjectOrEmpty(c.Arguments), Timeout: t.Timeout,
	}
}

func failedResult(err error) message.ToolResult {
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

// Has reports whether a client has a tool with a full ID.
func (r *Registry) Has(clientID string, toolID api.ToolID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, found := r.owners.executor(Call{ToolID: toolID, ClientID: clientID})
	return found
}
