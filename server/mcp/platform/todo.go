package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// todoData is the member of a session's extension data with the todo list.
const todoData = "todo.v0"

// defaultTodoLimit is the default maximum number of characters in a list (decision X21).
const defaultTodoLimit = 50_000

// TodoLimit parses GOOSE_TODO_MAX_CHARS, the maximum number of characters in a todo list. 0 means no limit.
func TodoLimit(setting string) int {
	if limit, err := strconv.ParseUint(setting, 10, 31); err == nil {
		return int(limit)
	}
	return defaultTodoLimit
}

// A todo is the extension that keeps a session's todo list, which is stored in the session.
type todo struct {
	unconnected
	host *Host
}

func (t *todo) Tools(context.Context) ([]llm.Tool, error) {
	return []llm.Tool{{
		Name:        "todo_write",
		Description: "Replaces the todo list of this session.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"content":{"type":"string","description":"The whole list"}},"required":["content"]}`),
	}}, nil
}

// Note returns the todo list as a note for the model (decision M20).
func (t *todo) Note(ctx context.Context) string {
	s, err := t.host.Sessions.Session(ctx, t.host.SessionID)
	if err != nil {
		return ""
	}
	data, err := jsonwire.Parse(s.ExtensionData)
	if err != nil {
		return ""
	}
	text := data.Get(todoData).Get("content").Str()
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "Current tasks and notes:\n" + text
}

func (t *todo) Call(ctx context.Context, name string, call toolbox.Call) message.ToolResult {
	if name != "todo_write" {
		return mcperror.UnknownTool(call.Name)
	}
	a := arguments.Parse(call.Arguments, argumentErrors)
	content := a.Need("content")
	if a.Err != nil {
		return fails(a.Err.Error())
	}
	n := utf8.RuneCountInString(content)
	if t.host.TodoLimit > 0 && n > t.host.TodoLimit {
		return fails(fmt.Sprintf("Todo list too large: %d chars (max: %d)", n, t.host.TodoLimit))
	}
	err := t.host.keep(ctx, todoData, func() jsonwire.Text {
		return jsonwire.Object([]string{"content"}, []jsonwire.Text{jsonwire.AppendQuoted(nil, content)})
	})
	switch {
	case errors.Is(err, noSession):
		return fails(err.Error())
	case err != nil:
		return mcperror.Result(err)
	}
	return message.TextResult(fmt.Sprintf("Updated (%d chars)", n))
}
