package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A player takes the steps of a script.
type player struct {
	c       *cli
	last    string // the text of the last tool result
	said    string // the last text
	inTool  bool   // the interrupt came during a tool use
	denials []any
	cost    float64
	results int
	failed  bool // the last result was an error
}

// run plays the turns until the input ends.
func (p *player) run() error {
	args, err := json.Marshal(p.c.args)
	if err := errors.Join(err, p.c.wire.note(string(args))); err != nil {
		return err
	}
	for _, arg := range p.c.script.args {
		if !slices.Contains(p.c.args, arg) {
			return fmt.Errorf("the script wants the argument %s; the SDK has passed %q", arg, p.c.args)
		}
	}
	for n := 0; ; n++ {
		if err := p.c.until(func() bool { return len(p.c.prompts) > 0 }); errors.Is(err, io.EOF) {
			if p.failed {
				return exit(1)
			}
			return nil
		} else if err != nil {
			return err
		}
		next := p.c.take()
		if n >= len(p.c.script.turns) {
			return fmt.Errorf("%s has no turn for prompt %d, %q: add one", p.c.script.file, n+1, short(next.text))
		}
		if err := p.turn(n, next); err != nil {
			return err
		}
	}
}

// turn answers a prompt.
func (p *player) turn(n int, asked prompt) error {
	t := p.c.script.turns[n]
	if !strings.Contains(asked.text, t.prompt) {
		return fmt.Errorf("%s: turn %d wants a prompt with %q, got %q", p.c.script.file, n+1, t.prompt, short(asked.text))
	}
	p.c.running, p.c.interrupted, p.inTool, p.said, p.denials = true, false, false, "", []any{}
	clear(p.c.seen)
	for range p.c.prompts {
		p.c.seen["prompt"]++
	}
	line, err := t.line, p.begin()
	var ending *result
	for i := 0; i < len(t.steps) && err == nil && ending == nil; i++ {
		line = t.steps[i].line
		ending, err = p.step(t.steps[i])
	}
	p.c.running = false
	_, ended := errors.AsType[exit](err)
	switch {
	case errors.Is(err, errInterrupted):
		return p.aborted()
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the input has ended, and turn %d of %s waits in line %d", n+1, p.c.script.file, line)
	case ended:
		return err
	case err != nil:
		return fmt.Errorf("%s:%d: %w", p.c.script.file, line, err)
	case ending == nil:
		ending = &result{subtype: "success"}
	}
	return p.end(*ending)
}

// begin finishes the handshake of the servers, and announces the turn.
func (p *player) begin() error {
	tools, servers := []string{}, []any{}
	for _, s := range p.c.servers {
		if !s.listed && s.status == "connected" {
			if _, err := p.c.rpc(s, object{"method": "notifications/initialized"}); err != nil {
				return err
			}
			result, err := p.c.rpc(s, object{"id": 1, "method": "tools/list"})
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
	return p.c.wire.emit(object{
		"type": "system", "subtype": "init", "cwd": cwd, "model": p.c.model, "permissionMode": p.c.mode, "tools": tools, "mcp_servers": servers,
		"slash_commands": []any{}, "agents": []any{}, "skills": []any{}, "apiKeySource": "none", "output_style": "default", "claude_code_version": "0.0.0-agentcli",
	})
}

// step does what a step says. A result ends the turn.
func (p *player) step(s step) (*result, error) {
	switch s.verb {
	case "text":
		p.said = strings.ReplaceAll(s.name(), "{result}", p.last)
		return nil, p.assistant(object{"type": "text", "text": p.said})
	case "call":
		return p.callTool(s)
	case "ask":
		return p.askTool(s)
	case "hook":
		input := s.input()
		if tool := s.text("tool"); tool != "" {
			input["tool_name"] = tool
		}
		out, err := p.hook(s.name(), s.text("tool"), "", input)
		return out.stopped(), err
	case "raw":
		if message, ok := s.value.(object); ok {
			return nil, p.c.wire.send(message)
		}
		_, err := io.WriteString(p.c.wire.out, s.name()+"\n")
		return nil, err
	case "stderr":
		_, err := fmt.Fprintln(p.c.wire.stderr, s.name())
		return nil, err
	case "wait":
		return nil, p.wait(s.name())
	case "result":
		return resultOf(s), nil
	case "exit":
		return nil, exit(number(s.value))
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

func (p *player) wait(what string) error {
	if what == "end" {
		err := p.c.until(func() bool { return false })
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	if err := p.c.until(func() bool { return p.c.seen[what] > 0 }); err != nil {
		return err
	}
	p.c.seen[what]--
	if what == "prompt" {
		p.c.take() // it has joined this turn
	}
	return nil
}

// assistant emits a block of the model.
func (p *player) assistant(block object) error {
	return p.c.wire.emit(object{"type": "assistant", "parent_tool_use_id": nil, "message": object{
		"id": p.c.wire.id("message", "msg_%d"), "type": "message", "role": "assistant", "model": p.c.model, "content": []any{block}, "stop_reason": nil,
		"usage": object{"input_tokens": 10, "output_tokens": 5},
	}})
}

// user emits a block that the CLI has added.
func (p *player) user(block object) error {
	return p.c.wire.emit(object{"type": "user", "parent_tool_use_id": nil, "message": object{"role": "user", "content": []any{block}}})
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
func (p *player) end(r result) error {
	p.cost += r.cost
	p.failed = r.isError
	m := object{
		"type": "result", "subtype": r.subtype, "is_error": r.isError, "num_turns": max(r.turns, 1), "duration_ms": 0, "duration_api_ms": 0, "stop_reason": nil,
		"total_cost_usd": p.cost, "usage": object{"input_tokens": 10, "output_tokens": 5}, "modelUsage": object{}, "permission_denials": p.denials, "result_index": p.results,
	}
	p.results++
	if r.reason != "" {
		m["terminal_reason"] = r.reason
	}
	if r.subtype != "success" {
		m["errors"] = append([]any{}, r.errors...)
	} else if m["result"] = r.text; r.text == "" {
		m["result"] = p.said
	}
	return p.c.wire.emit(m)
}

// aborted ends a turn that was interrupted.
func (p *player) aborted() error {
	reason := "aborted_streaming"
	if p.inTool {
		reason = "aborted_tools"
	}
	if err := p.user(object{"type": "text", "text": "The turn was interrupted."}); err != nil {
		return err
	}
	return p.end(result{subtype: "error_during_execution", isError: true, reason: reason, errors: []any{"interrupted"}})
}
