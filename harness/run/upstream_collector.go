package run

import (
	"fmt"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/stub/otlp"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A collector has what a target exports to a stub of the kind otlp. How many exports there are depends on times, so they
// are not compared. What is in them becomes items, which are distributed to the rules like requests: as often as needed,
// since traces and metrics grow.
//
// The lock of its upstream guards it. The methods that mention it may be called on a nil collector.
type collector struct {
	of         *upstream
	collection otlp.Collection
	others     []*transcript.Exchange // items that no rule takes
}

// newCollector returns the collector of an upstream; nil unless it is of the kind otlp.
func newCollector(of *upstream) *collector {
	if of.stub.Kind() != stub.OTLP {
		return nil
	}
	return &collector{of: of}
}

// collect responds to a request that no rule answers: an export, or a look at what was exported.
func (c *collector) collect(r *transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	byHand := c.of.run.scenario == nil
	if byHand && r.Method == "GET" && r.Target == "/" {
		return &stub.Answer{Header: jsonType, Body: c.list()}, func(*transcript.Exchange) {}
	}
	unexpected := func(why string) func(*transcript.Exchange) {
		return func(x *transcript.Exchange) { c.of.Unexpected(x, why) }
	}
	export, ok, err := stub.ReadExport(r)
	switch {
	case !ok:
		return nil, unexpected("")
	case len(c.of.rules) == 0 && !byHand:
		return nil, unexpected("the scenario has no rules for this stub, so nothing may be exported to it")
	case err == nil:
		c.of.kept, c.of.bytes = c.of.kept-1, c.of.bytes-r.Body.Size // it is not kept, and a collection has a limit of its own
		err = c.collection.Add(export)
	}
	c.of.asked.notify()
	if err != nil {
		return stub.ExportAnswer(r, err), unexpected("the export is rejected: " + err.Error())
	}
	return stub.ExportAnswer(r, nil), func(*transcript.Exchange) {}
}

var jsonType = transcript.Header{{Name: "Content-Type", Value: "application/json"}}

// list returns all items as a list.
func (c *collector) list() []byte {
	items := []any{}
	for _, item := range c.collection.Items() {
		items = append(items, item.JSON)
	}
	return plainjson.Encode(items)
}

// answered records an export that a rule answers. Only that it came is compared.
func (c *collector) answered(step *transcript.Step) func(*transcript.Exchange) {
	n := len(step.Exchanges)
	step.Exchanges = append(step.Exchanges, nil)
	c.of.asked.notify()
	return func(x *transcript.Exchange) {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		x.Request.Body, x.Failure = transcript.Body{}, nil
		step.Exchanges[n] = x
	}
}

// compared returns how many of a step's requests are compared. Of the exports that a rule answers, it is those that the
// rule demands, or one. Of log records, which are in the target's own words, it is those that the rule demands. Without
// a collector, it is all.
func (c *collector) compared(i int, s *transcript.Step) int {
	if c == nil || i >= len(c.of.rules) {
		return len(s.Exchanges)
	}
	demanded := c.of.rules[i].Min
	if !takesItems(&c.of.rules[i]) {
		return min(len(s.Exchanges), max(1, demanded))
	}
	logs := slices.IndexFunc(s.Exchanges, func(x *transcript.Exchange) bool { return x.Request.Target == otlp.Log }) // the last items
	if logs < 0 {
		return len(s.Exchanges)
	}
	return min(len(s.Exchanges), max(logs, demanded))
}

// takesItems reports whether a rule of a collector is for items, and not for requests.
func takesItems(rule *scenario.StubRule) bool { return rule.When.Path == nil }

// distribute gives each item that there is now to the first rule that matches it and is not used up. Without a
// collector, it does nothing.
func (c *collector) distribute() {
	if c == nil {
		return
	}
	for i := range c.of.rules {
		if takesItems(&c.of.rules[i]) {
			c.of.steps[i].Exchanges = nil
		}
	}
	c.others = nil
	for _, item := range c.collection.Items() {
		x := c.exchange(&item)
		if to := c.taker(&x.Request); to != nil {
			to.Exchanges = append(to.Exchanges, x)
		} else {
			c.others = append(c.others, x)
		}
	}
}

// taker returns the step of the rule that takes an item, or nil.
func (c *collector) taker(r *transcript.Request) *transcript.Step {
	for i := range c.of.rules {
		rule, step := &c.of.rules[i], c.of.steps[i]
		if takesItems(rule) && (rule.Max < 0 || len(step.Exchanges) < rule.Max) && c.of.meetsDemands(rule.When.Demands, r) {
			return step
		}
	}
	return nil
}

func (c *collector) exchange(item *otlp.Item) *transcript.Exchange {
	at := c.of.run.since()
	if !item.At.IsZero() {
		at = max(0, item.At.Sub(c.of.run.t.Started))
	}
	return &transcript.Exchange{
		Request: transcript.Request{
			Method: transcript.Exported, Target: item.Kind, Header: jsonType,
			Body: transcript.Body{Bytes: item.JSON, Size: int64(len(item.JSON))},
		},
		Sent: at, Head: at, Done: at,
	}
}

// noteOthers records the items that no rule takes as unexpected. Without a collector, it does nothing.
func (c *collector) noteOthers() {
	if c == nil || len(c.others) == 0 {
		return
	}
	step := c.of.step(scenario.UnexpectedRule)
	for _, x := range c.others[:min(len(c.others), maxUnexpected)] {
		x.Unanswered = fmt.Sprintf("no rule of the scenario takes this %s", x.Request.Target)
		step.Exchanges = append(step.Exchanges, x)
	}
	if step.Unmet == nil {
		step.Unmet = &transcript.Unmet{Kind: scenario.UnexpectedRule, What: "nothing else", Why: step.Exchanges[0].Unanswered}
	}
}
