package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// A failure is an error in the words that both drivers use.
type failure struct {
	Kind     string `json:"kind"`
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Code     string `json:"code,omitempty"`
}

var kinds = map[string]string{
	"CLI_NOT_FOUND": "not found", "CLI_CONNECTION": "connection", "CONTROL_PROTOCOL": "protocol", "TIMEOUT": "timeout",
	"INVALID_STATE": "state", "INVALID_OPTION": "options",
}

var signals = map[string]string{"killed": "SIGKILL", "terminated": "SIGTERM", "hangup": "SIGHUP", "interrupt": "SIGINT"}

func describe(err error) *failure {
	f := &failure{Kind: "other"}
	var coded agentsdk.ClaudeCodeAgentError
	if errors.As(err, &coded) && kinds[coded.Code()] != "" {
		f.Kind = kinds[coded.Code()]
	}
	var connection *agentsdk.CLIConnectionError
	if errors.As(err, &connection) {
		f.Signal = signals[connection.Signal]
		if connection.ExitCode > 0 {
			f.ExitCode = &connection.ExitCode
		}
	}
	var protocol *agentsdk.ControlProtocolError
	if errors.As(err, &protocol) {
		f.Code = protocol.ErrorCode
	}
	return f
}

// line returns an outcome as a line of JSON. A long text is shown by its length, so that outcomes stay small.
func line(outcome any) []byte {
	var value any
	text, err := json.Marshal(outcome)
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err == nil {
		err = in.Decode(&value)
	}
	if err != nil {
		panic(err) // every part of it is JSON
	}
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(shorten(value)) // a buffer takes everything
	return out.Bytes()
}

func shorten(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) > 1000 {
			return fmt.Sprintf("<%d characters>", len(v))
		}
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shorten(v[k])
		}
	}
	return value
}
