package main

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// A server is one in this program, or with a type an external one.
type server struct {
	Type          string
	Name, Version string
	AlwaysLoad    bool
	Timeout       int // in milliseconds
	Tools         []tool

	Command      string
	Args         []string
	URL          string
	Env, Headers map[string]string
}

type tool struct {
	Name, Description string
	Input             json.RawMessage // the fields with their types, in order
	Annotations       *agentsdk.ToolAnnotations
	AlwaysLoad        bool
	Do                toolScript
}

func (s *server) config(key string) (agentsdk.McpServerConfig, error) {
	switch s.Type {
	case "stdio":
		return agentsdk.McpStdioServerConfig{Command: s.Command, Args: s.Args, Env: s.Env}, nil
	case "http", "sse":
		return agentsdk.McpHttpServerConfig{Type: s.Type, URL: s.URL, Headers: s.Headers}, nil
	}
	o := agentsdk.SdkMcpServerOptions{
		Name: s.Name, Version: s.Version, AlwaysLoad: s.AlwaysLoad, Timeout: time.Duration(s.Timeout) * time.Millisecond,
	}
	if o.Name == "" {
		o.Name = key
	}
	for _, t := range s.Tools {
		made, err := agentsdk.RawTool(t.Name, t.Description, schema(t.Input),
			func(ctx context.Context, args json.RawMessage, tc agentsdk.ToolContext) (agentsdk.ToolResult, error) {
				return t.Do.run(ctx, args, tc)
			})
		if err != nil {
			return nil, err
		}
		made.Annotations, made.AlwaysLoad = t.Annotations, t.AlwaysLoad
		o.Tools = append(o.Tools, made)
	}
	return agentsdk.CreateSdkMcpServer(o)
}

// schema returns the schema of an object whose fields are all required.
func schema(input json.RawMessage) agentsdk.JSONSchema {
	properties, required := map[string]any{}, []string{}
	in := json.NewDecoder(bytes.NewReader(input))
	for key, err := in.Token(); err == nil; key, err = in.Token() { // { key kind key kind }
		if name, ok := key.(string); ok {
			kind, _ := in.Token()
			if properties[name] = map[string]any{"type": kind}; kind == "any" {
				properties[name] = struct{}{}
			}
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	text, _ := json.Marshal(s) // it is made of what JSON has
	return text
}
