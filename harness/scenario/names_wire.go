package scenario

import (
	"fmt"
	"strings"

	"slices"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// wires are what the streams of a file are, by their names: sse, socket or program.
type wires map[string]string

func (w wires) collect(list *yamldoc.Node) {
	for _, n := range list.Elements() {
		if name := n.Get("open"); name != nil {
			for _, wire := range [...]string{"sse", "socket", "program"} {
				if n.Get(wire) != nil {
					w[name.Text] = wire
				}
			}
		}
		for _, branch := range n.Get("parallel").Entries() {
			w.collect(branch)
		}
	}
}

// only says which steps, and which of their keys, need a certain wire.
var only = []struct {
	step, key string // an empty key means the step itself
	wire, fix string
}{
	{"signal", "", "program", "open it with program, or leave the step out"},
	{"send", "binary", "socket", "a program reads lines: send json, text or bytes"},
	{"send", "ping", "socket", "leave the step out"},
	{"send", "pong", "socket", "leave the step out"},
	{"send", "frames", "socket", "a program reads lines: send json, text or bytes"},
	{"send", "fragments", "socket", "to send a line in pieces, use several steps with bytes"},
	{"close", "code", "socket", "remove it"},
	{"close", "reason", "socket", "remove it"},
	{"close", "within", "socket", "remove it"},
}

var wireNouns = map[string]string{"sse": "an event stream", "socket": "a socket", "program": "a program", "": "a started request"}

// checkWires reports steps and keys that do not fit what they are about.
func (d *nameChecker) checkWires(list *yamldoc.Node, w wires) {
	for _, n := range list.Elements() {
		if n.Get("do") != nil {
			for _, key := range [...]string{"status", "headers"} {
				if k, _ := n.Get("expect").Entry(key); k != nil {
					d.values.problem(k, "the outcome of a driver has no "+key, "expect something of its JSON: json: {$.ok: …}, or {$.error: …}")
				}
			}
		}
		if text := n.Get("text"); n.Get("send") != nil && w[n.Get("send").Text] == "program" && strings.Contains(text.Str(), "\n") {
			d.values.problem(text, "the text has a line end, and a program gets one line", "use a step for each line, or bytes")
		}
		if name := n.Get("send"); name != nil && w[name.Text] == "sse" {
			d.values.problem(name, fmt.Sprintf("send %s: it is an event stream, which only the server writes to", name.Text), "open a socket or a program to send to it")
		}
		for _, o := range only {
			name := n.Get(o.step)
			if name == nil || w[name.Text] == o.wire || w[name.Text] == "" && o.step != "close" {
				continue
			}
			at, what := name, o.step
			if o.key != "" {
				at, _ = n.Entry(o.key)
				what = o.key
			}
			if at != nil {
				d.values.problem(at, fmt.Sprintf("%s is only for %s, and %s is %s", what, wireNouns[o.wire], name.Text, wireNouns[w[name.Text]]), o.fix)
			}
		}
		for _, branch := range n.Get("parallel").Entries() {
			d.checkWires(branch, w)
		}
	}
}

// stubCaptures adds what the scripts of stubs capture to the names that stubs can use. A step cannot: which of its
// messages a target has sent before a step is chance.
func (d *nameChecker) stubCaptures(stubs *yamldoc.Node, s scope) {
	for _, rules := range stubs.Entries() {
		d.ruleCaptures(rules, s)
	}
}

// ruleCaptures is stubCaptures for the rules of one stub.
func (d *nameChecker) ruleCaptures(rules *yamldoc.Node, s scope) {
	for _, rule := range rules.Elements() {
		answer := rule.Get("answer")
		for _, turn := range slices.Concat(answer.Get("socket").Elements(), answer.Get("program").Elements()) {
			for k := range turn.Get("await").Get("capture").Entries() {
				d.checkNotUnique(k, "capture")
				if d.given[k.Text] {
					d.values.problem(k, fmt.Sprintf("capture %s: the name has a value elsewhere in the scenario", k.Text), "give it another name")
				}
				s.values[k.Text] = true
			}
		}
	}
}
