package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

// A script says what a tool does when it is called: the first of its members that is set, else it returns the result.
type script struct {
	Error      *string
	Wait, Echo bool
	Call       *struct {
		Tool  string
		Input json.RawMessage
	}
	Progress []float64
	clienttools.Result
}

func (s script) run(ctx context.Context, call *clienttools.Call) (*clienttools.Result, error) {
	switch {
	case s.Error != nil:
		return nil, errors.New(*s.Error)
	case s.Wait:
		<-ctx.Done()
		return nil, errors.New("aborted")
	case s.Echo:
		return &clienttools.Result{Title: "echo", Output: string(call.Input)}, nil
	case s.Call != nil:
		content, err := call.CallTool(ctx, s.Call.Tool, s.Call.Input)
		return &clienttools.Result{Title: "call", Output: string(content)}, err
	}
	for _, n := range s.Progress {
		s.Title = "done"
		if err := call.Progress(ctx, clienttools.Progress{Progress: n}); err != nil {
			return nil, err
		}
	}
	return &s.Result, nil
}
