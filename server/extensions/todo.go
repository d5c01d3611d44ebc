package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// todoData is the member of a session's extension data that has its list.
const todoData = "todo.v0"

// defaultTodoLimit is how many characters a list may have (decision X21).
const defaultTodoLimit = 50_000

// TodoLimit returns how many characters a todo list may have, by the value of GOOSE_TODO_MAX_CHARS: 0 is no limit.
func TodoLimit(setting string) int {
	if limit, err := strconv.ParseUint(setting, 10, 31); err == nil {
		return int(limit)
	}
	return defaultTodoLimit
}

// A todo is the extension that keeps the todo list of a session, in the session itself.
type todo struct {
	inProcess
	set   *Set
	limit int
}

func (t *todo) tools(context.Context) ([]llm.Tool, error) {
	return []llm.Tool{{
		Name:        "todo_write",
		Description: "Replaces the todo list of this session.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"content":{"type":"string","description":"The whole list"}},"required":["content"]}`),
	}}, nil
}

// note says what is on the list (decision M20).
func (t *todo) note(ctx context.Context) string {
	s, err := t.set.connector.Sessions.Session(ctx, t.set.sessionID)
	if err != nil {
		return ""
	}
	data, err := jsonwire.Parse(s.ExtensionData)
	if err != nil || data.Kind() != "object" {
		return ""
	}
	list := data.Pick(todoData)[0]
	if list.Kind() != "object" {
		return ""
	}
	text := list.Pick("content")[0]
	if text.Kind() != "string" || strings.TrimSpace(text.Str()) == "" {
		return ""
	}
	return "Current tasks and notes:\n" + text.Str()
}

func (t *todo) call(ctx context.Context, name string, call reply.Call) message.Result[[]message.ToolContent] {
	if name != "todo_write" {
		return unknown(call.Name)
	}
	a := argumentsOf(call.Arguments)
	content := a.need("content")
	if a.wrong != "" {
		return fails(a.wrong)
	}
	n := utf8.RuneCountInString(content)
	if t.limit > 0 && n > t.limit {
		return fails(fmt.Sprintf("Todo list too large: %d chars (max: %d)", n, t.limit))
	}
	err := t.set.keep(ctx, todoData, func() jsonwire.Text {
		return jsonwire.Object([]string{"content"}, []jsonwire.Text{a.values["content"]})
	})
	switch {
	case errors.Is(err, noSession):
		return fails(err.Error())
	case err != nil:
		return failed(err)
	}
	return says(fmt.Sprintf("Updated (%d chars)", n))
}
