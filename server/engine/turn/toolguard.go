package turn

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/server/engine/toolguard"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// securityPrompts say whether users are asked about calls that look dangerous, even if the calls are allowed
// (GA 18.1, decisions M64, M65).
type securityPrompts struct {
	on        bool
	threshold float64 // the minimum confidence of a finding
}

const defaultConfidence = 0.7

// securityPromptOf reads the settings.
func securityPromptOf(from llm.Settings) securityPrompts {
	g := securityPrompts{threshold: defaultConfidence}
	if raw, err := from.Setting("security_prompt_enabled"); err == nil {
		g.on = string(raw) == "true"
	}
	raw, err := from.Setting("security_prompt_threshold")
	if err != nil || jsonwire.Text(raw).Kind() != "number" {
		return g
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && 0 <= f && f <= 1 {
		g.threshold = f
	}
	return g
}

// alarmed reports whether a request looks dangerous, and logs why. It does not log the arguments, which may be
// secret.
func (a approver) alarmed(r *request) bool {
	if !a.prompts.on {
		return false
	}
	finding, found := toolguard.Judge(r.announced.Call.Value.Arguments)
	if !found || finding.Confidence < a.prompts.threshold {
		return false
	}
	r.alarm = finding.Prompt()
	a.log.Warn("dangerous call", "session", a.client.session.initial.ID, "tool", r.call.Name, "finding", finding.What)
	return true
}
