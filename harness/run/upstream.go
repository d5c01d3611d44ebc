package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// What a target asks its upstreams is written down by the rule that has answered it, as if the rule were a step: which of
// two requests comes first is often chance, and which rule answers them is not.

// What is kept of the requests to one stub: a target that asks again and again must not fill the memory.
const (
	mostAsked      = 1000
	mostAskedBytes = 256 << 20
	mostStrays     = 100
)

// An upstream is a stub of one walker while the scenario goes on: a stub.Script.
type upstream struct {
	w     *walker
	stub  *stub.Server
	name  string
	rules []scenario.StubRule
	line  int // of the stub in the scenario, or of the scenario

	mu       sync.Mutex // guards what follows
	steps    []*transcript.Step
	underWay map[*transcript.Step]int // answers, but for those that hang
	hanging  int                      // answers that the target may let go of
	gone     map[string]int           // those that it has, by the step's id
	over     bool                     // who hangs up now does so because the scenario does
	agreed   map[string]int           // how many requests of each rule count, by the step's id; all when nil
	kept     int                      // requests
	bytes    int64                    // of their bodies
}

// attach lets the scenario answer what the walker's target asks.
func (w *walker) attach() {
	for _, name := range w.server.stubNames() {
		u := &upstream{
			w: w, stub: w.server.Stubs[name], name: name, line: w.stage.scenario.Line,
			underWay: map[*transcript.Step]int{}, gone: map[string]int{},
		}
		for _, s := range w.stage.script.Stubs {
			if s.Name == name {
				u.rules, u.line = s.Rules, s.Line
			}
		}
		for _, r := range u.rules {
			u.steps = append(u.steps, &transcript.Step{ID: scenario.UpstreamID(name, r.Name), Line: r.Line, Kind: "upstream", Text: scenario.UpstreamText(name, r.Name)})
		}
		w.upstreams = append(w.upstreams, u)
		w.detach = append(w.detach, u.stub.Attach(u, w.t.Unique, w.stage.scenario.Fresh, w.t.Started))
	}
}

func (t *Target) stubNames() []string {
	var names []string
	for name := range t.Stubs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Answer returns what the first rule answers that means the request and is not used up.
func (u *upstream) Answer(r *transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept >= mostAsked || u.bytes > mostAskedBytes {
		return nil, func(x *transcript.Exchange) { u.Stray(x, "the scenario has had more requests than are kept") }
	}
	u.kept, u.bytes = u.kept+1, u.bytes+r.Body.Size
	chat := stub.ChatOf(r)
	for i := range u.rules {
		rule, step := &u.rules[i], u.steps[i]
		if rule.Max >= 0 && len(step.Exchanges) >= rule.Max || !u.means(&rule.When, r, &chat) {
			continue
		}
		return u.byRule(rule, step, &chat)
	}
	if a := u.stub.Standing(r); a != nil {
		return a, u.begin(u.step(scenario.ModelsRule), false)
	}
	return nil, func(x *transcript.Exchange) { u.Stray(x, "") }
}

// byRule returns a rule's answer. One that cannot be made is a mistake of the scenario. The mutex is held.
func (u *upstream) byRule(rule *scenario.StubRule, step *transcript.Step, chat *stub.Chat) (*stub.Answer, func(*transcript.Exchange)) {
	a, err := u.fill(rule, chat, len(step.Exchanges)+1)
	if err != nil {
		step.Fault = cmp.Or(step.Fault, err.Error())
		text := "lockstep: " + err.Error()
		a = &stub.Answer{Status: 501, Error: &text}
	}
	return a, u.begin(step, a.End == stub.Hang)
}

// begin notes a request, and returns what notes how its answer went. The mutex is held.
func (u *upstream) begin(step *transcript.Step, hangs bool) func(*transcript.Exchange) {
	n := len(step.Exchanges)
	step.Exchanges = append(step.Exchanges, nil)
	if hangs {
		u.hanging++
	} else {
		u.underWay[step]++
	}
	u.w.stage.stirred.ring()
	return func(x *transcript.Exchange) {
		defer u.w.stage.stirred.ring()
		u.mu.Lock()
		defer u.mu.Unlock()
		step.Exchanges[n], x.Hangs = x, hangs
		switch {
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

// Stray notes a request that nothing answers.
func (u *upstream) Stray(x *transcript.Exchange, why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	why = cmp.Or(why, "no rule of the scenario answers it")
	step := u.step(scenario.UnexpectedRule)
	if len(step.Exchanges) < mostStrays {
		x.Unanswered = why
		step.Exchanges = append(step.Exchanges, x)
	}
	if step.Unmet == nil {
		step.Unmet = &transcript.Unmet{Kind: scenario.UnexpectedRule, What: "no such request", Why: why}
	}
	u.w.stage.stirred.ring()
}

// step returns the step of a rule that no scenario writes. The mutex is held.
func (u *upstream) step(rule string) *transcript.Step {
	id := scenario.UpstreamID(u.name, rule)
	for _, s := range u.steps {
		if s.ID == id {
			return s
		}
	}
	s := &transcript.Step{ID: id, Line: u.line, Kind: "upstream", Text: scenario.UpstreamText(u.name, rule)}
	u.steps = append(u.steps, s)
	return s
}

// counts returns how many requests each rule has answered, by the step's id, and whether all that must come have come and
// no answer is under way: of those that hang, when all clients have gone.
func (u *upstream) counts(gone bool) (n map[string]int, done bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n, done = map[string]int{}, !gone || u.hanging == 0
	for i, s := range u.steps {
		n[s.ID] = len(s.Exchanges)
		if i < len(u.rules) && len(s.Exchanges) < u.rules[i].Min || u.underWay[s] > 0 {
			done = false
		}
	}
	for id, gone := range u.gone {
		n[id+letGo] = gone
	}
	return n, done
}

// letGo is said of hanging answers that a target has let go of.
const letGo = " let go"

// asked returns how many requests a rule has answered, or begun to.
func (u *upstream) asked(rule string) int {
	counts, _ := u.counts(false)
	return counts[scenario.UpstreamID(u.name, rule)]
}

// conclude notes that the scenario hangs up from now on.
func (u *upstream) conclude() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
}

// record puts what was asked into the transcript, when nothing more can come.
func (u *upstream) record() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, s := range u.steps {
		if u.agreed != nil && s.ID != scenario.UpstreamID(u.name, scenario.UnexpectedRule) {
			s.Exchanges = s.Exchanges[:u.agreed[s.ID]] // see settleUpstreams
		}
		s.Exchanges = slices.DeleteFunc(s.Exchanges, func(x *transcript.Exchange) bool { return x == nil })
		if len(s.Exchanges) > 0 {
			s.At, s.Took = s.Exchanges[0].Sent, s.Exchanges[len(s.Exchanges)-1].Done-s.Exchanges[0].Sent
		}
		if i < len(u.rules) {
			s.Unordered = u.rules[i].AnyOrder
			s.Unmet = lacking(u.rules[i].Min, len(s.Exchanges))
		} else if len(s.Exchanges) == 0 {
			continue // nothing of it counts
		}
		u.w.t.Upstream = append(u.w.t.Upstream, *s)
	}
}

// lacking says that a rule has answered fewer requests than it must.
func lacking(least, n int) *transcript.Unmet {
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

// leaveUpstreams ends what the scenario answers, and takes down what it was.
func (w *walker) leaveUpstreams() {
	for i, u := range w.upstreams {
		u.conclude()
		w.detach[i]()
		u.record()
	}
}

// settleUpstreams lets targets ask their upstreams what they must still ask, and what the others have asked; and when their
// clients have gone, let go of those that do not answer. Once all have asked the same, what is asked from then on counts on no
// side, but for what nothing answers: to have asked that is wrong whenever it was.
func (r *stage) settleUpstreams(ctx context.Context, gone bool) {
	ctx, cancel := r.settling(ctx)
	defer cancel()
	for ctx.Err() == nil {
		rung := r.stirred.next()
		if r.upstreamsSettled(gone) {
			break
		}
		select {
		case <-rung:
		case <-ctx.Done():
		}
	}
}

func (r *stage) upstreamsSettled(gone bool) bool {
	for _, w := range r.walkers {
		w.agree(nil)
	}
	all := make([]map[string]int, len(r.walkers))
	for i, w := range r.walkers {
		if all[i] = w.requests(gone); w.lost() {
			return true // nothing more comes of it, and what the others do alone is red already
		}
	}
	before := r.askedBefore()
	for _, own := range all {
		if own == nil || !covers(own, before) || !sameCounts(all[0], own) {
			return false
		}
	}
	for i, w := range r.walkers {
		w.agree(all[i])
	}
	return true
}

// requests returns how many requests of the target each rule has answered, by the step's id; nil when more must come, or an answer
// is under way.
func (w *walker) requests(gone bool) map[string]int {
	all := map[string]int{}
	for _, u := range w.upstreams {
		counts, done := u.counts(gone)
		if !done {
			return nil
		}
		maps.Copy(all, counts)
	}
	return all
}

// agree says how many requests count.
func (w *walker) agree(counts map[string]int) {
	for _, u := range w.upstreams {
		u.mu.Lock()
		u.agreed = counts
		u.mu.Unlock()
	}
}

// askedBefore returns how many requests each rule has answered in the recording; nil without one.
func (r *stage) askedBefore() map[string]int {
	if r.opts.Recorded == nil {
		return nil
	}
	n := map[string]int{}
	for i := range r.opts.Recorded.Upstream {
		s := &r.opts.Recorded.Upstream[i]
		if s.ToMCP() { // see settleRecords
			continue
		}
		n[s.ID] = len(s.Exchanges)
		for _, x := range s.Exchanges {
			if x.Hangs && x.Failure != nil {
				n[s.ID+letGo]++
			}
		}
	}
	return n
}

func sameCounts(a, b map[string]int) bool { return covers(a, b) && covers(b, a) }

// covers reports whether counts are as high as others. More than was recorded may have come: nothing is to be waited for then.
func covers(counts, others map[string]int) bool {
	for id, n := range others {
		if counts[id] < n {
			return false
		}
	}
	return true
}

// unfilled says why a rule has no answer.
func unfilled(rule string, err error) error {
	var missing *scenario.MissingError
	if errors.As(err, &missing) {
		return fmt.Errorf("the rule %q answers before %s has a value", rule, missing.Name)
	}
	return fmt.Errorf("the rule %q: %w", rule, err)
}
