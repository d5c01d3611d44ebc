package run

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/stub/otlp"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A collector has what a target exports to a stub of the kind otlp. How many exports there are depends on times, so they
// are not compared. What is in them becomes items, which are distributed to the rules like requests: as often as needed,
// since traces and metrics grow.
type collector struct {
	collection otlp.Collection
	others     []*transcript.Exchange // items that no rule takes
}

// newCollector returns the collector of a stub of the kind otlp; nil for others.
func newCollector(server *stub.Server) *collector {
	if server.Kind() != stub.OTLP {
		return nil
	}
	return &collector{}
}

// collect responds to a request that no rule answers: an export, or a look at what was exported.
func (u *upstream) collect(r *transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	byHand := u.run.scenario == nil
	if byHand && r.Method == "GET" && r.Target == "/" {
		return &stub.Answer{Header: jsonType, Body: u.collector.list()}, func(*transcript.Exchange) {}
	}
	export, ok, err := stub.ReadExport(r)
	switch {
	case !ok:
		return nil, func(x *transcript.Exchange) { u.Unexpected(x, "") }
	case len(u.rules) == 0 && !byHand:
		return nil, func(x *transcript.Exchange) {
			u.Unexpected(x, "the scenario has no rules for this stub, so nothing may be exported to it")
		}
	case err == nil:
		u.kept, u.bytes = u.kept-1, u.bytes-r.Body.Size // it is not kept, and a collection has a limit of its own
		err = u.collector.collection.Add(export)
	}
	u.asked.notify()
	if err != nil {
		return stub.ExportAnswer(r, err), func(x *transcript.Exchange) { u.Unexpected(x, "the export is rejected: "+err.Error()) }
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

// exportRecorded records an export that a rule answers. Only that it came is compared.
func (u *upstream) exportRecorded(step *transcript.Step) func(*transcript.Exchange) {
	n := len(step.Exchanges)
	step.Exchanges = append(step.Exchanges, nil)
	u.asked.notify()
	return func(x *transcript.Exchange) {
		u.mu.Lock()
		defer u.mu.Unlock()
		x.Request.Body, x.Failure = transcript.Body{}, nil
		step.Exchanges[n] = x
	}
}

// takesItems reports whether a rule is for items, and not for requests.
func (u *upstream) takesItems(rule *scenario.StubRule) bool {
	return u.collector != nil && rule.When.Path == nil
}

// compared returns how many of a rule's requests are compared: of exports, those that it demands, or one.
func (u *upstream) compared(i int) int {
	n := len(u.steps[i].Exchanges)
	if u.collector == nil || i >= len(u.rules) || u.takesItems(&u.rules[i]) {
		return n
	}
	return min(n, max(1, u.rules[i].Min))
}

// distribute gives each item that there is now to the first rule that matches it and is not used up. The caller holds
// the lock.
func (u *upstream) distribute() {
	if u.collector == nil {
		return
	}
	for i := range u.rules {
		if u.takesItems(&u.rules[i]) {
			u.steps[i].Exchanges = nil
		}
	}
	u.collector.others = nil
	for _, item := range u.collector.collection.Items() {
		x := u.itemExchange(&item)
		if to := u.taker(&x.Request); to != nil {
			to.Exchanges = append(to.Exchanges, x)
		} else {
			u.collector.others = append(u.collector.others, x)
		}
	}
}

// taker returns the step of the rule that takes an item, or nil.
func (u *upstream) taker(r *transcript.Request) *transcript.Step {
	for i := range u.rules {
		rule, step := &u.rules[i], u.steps[i]
		if u.takesItems(rule) && (rule.Max < 0 || len(step.Exchanges) < rule.Max) && u.meetsDemands(rule.When.Demands, r) {
			return step
		}
	}
	return nil
}

func (u *upstream) itemExchange(item *otlp.Item) *transcript.Exchange {
	at := u.run.since()
	if !item.At.IsZero() {
		at = max(0, item.At.Sub(u.run.t.Started))
	}
	return &transcript.Exchange{
		Request: transcript.Request{
			Method: transcript.Exported, Target: item.Kind, Header: jsonType,
			Body: transcript.Body{Bytes: item.JSON, Size: int64(len(item.JSON))},
		},
		Sent: at, Head: at, Done: at,
	}
}

// noteOthers records the items that no rule takes as unexpected. The caller holds the lock.
func (u *upstream) noteOthers() {
	if u.collector == nil || len(u.collector.others) == 0 {
		return
	}
	step := u.step(scenario.UnexpectedRule)
	for _, x := range u.collector.others[:min(len(u.collector.others), maxUnexpected)] {
		x.Unanswered = fmt.Sprintf("no rule of the scenario takes this %s", x.Request.Target)
		step.Exchanges = append(step.Exchanges, x)
	}
	if step.Unmet == nil {
		step.Unmet = &transcript.Unmet{Kind: scenario.UnexpectedRule, What: "nothing else", Why: step.Exchanges[0].Unanswered}
	}
}
