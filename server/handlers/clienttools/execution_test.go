package clienttools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func call(toolID, requestID string) clienttools.Call {
	return clienttools.Call{
		ToolID: toolID, RequestID: requestID, SessionID: "s", MessageID: "m", CallID: "k", Input: json.RawMessage(`{"x":1.0}`), Timeout: 30 * time.Second,
	}
}

// An end is how one execution ended.
type end struct {
	result clienttools.Result
	err    error
	after  time.Duration
}

// execute starts an execution, and returns when it waits.
func (r rig) execute(ctx context.Context, directory string, c clienttools.Call) <-chan end {
	ended := make(chan end, 1)
	start := time.Now()
	go func() {
		result, err := r.Execute(ctx, directory, c)
		ended <- end{result, err, time.Since(start)}
	}()
	synctest.Wait()
	return ended
}

func success(output string) clienttools.Result {
	return clienttools.Result{ClientToolResult: api.ClientToolResult{Status: "success", Title: "t", Output: output}}
}

const (
	executing = `{"type":"client-tool.executing","properties":{"sessionID":"s","messageID":"m","callID":"k","tool":"client_c_a","clientID":"c"}}`
	completed = `{"type":"client-tool.completed","properties":{"sessionID":"s","messageID":"m","callID":"k","tool":"client_c_a","clientID":"c","success":true}}`
)

func requested(id string) string {
	return `{"type":"client-tool.request","properties":{"clientID":"c","request":` + toolRequest(id) + `}}`
}

func toolRequest(id string) string {
	return `{"type":"client-tool-request","requestID":"` + id + `","sessionID":"s","messageID":"m","callID":"k","tool":"client_c_a","input":{"x":1.0}}`
}

func failed(text string) string {
	return `{"type":"client-tool.failed","properties":{"sessionID":"s","messageID":"m","callID":"k","tool":"client_c_a","clientID":"c","error":"` + text + `"}}`
}

func TestAnExecutionEndsWithItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		here, there := r.listen(events.InDirectory("/here")), r.listen(events.InDirectory("/there"))
		pending, elsewhere, other := r.listen(events.OfClient("/here", "c")), r.listen(events.OfClient("/there", "c")), r.listen(events.OfClient("/here", "d"))

		ended := r.execute(t.Context(), "/here", call("client_c_a", "r-1"))
		same(t, "/here, at the start", []string{executing, requested("r-1")}, here())
		same(t, "the client's stream", []string{toolRequest("r-1")}, pending())
		same(t, "the client's stream of another directory", 0, len(elsewhere()))
		same(t, "another client's stream", 0, len(other()))

		time.Sleep(time.Second)
		if !r.Submit("/there", "r-1", success("5"), nil) {
			t.Error("the result was not accepted")
		}
		same(t, "/there, where the result came from", []string{completed}, there())
		got := <-ended
		same(t, "result", success("5"), got.result)
		if got.err != nil || got.after != time.Second {
			t.Errorf("ended with %v after %s, want no error after 1s", got.err, got.after)
		}
		if r.Submit("/there", "r-1", success("6"), nil) {
			t.Error("a second result was accepted")
		}
		same(t, "/here, later", 0, len(here()))
	})
}

func TestAnExecutionEndsWithItsClientsError(t *testing.T) {
	for _, text := range []string{"The index is locked", "", "Client tool execution timed out after 1ms"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
			ended := r.execute(t.Context(), "/", call("client_c_a", "r-1"))
			heard := r.listen(events.InDirectory("/"))
			if !r.Submit("/", "r-1", clienttools.Result{}, &text) {
				t.Error("the result was not accepted")
			}
			same(t, "events", []string{failed(text)}, heard())
			var failure *clienttools.Failure
			if got := <-ended; !errors.As(got.err, &failure) || failure.Text != text || failure.TimedOut {
				t.Errorf("ended with %#v, want the client's text %q", got.err, text)
			}
		})
	}
}

func TestAnExecutionTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		c := call("client_c_a", "r-1")
		c.Timeout = 400 * time.Millisecond
		heard := r.listen(events.InDirectory("/"))
		got := <-r.execute(t.Context(), "/", c)
		const text = "Client tool execution timed out after 400ms"
		var failure *clienttools.Failure
		if !errors.As(got.err, &failure) || failure.Text != text || !failure.TimedOut || got.after != 400*time.Millisecond {
			t.Errorf("ended with %#v after %s, want %q after 400ms", got.err, got.after, text)
		}
		same(t, "events", []string{executing, requested("r-1"), failed(text)}, heard())
		if r.Submit("/", "r-1", success(""), nil) {
			t.Error("a result was accepted after the time-out")
		}
		same(t, "tools", []string{"client_c_a"}, ids(r.Tools("c")))
	})
}

func TestADisconnectFailsTheExecutionsAndThenRemovesTheTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "other", []api.ClientToolDefinition{tool("a", "{}")})
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}"), tool("b", "{}")})
		one := r.execute(t.Context(), "/here", call("client_c_a", "r-1"))
		others := r.execute(t.Context(), "/here", call("client_other_a", "r-2"))
		two := r.execute(t.Context(), "/here", call("client_c_a", "r-3"))
		here, there := r.listen(events.InDirectory("/here")), r.listen(events.InDirectory("/there"))

		r.Disconnect("/there", "c")
		same(t, "/there, where the stream was", []string{
			failed("Client disconnected"), failed("Client disconnected"),
			`{"type":"client-tool.unregistered","properties":{"clientID":"c","toolIDs":["client_c_a","client_c_b"]}}`,
		}, there())
		same(t, "/here", 0, len(here()))
		for _, ended := range []<-chan end{one, two} {
			var failure *clienttools.Failure
			if got := <-ended; !errors.As(got.err, &failure) || failure.Text != "Client disconnected" || failure.TimedOut {
				t.Errorf("ended with %#v", got.err)
			}
		}
		if r.Submit("/", "r-1", success(""), nil) || r.Submit("/", "r-3", success(""), nil) {
			t.Error("a result was accepted after the disconnect")
		}
		if !r.Submit("/", "r-2", success("still here"), nil) || (<-others).err != nil {
			t.Error("the other client's execution was touched")
		}
		same(t, "tools", []string{"client_other_a"}, ids(r.AllTools()))

		r.Disconnect("/there", "c")
		same(t, "events of a second disconnect", 0, len(there()))
	})
}

func TestAnExecutionWhoseCallerDisconnectsIsWithdrawnSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := r.execute(ctx, "/", call("client_c_a", "r-1"))
		heard := r.listen(events.InDirectory("/"))
		gone := errors.New("gone")
		cancel(gone)
		if got := <-ended; !errors.Is(got.err, gone) {
			t.Errorf("ended with %v, want %v", got.err, gone)
		}
		if r.Submit("/", "r-1", success(""), nil) {
			t.Error("a result was accepted after the caller had gone")
		}
		same(t, "events", 0, len(heard()))
	})
}

func TestAnExecutionSurvivesTheRemovalOfItsTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		ended := r.execute(t.Context(), "/", call("client_c_a", "r-1"))
		r.UnregisterAll("/", "c")
		if !r.Submit("/", "r-1", success("5"), nil) || (<-ended).err != nil {
			t.Error("the result was not accepted")
		}
	})
}

// TestWhatIsNotExecuted checks that an unknown tool is reported before a pending request ID (decisions S11, S28).
func TestWhatIsNotExecuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		pending := r.execute(t.Context(), "/", call("client_c_a", "r-1"))
		heard := r.listen(events.InDirectory("/"))
		for _, tc := range []struct {
			call clienttools.Call
			want error
		}{
			{call("", ""), clienttools.ErrToolNotFound},
			{call("a", ""), clienttools.ErrToolNotFound},
			{call("client_c_b", ""), clienttools.ErrToolNotFound},
			{call("client_c_b", "r-1"), clienttools.ErrToolNotFound},
			{call("client_c_a", "r-1"), clienttools.ErrRequestPending},
		} {
			if _, err := r.Execute(t.Context(), "/", tc.call); !errors.Is(err, tc.want) {
				t.Errorf("Execute(%q, request %q): %v, want %v", tc.call.ToolID, tc.call.RequestID, err, tc.want)
			}
		}
		same(t, "events", 0, len(heard()))
		r.Submit("/", "r-1", success(""), nil)
		if got := <-pending; got.err != nil {
			t.Errorf("the pending execution ended with %v", got.err)
		}
		again := r.execute(t.Context(), "/", call("client_c_a", "r-1")) // the ID is free again
		r.Submit("/", "r-1", success(""), nil)
		<-again
	})
}

func TestGeneratedRequestIDsAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		pending := r.listen(events.OfClient("/", "c"))
		ms := time.Now().UnixMilli()
		var ended []<-chan end
		for range 3 {
			ended = append(ended, r.execute(t.Context(), "/", call("client_c_a", "")))
		}
		var made []string
		for _, data := range pending() {
			var request api.ClientToolExecutionRequest
			decode(t, data, &request)
			made = append(made, request.RequestID)
		}
		first := fmt.Sprintf("c_k_%d", ms)
		same(t, "request IDs", []string{first, first + "_2", first + "_3"}, made)
		for i, id := range made {
			if !r.Submit("/", id, success(fmt.Sprint(i)), nil) {
				t.Errorf("%s is not pending", id)
			}
			if got := <-ended[i]; got.result.Output != fmt.Sprint(i) {
				t.Errorf("%s got the result %q, want %d", id, got.result.Output, i)
			}
		}
	})
}

func TestAnAmbiguousToolIsExecutedByTheFirstClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "a", []api.ClientToolDefinition{tool("other", "{}")})
		r.Register("/", "a_b", []api.ClientToolDefinition{tool("c", "{}")})
		r.Register("/", "a", []api.ClientToolDefinition{tool("b_c", "{}")}) // later, but of the first client
		for _, owner := range []string{"a", "a_b"} {
			pending := r.listen(events.OfClient("/", owner))
			ended := r.execute(t.Context(), "/", call("client_a_b_c", "r"))
			same(t, "requests to "+owner, 1, len(pending()))
			r.Submit("/", "r", success(""), nil)
			<-ended
			named := call("client_a_b_c", "r")
			named.ClientID = "a_b"
			pending = r.listen(events.OfClient("/", "a_b"))
			ended = r.execute(t.Context(), "/", named)
			same(t, "requests to the client that the call names", 1, len(pending()))
			r.Submit("/", "r", success(""), nil)
			<-ended
			r.UnregisterAll("/", "a")
		}
		named := call("client_a_b_c", "r")
		named.ClientID = "a"
		if got := <-r.execute(t.Context(), "/", named); !errors.Is(got.err, clienttools.ErrToolNotFound) {
			t.Errorf("a client without the tool: %v, want %v", got.err, clienttools.ErrToolNotFound)
		}
	})
}

func TestExactlyOneOfManyResultsWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		heard := r.listen(events.InDirectory("/"))
		for i := range 200 {
			ended := r.execute(t.Context(), "/", call("client_c_a", "r"))
			heard()
			var wg sync.WaitGroup
			won := make(chan string, 8)
			for n := range 8 {
				wg.Go(func() {
					output := fmt.Sprintf("%d-%d", i, n)
					var text *string
					if n%2 == 1 {
						text = &output
					}
					if r.Submit("/", "r", success(output), text) {
						won <- output
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Fatalf("round %d: %d results were accepted", i, len(won))
			}
			winner, got := <-won, <-ended
			if got.err == nil && got.result.Output != winner || got.err != nil && got.err.Error() != winner {
				t.Errorf("round %d: %q was accepted, and the caller got %+v, %v", i, winner, got.result, got.err)
			}
			if events := heard(); len(events) != 1 {
				t.Errorf("round %d: %d terminal events: %q", i, len(events), events)
			}
		}
	})
}

// TestEveryExecutionEndsOnce makes results, timeouts, disconnects and leaving callers race.
func TestEveryExecutionEndsOnce(t *testing.T) {
	r := newRig(t)
	heard := r.listen(events.InDirectory("/"))
	var wg sync.WaitGroup
	withdrawn := make(chan struct{}, 1000)
	for i := range 100 {
		wg.Go(func() {
			r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			id := fmt.Sprint(i)
			c := call("client_c_a", id)
			c.Timeout = time.Duration(i%3) * 100 * time.Microsecond
			var rivals sync.WaitGroup
			rivals.Go(func() { r.Submit("/", id, success(""), nil) })
			if i%4 == 0 {
				rivals.Go(cancel)
			}
			if i%5 == 0 {
				rivals.Go(func() { r.Disconnect("/", "c") })
			}
			_, err := r.Execute(ctx, "/", c)
			switch {
			case errors.Is(err, clienttools.ErrToolNotFound), errors.Is(err, context.Canceled):
				withdrawn <- struct{}{}
			}
			rivals.Wait()
		})
	}
	wg.Wait()
	started, finished := 0, 0
	for _, event := range heard() {
		switch {
		case strings.Contains(event, `"client-tool.executing"`):
			started++
		case strings.Contains(event, `"client-tool.completed"`), strings.Contains(event, `"client-tool.failed"`):
			finished++
		}
	}
	if finished > started || started-finished > len(withdrawn) {
		t.Errorf("%d executions started and %d ended, with at most %d withdrawn", started, finished, len(withdrawn))
	}
}

// TestShutdownFailsEveryExecution checks that later executions fail in the same way, and publish nothing (decisions
// S19, S32).
func TestShutdownFailsEveryExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
		one, two := r.execute(t.Context(), "/one", call("client_c_a", "r-1")), r.execute(t.Context(), "/two", call("client_c_a", "r-2"))
		global := r.listen(events.Everywhere())
		r.Shutdown()
		const text = "Server is shutting down"
		same(t, "events", []string{
			`{"directory":"/one","payload":` + failed(text) + `}`, `{"directory":"/two","payload":` + failed(text) + `}`,
		}, global())
		for _, ended := range []<-chan end{one, two, r.execute(t.Context(), "/", call("client_c_a", "r-3"))} {
			var failure *clienttools.Failure
			if got := <-ended; !errors.As(got.err, &failure) || failure.Text != text {
				t.Errorf("ended with %v, want %q", got.err, text)
			}
		}
		r.Disconnect("/", "c")
		same(t, "events after the shutdown", 0, len(global()))
		same(t, "tools after the shutdown", 1, len(r.AllTools()))
	})
}

// TestAResultForACallerThatNoLongerWaits comes before the caller's goroutine has noticed that its turn is over.
func TestAResultForACallerThatNoLongerWaits(t *testing.T) {
	r := newRig(t)
	r.Register("/", "c", []api.ClientToolDefinition{tool("a", "{}")})
	over := false
	c := call("client_c_a", "r")
	c.Over = func() bool { return over }
	if _, err := r.Start("/", c); err != nil {
		t.Fatal(err)
	}
	take := r.listen(events.InDirectory("/"))
	if !r.Progress(api.ProgressRequest{RequestID: "r"}) || len(take()) != 1 {
		t.Error("a report about a caller that waits is refused")
	}
	over = true
	if r.Progress(api.ProgressRequest{RequestID: "r"}) || r.Submit("/", "r", clienttools.Result{}, nil) {
		t.Error("something is accepted for a caller that no longer waits")
	}
	if got := take(); len(got) > 0 {
		t.Errorf("events %q, want none", got)
	}
}
