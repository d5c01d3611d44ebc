package reply

import (
	"context"
	"encoding/json"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
)

// A Sampling is what an MCP server asks the model while one of its tools runs (decision X23).
type Sampling struct {
	System      string // empty is none
	Messages    []message.Message
	MaxTokens   int64
	Temperature json.Number // empty is that of the model's configuration
}

// Sampled is what the model says to that.
type Sampled struct{ Text, Model string }

// sample asks the agent's model for an MCP server. Nobody is asked before, and it does not count as a call of the reply. It
// is called by goroutines of connections, which must not end the server: a panic is the call's failure.
func (t *turn) sample(ctx context.Context, s Sampling) (said Sampled, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			t.Log.Error("panic in a call for an MCP server", "err", broken)
			err = internal
		}
	}()
	models := t.agent.chosen()
	if models.Worker == nil {
		return Sampled{}, noProvider
	}
	question := llm.Request{System: s.System, Messages: s.Messages, TextsAlone: true}
	piece, by, err := models.ask(ctx, models.next(), func(p *llm.Provider) (llm.Piece, error) {
		return p.Sample(ctx, question, s.MaxTokens, s.Temperature)
	})
	if err != nil {
		return Sampled{}, err
	}
	text, _ := piece.Message.PlainText()
	return Sampled{Text: text, Model: by.Config().ModelName}, nil
}
