package main

import (
	"fmt"
	"math"
	"time"

	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// maxHooks is the maximum number of hooks in a list (decision S83).
const maxHooks = 64

// hooks reads a list of hooks. Each mistake is named on its own, because commands may have secrets.
func (r *reader) hooks(key string) (list []hooks.Hook) {
	s, given := r.file[key]
	if !given {
		return nil
	}
	if s.json.Kind() != "array" {
		r.wrong(s, "a list of hooks")
		return nil
	}
	for i, element := range s.json.Elements() {
		if i == maxHooks {
			r.problems = append(r.problems, fmt.Errorf("%s has more than %d hooks", s.where, maxHooks))
			return nil
		}
		list = append(list, r.hook(setting{where: fmt.Sprintf("%s[%d]", s.where, i), json: element}))
	}
	return list
}

const maxHookTime = 60_000 // milliseconds

func (r *reader) hook(s setting) (hook hooks.Hook) {
	if s.json.Kind() != "object" {
		r.wrong(s, `an object such as {"match": "*", "command": ["program"]}`)
		return hook
	}
	parts := s.json.Pick("match", "command", "timeoutMs")
	part := func(name string, right bool, must string) {
		if !right {
			r.problems = append(r.problems, fmt.Errorf("%s.%s must be %s", s.where, name, must))
		}
	}
	part("match", parts[0].Kind() == "string", "a pattern of names of tools, such as *")
	hook.Command = texts(parts[1])
	part("command", len(hook.Command) > 0 && hook.Command[0] != "", "a list of texts: a program and its arguments")
	hook.Match, hook.Timeout = parts[0].Str(), hooks.DefaultTimeout
	if parts[2] != nil {
		ms, whole := setting{json: parts[2]}.whole(1, math.MaxInt64)
		part("timeoutMs", whole && ms <= maxHookTime, fmt.Sprintf("a whole number from 1 to %d", maxHookTime))
		hook.Timeout = time.Duration(ms) * time.Millisecond
	}
	return hook
}

// texts returns the elements of a list of texts, or nil for any other value.
func texts(list jsonwire.Text) (all []string) {
	if list.Kind() != "array" {
		return nil
	}
	for _, element := range list.Elements() {
		if element.Kind() != "string" {
			return nil
		}
		all = append(all, element.Str())
	}
	return all
}
