package report

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Source is a line of a scenario's file that a finding is about, and the key in that line: the demand that was not
// met, or otherwise what the step does.
type Source struct {
	Line, Column int // 1-based, of the key
	Text         string
}

// stepActions are the keys that say what a step does.
var stepActions = map[string]bool{
	"http": true, "poll": true, "start": true, "join": true, "parallel": true, "open": true, "await": true, "never": true,
	"half-close": true, "close": true, "drop": true, "stop": true, "kill": true, "restart": true, "asked": true, "do": true, "send": true, "signal": true, "use": true,
}

// stepDemands are the keys of demands on a target, by the kind of finding that an unmet demand leads to.
var stepDemands = map[string][]string{
	"expectation": {"expect"}, "event-awaited": {"match", "ready"}, "end-awaited": {"end"}, "poll": {"until"},
	"capture-missing": {"capture"}, "event-forbidden": {"match"},
}

// source finds what a finding is about in a scenario's file. It returns nil when that cannot be found, for example
// after the file has changed.
func source(root *yamldoc.Node, text []byte, f *verdict.Finding) *Source {
	key := ruleKey(root, f)
	step := stepAt(root, f.Line)
	if step == nil && key == nil {
		return nil
	}
	for k := range step.Entries() {
		if stepActions[k.Text] {
			key = k
			break
		}
	}
	if f.Class == verdict.Unmet {
		for _, name := range stepDemands[f.Kind] {
			if k, v := step.Entry(name); k != nil {
				key = expectation(k, v, f)
				break
			}
		}
	}
	lines := strings.Split(string(text), "\n")
	if key.Line < 1 || key.Line > len(lines) {
		return nil
	}
	return &Source{key.Line, key.Column, strings.TrimRight(lines[key.Line-1], " \r")}
}

// ruleKey returns the key of the stub rule that a finding is about, or of the stub if there is no rule. It returns nil
// when the finding is about a step.
func ruleKey(root *yamldoc.Node, f *verdict.Finding) *yamldoc.Node {
	if f.Upstream == "" {
		return nil
	}
	stub, rules := root.Get("stubs").Entry(f.Upstream)
	for _, rule := range rules.Elements() {
		if rule.Line == f.Line && len(rule.Keys) > 0 {
			return rule.Keys[0]
		}
	}
	return stub
}

// stepAt returns the innermost step that begins in a line.
func stepAt(n *yamldoc.Node, line int) (found *yamldoc.Node) {
	if n == nil {
		return nil
	}
	if n.Kind == yamldoc.Map && n.Line == line {
		for k := range n.Entries() {
			if stepActions[k.Text] {
				found = n
			}
		}
	}
	for _, item := range n.Items {
		if inner := stepAt(item, line); inner != nil {
			return inner
		}
	}
	return found
}

// expectation returns the key of an unmet demand within expect. It uses the place of the finding: "status", "header
// ETag", "count of 200", "body $.id".
func expectation(key, value *yamldoc.Node, f *verdict.Finding) *yamldoc.Node {
	if name, _, ok := strings.Cut(f.Want, " from "); ok && f.Kind == "capture-missing" {
		if k, _ := value.Entry(name); k != nil {
			return k
		}
	}
	if f.Kind != "expectation" {
		return key
	}
	what, rest, _ := strings.Cut(f.Place, " ")
	within := map[string][]string{"status": {"status"}, "header": {"headers"}, "body": {"json", "matches", "absent", "body"}, "count": {"count"}}[what]
	var first *yamldoc.Node
	for _, name := range append(within, "one_of") {
		k, v := value.Entry(name)
		if k == nil {
			continue
		}
		for inner := range v.Entries() {
			if strings.EqualFold(inner.Text, rest) || strings.TrimPrefix(rest, "of ") == inner.Text {
				return inner
			}
		}
		for _, inner := range v.Elements() {
			if inner.Text != "" && inner.Text == rest {
				return inner
			}
		}
		if first == nil {
			first = k
		}
	}
	if first == nil {
		return key
	}
	return first
}
