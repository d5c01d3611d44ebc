package main

import (
	"context"
	"path"
	"strings"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// A policy answers permission requests. The first rule that matches decides.
type policy []rule

type rule struct {
	tool     string // a pattern, as of path.Match
	argument string // "" matches any arguments
	prefix   string // the first word of the argument
	allow    bool
	why      string // what the model sees, if it is denied
}

func (p policy) decide(_ context.Context, tool string, input map[string]any, _ agentsdk.PermissionContext) (agentsdk.PermissionResult, error) {
	for _, r := range p {
		if r.matches(tool, input) {
			if r.allow {
				return agentsdk.Allow(), nil
			}
			return agentsdk.Deny(r.why), nil
		}
	}
	return agentsdk.Deny("no rule allows it"), nil
}

func (r rule) matches(tool string, input map[string]any) bool {
	if ok, err := path.Match(r.tool, tool); err != nil || !ok {
		return false
	}
	if r.argument == "" {
		return true
	}
	text, _ := input[r.argument].(string)
	// A real policy would need to know the shell: this one allows a single word with simple arguments.
	return strings.HasPrefix(text+" ", r.prefix+" ") && !strings.ContainsAny(text, ";&|<>$`\\\n")
}
