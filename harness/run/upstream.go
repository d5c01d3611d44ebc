package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Requests of a target to its upstreams are recorded by the rule that answers them, as if the rule were a step. Which
// of two requests comes first is often chance, but which rule answers each one is not.

// Limits on what is kept of the requests to one stub. A target that sends requests without end must not fill the
// memory.
const (
	maxRequests     = 1000
	maxRequestBytes = 256 << 20
	maxUnexpected   = 100
)

// An upstream answers the requests of one target to one stub during a scenario. It is a stub.Script.
type upstream struct {
	stub    *stub.Server
	name    string
	rules   []scenario.StubRule
	line    int // of the stub in the scenario, or of the scenario
	run     *targetRun
	asked   *notifier
	sockets stubSockets
	// Only the kind otlp has a collector. mu guards it.
	collector *collector

	mu       sync.Mutex // guards the fields below
	steps    []*transcript.Step
	underWay map[*transcript.Step]int               // responses that are being sent, without those that hang, and scripts of sockets
	unmet    map[*transcript.Step]*transcript.Unmet // what a target did not do on a socket
	hanging  int                                    // hanging responses that the target has not disconnected from
	gone     map[string]int                         // by the step's id: hanging responses that the target has disconnected from
	over     bool                                   // the scenario is over, so the target did not cause the end of hanging responses
	agreed   requestCounts                          // how many requests of each rule count; nil means all
	kept     int                                    // number of requests
	bytes    int64                                  // bytes of their bodies
}

// newUpstream returns the upstream of a run at one stub. Its rules are those of the scenario for that stub, if any.
func newUpstream(name string, server *stub.Server, rules []scenario.StubRule, line int, run *targetRun, asked *notifier) *upstream {
	u := &upstream{
		stub: server, name: name, rules: rules, line: line, run: run, asked: asked,
		underWay: map[*transcript.Step]int{}, unmet: map[*transcript.Step]*transcript.Unmet{}, gone: map[string]int{},
	}
	for _, r := range rules {
		u.steps = append(u.steps, u.newStep(r.Name, r.Line))
	}
	return u
}

func (u *upstream) newStep(rule string, line int) *transcript.Step {
	return &transcript.Step{
		ID: scenario.UpstreamID(u.name, rule), Line: line, Kind: "upstream", Text: scenario.UpstreamText(u.name, rule),
	}
}

// Answer returns the response of the first rule that matches the request and is not used up.
func (u *upstream) Answer(r *transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept >= maxRequests || u.bytes > maxRequestBytes {
		return nil, func(x *transcript.Exchange) { u.Unexpected(x, "the scenario got more requests than lockstep keeps") }
	}
	u.kept, u.bytes = u.kept+1, u.bytes+r.Body.Size
	chat := stub.ChatOf(r)
	for i := range u.rules {
		rule, step := &u.rules[i], u.steps[i]
		if rule.Max >= 0 && len(step.Exchanges) >= rule.Max || !u.matches(&rule.When, r, &chat) {
			continue
		}
		return u.answerByRule(rule, step, &chat)
	}
	if u.collector != nil {
		return u.collector.collect(r)
	}
	if a := u.stub.BuiltIn(r); a != nil {
		return a, u.begin(u.step(scenario.BuiltInRule(u.stub.Kind().Chats(), u.stub.Kind().IsProtected(r), r.Method)), false)
	}
	return nil, func(x *transcript.Exchange) { u.Unexpected(x, "") }
}

// answerByRule returns a rule's response. If it cannot be built, that is a mistake of the scenario. The caller holds
// the lock.
func (u *upstream) answerByRule(rule *scenario.StubRule, step *transcript.Step, chat *stub.Chat) (*stub.Answer, func(*transcript.Exchange)) {
	n := len(step.Exchanges) + 1
	b := answerBuilder{filler: filler{values: &u.run.values}, id: fmt.Sprintf("%s_%s_%d", u.run.t.Unique, rule.Name, n)}
	a := b.answer(&rule.Answer, chat)
	if b.err != nil {
		err := ruleError(rule.Name, b.err)
		step.Fault = cmp.Or(step.Fault, err.Error())
		text := "lockstep: " + err.Error()
		a = &stub.Answer{Status: 501, Error: &text}
	} else if rule.Answer.Script != nil {
		a.Takeover = u.takeover(rule, step, n)
	}
	return a, u.begin(step, a.End == stub.Hang)
}

// ruleError says why a rule has no response.
func ruleError(rule string, err error) error {
	var missing *scenario.MissingError
	if errors.As(err, &missing) {
		return fmt.Errorf("the rule %q answers before %s has a value", rule, missing.Name)
	}
	return fmt.Errorf("the rule %q: %w", rule, err)
}

// begin records a request. The returned function records its exchange at the end of the response. The caller holds the
// lock.
func (u *upstream) begin(step *transcript.Step, hangs bool) func(*transcript.Exchange) {
	if u.collector != nil {
		return u.collector.answered(step)
	}
	n := len(step.Exchanges)
	step.Exchanges = append(step.Exchanges, nil)
	if hangs {
		u.hanging++
	} else {
		u.underWay[step]++
	}
	u.asked.notify()
	return func(x *transcript.Exchange) {
		defer u.asked.notify()
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.stub.Kind() == stub.OAuth { // its rules may answer messages at other paths, too
			x.Request.Body = comparableMessage(x.Request.Body)
		}
		step.Exchanges[n], x.Hangs = x, hangs
		switch {
		case x.Stream != "": // see talked
			return
		case !hangs:
			u.underWay[step]--
			return
		case u.over:
			x.Failure = nil
		case x.Failure != nil:
			u.gone[step.ID]++
		}
		u.hanging--
	}
}

// Unexpected records a request that no rule answers.
func (u *upstream) Unexpected(x *transcript.Exchange, why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	why = cmp.Or(why, "no rule of the scenario answers it")
	step := u.step(scenario.UnexpectedRule)
	if len(step.Exchanges) < maxUnexpected {
		x.Unanswered = why
		step.Exchanges = append(step.Exchanges, x)
	}
	if step.Unmet == nil {
		step.Unmet = &transcript.Unmet{Kind: scenario.UnexpectedRule, What: "no such request", Why: why}
	}
	u.asked.notify()
}

// step returns the step that records requests of a built-in rule, which no scenario contains. The caller holds the
// lock.
func (u *upstream) step(rule string) *transcript.Step {
	id := scenario.UpstreamID(u.name, rule)
	for _, s := range u.steps {
		if s.ID == id {
			return s
		}
	}
	s := u.newStep(rule, u.line)
	u.steps = append(u.steps, s)
	return s
}

// counts returns how many requests each rule has answered. It reports done when all required requests have come and no
// response is being sent. When connections are closed, the target must also have disconnected from all hanging
// responses.
func (u *upstream) counts(connectionsClosed bool) (n requestCounts, done bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.collector.distribute()
	n, done = requestCounts{}, !connectionsClosed || u.hanging == 0
	for i, s := range u.steps {
		n[s.ID] = u.collector.compared(i, s)
		if i < len(u.rules) && len(s.Exchanges) < u.rules[i].Min || u.underWay[s] > 0 {
			done = false
		}
	}
	for id, gone := range u.gone {
		n[id+letGo] = gone
	}
	u.sockets.counts(n)
	return n, done
}

func (u *upstream) agree(counts requestCounts) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.agreed = counts
}

func (u *upstream) conclude() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
}

// freeze is called when a program is about to be ended, see stubSockets.
func (u *upstream) freeze() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sockets.freeze(u.agreed)
}

// record returns the requests as steps, and the sockets, after the last request.
func (u *upstream) record() (out []transcript.Step, sockets []*transcript.Stream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.agreed == nil {
		u.collector.distribute()
	}
	u.collector.noteOthers()
	for i, s := range u.steps {
		if u.agreed != nil && s.ID != scenario.UpstreamID(u.name, scenario.UnexpectedRule) {
			s.Exchanges = s.Exchanges[:u.agreed[s.ID]] // see settleUpstreams
		} else {
			s.Exchanges = s.Exchanges[:u.collector.compared(i, s)]
		}
		s.Exchanges = slices.DeleteFunc(s.Exchanges, func(x *transcript.Exchange) bool { return x == nil })
		if len(s.Exchanges) > 0 {
			s.At, s.Took = s.Exchanges[0].Sent, s.Exchanges[len(s.Exchanges)-1].Done-s.Exchanges[0].Sent
		}
		if i < len(u.rules) {
			s.Unordered = u.rules[i].AnyOrder
			s.Unmet = cmp.Or(tooFew(u.rules[i].Min, len(s.Exchanges)), u.unmet[s])
			s.Cadence = u.rules[i].Cadence.Of(u.name)
		} else if len(s.Exchanges) == 0 {
			continue
		}
		out = append(out, *s)
	}
	return out, u.sockets.record(out, u.agreed)
}

// tooFew says that fewer requests came than required. It returns nil when enough came.
func tooFew(least, n int) *transcript.Unmet {
	if n >= least {
		return nil
	}
	what, why := "a request", "none came"
	if least > 1 {
		what = fmt.Sprintf("%d requests", least)
	}
	if n > 0 {
		why = fmt.Sprintf("%d came", n)
	}
	return &transcript.Unmet{Kind: "upstream", What: what, Why: why}
}

// Play makes a stub answer all requests by rules, without a scenario, until stop is called. As in a scenario, the
// number of requests that it answers is limited.
func Play(s *stub.Server, name string, rules []scenario.StubRule) (stop func()) {
	r := &targetRun{
		opts: &Options{Step: 30 * time.Second, Events: maxRequests, Outside: func(string, string, *transcript.Event) bool { return false }},
		t:    &transcript.Transcript{Unique: unique(), Started: time.Now()}, target: &Target{},
	}
	r.values.values = map[string]json.RawMessage{"unique": quote(r.t.Unique)}
	u := newUpstream(name, s, rules, 0, r, &notifier{})
	u.collector = newCollector(u)
	return s.Attach(u, r.t.Unique, true, r.t.Started)
}
