package turn

import (
	"cmp"
	"context"
	"regexp"
	"slices"

	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

// A toolset is the set of tools that the model is offered in one turn.
type toolset struct {
	offered  []llm.Tool // sorted by name
	frontend map[string]bool
}

// toolset combines the tools of extensions, the built-in tools, and the tools that the client runs (decision M10).
func (x *exchange) toolset(s toolbox.Snapshot, model string) toolset {
	s = x.acceptable(s)
	all := append(slices.Clone(s.Tools), x.builtIn(model)...)
	set := toolset{frontend: map[string]bool{}}
	for _, tool := range s.Frontend {
		set.frontend[tool.Name] = !slices.ContainsFunc(all, func(other llm.Tool) bool { return other.Name == tool.Name })
	}
	all = append(all, s.Frontend...)
	slices.SortStableFunc(all, func(a, b llm.Tool) int { return cmp.Compare(a.Name, b.Name) })
	set.offered = slices.CompactFunc(all, func(a, b llm.Tool) bool { return a.Name == b.Name })
	return set
}

// acceptableName matches the tool names that providers accept.
var acceptableName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// acceptable removes the tools with names that providers do not accept, because one of them would make a provider
// reject the whole request (decision M70).
func (x *exchange) acceptable(s toolbox.Snapshot) toolbox.Snapshot {
	var refused []string
	filter := func(tools []llm.Tool) []llm.Tool {
		return slices.DeleteFunc(slices.Clone(tools), func(tool llm.Tool) bool {
			ok := acceptableName.MatchString(tool.Name)
			if !ok {
				refused = append(refused, tool.Name)
			}
			return !ok
		})
	}
	s.Tools, s.Frontend = filter(s.Tools), filter(s.Frontend)
	if len(refused) > 0 {
		x.Log.Warn("tools not offered: providers take no such names", "session", x.session.ID, "count", len(refused), "first", excerpt.Quoted(refused[0]))
	}
	return s
}

func (s toolset) isFrontend(r message.ToolRequest) bool {
	return r.Call.Error == nil && s.frontend[r.Call.Value.Name]
}

// find returns a tool, or the zero tool if there is none.
func (s toolset) find(name string) llm.Tool {
	i, found := slices.BinarySearchFunc(s.offered, name, func(t llm.Tool, name string) int { return cmp.Compare(t.Name, name) })
	if !found {
		return llm.Tool{}
	}
	return s.offered[i]
}

// A request is the model's request to run one tool.
type request struct {
	announced message.ToolRequest
	call      message.ToolCall // with arguments of the right types
	frontend  bool
	result    message.ToolResult
	decided   bool   // has a result without a call
	alarm     string // why the user must be asked about a dangerous call; "" if it looks harmless
}

// want records a request. A malformed one gets no response (GA 7.8).
func (t *turn) want(r message.ToolRequest) {
	if r.Call.Error != nil {
		t.broken = true
		return
	}
	call := r.Call.Value
	call.Arguments = coerce(call.Arguments, t.tools.find(call.Name).Schema)
	t.wanted = append(t.wanted, request{announced: r, call: call, frontend: t.tools.isFrontend(r)})
}

// runTools runs the requested tools and sends the responses (GA 7.8 steps 2 to 6). It returns the messages to save.
func (t *turn) runTools(ctx context.Context) (pairs []message.Message, err error) {
	slices.SortStableFunc(t.wanted, func(a, b request) int { // those for the client first
		return cmp.Compare(rank(a), rank(b))
	})
	for i := range t.wanted {
		if r := &t.wanted[i]; r.frontend {
			if err := t.awaitClient(ctx, r); err != nil {
				return nil, err
			}
		}
	}
	if err := t.decide(ctx); err != nil {
		return nil, err
	}
	if err := t.runAllowed(ctx); err != nil {
		return nil, err
	}
	for _, r := range t.wanted {
		response := message.New(message.User, message.ToolResponse{ID: r.announced.ID, Result: r.result})
		response.ID = "msg_" + uuid.NewString()
		if err := t.send(ctx, response); err != nil {
			return nil, err
		}
		asked := r.announced
		asked.Call = message.Success(r.call)
		saved := message.New(message.Assistant, asked)
		saved.ID = "msg_" + uuid.NewString()
		pairs = append(pairs, saved, response)
	}
	return pairs, nil
}

func rank(r request) int {
	if r.frontend {
		return 0
	}
	return 1
}

// awaitClient lets the client run a tool. No operation accepts the result, so it waits until the client leaves
// (GA 7.9).
func (t *turn) awaitClient(ctx context.Context, r *request) error {
	if err := t.say(ctx, message.FrontendToolRequest{ID: r.announced.ID, Call: r.announced.Call}); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}
