// Package hooks runs the commands that decide about calls of tools, and change their results (CT 14.6).
//
// A hook is a program of the server's user. It gets a call as a line of JSON, and may answer with an object. At most
// [maxRunning] hooks run at the same time. None outlives the call that it is about, or the server.
package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/pattern"
	"github.com/lockstep-dev/lockstep/server/mcp/processgroup"
	"github.com/lockstep-dev/lockstep/server/settings/ownsecret"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Hook is one command of the configuration.
type Hook struct {
	Match   string        // a pattern of names of tools
	Command []string      // the program, which is not empty, and its arguments
	Timeout time.Duration // how long it may run
}

// Lists are the hooks of the configuration, in their order.
type Lists struct{ Before, After []Hook }

// DefaultTimeout is the timeout of a hook that names none.
const DefaultTimeout = 5 * time.Second

// maxRunning is how many hooks run at the same time (decision S87).
const maxRunning = 32

// Options say how hooks run. All are optional.
type Options struct {
	Environment []string            // without the server's secret, which New leaves out
	Stderr      *os.File            // their standard error
	Guard       *processgroup.Guard // ends them if the server is killed
	Log         *slog.Logger        // receives which hooks failed, but not what they read and wrote
}

// Hooks run hooks. A nil Hooks runs none. They are safe for concurrent use.
type Hooks struct {
	lists   Lists
	options Options
	places  chan struct{} // as many as hooks may run
	running context.Context
	stop    context.CancelCauseFunc
}

// ErrStopped is the cause of the end of a hook that the stop of the server has killed.
var ErrStopped = errors.New("server is shutting down")

// New returns the hooks of a server.
func New(lists Lists, options Options) *Hooks {
	options.Environment = ownsecret.Without(options.Environment)
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hooks{lists: lists, options: options, places: make(chan struct{}, maxRunning)}
	h.running, h.stop = context.WithCancelCause(context.Background())
	return h
}

// Stop kills the hooks that run. Later ones are not started.
func (h *Hooks) Stop() {
	if h != nil {
		h.stop(ErrStopped)
	}
}

// A Call is a call of a tool, as hooks see it.
type Call struct {
	Tool              string // the name that patterns match
	Input             json.RawMessage
	SessionID, CallID string
	ClientID          *string // of a client's tool
}

// A Denial says why a call must not run.
type Denial struct{ Text string }

func (d *Denial) Error() string { return d.Text }

// Before asks the hooks whether a call may run. It returns the input that they leave, and whether that is another one.
// The error is a [*Denial], [ErrStopped], or the cause of the end of ctx.
func (h *Hooks) Before(ctx context.Context, call Call) (input json.RawMessage, replaced bool, err error) {
	if h == nil {
		return call.Input, false, nil
	}
	for _, hook := range h.lists.Before {
		if !pattern.Matches(hook.Match, call.Tool) {
			continue
		}
		said, err := run(h, ctx, hook, call.line("before", nil), parseVerdict)
		if err == nil && said.denied {
			return call.Input, replaced, &Denial{said.reason}
		}
		if err != nil {
			if cause := h.ended(ctx); cause != nil {
				return call.Input, replaced, cause
			}
			h.options.Log.WarnContext(ctx, "hook failed", "hook", "before", "program", hook.Command[0], "err", err)
			return call.Input, replaced, &Denial{"Hook failed: " + jsonwire.WellFormed(hook.Command[0])}
		}
		if said.input != nil {
			call.Input, replaced = said.input, true
		}
	}
	return call.Input, replaced, nil
}

// An Outcome is how a call has ended: the text of its output, or that of its error.
type Outcome struct {
	Text   string
	Failed bool
}

// After shows the outcome of a call to the hooks. It returns the text that they leave, and whether that is another one. If
// ctx ends, it is not.
func (h *Hooks) After(ctx context.Context, call Call, outcome Outcome) (text string, replaced bool) {
	if h == nil {
		return outcome.Text, false
	}
	first := outcome.Text
	for _, hook := range h.lists.After {
		if !pattern.Matches(hook.Match, call.Tool) {
			continue
		}
		if h.ended(ctx) != nil {
			return first, false
		}
		said, err := run(h, ctx, hook, call.line("after", &outcome), parseOutput)
		if err != nil {
			if h.ended(ctx) != nil {
				return first, false
			}
			h.options.Log.WarnContext(ctx, "hook failed", "hook", "after", "program", hook.Command[0], "err", err)
			continue
		}
		if said != nil {
			outcome.Text, replaced = *said, true
		}
	}
	return outcome.Text, replaced
}

// ended returns why hooks are over, or nil.
func (h *Hooks) ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return context.Cause(h.running)
}

// line returns the input of a hook (decision S84).
func (c Call) line(event string, outcome *Outcome) []byte {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("event").String(event)
	w.Name("tool").String(c.Tool)
	w.Name("input").Raw(c.Input)
	w.Name("sessionID").String(c.SessionID)
	w.Name("callID").String(c.CallID)
	if c.ClientID != nil {
		w.Name("clientID").String(*c.ClientID)
	}
	if outcome != nil {
		w.Name("result").Open('{')
		status, name := "success", "output"
		if outcome.Failed {
			status, name = "error", "error"
		}
		w.Name("status").String(status)
		w.Name(name).String(outcome.Text)
		w.Close('}')
	}
	w.Close('}')
	return append(w.Text(), '\n')
}
