package turn

import (
	"context"
	"log/slog"

	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// sample asks the agent's model for an MCP server. The user is not asked first, and the usage does not count towards
// the reply. sample runs on goroutines of connections, so it turns a panic into an error, which must not end the
// server.
func sample(ctx context.Context, a *Agent, s toolbox.Sampling, log *slog.Logger) (said toolbox.Sampled, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			log.Error("panic in a call for an MCP server", "err", broken)
			err = internal
		}
	}()
	models := a.chosen()
	if models.Worker == nil {
		return toolbox.Sampled{}, noProvider
	}
	question := llm.Request{System: s.System, Messages: s.Messages, TextsAlone: true}
	piece, by, err := models.Ask(ctx, models.Next(), func(p *llm.Provider) (llm.Piece, error) {
		return p.Sample(ctx, question, s.MaxTokens, s.Temperature)
	})
	if err != nil {
		return toolbox.Sampled{}, err
	}
	text, _ := piece.Message.PlainText()
	return toolbox.Sampled{Text: text, Model: by.Config().ModelName}, nil
}
