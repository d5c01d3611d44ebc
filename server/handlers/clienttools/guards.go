package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/wire/jsonschema"
)

// Guards execute tools for callers that may use them (CT 10, decision S14). A call passes these checks in order: the
// tool exists, its client owns the session, the configuration permits it, its input is valid, the user permits it, the
// client has not had too many calls.
type Guards struct {
	Registry    *Registry
	Permissions Permissions
	// Hooks run around each call. They come before the guards, and see results after the events of the execution. Nil means none.
	Hooks *hooks.Hooks
	// Owner returns the client to which a session belongs, or "" if it belongs to none or does not exist.
	Owner func(ctx context.Context, sessionID string) (clientID string, err error)
	// Log receives which schemas are not usable.
	Log *slog.Logger

	schemas schemas
}

// A Refusal says why a guard does not let a call run. The call has published nothing.
type Refusal struct {
	Status int // 400, 403 or 429
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

// These are the refusals of CT 10, without those of the input.
var (
	errNotOwner    = &Refusal{http.StatusForbidden, "Client does not own this session"}
	errDenied      = &Refusal{http.StatusForbidden, "Client tools are not allowed for this agent"}
	errRejected    = &Refusal{http.StatusForbidden, "The user rejected permission to use this specific tool call. You may try again with different parameters."}
	errRateLimited = &Refusal{http.StatusTooManyRequests, "Rate limit exceeded for client tools"}
)

// Execute executes a call that passes all guards; see [Registry.Execute]. The error may also be a [*Refusal].
func (g *Guards) Execute(ctx context.Context, directory string, call Call) (Result, error) {
	about, err := g.before(ctx, &call)
	if err != nil {
		return Result{}, err
	}
	if err := g.admit(ctx, &call); err != nil {
		return Result{}, err
	}
	if g.Permissions.of(call.ToolID) == Ask {
		if err := g.ask(ctx, directory, call); err != nil {
			return Result{}, err
		}
	}
	e, err := g.Registry.Start(directory, call)
	if err != nil {
		return Result{}, err
	}
	result, err := e.Wait(ctx)
	return g.after(ctx, about, result, err)
}

// before runs the hooks before a call, which may replace its input (decision S85). It returns what hooks see of the call.
func (g *Guards) before(ctx context.Context, call *Call) (about hooks.Call, err error) {
	_, client, err := g.Registry.find(*call)
	if err != nil {
		return about, err
	}
	call.ClientID = client.id
	about = hooks.Call{Tool: call.ToolID, Input: call.Input, SessionID: call.SessionID, CallID: call.CallID, ClientID: &client.id}
	call.Input, _, err = g.Hooks.Before(ctx, about)
	about.Input = call.Input
	if denial := (*hooks.Denial)(nil); errors.As(err, &denial) {
		return about, &Refusal{http.StatusForbidden, denial.Text}
	}
	if errors.Is(err, hooks.ErrStopped) {
		return about, &Failure{Text: textShuttingDown}
	}
	return about, err
}

// after runs the hooks after a call, which may replace the text of its outcome (decision S86).
func (g *Guards) after(ctx context.Context, about hooks.Call, result Result, err error) (Result, error) {
	failure := (*Failure)(nil)
	switch {
	case err == nil:
		result.Output, _ = g.Hooks.After(ctx, about, hooks.Outcome{Text: result.Output})
	case errors.As(err, &failure):
		changed := *failure
		changed.Text, _ = g.Hooks.After(ctx, about, hooks.Outcome{Text: failure.Text, Failed: true})
		err = &changed
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return result, err
}

// admit runs the guards that do not wait. It sets the client of the call.
func (g *Guards) admit(ctx context.Context, call *Call) error {
	tool, client, err := g.Registry.find(*call)
	if err != nil {
		return err
	}
	call.client = client
	if g.Owner != nil && call.SessionID != "" {
		owner, err := g.Owner(ctx, call.SessionID)
		if err != nil && ctx.Err() == nil {
			g.Log.ErrorContext(ctx, "owner of a session not read", "session", call.SessionID, "err", err)
			err = &Failure{Text: "Session cannot be read"}
		}
		if err != nil {
			return err
		}
		if owner != "" && owner != client.id {
			return errNotOwner
		}
	}
	return g.permit(tool, call.Input)
}

// permit runs the guards that need only the tool and its input.
func (g *Guards) permit(tool definition, input json.RawMessage) error {
	if g.Permissions.of(tool.ID) == Deny {
		return errDenied
	}
	return g.validate(tool, input)
}

// maxProblems is the maximum number of lines about an invalid input (CT 10.4).
const maxProblems = 20

// validate checks the input of a call.
func (g *Guards) validate(tool definition, input json.RawMessage) error {
	schema := g.schemas.of(tool, g.Log)
	if schema == nil {
		return nil
	}
	problems, _ := schema.Judge(input, maxProblems)
	if len(problems) == 0 {
		return nil
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		at := p.At
		if at == "" {
			at = "input"
		}
		lines[i] = at + ": " + p.Reason
		if p.Reason == jsonschema.TooLong || p.Reason == jsonschema.TooDeep {
			lines[i] = "validation took too long"
		}
	}
	return &Refusal{http.StatusBadRequest, fmt.Sprintf("The %s tool was called with invalid arguments: %s.\nPlease rewrite the input so it satisfies the expected schema.",
		tool.ID, strings.Join(lines, "\n"))}
}

// inputRules are what the schema of an input may be (CT 10.4).
var inputRules = jsonschema.Rules{
	Drafts: []string{
		"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
	},
	IgnoreFormats: true,
	MaxSchemas:    1000,
}

// maxCompiled is the maximum number of compiled schemas in memory. They are much larger than their text.
const maxCompiled = 100

// schemas are the compiled schemas of the tools that were called last.
type schemas struct {
	mu       sync.Mutex
	compiled ordered[*atomic.Bool, *jsonschema.Schema] // by definition.unusable
}

// of returns the schema of a tool's input, or nil if there is no constraint. It logs once that a schema is not usable.
func (s *schemas) of(tool definition, log *slog.Logger) *jsonschema.Schema {
	if string(tool.Parameters) == "{}" || tool.unusable.Load() {
		return nil
	}
	s.mu.Lock()
	known, ok := s.compiled.get(tool.unusable)
	s.mu.Unlock()
	if ok {
		return known
	}
	schema, err := inputRules.Compile(tool.Parameters)
	if err != nil {
		if !tool.unusable.Swap(true) {
			log.Warn("schema not usable: every input is accepted", "tool", tool.ID, "err", err)
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compiled.set(tool.unusable, schema)
	s.compiled.shorten(maxCompiled)
	return schema
}
