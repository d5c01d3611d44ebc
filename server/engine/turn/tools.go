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
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// A toolset is the set of tools that the model is offered in one turn.
type toolset struct {
	offered  []llm.Tool // sorted by name, and then those of the session's client
	frontend map[string]bool
	clients  map[string]toolbox.ClientTool // those of the session's client, by name
}

// newToolset combines the tools of extensions, the built-in tools, and the tools that the client runs (decision M10).
func newToolset(s toolbox.Snapshot, builtIn []llm.Tool) toolset {
	all := append(slices.Clone(s.Tools), builtIn...)
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
// reject the whole request (decision M70). It also returns these names.
func acceptable(s toolbox.Snapshot) (_ toolbox.Snapshot, refused []string) {
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
	return s, refused
}

func (s toolset) isFrontend(r message.ToolRequest) bool {
	return r.Call.Error == nil && s.frontend[r.Call.Value.Name]
}

// find returns a tool, or the zero tool if there is none.
func (s toolset) find(name string) llm.Tool {
	if tool, ok := s.clients[name]; ok {
		return tool.Tool
	}
	sorted := s.offered[:len(s.offered)-len(s.clients)]
	i, found := slices.BinarySearchFunc(sorted, name, func(t llm.Tool, name string) int { return cmp.Compare(t.Name, name) })
	if !found {
		return llm.Tool{}
	}
	return sorted[i]
}

// has reports whether there is a tool with this name.
func (s toolset) has(name string) bool { return s.find(name).Name == name }

// A request is the model's request to run one tool.
type request struct {
	announced message.ToolRequest
	call      message.ToolCall    // with arguments of the right types
	messageID string              // of the model's message
	frontend  bool                // the client of the reply runs the tool
	client    *toolbox.ClientTool // the tool, if a client of the server runs it
	result    message.ToolResult
	decided   bool            // has a result without a call
	hooked    bool            // the hooks before the call have run
	replaced  bool            // a hook has replaced the arguments
	span      *telemetry.Tool // nil if telemetry is off
	alarm     string          // why the user must be asked about a dangerous call; "" if it looks harmless
}

// runTools runs the tools that the model requests in a turn, and sends the responses (GA 7.8 steps 2 to 6). It returns
// the messages to save.
func (x *exchange) runTools(ctx context.Context, t *turn) (pairs []message.Message, err error) {
	if i := slices.IndexFunc(t.requests, func(r *request) bool { return r.frontend }); i >= 0 {
		return nil, awaitClient(ctx, x.client, t.requests[i])
	}
	if err := x.approver.decide(ctx, t.requests); err != nil {
		return nil, err
	}
	c := calls{service: x.service, agent: x.agent, session: x.session, client: x.client, output: t.output, collected: &x.collected, sends: make(chan func(context.Context) error)}
	if err := c.run(ctx, t.requests); err != nil {
		return nil, err
	}
	for _, r := range t.requests {
		response := message.New(message.User, message.ToolResponse{ID: r.announced.ID, Result: r.result})
		response.ID = "msg_" + uuid.NewString()
		if err := x.client.send(ctx, response); err != nil {
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

// awaitClient lets the client run a tool. No operation accepts the result, so it waits until the client leaves, and the
// other tools do not run (GA 7.9).
func awaitClient(ctx context.Context, client clientStream, r *request) error {
	if err := client.say(ctx, message.FrontendToolRequest{ID: r.announced.ID, Call: r.announced.Call}); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}
