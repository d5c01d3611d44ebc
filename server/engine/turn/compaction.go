package turn

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/chatstream"
	"github.com/lockstep-dev/lockstep/server/engine/history"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// These are the prompt for the summary, and the text after the summary (decisions M23, M24).
const (
	summarize = "Summarize the conversation between a user and an AI agent that follows, so that the agent can go on with the " +
		"summary alone. Keep the user's goals, what was done and found out, names of files, decisions, errors, and what is left to do."
	goOn = "The conversation so far was replaced by this summary. I go on from there without mentioning it."
)

// isCompaction reports whether a text asks for a compaction (GA 7.10).
func isCompaction(text string) bool {
	switch text {
	case "/compact", "/summarize", "Please compact this conversation":
		return true
	}
	return false
}

const defaultThreshold = 0.8

// A compaction replaces a conversation by a summary, to make room in the model's context.
type compaction struct {
	agent   *Agent
	session *storedSession
	client  clientStream
}

// overThreshold reports whether the conversation must be compacted before the model is asked, and the threshold in
// percent.
func overThreshold(from llm.Settings, s *storedSession, provider *llm.Provider) (percent int, over bool) {
	threshold := llm.Fraction(from, "GOOSE_AUTO_COMPACT_THRESHOLD", defaultThreshold)
	if threshold == 0 || threshold == 1 {
		return 0, false
	}
	share := float64(s.estimate()) / float64(llm.ContextOf(provider.Config()))
	return int(threshold * 100), share > threshold
}

// byHand compacts on the user's request (GA 7.10, manual).
func (c compaction) byHand(ctx context.Context) error {
	if err := c.thinking(ctx); err != nil {
		return err
	}
	if c.agent.Provider() == nil {
		return noProvider
	}
	if done, err := c.replace(ctx, false); err != nil || !done {
		return err
	}
	return c.notice(ctx, "Compaction complete")
}

// automatic compacts before the model is asked (GA 7.10, automatic). It returns false if the reply is over.
func (c compaction) automatic(ctx context.Context, percent int) (more bool, err error) {
	if err := c.notice(ctx, fmt.Sprintf("Exceeded auto-compact threshold of %d%%. Performing auto-compaction...", percent)); err != nil {
		return false, err
	}
	if err := c.thinking(ctx); err != nil {
		return false, err
	}
	if done, err := c.replace(ctx, true); err != nil || !done {
		return false, err
	}
	return true, c.notice(ctx, "Compaction complete")
}

// recover compacts because the model reported that its context is full. It returns false if the reply is over.
func (c compaction) recover(ctx context.Context) (more bool, err error) {
	if err := c.notice(ctx, "Context limit reached. Compacting to continue conversation..."); err != nil {
		return false, err
	}
	if err := c.thinking(ctx); err != nil {
		return false, err
	}
	// The conversation is loaded again, so that messages of other streams are not lost. If the session was deleted,
	// the reply ends where the summary would be saved.
	if err := c.session.load(ctx); err != nil && !errors.Is(err, session.ErrNotFound) {
		return false, err
	}
	return c.replace(ctx, true)
}

// notice tells the user what happens. Clients recognise some of these texts.
func (c compaction) notice(ctx context.Context, text string) error {
	return c.client.say(ctx, message.SystemNotification{Type: message.InlineMessage, Message: text})
}

func (c compaction) thinking(ctx context.Context) error {
	return c.client.say(ctx, message.SystemNotification{Type: message.ThinkingMessage, Message: "goose is compacting the conversation..."})
}

// replace replaces the conversation by a summary, and sends it. If there is no summary, it tells the user and returns
// false.
func (c compaction) replace(ctx context.Context, keepLatest bool) (done bool, err error) {
	piece, err := c.summary(ctx)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		return false, c.client.say(ctx, message.Text{Text: "Ran into this error trying to compact: " + err.Error() + "."})
	}
	text, _ := piece.Message.PlainText()
	seen, added := compacted(c.session.read.Messages, text, keepLatest)
	if err := c.session.compact(ctx, seen, added); err != nil {
		return false, err
	}
	if err := c.session.countSummary(ctx, piece.Usage); err != nil {
		return false, err
	}
	if err := c.session.load(ctx); err != nil {
		return false, err
	}
	return true, c.client.events.Push(ctx, chatstream.UpdateConversation(c.session.conversation))
}

// summary asks the model for a summary. If the conversation is too long for the model, it tries again without the
// results of tools.
func (c compaction) summary(ctx context.Context) (piece llm.Piece, err error) {
	models := c.agent.chosen()
	if models.Worker == nil {
		return piece, noProvider
	}
	for _, results := range []bool{true, false} {
		text := message.Text{Text: history.Transcript(c.session.conversation, results)}
		piece, err = models.Complete(ctx, llm.Request{System: summarize, Messages: []message.Message{message.New(message.User, text)}})
		if !llm.IsContextExceeded(err) {
			return piece, err
		}
	}
	return piece, err
}

// compacted returns the new visibility of a conversation's messages, and the messages to add (GA 7.10). All old
// messages are hidden from the agent. A summary and an instruction, visible to the agent alone, replace them. The
// user's latest plain text may be repeated; if it was the last message, the old one is hidden from the user too.
func compacted(conversation []message.Message, summary string, keepLatest bool) (seen []message.Metadata, added []message.Message) {
	latest := -1
	if keepLatest {
		latest = history.LatestText(conversation)
	}
	for i, m := range conversation {
		repeated := i == latest && i == len(conversation)-1
		seen = append(seen, message.Metadata{UserVisible: m.Metadata.UserVisible && !repeated})
	}
	forAgent := message.Metadata{AgentVisible: true}
	replacement := message.New(message.User, message.Text{Text: summary})
	replacement.Metadata = forAgent
	instruction := message.New(message.Assistant, message.Text{Text: goOn})
	instruction.Metadata = forAgent
	added = []message.Message{replacement, instruction}
	if latest >= 0 {
		added = append(added, message.New(message.User, texts(conversation[latest])...))
	}
	return seen, added
}

// texts returns only the texts of a message.
func texts(m message.Message) (texts []message.Content) {
	for _, item := range m.Content {
		if text, ok := item.(message.Text); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
