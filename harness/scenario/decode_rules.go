package scenario

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A ruleDecoder decodes rules for how targets may differ.
type ruleDecoder struct {
	*valueDecoder
	since []*yamldoc.Node // the ids of steps that rules name
}

func (d *ruleDecoder) all(n *yamldoc.Node) Rules {
	if n == nil {
		return Rules{}
	}
	r := Rules{Headers: texts(n.Get("headers"))}
	for _, h := range n.Get("headers").Elements() {
		r.HeaderAt = append(r.HeaderAt, Place{d.file, h.Line, h.Column})
	}
	for _, v := range n.Get("volatile").Elements() {
		r.Volatile = append(r.Volatile, d.volatile(v))
	}
	r.Volatile = append(r.Volatile, listRules(d.valueDecoder, n.Get("lists"))...)
	r.Volatile = append(r.Volatile, d.numbers(n.Get("numbers"))...)
	for _, v := range n.Get("ids").Elements() {
		r.IDs = append(r.IDs, d.idShape(v))
	}
	for k, v := range n.Get("streams").Entries() {
		if r.Streams == nil {
			r.Streams = map[string]StreamRule{}
		}
		r.Streams[k.Text] = d.streamRule(k, v)
	}
	for k, v := range n.Get("stubs").Entries() {
		if r.Stubs == nil {
			r.Stubs = map[string]StubRules{}
		}
		of := StubRules{Rules: d.all(v), Place: Place{d.file, k.Line, k.Column}}
		of.NoHeaders = v.Get("headers") != nil && len(of.Headers) == 0
		r.Stubs[k.Text] = of
	}
	for k, v := range n.Get("mcp").Entries() {
		if r.MCP == nil {
			r.MCP = map[string]Rules{}
		}
		r.MCP[k.Text] = d.all(v)
	}
	return r
}

func (d *ruleDecoder) streamRule(k, n *yamldoc.Node) StreamRule {
	r := StreamRule{
		Exact: n.Get("framing").Str() == "exact", Stderr: n.Get("stderr").Str() == "compare", JSONRPC: n.Get("protocol").Str() == "jsonrpc",
		File: d.file, Line: k.Line, Column: k.Column,
	}
	if k, order := n.Entry("order"); order != nil && r.JSONRPC {
		d.problem(k, "order does not fit protocol: jsonrpc, which has an order of its own", "remove order, or protocol")
	}
	for _, name := range n.Get("optional").Elements() {
		r.Optional = append(r.Optional, name.Text)
		r.OptionalAt = append(r.OptionalAt, Place{d.file, name.Line, name.Column})
	}
	if o := n.Get("order"); o != nil {
		within := o.Get("within")
		r.OrderWithin, r.OrderAt = d.path(within), Place{d.file, within.Line, within.Column}
		for _, name := range o.Get("anchors").Elements() {
			r.Anchors = append(r.Anchors, name.Text)
			r.AnchorsAt = append(r.AnchorsAt, Place{d.file, name.Line, name.Column})
		}
	}
	r.Collapse = d.collapses(n.Get("collapse"))
	if g := n.Get("gap"); g != nil {
		r.Gap = &Gap{Max: d.duration(g.Get("max")), Tolerance: d.duration(g.Get("tolerance"))}
	}
	if h := n.Get("heartbeat"); h != nil {
		r.Heartbeat = d.heartbeat(h)
	}
	return r
}

// heartbeat decodes the rule for what keeps a stream alive. Unless the rule says otherwise, the first heartbeat is due
// after an interval, and a heartbeat may be early or late by half an interval.
func (d *ruleDecoder) heartbeat(n *yamldoc.Node) *Heartbeat {
	h := &Heartbeat{
		Event: n.Get("event").Str(), Every: d.duration(n.Get("every")), Tolerance: d.duration(n.Get("tolerance")),
		Same: n.Get("comment").Str() == "same",
	}
	if event := n.Get("event"); event != nil {
		h.Line, h.Column = event.Line, event.Column
	}
	if h.Tolerance == 0 {
		h.Tolerance = h.Every / 2
	}
	h.First = h.Every
	if first := n.Get("first"); first != nil {
		h.First = d.moment(first)
		if n.Get("every") == nil {
			d.problem(first, "first needs every: it says when the first heartbeat comes", "add every: 500ms, or leave out first")
		}
	}
	return h
}

// collapses decodes the rules for pieces of texts. Events of one name have only one such rule.
func (d *ruleDecoder) collapses(list *yamldoc.Node) []Collapse {
	var out []Collapse
	for _, n := range list.Elements() {
		event, text := n.Get("event"), n.Get("text")
		c := Collapse{
			Event: event.Text, Text: d.path(text), Because: n.Get("because").Text, Place: Place{d.file, event.Line, event.Column},
		}
		if c.Text == "$" {
			d.problem(text, "text is $, the root of every event", "name a member, such as $.delta")
		}
		for _, by := range n.Get("by").Elements() {
			c.By = append(c.By, d.path(by))
		}
		if slices.ContainsFunc(out, func(other Collapse) bool { return other.Event == c.Event }) {
			d.problem(event, fmt.Sprintf("collapse has two rules for %s", c.Event), "keep one")
		}
		out = append(out, c)
	}
	return out
}
