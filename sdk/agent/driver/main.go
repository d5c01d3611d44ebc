// Command driver lets lockstep use the agent SDK: a scenario says what the program does, and a stub is the CLI. The driver of
// the published SDK has the same actions and outcomes (docs/drivers.md).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

type command struct {
	ID   int
	Do   string
	With values
}

type values struct {
	Options                   settings
	Prompt, Name, Model, Mode string
}

var client *agentsdk.ClaudeCodeClient

// actions are what a scenario can ask for. Each returns its outcome.
var actions = map[string]func(ctx context.Context, with *values) (any, error){
	"connect": connect,
	"run":     run,
	"send":    func(ctx context.Context, with *values) (any, error) { return nil, client.Query(ctx, with.Prompt) },
	"steer":   func(ctx context.Context, with *values) (any, error) { return nil, client.Steer(ctx, with.Prompt) },
	"receive": func(ctx context.Context, _ *values) (any, error) { return collect(client.ReceiveResponse(ctx)), nil },
	"drain":   func(ctx context.Context, _ *values) (any, error) { return collect(client.ReceiveMessages(ctx)), nil },
	"query": func(ctx context.Context, with *values) (any, error) {
		if err := client.Query(ctx, with.Prompt); err != nil {
			return received{Messages: []json.RawMessage{}, Error: describe(err)}, nil
		}
		return collect(client.ReceiveResponse(ctx)), nil
	},
	"interrupt": interrupt,
	"setModel": func(ctx context.Context, with *values) (any, error) {
		_, err := client.SetModel(ctx, with.Model)
		return nil, err
	},
	"setPermissionMode": func(ctx context.Context, with *values) (any, error) {
		return nil, client.SetPermissionMode(ctx, with.Mode)
	},
	"mcpStatus": mcpStatus,
	"release":   func(_ context.Context, with *values) (any, error) { return nil, release(with.Name) },
	"seen":      func(context.Context, *values) (any, error) { return look(), nil },
	"close": func(ctx context.Context, _ *values) (any, error) {
		if client == nil {
			return nil, nil
		}
		return nil, client.Disconnect(ctx)
	},
}

// withoutClient are the actions that need no connected client.
var withoutClient = []string{"connect", "run", "release", "seen", "close"}

func main() {
	var output sync.Mutex
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for in := json.NewDecoder(os.Stdin); ; {
		c := new(command)
		if err := in.Decode(c); err != nil {
			fmt.Fprintln(os.Stderr, err) // the end of the input, unless lockstep and this driver disagree
			_, _ = actions["close"](ctx, nil)
			return
		}
		go func() {
			line := c.outcome(ctx)
			output.Lock()
			defer output.Unlock()
			_, _ = os.Stdout.Write(line) // lockstep has gone if it fails
		}()
	}
}

func (c *command) outcome(ctx context.Context) []byte {
	do := actions[c.Do]
	if do == nil {
		do = func(context.Context, *values) (any, error) { return nil, fmt.Errorf("there is no action %q", c.Do) }
	}
	if client == nil && !slices.Contains(withoutClient, c.Do) {
		do = func(context.Context, *values) (any, error) { return nil, errors.New("call connect first") }
	}
	ok, err := do(ctx, &c.With)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return line(map[string]any{"id": c.ID, "error": describe(err)})
	case ok == nil:
		ok = struct{}{}
	}
	return line(map[string]any{"id": c.ID, "ok": ok})
}
