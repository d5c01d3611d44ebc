package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A stubDecoder decodes the responses of upstreams.
type stubDecoder struct {
	*valueDecoder
	messages *messageDecoder
	rules    *ruleDecoder
}

func (d *stubDecoder) stubs(n *yamldoc.Node) []Stub {
	var out []Stub
	for k, v := range n.Entries() {
		out = append(out, Stub{Name: k.Text, Line: k.Line, Column: k.Column, Rules: d.stubRules(v)})
	}
	return out
}

func (d *stubDecoder) stubRules(list *yamldoc.Node) []StubRule {
	var out []StubRule
	taken := map[string]bool{}
	for _, rule := range BuiltInRules() {
		taken[rule] = true
	}
	for i, item := range list.Elements() {
		r := d.stubRule(i, item)
		if name := item.Get("name"); name != nil && taken[r.Name] {
			d.problem(name, fmt.Sprintf("the name %q is already used", r.Name), "give it another name; reserved are "+strings.Join(BuiltInRules(), ", "))
		}
		taken[r.Name] = true
		out = append(out, r)
	}
	checkSince(d.valueDecoder, list, out)
	return out
}

// checkSince reports cadences that begin with a rule that does not exist.
func checkSince(d *valueDecoder, list *yamldoc.Node, rules []StubRule) {
	var names []string
	for i := range rules {
		names = append(names, rules[i].Name)
	}
	for i, item := range list.Elements() {
		since := item.Get("cadence").Get("since")
		switch {
		case since == nil:
		case since.Text == rules[i].Name:
			d.problem(since, fmt.Sprintf("since: %s is this rule itself", since.Text), "leave it out: the first request of a rule has no time of its own")
		case !slices.Contains(names, since.Text):
			d.problem(since, fmt.Sprintf("this stub has no rule %q", since.Text), problem.OneOf(since.Text, names))
		}
	}
}

func (d *stubDecoder) stubRule(i int, n *yamldoc.Node) StubRule {
	r := StubRule{
		Name: strconv.Itoa(i + 1), Line: n.Line, Column: n.Column, Min: 1, Max: 1, AnyOrder: n.Get("order") != nil,
		When: d.when(n.Get("when")), Answer: d.stubAnswer(n.Get("answer")), Silent: n.Get("answer") == nil, Compare: d.rules.all(n.Get("compare")),
	}
	if name := n.Get("name"); name != nil {
		r.Name = name.Text
	}
	if times := n.Get("times"); times != nil {
		r.Min, r.Max = d.times(times)
	}
	r.Cadence = decodeCadence(d.valueDecoder, n.Get("cadence"))
	return r
}

// times decodes how often a rule answers: 2, 0..1, 1.., any.
func (d *stubDecoder) times(n *yamldoc.Node) (least, most int) {
	if n.Text == "any" {
		return 0, -1
	}
	from, to, isRange := strings.Cut(n.Text, "..")
	least, _ = strconv.Atoi(from)
	most = least
	switch {
	case isRange && to == "":
		most = -1
	case isRange:
		most, _ = strconv.Atoi(to)
	}
	if most == 0 || most > 0 && most < least {
		d.problem(n, fmt.Sprintf("times is %s, so the rule never responds", n.Text), "write a range that grows, such as 0..1, or any")
	}
	return least, most
}

func (d *stubDecoder) when(n *yamldoc.Node) When {
	if n == nil {
		return When{}
	}
	w := When{
		Query: d.messages.parameters(n.Get("query")), Demands: d.messages.expect(n),
		Last: d.optional(n.Get("last")), System: d.optional(n.Get("system")), Result: d.optional(n.Get("result")),
		Tool: d.optional(n.Get("tool")), Model: d.optional(n.Get("model")),
	}
	if line := n.Get("http"); line != nil {
		method, path, _ := strings.Cut(line.Text, " ")
		t := d.templateText(line, strings.TrimLeft(path, " "))
		w.Method, w.Path = method, &t
		if strings.Contains(path, "?") {
			d.problem(line, "the path has a query", "write its parameters under query")
		}
	}
	if args := n.Get("args"); args != nil {
		w.Args = []Template{}
		for _, item := range args.Elements() {
			w.Args = append(w.Args, d.template(item))
		}
	}
	if s := n.Get("stream"); s != nil {
		streams := s.Text == "true"
		w.Stream = &streams
	}
	return w
}

func (d *stubDecoder) stubAnswer(n *yamldoc.Node) StubAnswer {
	a := StubAnswer{
		Script: scriptDecoder{d.valueDecoder, d.messages}.script(n), After: d.duration(n.Get("after")), Status: d.number(n.Get("status")), Header: d.messages.parameters(n.Get("headers")),
		Error: d.optional(n.Get("error")), ID: d.optional(n.Get("id")), Model: d.optional(n.Get("model")), Stop: d.optional(n.Get("stop")),
		Usage: StubUsage{d.number(n.Get("usage").Get("input")), d.number(n.Get("usage").Get("output"))},
		End:   StubEnd(n.Get("end").Str()),
	}
	texts, one := oneOrMore(n.Get("text"))
	for _, text := range texts {
		a.Pieces = append(a.Pieces, StubPiece{Text: d.optional(text), Each: one})
	}
	for _, key := range [...]string{"tools", "pieces"} {
		for _, item := range n.Get(key).Elements() {
			a.Pieces = append(a.Pieces, d.stubPiece(item))
		}
	}
	if js := n.Get("json"); js != nil {
		a.Body = &Body{JSON: d.value(js)}
	} else if body := n.Get("body"); body != nil {
		a.Body = &Body{Raw: d.optional(body)}
	}
	if callback := n.Get("callback"); callback != nil {
		a.Callback = map[string]*Template{}
		for k, v := range callback.Entries() {
			if a.Callback[k.Text] = nil; v.Kind != yamldoc.Null {
				a.Callback[k.Text] = d.optional(v)
			}
		}
	}
	d.oneAnswer(n, &a)
	return a
}

// oneAnswer reports a rule that sets more than one of these keys.
func (d *stubDecoder) oneAnswer(n *yamldoc.Node, a *StubAnswer) {
	if a.Script != nil {
		for _, key := range [...]string{"status", "end", "text", "tools", "pieces", "json", "body", "error", "callback"} {
			if k, v := n.Entry(key); v != nil {
				d.problem(k, fmt.Sprintf("an answer has both %s and %s", a.Script.Wire, key), "keep one of them; only after and headers can be combined with "+string(a.Script.Wire))
			}
		}
		return
	}
	first := onlyOne(d.valueDecoder, n, "an answer has both %s and %s", "keep one of them", "pieces", "text", "json", "body", "error", "callback")
	if k, tools := n.Entry("tools"); tools != nil && (a.asItIs() || n.Get("pieces") != nil) {
		d.problem(k, fmt.Sprintf("an answer has both %s and tools", first.Text), "keep one of them; tools can be combined with text, or be part of pieces")
	}
}

func (d *stubDecoder) stubPiece(n *yamldoc.Node) StubPiece {
	p := StubPiece{
		After: d.duration(n.Get("after")),
		Text:  d.optional(n.Get("text")), Thinking: d.optional(n.Get("thinking")), Raw: d.optional(n.Get("raw")),
	}
	if tool := n.Get("tool"); tool != nil {
		p.Tool = &StubTool{Name: d.template(tool), ID: d.optional(n.Get("id"))}
		if input := n.Get("input"); input != nil {
			p.Tool.Input = d.value(input)
		}
		var texts []*yamldoc.Node
		texts, p.Tool.Each = oneOrMore(n.Get("arguments"))
		for _, text := range texts {
			p.Tool.Arguments = append(p.Tool.Arguments, d.template(text))
		}
	}
	onlyOne(d.valueDecoder, n, "a piece has both %s and %s", "split it into two pieces", "text", "thinking", "tool", "raw")
	return p
}

// oneOrMore returns the items of a list. For any other node, it returns the node itself, and true.
func oneOrMore(n *yamldoc.Node) (all []*yamldoc.Node, one bool) {
	switch {
	case n == nil:
		return nil, false
	case n.Kind == yamldoc.List:
		return n.Items, false
	default:
		return []*yamldoc.Node{n}, true
	}
}
