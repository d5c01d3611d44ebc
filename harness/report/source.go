package report

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A Source is the line of a scenario's file that a finding is about, and the key in it that is meant: the demand that does
// not hold, or else what the step does.
type Source struct {
	Line, Column int // 1-based, of the key
	Text         string
}

// actions are the keys that say what a step does.
var actions = map[string]bool{
	"http": true, "poll": true, "start": true, "join": true, "parallel": true, "open": true, "await": true, "never": true,
	"half-close": true, "close": true, "drop": true, "stop": true, "kill": true, "restart": true, "asked": true, "use": true,
}

// demands are the keys that say what a target has to do, by the kind of the shortfall that tells it has not.
var demands = map[string][]string{
	"expectation": {"expect"}, "event-awaited": {"match", "ready"}, "end-awaited": {"end"}, "poll": {"until"},
	"capture-missing": {"capture"}, "event-forbidden": {"match"},
}

// source finds what a finding is about in a scenario's file; nil where that is not to be found, such as in a file that has
// changed since.
func source(root *yamldoc.Node, text []byte, f *verdict.Finding) *Source {
	key := ruleKey(root, f)
	step := stepAt(root, f.Line)
	if step == nil && key == nil {
		return nil
	}
	for k := range step.Entries() {
		if actions[k.Text] {
			key = k
			break
		}
	}
	if f.Class == verdict.Shortfall {
		for _, name := range demands[f.Kind] {
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

// ruleKey returns where the rule of a stub begins that a finding is about, or the stub when it is about no rule; nil when it
// is about a step.
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
			if actions[k.Text] {
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

// expectation returns the key of a demand that does not hold, within expect: by the place of the finding, "status", "header
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

// sourceOf returns what a cause is about in its scenario's file; nil without evidence.
func (d *Document) sourceOf(s *verdict.Scenario, c *cause) *Source {
	if ev := d.Evidence[s.ID]; ev != nil && c.index < len(ev.Behind) {
		return ev.Behind[c.index].Source
	}
	return nil
}

// How much of a line of a scenario is shown: with its number, it stands in 80 columns.
const (
	mostSource  = 68
	aheadOfMark = 40 // columns before the key, of a line that is longer
)

// source writes a line of the scenario, and points at the key that is meant.
func (p *page) source(at *Source) {
	all := []rune(at.Text) // columns of YAML are characters
	n := min(max(at.Column-1, 0), len(all))
	before, behind := visible(string(all[:n])), string(all[n:])
	if columns(before)+columns(visible(behind)) > mostSource && columns(before) > aheadOfMark {
		runes := []rune(before)
		before = "…" + string(runes[max(0, len(runes)-aheadOfMark+1):])
	}
	number := strconv.Itoa(at.Line)
	behind, left := head(behind, mostSource-columns(before)-1)
	if left > 0 {
		behind += "…"
	}
	p.line(4, p.dim(number+" | "), before, behind)
	p.line(4, strings.Repeat(" ", len(number)), p.dim(" | "), strings.Repeat(" ", columns(before)), p.red("^"))
}
