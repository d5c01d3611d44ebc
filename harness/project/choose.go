package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/redact"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A UsageError means that an option names something that does not exist, such as a target, a tag or a scenario. Nothing
// was started.
type UsageError struct {
	What string
	Fix  string
}

func (e *UsageError) Error() string {
	if e.Fix == "" {
		return e.What
	}
	return e.What + "\n\tfix: " + e.Fix
}

// ChooseTargets returns the targets to run, the reference first. alone means that there is only one, and so no
// reference.
//
// A request is a target's name, or name=URL for a server that already runs and may have a new name. A name that occurs
// twice means two servers of that kind. Without requests, all targets of the project run.
func (p *Project) ChooseTargets(requests []string, reference string) (targets []Target, alone bool, err error) {
	if len(requests) == 0 {
		requests = TargetNames(p.Targets)
	}
	if targets, err = p.addTargets(nil, requests); err != nil {
		return nil, false, err
	}
	at := IndexTarget(targets, cmp.Or(reference, p.Reference))
	if at < 0 && reference != "" {
		return nil, false, &UsageError{fmt.Sprintf("reference %q is not among the targets of this run", reference), problem.OneOf(reference, TargetNames(targets))}
	}
	if len(targets) == 1 {
		return targets, true, nil
	}
	at = max(at, 0) // without the project's reference, the first target is the reference
	first := targets[at]
	targets = slices.Insert(slices.Delete(targets, at, at+1), 0, first)
	return targets, false, checkDistinct(targets)
}

// ChooseCandidates returns a recorded reference and the targets to run. By default, these are all targets except the
// reference.
func (p *Project) ChooseCandidates(requests []string, reference, recorded string) ([]Target, error) {
	if reference != "" && reference != recorded {
		return nil, &UsageError{fmt.Sprintf("reference %q is not the recorded one", reference), fmt.Sprintf("leave it out: the recorded reference is %q", recorded)}
	}
	if len(requests) == 0 {
		requests = slices.DeleteFunc(TargetNames(p.Targets), func(name string) bool { return name == recorded })
	}
	first := Target{Spec: target.Spec{Name: recorded}}
	if known := IndexTarget(p.Targets, recorded); known >= 0 {
		first.Capabilities = p.Targets[known].Capabilities
	}
	targets, err := p.addTargets([]Target{first}, requests)
	if err != nil {
		return nil, err
	}
	if len(targets) == 1 {
		return nil, &UsageError{fmt.Sprintf("there is no candidate to compare with the recording of %q", recorded), "name a target with --target"}
	}
	return targets, checkDistinct(targets[1:])
}

func (p *Project) addTargets(targets []Target, requests []string) ([]Target, error) {
	for _, request := range requests {
		t, err := p.requestedTarget(request)
		if err != nil {
			return nil, err
		}
		t.Spec.Name = freeName(t.Spec.Name, targets, p.Targets)
		targets = append(targets, t)
	}
	return targets, nil
}

func (p *Project) requestedTarget(request string) (Target, error) {
	name, address, isURL := strings.Cut(request, "=")
	known := IndexTarget(p.Targets, name)
	if !isURL {
		if known < 0 {
			return Target{}, &UsageError{fmt.Sprintf("target %q is not in %s", name, p.File), problem.OneOf(name, TargetNames(p.Targets))}
		}
		return p.Targets[known], nil
	}
	if arePrograms(p.Targets) {
		return Target{}, &UsageError{fmt.Sprintf("target %q is a server, but those of %s are programs", request, p.File), "name a target of that file"}
	}
	t := Target{Spec: target.Spec{Name: name, URL: address, Ready: p.Targets[0].Spec.Ready}}
	if known >= 0 {
		t.Spec.Ready, t.Header, t.Capabilities = p.Targets[known].Spec.Ready, p.Targets[known].Header, p.Targets[known].Capabilities
	}
	switch err := t.Spec.Validate(); {
	case name == "":
		return Target{}, &UsageError{fmt.Sprintf("target %q has no name", request), "write name=http://host:port"}
	case err != nil:
		return Target{}, &UsageError{fmt.Sprintf("target %s: %q is not the URL of a server", name, address), "write name=http://host:port"}
	}
	return t, nil
}

// freeName returns a name that no target of the run has: the given one, or name-2, name-3 and so on, which no target of
// the project has either.
func freeName(name string, taken, known []Target) string {
	if IndexTarget(taken, name) < 0 {
		return name
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s-%d", name, n); IndexTarget(taken, next) < 0 && IndexTarget(known, next) < 0 {
			return next
		}
	}
}

// IndexTarget returns the index of the target with that name, or -1.
func IndexTarget(targets []Target, name string) int {
	return slices.IndexFunc(targets, func(t Target) bool { return t.Spec.Name == name })
}

// CheckCommands reports the targets whose programs are missing, at their places in lockstep.yaml.
func (p *Project) CheckCommands(targets []Target, environ []string) error {
	var out scenario.Problems
	secrets := redact.NewReplacer(p.Secrets.values(environ))
	for _, t := range targets {
		if err := t.Spec.Find(environ); err != nil {
			out = append(out, scenario.Problem{
				File: p.File, Line: t.Line, Column: t.Column, What: secrets.Text(err.Error()),
				Fix: "build it or install it, or name another command",
			})
		}
	}
	return out.Sort().Err()
}

func TargetNames(targets []Target) []string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = t.Spec.Name
	}
	return out
}
