package turn

import (
	"context"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

// Young sessions get a name (GA 18.6, decisions M21, M22).
const (
	namedUntil = 3 // messages of the user with a text
	namingTime = 60 * time.Second
	maxName    = 100 // characters

	describe = "Describe the topic of a conversation in four words or fewer. Answer with a short description and nothing else."
)

// nameSession asks the model for a name in the background, if the session still needs one.
func (x *exchange) nameSession() {
	models := x.agent.chosen()
	question, wanted := namingQuestion(x.session.conversation)
	if x.session.initial.UserSetName || models.Worker == nil || !wanted {
		return
	}
	service, id, memory := x.service, x.session.initial.ID, x.agent.memory
	release := memory.Hold()
	begun := service.Background.Go(func(ctx context.Context) {
		defer release()
		ctx, cancel := memory.bounded(ctx)
		defer cancel(nil)
		service.name(ctx, id, models, question)
	})
	if !begun {
		release()
	}
}

// name names a session. After an error, the session keeps its name.
func (s *Service) name(ctx context.Context, id string, models llm.Models, question string) {
	ctx, cancel := context.WithTimeout(ctx, namingTime)
	defer cancel()
	ctx = s.Telemetry.Outside(ctx, id)
	piece, err := models.Complete(ctx, llm.Request{
		System: describe, Messages: []message.Message{message.New(message.User, message.Text{Text: question})},
	})
	if err != nil {
		s.Log.Debug("session not named", "session", id, "err", err)
		return
	}
	answer, _ := piece.Message.PlainText()
	name := excerpt.Characters(strings.Join(strings.Fields(answer), " "), maxName)
	if name == "" {
		return
	}
	if err := s.Store.NameOnce(ctx, id, name); err != nil {
		s.Log.WarnContext(ctx, "session not named", "session", id, "err", err)
	}
}

// namingQuestion returns the question to the model, and whether the conversation is young enough.
func namingQuestion(conversation []message.Message) (question string, wanted bool) {
	var said []string
	for _, m := range conversation {
		if m.Role != message.User {
			continue
		}
		if text, ok := m.PlainText(); ok {
			said = append(said, "\n\n"+text)
		}
	}
	wanted = 0 < len(said) && len(said) <= namedUntil
	return "The messages of the user:" + strings.Join(said, ""), wanted
}
