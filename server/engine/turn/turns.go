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
	"github.com/lockstep-dev/lockstep/server/engine/leadworker"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// defaultMaxTurns is how often the model may be asked in one reply (GA 7.6).
const defaultMaxTurns = 1000

const tooManyTurns = "I have reached the maximum number of actions that I may take without you. Do you want me to go on?"

// converse asks the model until it requests no more tools (GA 7.6 steps 3 and 4).
func (x *exchange) converse(ctx context.Context) error {
	x.nameSession()
	maxTurns := x.MaxTurns
	if maxTurns == 0 {
		maxTurns = defaultMaxTurns
	}
	recovered := false // from a conversation that is too long, since the model's last answer
	for range maxTurns {
		if output := x.collected(); output != nil {
			return x.say(ctx, message.Text{Text: *output})
		}
		t := x.newTurn()
		err := t.ask(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx) // nothing of this turn is saved
		}
		if llm.IsContextExceeded(err) && !recovered {
			recovered = true
			if more, err := (compaction{x}).recover(ctx); err != nil || !more {
				return err
			}
			continue
		}
		if err != nil {
			return x.sayFailed(ctx, err)
		}
		recovered = false
		more, err := t.act(ctx)
		if err != nil || !more {
			return err
		}
	}
	if output := x.collected(); output != nil {
		return x.say(ctx, message.Text{Text: *output})
	}
	return x.say(ctx, message.Text{Text: tooManyTurns})
}

// sayFailed sends a message that the model could not be asked. It returns all other errors.
func (x *exchange) sayFailed(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*llm.Error](err); !ok {
		return err
	}
	return x.say(ctx, message.Text{Text: "Ran into this error: " + err.Error() + ".\n\nPlease try again."})
}

// A turn is one call of the model, with the tool calls that follow.
type turn struct {
	*exchange
	models   leadworker.Models
	provider *llm.Provider // the model to ask, and later the model that has answered
	tools    toolset

	said   pieces       // the part of the answer to save
	wanted []request    // the tools that the model requests
	broken bool         // a request for a tool was malformed
	output *FinalOutput // as it was when the model was asked (decision M34)
}

// newTurn returns the next turn, with the model to ask.
func (x *exchange) newTurn() *turn {
	models := x.agent.chosen()
	return &turn{exchange: x, models: models, provider: models.Next()}
}

// ask asks the model, and sends its answer (GA 7.6 a to c).
func (t *turn) ask(ctx context.Context) error {
	if t.provider == nil {
		return noProvider
	}
	question, err := t.question(ctx)
	if err != nil {
		return err
	}
	for piece, err := range t.answer(ctx, question) {
		if err != nil {
			return err
		}
		if err := t.take(ctx, piece); err != nil {
			return err
		}
	}
	return nil
}

// question returns the request to the model.
func (t *turn) question(ctx context.Context) (llm.Request, error) {
	t.output = t.agent.finalOutput()
	snapshot, err := t.agent.Tools.Snapshot(ctx)
	if ctx.Err() != nil {
		return llm.Request{}, context.Cause(ctx)
	}
	if err != nil { // the rest of the snapshot is enough to continue (decision X2)
		t.Log.Warn("tools of extensions not listed", "err", err)
	}
	t.tools = t.toolset(snapshot, t.provider.Config().ModelName)
	note := history.Note(time.Now(), t.session.WorkingDir, snapshot.Notes)
	return llm.Request{
		System:   t.agent.system(snapshot.Instructions, t.Hints(t.session.WorkingDir)),
		Messages: history.WithNote(history.Repair(t.conversation), note),
		Tools:    t.tools.offered,
	}, nil
}

// answer asks the model of the turn. With a lead, nothing is streamed, and the turn belongs to the model that has
// answered (decisions M61, M62).
func (t *turn) answer(ctx context.Context, question llm.Request) iter.Seq2[llm.Piece, error] {
	if !t.models.HasLead() {
		return t.provider.Answer(ctx, question)
	}
	return func(yield func(llm.Piece, error) bool) {
		piece, by, err := t.models.Ask(ctx, t.provider, func(p *llm.Provider) (llm.Piece, error) { return p.Ask(ctx, question) })
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
	return t.out.Push(ctx, chatstream.ModelChange(model, t.models.Mode(model)))
}

// take counts, sends and keeps a piece of the answer.
func (t *turn) take(ctx context.Context, piece llm.Piece) error {
	if piece.Usage != nil {
		if err := t.count(ctx, *piece.Usage); err != nil {
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
	if err := t.send(ctx, shown); err != nil {
		return err
	}
	rest.Content = nil
	for _, item := range piece.Message.Content {
		switch c := item.(type) {
		case message.ToolRequest:
			t.want(c)
		default:
			rest.Content = append(rest.Content, item)
		}
	}
	if len(rest.Content) > 0 {
		t.said.add(rest)
	}
	return nil
}

// act runs the requested tools and saves the turn. It reports whether to ask the model again.
func (t *turn) act(ctx context.Context) (more bool, err error) {
	pairs, err := t.runTools(ctx)
	if err != nil {
		return false, err
	}
	if len(t.wanted) > 0 || t.broken {
		return true, t.save(ctx, append(t.said.messages(), pairs...)...)
	}
	if t.output == nil || t.collected() != nil {
		return false, t.save(ctx, t.said.messages()...)
	}
	order := message.New(message.User, message.Text{Text: orderOutput})
	if err := t.send(ctx, order); err != nil {
		return false, err
	}
	return true, t.save(ctx, append(t.said.messages(), order)...)
}
