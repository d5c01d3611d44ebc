package turn

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/chatstream"
	"github.com/lockstep-dev/lockstep/server/engine/history"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/telemetry"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

// defaultMaxTurns is how often the model may be asked in one reply (GA 7.6).
const defaultMaxTurns = 1000

const tooManyTurns = "I have reached the maximum number of actions that I may take without you. Do you want me to go on?"

// converse asks the model until it requests no more tools (GA 7.6 steps 3 and 4).
func (x *exchange) converse(ctx context.Context) error {
	x.nameSession()
	maxTurns := x.service.MaxTurns
	if maxTurns == 0 {
		maxTurns = defaultMaxTurns
	}
	recovered := false // from a conversation that is too long, since the model's last answer
	for range maxTurns {
		if output := x.collected.Load(); output != nil {
			return x.client.say(ctx, message.Text{Text: *output})
		}
		t, err := x.newTurn(ctx)
		if err == nil {
			err = t.ask(ctx)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx) // nothing of this turn is saved
		}
		if llm.IsContextExceeded(err) && !recovered {
			recovered = true
			if more, err := (compaction{x.agent, x.session, x.client}).recover(ctx); err != nil || !more {
				return err
			}
			continue
		}
		if err != nil {
			return x.sayFailed(ctx, err)
		}
		recovered = false
		more, err := x.act(ctx, t)
		if err != nil || !more {
			return err
		}
	}
	if output := x.collected.Load(); output != nil {
		return x.client.say(ctx, message.Text{Text: *output})
	}
	return x.client.say(ctx, message.Text{Text: tooManyTurns})
}

// sayFailed sends a message that the model could not be asked. It returns all other errors.
func (x *exchange) sayFailed(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*llm.Error](err); !ok {
		return err
	}
	return x.client.say(ctx, message.Text{Text: "Ran into this error: " + err.Error() + ".\n\nPlease try again."})
}

// newTurn returns the next turn: which model to ask, and what.
func (x *exchange) newTurn(ctx context.Context) (*turn, error) {
	models, output, initial := x.agent.chosen(), x.agent.finalOutput(), x.session.initial
	provider := models.Next()
	if provider == nil {
		return nil, noProvider
	}
	snapshot, err := x.agent.Extensions.Snapshot(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil { // the rest of the snapshot is enough to continue (decision X2)
		x.service.Log.WarnContext(ctx, "tools of extensions not listed", "err", err)
	}
	snapshot, refused := acceptable(snapshot)
	if len(refused) > 0 {
		x.service.Log.WarnContext(ctx, "tools not offered: providers take no such names", "session", initial.ID, "count", len(refused), "first", excerpt.Quoted(refused[0]))
	}
	tools := newToolset(snapshot, builtIn(x.approver.mode, provider.Config().ModelName, x.agent.finalOutput()))
	for _, tool := range tools.addClients(clientTools(x.service.Clients, initial)) {
		x.service.Log.WarnContext(ctx, "client tool not offered: another tool has its name", "session", initial.ID, "tool", excerpt.Quoted(tool.ID))
	}
	note := history.Note(time.Now(), initial.WorkingDir, snapshot.Notes)
	question := llm.Request{
		System:   x.agent.system(snapshot.Instructions, x.service.Hints(initial.WorkingDir)),
		Messages: history.WithNote(history.Repair(x.session.conversation), note),
		Tools:    tools.offered,
	}
	return &turn{session: x.session, client: x.client, models: models, provider: provider, question: question, tools: tools, output: output}, nil
}

// act runs the tools that the model requests, and saves the turn. It reports whether to ask the model again.
func (x *exchange) act(ctx context.Context, t *turn) (more bool, err error) {
	pairs, err := x.runTools(ctx, t)
	if err != nil {
		return false, err
	}
	if len(t.requests) > 0 || t.broken {
		return true, x.session.save(ctx, append(t.said.messages(), pairs...)...)
	}
	if t.output == nil || x.collected.Load() != nil {
		return false, x.session.save(ctx, t.said.messages()...)
	}
	order := message.New(message.User, message.Text{Text: orderOutput})
	if err := x.client.send(ctx, order); err != nil {
		return false, err
	}
	return true, x.session.save(ctx, append(t.said.messages(), order)...)
}

// A turn is one call of the model.
type turn struct {
	session  *storedSession
	client   clientStream
	models   llm.Models
	provider *llm.Provider // the model to ask, and later the model that has answered
	question llm.Request
	tools    toolset
	output   *FinalOutput // as it was when the model was asked (decision M34)

	said     pieces     // the part of the answer to save
	requests []*request // the tools that the model requests
	broken   bool       // a request for a tool was malformed
}

// ask asks the model, and sends its answer (GA 7.6 a to c).
func (t *turn) ask(ctx context.Context) error {
	for piece, err := range t.answer(telemetry.Answering(ctx)) {
		if err != nil {
			return err
		}
		if err := t.take(ctx, piece); err != nil {
			return err
		}
	}
	return nil
}

// answer asks the model of the turn. With a lead, nothing is streamed, and the turn belongs to the model that has
// answered (decisions M61, M62).
func (t *turn) answer(ctx context.Context) iter.Seq2[llm.Piece, error] {
	if !t.models.HasLead() {
		return t.provider.Answer(ctx, t.question)
	}
	return func(yield func(llm.Piece, error) bool) {
		piece, by, err := t.models.Ask(ctx, t.provider, func(p *llm.Provider) (llm.Piece, error) { return p.Ask(ctx, t.question) })
		t.provider = by
		yield(piece, err)
	}
}

// tellModel sends which model has answered, if there is a lead and the answer has token counts (decision M62).
func (t *turn) tellModel(ctx context.Context, piece llm.Piece) error {
	if !t.models.HasLead() || piece.Usage == nil {
		return nil
	}
	model := piece.Model
	if model == "" {
		model = t.provider.Model()
	}
	return t.client.events.Push(ctx, chatstream.ModelChange(model, t.models.Mode(model)))
}

// take counts, sends and keeps a piece of the answer.
func (t *turn) take(ctx context.Context, piece llm.Piece) error {
	if piece.Usage != nil {
		if err := t.session.count(ctx, *piece.Usage); err != nil {
			return err
		}
	}
	if piece.Message == nil {
		return nil
	}
	if err := t.tellModel(ctx, piece); err != nil {
		return err
	}
	shown, rest := *piece.Message, *piece.Message
	shown.Content = slices.DeleteFunc(slices.Clone(shown.Content), func(c message.Content) bool {
		r, ok := c.(message.ToolRequest)
		return ok && t.tools.isFrontend(r)
	})
	if err := t.client.send(ctx, shown); err != nil {
		return err
	}
	rest.Content = nil
	for _, item := range piece.Message.Content {
		switch c := item.(type) {
		case message.ToolRequest:
			t.request(piece.Message.ID, c)
		default:
			rest.Content = append(rest.Content, item)
		}
	}
	if len(rest.Content) > 0 {
		t.said.add(rest)
	}
	return nil
}

// request records a request for a tool. A malformed one gets no response (GA 7.8).
func (t *turn) request(messageID string, r message.ToolRequest) {
	if r.Call.Error != nil {
		t.broken = true
		return
	}
	call := r.Call.Value
	call.Arguments = coerce(call.Arguments, t.tools.find(call.Name).Schema)
	wanted := &request{announced: r, call: call, messageID: messageID, frontend: t.tools.isFrontend(r)}
	if tool, ok := t.tools.clients[call.Name]; ok {
		wanted.client = &tool
	}
	t.requests = append(t.requests, wanted)
}
