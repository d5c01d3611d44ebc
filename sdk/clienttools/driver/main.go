// Command driver lets lockstep use the client library: a scenario says what the client does, and a stub is the server.
// The driver of the TypeScript library has the same actions and outcomes (docs/drivers.md).
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

type command struct {
	ID   int
	Do   string
	With struct {
		URL                    string
		clienttools.Options    // for new; the timeout is in milliseconds
		clienttools.Definition // for register and unregister
		Handler                script
	}
}

var client *clienttools.Client

// do returns an error, which is the outcome, or nil. The outcome of seen is added by main.
func (c *command) do(ctx context.Context) (err error) {
	switch with := &c.With; c.Do {
	case "new":
		with.Timeout *= time.Millisecond
		with.OnError = func(err error) { note("errors", err.Error()) }
		with.OnReconnect = func(attempt int, wait time.Duration) { note("reconnects", [2]any{attempt, wait.Milliseconds()}) }
		client, err = clienttools.New(with.URL, &with.Options)
	case "register":
		err = client.Register(ctx, clienttools.ClientTool{Definition: with.Definition, Handle: with.Handler.run})
	case "unregister":
		err = client.Unregister(ctx, with.Definition.ID)
	case "connect":
		err = client.Connect(ctx)
	case "disconnect":
		err = client.Close()
	case "seen":
	default:
		err = fmt.Errorf("there is no action %q", c.Do)
	}
	return err
}

func main() {
	for in := json.NewDecoder(os.Stdin); ; {
		c := new(command)
		if in.Decode(c) != nil {
			return // the end of the input: the process takes its connections along
		}
		go func() { // connect may wait, and disconnect ends the wait
			outcome := map[string]any{"id": c.ID, "ok": struct{}{}}
			if err := c.do(context.Background()); err != nil {
				outcome = map[string]any{"id": c.ID, "error": err.Error()}
			} else if c.Do == "seen" {
				outcome["ok"] = seen
			}
			mu.Lock()
			defer mu.Unlock()
			_ = json.NewEncoder(os.Stdout).Encode(outcome) // lockstep has gone if it fails
		}()
	}
}
