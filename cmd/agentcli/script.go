package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

//go:embed script.schema.json
var schema []byte

var compiled = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(schema) })

// A script is what the CLI does.
type script struct {
	file       string
	session    string
	model      string
	args       []string
	initialize object
	refusal    string // of initialize
	turns      []turn
}

// A turn answers a prompt.
type turn struct {
	line   int
	prompt string // what it must contain
	steps  []step
}

// A step does one thing: what its verb says.
type step struct {
	line  int
	verb  string
	value any    // of the verb
	more  object // the values of the other keys
}

// with has the keys that may stand beside each verb.
var with = map[string][]string{
	"text":   nil,
	"call":   {"server", "input", "id", "asks"},
	"ask":    {"input", "id", "output", "suggestions"},
	"hook":   {"tool", "input"},
	"raw":    nil,
	"stderr": nil,
	"wait":   nil,
	"result": {"text", "cost", "turns", "error", "errors", "reason"},
	"exit":   nil,
	"crash":  nil,
}

// waits are what a step can wait for.
var waits = []string{"end", "interrupt", "mcp_message", "mcp_status", "prompt", "set_max_thinking_tokens", "set_model", "set_permission_mode"}

// parse reads a script, and reports all its mistakes.
func parse(file string, text []byte) (*script, error) {
	root, problems := yamldoc.Parse(file, text)
	if len(problems) == 0 {
		problems = compiled().Check(file, root)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	s := &script{file: file, session: "session-1", model: "scripted-model", refusal: root.Get("error").Str()}
	if n := root.Get("session"); n != nil {
		s.session = n.Text
	}
	if n := root.Get("model"); n != nil {
		s.model = n.Text
	}
	for _, n := range root.Get("args").Elements() {
		s.args = append(s.args, n.Text)
	}
	if n := root.Get("initialize"); n != nil {
		s.initialize = n.Value().(object)
	}
	for _, n := range root.Get("turns").Elements() {
		t := turn{line: n.Line, prompt: n.Get("prompt").Str()}
		elements := n.Get("steps").Elements()
		for i, at := range elements {
			parsed, wrong := parseStep(at)
			if ends := slices.Contains([]string{"result", "exit", "crash"}, parsed.verb); ends && i+1 < len(elements) {
				wrong = append(wrong, mistake(elements[i+1], fmt.Sprintf("this step comes after %s, which ends the turn", parsed.verb), "remove it, or put it before"))
			}
			t.steps, problems = append(t.steps, parsed), append(problems, wrong...)
		}
		s.turns = append(s.turns, t)
	}
	for i := range problems {
		problems[i].File = file
	}
	return s, problems.Sort().Err()
}

func mistake(n *yamldoc.Node, what, fix string) problem.Problem {
	return problem.Problem{Line: n.Line, Column: n.Column, What: what, Fix: fix}
}

// parseStep reads a step, whose values have the right types.
func parseStep(n *yamldoc.Node) (s step, problems problem.Problems) {
	s = step{line: n.Line, more: object{}}
	var verbs []*yamldoc.Node
	for k := range n.Entries() {
		if _, is := with[k.Text]; is && (k.Text != "text" || n.Get("result") == nil) {
			verbs = append(verbs, k)
		}
	}
	switch len(verbs) {
	case 0:
		return s, problem.Problems{mistake(n, "the step does nothing", "add one of: "+strings.Join(slices.Sorted(maps.Keys(with)), ", "))}
	case 1:
		s.verb = verbs[0].Text
	default:
		return s, problem.Problems{mistake(verbs[1], fmt.Sprintf("%s and %s are two steps", verbs[0].Text, verbs[1].Text), "begin the second one with - on a line of its own")}
	}
	for k, v := range n.Entries() {
		switch {
		case k.Text == s.verb:
			s.value = v.Value()
		case slices.Contains(with[s.verb], k.Text):
			s.more[k.Text] = v.Value()
		default:
			fix := "remove it"
			if allowed := with[s.verb]; len(allowed) > 0 {
				fix += "; allowed are " + strings.Join(allowed, ", ")
			}
			problems = append(problems, mistake(k, fmt.Sprintf("%s has no %s", s.verb, k.Text), fix))
		}
	}
	if what, _ := s.value.(string); s.verb == "wait" && !slices.Contains(waits, what) {
		problems = append(problems, mistake(n.Get("wait"), fmt.Sprintf("there is no wait for %q", what), problem.OneOf(what, waits)))
	}
	return s, problems
}

func (s step) text(key string) string {
	text, _ := s.more[key].(string)
	return text
}

// name returns the text of the verb.
func (s step) name() string {
	text, _ := s.value.(string)
	return text
}

func (s step) input() object {
	if input, ok := s.more["input"].(object); ok {
		return input
	}
	return object{}
}
