package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// settings are what a scenario may set. All others have the names of the SDK's options.
type settings struct {
	agentsdk.ClientOptions
	Tools        json.RawMessage    `json:"tools"` // a list, or "default"
	Servers      map[string]server  `json:"servers"`
	CanUseTool   []permission       `json:"canUseTool"`
	Hooks        map[string][]hooks `json:"hooks"`
	SystemPrompt *struct{ Text, Append *string }
}

type hooks struct {
	Matcher   string
	Timeout   float64 // in seconds
	OnFailure string
	Do        []hook
}

// options returns the options of the SDK. Those of ClientOptions alone mean nothing to run.
func (s *settings) options() (agentsdk.ClientOptions, error) {
	o := s.ClientOptions
	if o.CLIPath == "" {
		o.CLIPath = os.Getenv("CLI")
	}
	for _, t := range []*time.Duration{&o.InitializeTimeout, &o.RequestTimeout, &o.ShutdownGrace, &o.KillGrace} {
		*t *= time.Millisecond
	}
	o.Stderr = noteStderr
	if string(s.Tools) == `"default"` {
		o.Tools = []string{"default"}
	} else if s.Tools != nil {
		if err := json.Unmarshal(s.Tools, &o.Tools); err != nil {
			return o, err
		}
	}
	if p := s.SystemPrompt; p != nil && p.Text != nil {
		o.SystemPrompt = &agentsdk.SystemPrompt{Text: *p.Text}
	} else if p != nil && p.Append != nil {
		o.SystemPrompt = &agentsdk.SystemPrompt{Preset: "claude_code", Append: *p.Append}
	}
	if len(s.CanUseTool) > 0 {
		o.CanUseTool = (&permissions{answers: s.CanUseTool}).ask
	}
	o.Hooks = matchers(s.Hooks)
	for key, server := range s.Servers {
		config, err := server.config(key)
		if err != nil {
			return o, fmt.Errorf("server %s: %w", key, err)
		}
		if o.MCPServers == nil {
			o.MCPServers = map[string]agentsdk.McpServerConfig{}
		}
		o.MCPServers[key] = config
	}
	return o, nil
}

func matchers(events map[string][]hooks) map[string][]agentsdk.HookMatcher {
	all := map[string][]agentsdk.HookMatcher{}
	for event, list := range events {
		for _, h := range list {
			m := agentsdk.HookMatcher{Matcher: h.Matcher, OnFailure: h.OnFailure, Timeout: time.Duration(h.Timeout * float64(time.Second))}
			for _, do := range h.Do {
				m.Hooks = append(m.Hooks, func(ctx context.Context, in agentsdk.HookInput, id string) (agentsdk.HookOutput, error) {
					return do.run(ctx, event, in, id)
				})
			}
			all[event] = append(all[event], m)
		}
	}
	return all
}
