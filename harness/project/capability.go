package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// Lacking says which capabilities that a scenario needs are not declared, and by which targets: "it needs resume, which go
// does not declare under capabilities". It returns "" when all targets declare all of them.
func Lacking(s *scenario.Scenario, targets []Target) string {
	var parts []string
	for _, need := range s.Needs {
		var without []string
		for i := range targets {
			if !slices.Contains(targets[i].Capabilities, need.Name) {
				without = append(without, targets[i].Spec.Name)
			}
		}
		switch n := len(without); n {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf("%s, which %s does not declare", need.Name, without[0]))
		default:
			parts = append(parts, fmt.Sprintf("%s, which %s and %s do not declare", need.Name, strings.Join(without[:n-1], ", "), without[n-1]))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "it needs " + strings.Join(parts, "; and ") + " under capabilities"
}

// TargetsNamed returns targets of the project by their names. A name that the project does not have means a target
// without capabilities.
func (p *Project) TargetsNamed(names []string) []Target {
	out := make([]Target, len(names))
	for i, name := range names {
		out[i].Spec.Name = name
		if at := IndexTarget(p.Targets, name); at >= 0 {
			out[i] = p.Targets[at]
		}
	}
	return out
}

// checkNeeds reports capabilities that no target can be meant to have: those of a project whose targets declare none, and
// misspelt ones. Any other name may be what no target can do yet.
func checkNeeds(p *Project, s *scenario.Scenario) (out scenario.Problems) {
	var declared []string
	for i := range p.Targets {
		declared = append(declared, p.Targets[i].Capabilities...)
	}
	for i, need := range s.Needs {
		at := scenario.Problem{File: s.File, Line: need.Line, Column: need.Column}
		meant := problem.DidYouMean(need.Name, declared)
		switch {
		case slices.ContainsFunc(s.Needs[:i], func(o scenario.Need) bool { return o.Name == need.Name }):
			at.What, at.Fix = fmt.Sprintf("needs has %s twice", need.Name), "keep one"
		case slices.Contains(declared, need.Name):
			continue
		case !p.declaresCapabilities:
			at.What = fmt.Sprintf("no target declares the capability %s", need.Name)
			at.Fix = fmt.Sprintf("add capabilities: [%s] to the targets in lockstep.yaml that have it, or leave it out", need.Name)
		case meant != "":
			at.What, at.Fix = fmt.Sprintf("no target declares the capability %s", need.Name), meant
		default:
			continue
		}
		out = append(out, at)
	}
	return out
}
