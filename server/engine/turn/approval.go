package turn

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/toolguard"
	"github.com/lockstep-dev/lockstep/server/llm"
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

// An approver decides which of the tools that the model requests may run (GA 8.2). It asks the user where necessary.
type approver struct {
	mode        mode
	prompts     securityPrompts
	permissions Permissions
	clients     toolbox.Clients
	hooks       *hooks.Hooks
	memory      *SessionMemory // receives the user's answers
	sessionID   string
	send        func(context.Context, message.Message) error // sends a question; nil outside of a reply
	log         *slog.Logger
}

// newApprover returns an approver with the current settings. send may be nil.
func newApprover(s *Service, a *Agent, send func(context.Context, message.Message) error) approver {
	return approver{
		mode: modeOf(llm.TextSetting(s.Settings, "GOOSE_MODE")), prompts: securityPromptOf(s.Settings), permissions: s.Permissions,
		clients: s.Clients, hooks: s.Hooks, memory: a.memory, sessionID: a.SessionID, send: send, log: s.Log,
	}
}

// decide decides for each request whether it runs, and asks the user the necessary questions one after another.
func (a approver) decide(ctx context.Context, requests []*request) error {
	var ask []*request
	for _, r := range requests {
		asked, err := a.permit(r)
		if err != nil {
			return err
		}
		asked = !r.decided && a.alarmed(ctx, r) || asked
		if !asked { // the hooks and the guards come after the decision of goose
			if err := a.hook(ctx, r); err != nil {
				return err
			}
			if a.guard(r) {
				if asked, err = a.approved(r); err != nil {
					return err
				}
			}
		}
		if asked {
			ask = append(ask, r)
		}
	}
	for _, r := range ask {
		if err := a.confirm(ctx, r); err != nil {
			return err
		}
		if err := a.hook(ctx, r); err != nil {
			return err
		}
		a.guard(r) // which does not ask again
	}
	return nil
}

// permit denies a request, or reports whether the user must be asked. It depends on the mode and on earlier decisions
// of users.
func (a approver) permit(r *request) (ask bool, err error) {
	switch a.mode {
	case chat:
		r.answer(onlyChat)
	case approve:
		return a.approved(r)
	}
	return false, nil
}

// approved denies a request or lets it run, if the user has decided about its tool before. Otherwise the user must be
// asked.
func (a approver) approved(r *request) (ask bool, err error) {
	level, err := a.permissions.Permission(r.call.Name)
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
func (a approver) confirm(ctx context.Context, r *request) error {
	if a.send == nil {
		return errUnasked
	}
	question := a.memory.confirmations.Ask(r.announced.ID)
	defer question.Close()
	asked := message.New(message.Assistant, message.ActionRequired{Data: confirmation(r)})
	asked.Metadata.AgentVisible = false
	if err := a.send(ctx, asked); err != nil {
		return err
	}
	answer, err := question.Wait(ctx)
	if err != nil {
		return err
	}
	switch answer {
	case allowOnce:
	case alwaysAllow:
		if err := a.permissions.Allow(r.call.Name); err != nil {
			a.log.WarnContext(ctx, "permission not kept", "tool", r.call.Name, "err", err)
		}
	default:
		r.answer(declined)
	}
	return nil
}

func confirmation(r *request) message.ToolConfirmation {
	c := message.ToolConfirmation{ID: r.announced.ID, ToolName: r.call.Name, Arguments: r.announced.Call.Value.Arguments}
	if r.replaced {
		c.Arguments = r.call.Arguments
	}
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

// securityPrompts say whether users are asked about calls that look dangerous, even if the calls are allowed
// (GA 18.1, decisions M64, M65).
type securityPrompts struct {
	on        bool
	threshold float64 // the minimum confidence of a finding
}

const defaultConfidence = 0.7

// securityPromptOf reads the settings.
func securityPromptOf(from llm.Settings) securityPrompts {
	raw, err := from.Setting("security_prompt_enabled")
	return securityPrompts{
		on: err == nil && string(raw) == "true", threshold: llm.Fraction(from, "security_prompt_threshold", defaultConfidence),
	}
}

// alarmed reports whether a request looks dangerous, and logs why. It does not log the arguments, which may be
// secret.
func (a approver) alarmed(ctx context.Context, r *request) bool {
	if !a.prompts.on {
		return false
	}
	finding, found := toolguard.Judge(r.announced.Call.Value.Arguments)
	if !found || finding.Confidence < a.prompts.threshold {
		return false
	}
	r.alarm = finding.Prompt()
	a.log.WarnContext(ctx, "dangerous call", "session", a.sessionID, "tool", r.call.Name, "finding", finding.What)
	return true
}
