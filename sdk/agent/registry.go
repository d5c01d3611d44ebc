package agentsdk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// A ToolRegistry has the tools of a server, in the order of their registration. It is safe for concurrent use: tools may
// be added while a session runs, which [ClaudeCodeClient.NotifyToolsChanged] announces.
type ToolRegistry struct {
	mu    sync.RWMutex
	order []string
	tools map[string]registered
}

type registered struct {
	tool      SdkTool
	validator *validator
}

// NewToolRegistry returns a registry without tools.
func NewToolRegistry() *ToolRegistry { return &ToolRegistry{tools: map[string]registered{}} }

// Register adds a tool. A duplicate name or a schema that is not one of an object is an *OptionError.
func (r *ToolRegistry) Register(t SdkTool) error {
	v, err := t.check()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, twice := r.tools[t.Name]; twice {
		return &OptionError{Option: fmt.Sprintf("tool %q", t.Name), Message: "the server has another tool of this name"}
	}
	r.tools[t.Name] = registered{tool: t, validator: v}
	r.order = append(r.order, t.Name)
	return nil
}

// Get returns a tool by its name.
func (r *ToolRegistry) Get(name string) (SdkTool, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.tools[name]
	return known.tool, ok
}

// List returns all tools.
func (r *ToolRegistry) List() []SdkTool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]SdkTool, len(r.order))
	for i, name := range r.order {
		all[i] = r.tools[name].tool
	}
	return all
}

// HandleToolCall runs a tool. Arguments that are nil or null are {}. The error is a *ToolExecutionError if there is no
// such tool, its schema rejects the arguments, or it returns an error or panics.
func (r *ToolRegistry) HandleToolCall(ctx context.Context, name string, args json.RawMessage, tc ToolContext) (ToolResult, error) {
	r.mu.RLock()
	known, ok := r.tools[name]
	r.mu.RUnlock()
	if !ok {
		return ToolResult{}, &ToolExecutionError{ToolName: name, Err: fmt.Errorf("unknown tool %q", name)}
	}
	if missing(args) {
		args = json.RawMessage("{}")
	}
	if err := known.validator.check(args); err != nil {
		return ToolResult{}, &ToolExecutionError{ToolName: name, Err: &argumentsError{tool: name, err: err}}
	}
	result, err := protect(func() (ToolResult, error) { return known.tool.Handler(ctx, slices.Clone(args), tc) })
	if err != nil {
		return ToolResult{}, &ToolExecutionError{ToolName: name, Err: err}
	}
	return result, nil
}

// protect calls a function of the program, and returns a panic as an error.
func protect[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			if err, _ = p.(error); err == nil {
				err = fmt.Errorf("%v", p)
			}
		}
	}()
	return f()
}
