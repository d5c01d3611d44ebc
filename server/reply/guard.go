package reply

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/server/danger"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// A guard has users asked about calls that look dangerous, whatever else is allowed (GA 18.1, decisions M64, M65).
type guard struct {
	on        bool
	threshold float64 // the confidence from which on a finding counts
}

const defaultGuard = 0.7

// guardOf returns the guard that the settings want.
func guardOf(from Settings) guard {
	g := guard{threshold: defaultGuard}
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

// alarmed says whether a request looks dangerous, and notes why. Which arguments it has is not logged: they may be secret.
func (t *turn) alarmed(r *request) bool {
	if !t.guard.on {
		return false
	}
	finding, found := danger.Judge(r.announced.Call.Value.Arguments)
	if !found || finding.Confidence < t.guard.threshold {
		return false
	}
	r.alarm = finding.Prompt()
	t.Log.Warn("dangerous call", "session", t.session.ID, "tool", r.call.Name, "finding", finding.What)
	return true
}
