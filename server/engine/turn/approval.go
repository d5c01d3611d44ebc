package turn

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
)

// A mode says what happens to tool requests (GA 18.1).
type mode int

const (
	auto    mode = iota // all tools run
	approve             // users are asked
	chat                // no tools run
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

// These texts replace results (decision M30).
const (
	declined = "The user has declined this tool call. Do not try it again."
	onlyChat = "Tools do not run in chat mode. Explain what you would do with this call."
)

// decide decides for each request whether it runs, and asks the user the necessary questions one after another
// (GA 8.2).
func (t *turn) decide(ctx context.Context) error {
	var ask []*request
	for i := range t.wanted {
		r := &t.wanted[i]
		if r.frontend {
			continue
		}
		asked, err := t.permit(r)
		if err != nil {
			return err
		}
		if !r.decided && t.alarmed(r) || asked {
			ask = append(ask, r)
		}
	}
	for _, r := range ask {
		if err := t.confirm(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// permit denies a request, or reports whether the user must be asked. It depends on the mode and on earlier decisions
// of users.
func (t *turn) permit(r *request) (ask bool, err error) {
	switch t.mode {
	case chat:
		r.answer(onlyChat)
	case approve:
		level, err := t.Permissions.Permission(r.call.Name)
		if err != nil {
			return false, fmt.Errorf("%w: %w", Failure("Permissions cannot be read"), err)
		}
		switch level {
		case permission.AlwaysAllow:
		case permission.NeverAllow:
			r.answer(declined)
		default:
			return true, nil
		}
	}
	return false, nil
}

// answer sets the result of a request without running it.
func (r *request) answer(text string) {
	r.result = message.TextResult(text)
	r.decided = true
}

// securityPrompt is the text of the question about the one tool that changes an agent's abilities (GA 18.1).
const securityPrompt = "Extension management requires approval for security"

// confirm asks the user whether a tool may run, and waits without a time limit.
func (t *turn) confirm(ctx context.Context, r *request) error {
	question := t.agent.memory.confirmations.Ask(r.announced.ID)
	defer question.Close()
	asked := message.New(message.Assistant, message.ActionRequired{Data: confirmation(r)})
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
	switch {
	case r.alarm != "":
		c.Prompt = &r.alarm
	case r.call.Name == "extensionmanager__manage_extensions":
		c.Prompt = new(securityPrompt)
	}
	return c
}

// Confirm answers the question whether a tool may run. An answer that arrives before its question is kept. An unknown
// session gets an agent.
func (s *Service) Confirm(sessionID, id, action string) {
	a, release := s.Use(sessionID)
	defer release()
	a.memory.confirmations.Answer(id, decision(action))
}
