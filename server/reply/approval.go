package reply

import (
	"context"
	"encoding/json"
	"fmt"

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

// decide finds out for each request whether it runs, and asks the user one question after the other (GA 8.2).
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

// permit denies a request, or says whether it has to be asked about, by the mode and what users have decided.
func (t *turn) permit(r *request) (ask bool, err error) {
	switch t.mode {
	case chat:
		r.answer(onlyChat)
	case approve:
		permission, err := t.Permissions.Permission(r.call.Name)
		if err != nil {
			return false, fmt.Errorf("%w: %w", Failure("Permissions cannot be read"), err)
		}
		switch permission {
		case permissions.AlwaysAllow:
		case permissions.NeverAllow:
			r.answer(declined)
		default:
			return true, nil
		}
	}
	return false, nil
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
	question := t.agent.live.confirmations.Ask(r.announced.ID)
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
	switch {
	case r.alarm != "":
		c.Prompt = &r.alarm
	case r.call.Name == "extensionmanager__manage_extensions":
		c.Prompt = new(securityPrompt)
	}
	return c
}

// What users may say about a tool that wants to run (GA 8.1). Anything else denies.
const (
	allowOnce   decision = "allow_once"
	alwaysAllow decision = "always_allow"
)

// A decision is a user's answer to whether a tool may run.
type decision string

// Confirm answers the question whether a tool may run. An answer to a question that nobody has asked yet is kept for it;
// an unknown session gets an agent.
func (s *Service) Confirm(sessionID, id, action string) {
	a, release := s.Use(sessionID)
	defer release()
	a.live.confirmations.Answer(id, decision(action))
}
