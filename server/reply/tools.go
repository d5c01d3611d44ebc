package reply

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/permissions"
)

// A mode says what becomes of tool requests (GA 18.1).
type mode int

const (
	auto    mode = iota // all run
	approve             // users are asked
	chat                // none run
)

func modeOf(setting string) mode {
	switch setting {
	case "approve", "smart_approve":
		return approve
	case "chat":
		return chat
	}
	return auto
}

// Texts in the place of results (decision M30).
const (
	declined = "The user has declined this tool call. Do not try it again."
	onlyChat = "Tools do not run in chat mode. Explain what you would do with this call."
)

// A toolset is what the model is offered in one turn.
type toolset struct {
	offered  []llm.Tool // sorted by name
	frontend map[string]bool
}

// toolset puts together what extensions have, what the server has itself, and what the client runs (decision M10).
func (x *exchange) toolset(s Snapshot, model string) toolset {
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

func (s toolset) isFrontend(r message.ToolRequest) bool {
	return r.Call.Error == nil && s.frontend[r.Call.Value.Name]
}

// find returns a tool, the zero one if there is none.
func (s toolset) find(name string) llm.Tool {
	i, found := slices.BinarySearchFunc(s.offered, name, func(t llm.Tool, name string) int { return cmp.Compare(t.Name, name) })
	if !found {
		return llm.Tool{}
	}
	return s.offered[i]
}

// A request is one tool that the model wants to have run.
type request struct {
	announced message.ToolRequest
	call      message.ToolCall // with arguments of the right types
	frontend  bool
	result    message.Result[[]message.ToolContent]
	decided   bool // the result is there, without a call
}

// want notes a request. One that cannot be understood gets no response (GA 7.8).
func (t *turn) want(r message.ToolRequest) {
	if r.Call.Error != nil {
		t.broken = true
		return
	}
	call := r.Call.Value
	call.Arguments = coerce(call.Arguments, t.tools.find(call.Name).Schema)
	t.wanted = append(t.wanted, request{announced: r, call: call, frontend: t.tools.isFrontend(r)})
}

// runTools runs what the model wants and sends the responses (GA 7.8 steps 2 to 6). It returns what is to be saved.
func (t *turn) runTools(ctx context.Context) (pairs []message.Message, err error) {
	slices.SortStableFunc(t.wanted, func(a, b request) int { // those of the client first
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
		response := made(message.User, message.ToolResponse{ID: r.announced.ID, Result: r.result})
		response.ID = "msg_" + llm.NewID()
		if err := t.send(ctx, response); err != nil {
			return nil, err
		}
		asked := r.announced
		asked.Call = message.Success(r.call)
		saved := made(message.Assistant, asked)
		saved.ID = "msg_" + llm.NewID()
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

// awaitClient lets the client run a tool. There is no operation to hand in its result, so this ends with the client's
// going (GA 7.9).
func (t *turn) awaitClient(ctx context.Context, r *request) error {
	if err := t.say(ctx, message.FrontendToolRequest{ID: r.announced.ID, Call: r.announced.Call}); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// decide finds out for each request whether it runs, and asks the user one question after the other (GA 8.2).
func (t *turn) decide(ctx context.Context) error {
	var ask []*request
	for i := range t.wanted {
		r := &t.wanted[i]
		switch {
		case r.frontend:
		case t.mode == chat:
			r.answer(onlyChat)
		case t.mode == approve:
			permission, err := t.Permissions.Permission(r.call.Name)
			if err != nil {
				return fmt.Errorf("read the permissions: %w", err)
			}
			switch permission {
			case permissions.AlwaysAllow:
			case permissions.NeverAllow:
				r.answer(declined)
			default:
				ask = append(ask, r)
			}
		}
	}
	for _, r := range ask {
		if err := t.confirm(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// answer gives a request a result without running it.
func (r *request) answer(text string) {
	r.result = message.Success([]message.ToolContent{message.ToolText{Text: text}})
	r.decided = true
}

// securityPrompt is the question's prompt for the one tool that changes what an agent can do (GA 18.1).
const securityPrompt = "Extension management requires approval for security"

// confirm asks whether a tool may run, and waits for the answer without a limit.
func (t *turn) confirm(ctx context.Context, r *request) error {
	question := t.agent.confirmations.Ask(r.announced.ID)
	defer question.Close()
	asked := made(message.Assistant, message.ActionRequired{Data: confirmation(r)})
	asked.Metadata.AgentVisible = false
	if err := t.send(ctx, asked); err != nil {
		return err
	}
	answer, err := question.Wait(ctx)
	if err != nil {
		return err
	}
	switch answer {
	case allowOnce:
	case alwaysAllow:
		if err := t.Permissions.Allow(r.call.Name); err != nil {
			t.Log.Warn("permission not kept", "tool", r.call.Name, "err", err)
		}
	default:
		r.answer(declined)
	}
	return nil
}

func confirmation(r *request) message.ToolConfirmation {
	c := message.ToolConfirmation{ID: r.announced.ID, ToolName: r.call.Name, Arguments: r.announced.Call.Value.Arguments}
	if c.Arguments == nil {
		c.Arguments = json.RawMessage("{}")
	}
	if r.call.Name == "extensionmanager__manage_extensions" {
		c.Prompt = new(securityPrompt)
	}
	return c
}

// runAllowed runs the requests that have no result yet, all at once, and sends what they have to say meanwhile.
func (t *turn) runAllowed(ctx context.Context) error {
	news := make(chan func(context.Context) error)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var calls sync.WaitGroup
	places := make(chan struct{}, maxCalls)
	for i := range t.wanted {
		if r := &t.wanted[i]; !r.decided && !r.frontend {
			calls.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				t.run(ctx, r, news)
			})
		}
	}
	done := make(chan struct{})
	go func() {
		calls.Wait()
		close(done)
	}()
	for {
		select {
		case tell := <-news:
			if err := tell(ctx); err != nil {
				cancel(err)
				<-done
				return err
			}
		case <-done:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		}
	}
}

// maxCalls is how many tools run at the same time for one reply; the others wait for their turn.
const maxCalls = 64

// maxNotifications is how many notifications of a call may wait to be sent (GA 18.4).
const maxNotifications = 16

// elicitationTime is how long an MCP server's question is open (GA 8.3).
const elicitationTime = 300 * time.Second

// run runs one tool. What there is to tell meanwhile it passes to news, whose receiver tells it.
func (t *turn) run(ctx context.Context, r *request, news chan<- func(context.Context) error) {
	notes := make(chan Notification, maxNotifications)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for n := range notes {
			pass(ctx, news, func(ctx context.Context) error {
				return t.out.push(ctx, notificationEvent(r.announced.ID, n))
			})
		}
	}()
	var once sync.Mutex // over notes, which a late notification must not find closed
	over := false
	r.result = t.call(ctx, Call{
		SessionID:  t.session.ID,
		RequestID:  r.announced.ID,
		WorkingDir: t.session.WorkingDir,
		Name:       r.call.Name,
		Arguments:  r.call.Arguments,
		Notify: func(n Notification) {
			once.Lock()
			defer once.Unlock()
			if over {
				return
			}
			select {
			case notes <- n:
			default: // nobody is as slow as that, or as talkative
			}
		},
		Elicit: func(ctx context.Context, text string, schema json.RawMessage) (json.RawMessage, error) {
			return t.elicit(ctx, text, schema, news)
		},
	})
	once.Lock()
	over = true
	close(notes)
	once.Unlock()
	<-told
}

// pass hands something over, unless the context ends.
func pass(ctx context.Context, news chan<- func(context.Context) error, tell func(context.Context) error) {
	select {
	case news <- tell:
	case <-ctx.Done():
	}
}

// call runs a tool of the server's own, or of an extension. A panic is the tool's failure.
func (t *turn) call(ctx context.Context, call Call) (result message.Result[[]message.ToolContent]) {
	defer func() {
		if broken := recover(); broken != nil {
			t.Log.Error("panic in a tool", "tool", call.Name, "err", broken)
			result = message.Failure[[]message.ToolContent]("-32603: Internal error")
		}
	}()
	if result, ok := t.callBuiltIn(call); ok {
		return result
	}
	return shortened(t.agent.Tools.Call(ctx, call))
}

// elicit asks the user for an MCP server (GA 8.3).
func (t *turn) elicit(ctx context.Context, text string, schema json.RawMessage, news chan<- func(context.Context) error) (json.RawMessage, error) {
	id := llm.NewID()
	question := t.agent.elicitations.Ask(id)
	defer question.Close()
	asked := make(chan error, 1)
	pass(ctx, news, func(ctx context.Context) error {
		m := made(message.Assistant, message.ActionRequired{Data: message.Elicitation{ID: id, Message: text, RequestedSchema: schema}})
		err := t.Store.AddMessages(ctx, t.session.ID, m)
		if err == nil {
			err = t.send(ctx, m)
		}
		asked <- err
		return err
	})
	ctx, cancel := context.WithTimeoutCause(ctx, elicitationTime, Failure("Timeout waiting for user response"))
	defer cancel()
	select {
	case err := <-asked:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return question.Wait(ctx)
}
