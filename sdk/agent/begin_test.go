package agentsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
	"github.com/lockstep-dev/lockstep/sdk/agent/agenttest"
)

// A dying CLI does something else than usual at its beginning. Each function returns after the SDK has seen what it did.
type dying struct {
	*agenttest.MockTransport
	asked    func()                          // after the answer to initialize
	prompted func(ctx context.Context) error // instead of taking a prompt
	last     error                           // how it ends
}

// died ends the CLI.
func (d *dying) died() {
	_ = d.EndInput()
	synctest.Wait()
}

func (d *dying) For(agentsdk.TransportOptions) agentsdk.Transport {
	d.MockTransport = agenttest.NewMockTransport(agenttest.MockTransportOptions{AutoInitialize: true})
	return d
}

func (d *dying) Write(ctx context.Context, line []byte) error {
	prompt := strings.Contains(string(line), `"type":"user"`)
	if prompt && d.prompted != nil {
		return d.prompted(ctx)
	}
	err := d.MockTransport.Write(ctx, line)
	if !prompt && d.asked != nil {
		d.asked()
	}
	return err
}

func (d *dying) ReadMessages() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for line, err := range d.MockTransport.ReadMessages() {
			if !yield(line, err) {
				return
			}
		}
		if d.last != nil {
			yield(nil, d.last)
		}
	}
}

// exit3 is how a process ends.
var exit3 = &agentsdk.CLIConnectionError{Reason: "the CLI has ended", ExitCode: 3}

// dead are CLIs that end after the answer to initialize, as early as possible.
var dead = map[string]func(*dying){
	"before the start goes on":  func(d *dying) { d.asked = d.died },
	"before the prompt is sent": func(d *dying) { d.prompted = func(context.Context) error { d.died(); return os.ErrClosed } },
}

func TestAClientConnectsToACLIThatEndsAfterTheHandshake(t *testing.T) {
	for name, when := range dead {
		for _, prompts := range [][]string{nil, {"one"}, {"one", "two"}} {
			synctest.Test(t, func(t *testing.T) {
				cli := &dying{last: exit3}
				when(cli)
				if prompts == nil && cli.asked == nil {
					return
				}
				client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: agentsdk.AgentOptions{NewTransport: cli.For}})
				if err != nil {
					t.Fatal(err)
				}
				if err := client.Connect(t.Context(), prompts...); err != nil || string(client.ServerInfo().Raw) != "{}" {
					t.Errorf("%s, %q: %v, %s", name, prompts, err, client.ServerInfo().Raw)
				}
				var all []error
				for _, err := range client.ReceiveMessages(t.Context()) {
					all = append(all, err)
				}
				failed := (*agentsdk.CLIConnectionError)(nil)
				if len(all) != 1 || !errors.As(all[0], &failed) || failed.ExitCode != 3 || client.GetState().State != agentsdk.StateFailed || client.IsConnected() {
					t.Errorf("%s, %q: %v, %+v", name, prompts, all, client.GetState())
				}
				if got := turn(t, client); got != "" {
					t.Errorf("%s, %q: after the end: %s", name, prompts, got)
				}
			})
		}
	}
}

func TestASessionStartsWithACLIThatEndsAfterTheHandshake(t *testing.T) {
	for name, when := range dead {
		synctest.Test(t, func(t *testing.T) {
			cli := &dying{last: exit3}
			when(cli)
			agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{NewTransport: cli.For})
			if err != nil {
				t.Fatal(err)
			}
			s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "go"})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var all []error
			for _, err := range s.Messages() {
				all = append(all, err)
			}
			result, err := s.WaitForCompletion(t.Context())
			failed := (*agentsdk.CLIConnectionError)(nil)
			if len(all) != 1 || !errors.As(all[0], &failed) || failed.ExitCode != 3 || err != nil || result.Err != all[0] || s.GetState().State != agentsdk.StateFailed {
				t.Errorf("%s: %v, %+v, %v", name, all, result, err)
			}
		})
	}
}

func TestAContextThatEndsBeforeThePromptIsSentLeavesNoProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cli := &dying{prompted: func(ctx context.Context) error { cancel(); return ctx.Err() }}
		client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: agentsdk.AgentOptions{NewTransport: cli.For}})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Connect(ctx, "one", "two"); !errors.Is(err, context.Canceled) || !cli.IsClosed() || client.GetState().State != agentsdk.StateCancelled {
			t.Errorf("connect: %v, %+v", err, client.GetState())
		}
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		var states []agentsdk.SessionState
		agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{NewTransport: cli.For, Events: agentsdk.Events{
			OnStateChange: func(c agentsdk.StateChange) { states = append(states, c.To) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = agent.StartSession(ctx, agentsdk.SessionConfig{Prompt: "one"})
		synctest.Wait()
		want := []agentsdk.SessionState{agentsdk.StateStarting, agentsdk.StateRunning, agentsdk.StateCancelled}
		if !errors.Is(err, context.Canceled) || !cli.IsClosed() || !slices.Equal(states, want) {
			t.Errorf("start: %v, %q", err, states)
		}
	})
}

func TestAQueryThatIsGivenUpLeavesItsNewProcessToTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cli := &dying{}
		client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{ReconnectOnError: true, AgentOptions: agentsdk.AgentOptions{NewTransport: cli.For}})
		if err != nil {
			t.Fatal(err)
		}
		check(t, "connect", client.Connect(t.Context()))
		cli.died()
		cli.prompted = func(ctx context.Context) error { cancel(); return ctx.Err() }
		if err := client.Query(ctx, "given up"); !errors.Is(err, context.Canceled) || !client.IsConnected() || client.GetState().State != agentsdk.StateIdle {
			t.Fatalf("query: %v, %+v", err, client.GetState())
		}
		cli.prompted = nil
		check(t, "query", client.Query(t.Context(), "next"))
		if written := cli.GetWrittenMessages(); len(written) != 2 || prompted(written[1]) != "next" {
			t.Errorf("written: %v", written)
		}
		check(t, "disconnect", client.Disconnect(t.Context()))
	})
}

func TestTheSignalThatHasKilledACLIIsKnownAfterAFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := &dying{last: &agentsdk.CLIConnectionError{Reason: "the CLI has ended", ExitCode: -1, Signal: "killed"}}
		cli.prompted = func(context.Context) error { return os.ErrClosed }
		client, err := agentsdk.NewClaudeCodeClient(agentsdk.ClientOptions{AgentOptions: agentsdk.AgentOptions{NewTransport: cli.For}})
		if err != nil {
			t.Fatal(err)
		}
		check(t, "connect", client.Connect(t.Context()))
		err = client.Query(t.Context(), "one")
		if failed := (*agentsdk.CLIConnectionError)(nil); !errors.As(err, &failed) || failed.Signal != "killed" {
			t.Errorf("%v does not name the signal", err)
		}
	})
}

func TestAResultBeforeThePromptEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := &dying{}
		cli.asked = func() {
			send(cli.MockTransport, object{"type": "result", "subtype": "success", "result": "early"})
			synctest.Wait()
		}
		agent, err := agentsdk.NewClaudeCodeAgent(agentsdk.AgentOptions{NewTransport: cli.For})
		if err != nil {
			t.Fatal(err)
		}
		s, err := agent.StartSession(t.Context(), agentsdk.SessionConfig{Prompt: "go"})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := s.WaitForCompletion(t.Context()); err != nil || !result.Success || result.Result.Result != "early" {
			t.Errorf("%v, %+v", err, result)
		}
		for m, err := range s.Messages() {
			if err != nil || m.Type() != "result" {
				t.Errorf("%v, %v", m, err)
			}
		}
	})
}
