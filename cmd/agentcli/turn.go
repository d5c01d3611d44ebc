package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// run plays the turns until the input ends.
func (c *cli) run() error {
	if c.log != nil {
		if _, err := fmt.Fprintf(c.log, "%q\n", c.args); err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
	}
	for _, arg := range c.script.args {
		if !slices.Contains(c.args, arg) {
			return fmt.Errorf("the script wants the argument %s; the SDK has passed %q", arg, c.args)
		}
	}
	for next := 0; ; next++ {
		if err := c.until(func() bool { return len(c.prompts) > 0 }); errors.Is(err, io.EOF) {
			if c.failed {
				return &exit{code: 1}
			}
			return nil
		} else if err != nil {
			return err
		}
		p := c.take()
		if next >= len(c.script.turns) {
			return fmt.Errorf("%s has no turn for prompt %d, %q: add one", c.script.file, next+1, short(p.text))
		}
		if err := c.turn(next, p); err != nil {
			return err
		}
	}
}

// turn answers a prompt.
func (c *cli) turn(n int, p prompt) error {
	t := c.script.turns[n]
	if !strings.Contains(p.text, t.prompt) {
		return fmt.Errorf("%s: turn %d wants a prompt with %q, got %q", c.script.file, n+1, t.prompt, short(p.text))
	}
	c.running, c.interrupted, c.inTool, c.said, c.denials = true, false, false, "", []any{}
	clear(c.seen)
	for range c.prompts {
		c.seen["prompt"]++
	}
	line, err := 0, c.begin()
	var ending *result
	for i := 0; i < len(t.steps) && err == nil && ending == nil; i++ {
		line = t.steps[i].line
		ending, err = c.step(t.steps[i])
	}
	c.running = false
	switch ended := (*exit)(nil); {
	case errors.Is(err, errInterrupted):
		return c.aborted()
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the input has ended, and turn %d of %s waits in line %d", n+1, c.script.file, line)
	case errors.As(err, &ended):
		return err
	case err != nil:
		return fmt.Errorf("%s:%d: %w", c.script.file, line, err)
	case ending == nil:
		ending = &result{subtype: "success"}
	}
	return c.end(*ending)
}

// begin finishes the handshake of the servers, and announces the turn.
func (c *cli) begin() error {
	tools, servers := []string{}, []any{}
	for _, s := range c.servers {
		if !s.listed && s.status == "connected" {
			if _, err := c.rpc(s, object{"method": "notifications/initialized"}); err != nil {
				return err
			}
			result, err := c.rpc(s, object{"id": 1, "method": "tools/list"})
			if err != nil {
				return err
			}
			s.list(result)
		}
		for _, tool := range s.tools {
			tools = append(tools, s.full(tool))
		}
		servers = append(servers, object{"name": s.name, "status": s.status, "source": "sdk"})
	}
	cwd, _ := os.Getwd() // "" if the folder is gone
	return c.emit(object{
		"type": "system", "subtype": "init", "cwd": cwd, "model": c.model, "permissionMode": c.mode, "tools": tools, "mcp_servers": servers,
		"slash_commands": []any{}, "agents": []any{}, "skills": []any{}, "apiKeySource": "none", "output_style": "default", "claude_code_version": "0.0.0-agentcli",
	})
}

// step does what a step says. A result ends the turn.
func (c *cli) step(s step) (*result, error) {
	switch s.verb {
	case "text":
		c.said = strings.ReplaceAll(s.name(), "{result}", c.last)
		return nil, c.assistant(object{"type": "text", "text": c.said})
	case "call":
		return c.callTool(s)
	case "ask":
		return c.askTool(s)
	case "hook":
		input := s.input()
		if tool := s.text("tool"); tool != "" {
			input["tool_name"] = tool
		}
		out, err := c.hook(s.name(), s.text("tool"), "", input)
		return out.stopped(), err
	case "raw":
		if message, ok := s.value.(object); ok {
			return nil, c.send(message)
		}
		_, err := io.WriteString(c.out, s.name()+"\n")
		return nil, err
	case "stderr":
		_, err := fmt.Fprintln(c.stderr, s.name())
		return nil, err
	case "wait":
		return nil, c.wait(s.name())
	case "result":
		return resultOf(s), nil
	case "exit":
		return nil, &exit{code: int(number(s.value))}
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		return nil, fmt.Errorf("crash: %w", err)
	}
	select {} // the signal comes
}

func (c *cli) wait(what string) error {
	if what == "end" {
		err := c.until(func() bool { return false })
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	if err := c.until(func() bool { return c.seen[what] > 0 }); err != nil {
		return err
	}
	c.seen[what]--
	if what == "prompt" {
		c.take() // it has joined this turn
	}
	return nil
}

// assistant emits a block of the model.
func (c *cli) assistant(block object) error {
	return c.emit(object{"type": "assistant", "parent_tool_use_id": nil, "message": object{
		"id": c.id("message", "msg_%d"), "type": "message", "role": "assistant", "model": c.model, "content": []any{block}, "stop_reason": nil,
		"usage": object{"input_tokens": 10, "output_tokens": 5},
	}})
}

// user emits a block that the CLI has added.
func (c *cli) user(block object) error {
	return c.emit(object{"type": "user", "parent_tool_use_id": nil, "message": object{"role": "user", "content": []any{block}}})
}

// A result ends a turn.
type result struct {
	subtype, text, reason string
	isError               bool
	cost                  float64
	turns                 int
	errors                []any
}

func resultOf(s step) *result {
	r := &result{subtype: s.name(), text: s.text("text"), reason: s.text("reason"), cost: number(s.more["cost"]), turns: int(number(s.more["turns"]))}
	r.isError = s.more["error"] == true || r.subtype != "success"
	r.errors, _ = s.more["errors"].([]any)
	return r
}

// end emits the result of a turn.
func (c *cli) end(r result) error {
	c.cost += r.cost
	c.failed = r.isError
	m := object{
		"type": "result", "subtype": r.subtype, "is_error": r.isError, "num_turns": max(r.turns, 1), "duration_ms": 0, "duration_api_ms": 0, "stop_reason": nil,
		"total_cost_usd": c.cost, "usage": object{"input_tokens": 10, "output_tokens": 5}, "modelUsage": object{}, "permission_denials": c.denials, "result_index": c.results,
	}
	c.results++
	if r.reason != "" {
		m["terminal_reason"] = r.reason
	}
	if r.subtype != "success" {
		m["errors"] = append([]any{}, r.errors...)
	} else if m["result"] = r.text; r.text == "" {
		m["result"] = c.said
	}
	return c.emit(m)
}

// aborted ends a turn that was interrupted.
func (c *cli) aborted() error {
	reason := "aborted_streaming"
	if c.inTool {
		reason = "aborted_tools"
	}
	if err := c.user(object{"type": "text", "text": "The turn was interrupted."}); err != nil {
		return err
	}
	return c.end(result{subtype: "error_during_execution", isError: true, reason: reason, errors: []any{"interrupted"}})
}
