package clienttools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

func result(id, body string) string {
	return `POST /client-tools/result {"requestID":"` + id + `","result":` + body + `}`
}

// connected returns a script and a connected client with these tools. The requests until then are forgotten.
func connected(t *testing.T, o clienttools.Options, tools ...clienttools.ClientTool) (*script, *clienttools.Client) {
	t.Helper()
	s := newScript(t)
	c := s.newClient(o)
	must(t, c.Register(t.Context(), tools...))
	must(t, c.Connect(t.Context()))
	synctest.Wait()
	s.note(func() { s.requests = nil })
	return s, c
}

func TestCallsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := raw("full", func(ctx context.Context, call *clienttools.Call) (*clienttools.Result, error) {
			if clienttools.CallOf(ctx) != call || call.SessionID != "ses" || call.MessageID != "msg" || call.ID != "call" || call.Tool != "full" {
				t.Errorf("call %+v", call)
			}
			return &clienttools.Result{Title: "<t>", Metadata: map[string]any{}, Attachments: []clienttools.Attachment{{Mime: "text/plain", URL: "data:,x"}}}, nil
		})
		failing := raw("failing", func(context.Context, *clienttools.Call) (*clienttools.Result, error) { return nil, errors.New("E") })
		s, _ := connected(t, clienttools.Options{}, echo("echo"), full, failing)
		s.call("r1", "echo", `{"a":"<ü>"}`)
		s.want(result("r1", `{"status":"success","title":"echo","output":"{\"a\":\"<ü>\"}"}`))
		s.call("r2", "full", `{}`)
		s.want(result("r2", `{"status":"success","title":"<t>","output":"","metadata":{},"attachments":[{"mime":"text/plain","url":"data:,x"}]}`))
		s.call("r3", "failing", `{}`)
		s.want(result("r3", `{"status":"error","error":"E"}`))
		s.call("r4", "no_such", `{}`)
		s.want(result("r4", `{"status":"error","error":"Unknown tool: no_such"}`))
		s.send("event: tool-request\ndata: {\"requestID\":\"r5\",\"tool\":\"echo\"}\n\n") // without the prefix, and the rest
		s.want(result("r5", `{"status":"success","title":"echo","output":"{}"}`))
		s.send("event: ping\ndata: \n\nevent: other\ndata: {}\n\n")
		s.want()
		s.reported(nil, nil)
	})
}

func raw(id string, handle func(context.Context, *clienttools.Call) (*clienttools.Result, error)) clienttools.ClientTool {
	return clienttools.ClientTool{Definition: clienttools.Definition{ID: id}, Handle: handle}
}

// S60: invalid data goes to OnError, and the stream continues.
func TestInvalidRequestsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := connected(t, clienttools.Options{}, echo("echo"))
		for _, data := range []string{"{", "[]", `"r"`, `{"tool":"client_c1_echo"}`, `{"requestID":"r"}`, `{"requestID":1,"tool":"client_c1_echo"}`, `{"requestID":"r","tool":null}`, `{"RequestID":"r","tool":"client_c1_echo"}`} {
			s.send("event: tool-request\ndata: " + data + "\n\n")
			s.reported([]string{"Invalid tool request"}, nil)
		}
		s.call("r1", "echo", `{}`)
		s.want(result("r1", `{"status":"success","title":"echo","output":"{}"}`))
	})
}

// S60: an event of more than 16 MiB ends the stream, which is then lost.
func TestATooLongEventLosesTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := connected(t, clienttools.Options{}, echo("echo"))
		st := s.current()
		st.send <- "event: tool-request\ndata: " + requestJSON("r1", "echo", `{"a":"`+strings.Repeat("x", 16<<20)+`"}`) + "\n\n"
		time.Sleep(500 * time.Millisecond)
		s.reported(nil, []string{"1 1s"})
	})
}

// S61: a rejected result, and one that cannot be sent, is reported and not sent again.
func TestARejectedResultIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := connected(t, clienttools.Options{}, echo("echo"))
		s.set("POST /client-tools/result", response{404, `{"error":"Unknown request ID"}`})
		s.call("r1", "echo", `{}`)
		s.want(result("r1", `{"status":"success","title":"echo","output":"{}"}`))
		var status *clienttools.StatusError
		if len(s.errors) != 1 || !errors.As(s.errors[0], &status) || status.Status != 404 {
			t.Errorf("errors %v", s.errors)
		}
		s.reported([]string{"404: Unknown request ID"}, nil)
	})
}

// S61: a value that is not a result is an error of the call.
func TestAnInvalidResultIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nothing := raw("nothing", func(context.Context, *clienttools.Call) (*clienttools.Result, error) { return nil, nil })
		unsendable := raw("unsendable", func(context.Context, *clienttools.Call) (*clienttools.Result, error) {
			return &clienttools.Result{Metadata: map[string]any{"f": func() {}}}, nil
		})
		s, _ := connected(t, clienttools.Options{}, nothing, unsendable)
		s.call("r1", "nothing", `{}`)
		s.call("r2", "unsendable", `{}`)
		s.want(
			result("r1", `{"status":"error","error":"Invalid tool result"}`),
			result("r2", `{"status":"error","error":"Invalid tool result: json: unsupported type: func()"}`),
		)
	})
}

// S61: a handler outlives its stream, and its result is sent.
func TestTheResultOfALostStreamIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		s, _ := connected(t, clienttools.Options{}, raw("slow", func(context.Context, *clienttools.Call) (*clienttools.Result, error) {
			<-free
			return &clienttools.Result{Title: "slow"}, nil
		}))
		s.call("r1", "slow", `{}`)
		s.lose()
		close(free)
		s.want(result("r1", `{"status":"success","title":"slow","output":""}`))
	})
}

// S61: Close cancels handlers, waits for them, and sends no result.
func TestCloseCancelsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		s, c := connected(t, clienttools.Options{}, raw("wait", func(ctx context.Context, _ *clienttools.Call) (*clienttools.Result, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // it cleans up
			cause = context.Cause(ctx)
			return &clienttools.Result{}, nil
		}))
		s.call("r1", "wait", `{}`)
		start := time.Now()
		must(t, c.Close())
		if !errors.Is(cause, clienttools.ErrClosed) || time.Since(start) != time.Second {
			t.Errorf("Close returned after %s, and the cause is %v", time.Since(start), cause)
		}
		time.Sleep(time.Minute)
		s.want()
		s.reported(nil, nil)
		if len(s.streams) != 0 {
			t.Error("the stream is open")
		}
	})
}

func TestCloseSaysWhenHandlersDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		s, c := connected(t, clienttools.Options{}, raw("deaf", func(context.Context, *clienttools.Call) (*clienttools.Result, error) {
			<-free
			return nil, nil
		}))
		s.call("r1", "deaf", `{}`)
		if err := c.Close(); err == nil || err.Error() != "close: tool calls still run" {
			t.Errorf("Close: %v", err)
		}
		close(free)
	})
}

// CT 11.4: the timeout only informs the handler.
func TestTheTimeoutEndsTheContextAndTheResultIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := connected(t, clienttools.Options{Timeout: 5 * time.Second}, raw("wait", func(ctx context.Context, _ *clienttools.Call) (*clienttools.Result, error) {
			start := time.Now()
			<-ctx.Done()
			return &clienttools.Result{Title: time.Since(start).String()}, nil
		}))
		s.call("r1", "wait", `{}`)
		time.Sleep(time.Minute)
		s.want(result("r1", `{"status":"success","title":"5s","output":""}`))
	})
}

func TestCallsRunAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := make(chan struct{})
		s, _ := connected(t, clienttools.Options{}, raw("meet", func(context.Context, *clienttools.Call) (*clienttools.Result, error) {
			select {
			case both <- struct{}{}:
			case <-both:
			}
			return &clienttools.Result{}, nil
		}))
		s.send(toolRequest("r1", "meet", "{}") + toolRequest("r2", "meet", "{}"))
		synctest.Wait()
		if len(s.requests) != 2 {
			t.Errorf("%d results, want 2", len(s.requests))
		}
	})
}

// S62: without a socket, progress is a request. CallTool always is.
func TestProgressAndCallTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var content json.RawMessage
		var errs []error
		s, _ := connected(t, clienttools.Options{}, raw("work", func(ctx context.Context, call *clienttools.Call) (*clienttools.Result, error) {
			errs = append(errs, call.Progress(ctx, clienttools.Progress{}))
			errs = append(errs, call.Progress(ctx, clienttools.Progress{Progress: 1.5, Total: 3, Message: "half"}))
			var err error
			content, err = call.CallTool(ctx, "developer__shell", map[string]any{"command": "ls"})
			errs = append(errs, err)
			_, err = call.CallTool(ctx, "other", nil)
			errs = append(errs, err)
			_, err = call.CallTool(ctx, "unknown", nil)
			errs = append(errs, err)
			return &clienttools.Result{}, nil
		}))
		s.set("POST /client-tools/call", response{body: `{"status":"success","content":[{"type":"text","text":"a.txt"}]}`}, response{body: `{"status":"error","error":"declined"}`}, response{404, `{"error":"Unknown tool"}`})
		s.call("r1", "work", `{}`)
		s.want(
			`POST /client-tools/progress {"requestID":"r1","progress":0}`,
			`POST /client-tools/progress {"requestID":"r1","progress":1.5,"total":3,"message":"half"}`,
			`POST /client-tools/call {"requestID":"r1","tool":"developer__shell","input":{"command":"ls"}}`,
			`POST /client-tools/call {"requestID":"r1","tool":"other"}`,
			`POST /client-tools/call {"requestID":"r1","tool":"unknown"}`,
			result("r1", `{"status":"success","title":"","output":""}`),
		)
		if string(content) != `[{"type":"text","text":"a.txt"}]` || errors.Join(errs[:3]...) != nil {
			t.Errorf("content %s, errors %v", content, errs)
		}
		var tool *clienttools.ToolError
		if !errors.As(errs[3], &tool) || *tool != (clienttools.ToolError{Tool: "other", Message: "declined"}) {
			t.Errorf("CallTool: %v, want a ToolError", errs[3])
		}
		var status *clienttools.StatusError
		if !errors.As(errs[4], &status) || *status != (clienttools.StatusError{Status: 404, Message: "Unknown tool"}) {
			t.Errorf("CallTool: %v, want a StatusError", errs[4])
		}
	})
}

// The stream waits while a thousand calls run.
func TestCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		free := make(chan struct{})
		s, _ := connected(t, clienttools.Options{}, raw("hold", func(context.Context, *clienttools.Call) (*clienttools.Result, error) {
			running.Add(1)
			<-free
			running.Add(-1)
			return &clienttools.Result{}, nil
		}))
		s.send(strings.Repeat(toolRequest("r", "hold", "{}"), 1200))
		most.Store(running.Load())
		close(free)
		synctest.Wait()
		if most.Load() != 1000 || len(s.requests) != 1200 {
			t.Errorf("%d calls ran at once, want 1000; %d were answered, want 1200", most.Load(), len(s.requests))
		}
	})
}
