package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/history"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// A storedSession is the session of a reply, with the parts that replies change: its conversation and its token
// counts.
type storedSession struct {
	store  Store
	memory *SessionMemory

	initial      session.Session      // as it was at the start
	tokens       modelconfig.Tokens   // as they were last read
	counted      int64                // the counter of memory when tokens were read; -1 at first
	conversation []message.Message    // as the model will see it, including the turns of this reply
	read         session.Conversation // as it was last read, without these turns
}

// load reads the conversation.
func (s *storedSession) load(ctx context.Context) error {
	read, err := s.store.Conversation(ctx, s.initial.ID)
	if err != nil {
		return fmt.Errorf("%w: its conversation: %w", unreadable, err)
	}
	s.read = read
	s.conversation = slices.Clip(read.Messages)
	return nil
}

// numbers returns the session's token counts. It reads them only when a reply of the session has changed them, and
// not for every piece of an answer. For a deleted session it returns the last ones.
func (s *storedSession) numbers(ctx context.Context) (modelconfig.Tokens, error) {
	counted := s.memory.counted.Load()
	if s.counted == counted {
		return s.tokens, nil
	}
	tokens, err := s.store.Tokens(ctx, s.initial.ID)
	if errors.Is(err, session.ErrNotFound) {
		return s.tokens, nil
	}
	if err != nil {
		return s.tokens, fmt.Errorf("%w: its tokens: %w", unreadable, err)
	}
	s.tokens, s.counted = tokens, counted
	return tokens, nil
}

// count adds the usage of a call of the model (GA 7.12).
func (s *storedSession) count(ctx context.Context, used llm.Usage) error {
	defer s.memory.counted.Add(1)
	if err := s.store.AddUsage(ctx, s.initial.ID, used.Total, used.Input, used.Output); err != nil {
		return fmt.Errorf("%w: its tokens: %w", unwritable, err)
	}
	return nil
}

// countSummary adds the usage of a summary, and records that the conversation is now only as long as the summary.
func (s *storedSession) countSummary(ctx context.Context, used *llm.Usage) error {
	if used == nil {
		used = &llm.Usage{}
	}
	defer s.memory.counted.Add(1)
	if err := s.count(ctx, *used); err != nil {
		return err
	}
	if err := s.store.SetLastUsage(ctx, s.initial.ID, used.Output, used.Output, nil); err != nil {
		return fmt.Errorf("%w: its tokens: %w", unwritable, err)
	}
	return nil
}

// save adds messages to the session, and to what the model will see.
func (s *storedSession) save(ctx context.Context, messages ...message.Message) error {
	if len(messages) == 0 {
		return nil
	}
	if err := s.add(ctx, messages...); err != nil {
		return err
	}
	s.conversation = append(s.conversation, messages...)
	return nil
}

// add adds messages to the session only.
func (s *storedSession) add(ctx context.Context, messages ...message.Message) error {
	if err := s.store.AddMessages(ctx, s.initial.ID, messages...); err != nil {
		return fmt.Errorf("%w: save messages: %w", unwritable, err)
	}
	return nil
}

// compact changes the visibility of the messages that were read, and inserts messages after them. It keeps messages that
// were added since (decision M69).
func (s *storedSession) compact(ctx context.Context, seen []message.Metadata, added []message.Message) error {
	if err := s.store.Compact(ctx, s.initial.ID, s.read, seen, added); err != nil {
		return fmt.Errorf("%w: replace the conversation: %w", unwritable, err)
	}
	return nil
}

// estimate returns the number of tokens in the conversation: as the last call reported it, or else an estimate
// (GA 7.10).
func (s *storedSession) estimate() int64 {
	if total := s.initial.Tokens.Total; total != nil {
		return *total
	}
	return history.Estimate(s.conversation)
}
