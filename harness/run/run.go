// Package run walks a scenario on all targets side by side and writes down what happened.
//
// Every target has a walker of its own, with its own values, streams and connections. The walkers go in lockstep: all of
// them do a step before any of them does the next one. Nothing is judged here. A demand that does not hold, a request
// that fails, an event that does not come is recorded, and the walker goes on as far as it can, because the rest is
// evidence too.
//
// What decides when a stream is closed is worth a word. Two correct servers send the last event at slightly different
// times, and end a stream at such, so it is closed when the walkers have received equally many events, and when all or none
// of the servers have ended it, or when the one that lags behind has had its chance (Options.Settle). Green runs hardly wait,
// and red ones wait once.
package run

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	mathrand "math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/internal/runqueue"
)

// A Target is a server that scenarios are driven against. It can be used by several scenarios at the same time.
type Target struct {
	Name   string
	Client *httpwire.Client
	Header transcript.Header // sent with every request
	// Directory is the target's own; "" when it has none.
	Directory string
	// Lockstep is lockstep's own program, for what the target is to start.
	Lockstep string
	// Process is set when the harness started the target, and knows how it fares.
	Process Process
	// Since is when that process was started.
	Since time.Time
	// Watch hears what the target does, when set.
	Watch Watch
	// Stubs are the upstreams that it calls, by name.
	Stubs map[string]*stub.Server

	late sync.Map // operations whose streams have kept their heads back, see awaitHead
}

// Process is the life of a target that the harness started.
type Process interface {
	Exited() <-chan struct{}
	ExitStatus() string // once Exited is closed
	Log() []string      // its last lines
	UnderWay() []string // what it was doing when it ended, for whatever scenario; once Exited is closed
	// Terminate asks it to end, waits until it has, and returns how it ended.
	Terminate(ctx context.Context) (status string, err error)
	// Grace is how long it gets to end when it is to be started again.
	Grace() time.Duration
	// Kill ends it without asking, waits until it has ended, and returns how it did.
	Kill(ctx context.Context) (status string, err error)
	// Restart starts it again, where it was, and returns when it is ready. What is left of it is ended before.
	Restart(ctx context.Context) error
	// Processors returns what it has had of the machine's processors, as it was no longer ago than an age; false when that is
	// not known.
	Processors(age time.Duration) (runqueue.Use, bool)
}

// Contract is what a run wants to know of the contract.
type Contract interface {
	// Operation returns the method and path template of a request, "GET /event", or "".
	Operation(method, target string) string
	// EventName returns what the contract calls an event of a stream's operation.
	EventName(operation string, ev *transcript.Event) string
	// Objections returns what the contract has against a request.
	Objections(method, target string, h transcript.Header, body []byte) []Objection
}

// Options bound and inform a run. All fields but Recorded and Aside are needed.
type Options struct {
	Step     time.Duration // a step that names no bound of its own
	Scenario time.Duration // a scenario that names no limit of its own
	Settle   time.Duration // what a stream that lags behind gets
	Events   int           // events of a stream that are kept
	Seed     uint64        // decides who starts a step
	Contract Contract
	// Processors returns what the harness itself has had of the machine's processors, as [Process] does.
	Processors func(age time.Duration) (runqueue.Use, bool)
	// Heartbeat reports whether an event only keeps its stream alive. Streams are called by name and by operation.
	Heartbeat func(stream, operation string, ev *transcript.Event) bool
	// Recorded is what a reference did that is not there any more; nil when all are. A stream that lags behind it may
	// catch up, as one that lags behind another target.
	Recorded *transcript.Transcript
	// Aside calls a function that only waits, and lets other scenarios run meanwhile. When nil, the function is just called.
	Aside func(wait func())
}

func (o *Options) aside(wait func()) {
	if o.Aside == nil {
		wait()
	} else {
		o.Aside(wait)
	}
}

// An overError is why something was cut short: the time for it was over.
type overError struct {
	of    string // "step", "scenario", or "stop" of the target
	after time.Duration
}

func (e *overError) Error() string { return fmt.Sprintf("the %s's %s were over", e.of, e.after) }

// Is makes it the end of a deadline for everyone who asks.
func (e *overError) Is(target error) bool { return target == context.DeadlineExceeded }

// errDone is why what is still under way is ended with the scenario.
var errDone = errors.New("the scenario is over")

// Scenario drives one scenario on the targets and returns a transcript of each, in their order. It returns when
// everything it started has ended.
func Scenario(ctx context.Context, s *scenario.Scenario, targets []*Target, opts *Options) []*transcript.Transcript {
	limit := s.Limit
	if limit == 0 {
		limit = opts.Scenario
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, &overError{"scenario", limit})
	defer cancel()
	stalls := watchStalls(time.After)
	defer stalls()
	script := s.Script()
	r := &stage{opts: opts, scenario: s, script: script, dice: dice(opts.Seed, s.ID)}
	for _, t := range targets {
		r.walkers = append(r.walkers, newWalker(r, t))
	}
	starved := r.watchStarvation(time.After)
	defer starved()
	for i := range script.Steps {
		r.step(bounded, &script.Steps[i])
	}
	r.awaitWindows(bounded, "")
	for _, name := range r.streamNames() {
		r.settle(bounded, name)
	}
	r.settleUpstreams(bounded, false)
	r.each(func(w *walker) { w.closeAll() })
	r.settleUpstreams(bounded, true)
	for i := len(script.Teardown) - 1; i >= 0; i-- {
		// The teardown has a bound of its own: it runs above all when the scenario has used up its own.
		tctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.Step)
		r.step(tctx, &script.Teardown[i])
		cancel()
	}
	out := make([]*transcript.Transcript, len(targets))
	if len(script.Teardown) > 0 {
		r.settleUpstreams(bounded, true)
	}
	r.each(func(w *walker) { w.leaveUpstreams() })
	if r.keepsRecords() {
		r.settleRecords(bounded)
		r.each(func(w *walker) { w.leaveRecords() })
	}
	r.each(func(w *walker) { w.finish(bounded) })
	stalled, starvation := stalls(), starved()
	for i, w := range r.walkers {
		w.t.Stalled, w.t.Starved, w.t.Delayed = stalled, starvation[i], starvation[len(r.walkers)]
		out[i] = w.t
	}
	r.watchProcesses()
	return out
}

// watchProcesses notes which processes have ended. A process that may be about to end has the grace to do so.
func (r *stage) watchProcesses() {
	var watched []*walker
	for _, w := range r.walkers {
		if w.mayEnd() {
			watched = append(watched, w)
		} else {
			w.noteExit()
		}
	}
	if len(watched) == 0 {
		return
	}
	r.opts.aside(func() {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		for _, w := range watched {
			select {
			case <-w.server.Process.Exited():
			case <-ctx.Done():
			}
			w.noteExit()
		}
	})
}

// dice returns the source of chance of a scenario: the same for the same seed, whatever else runs.
func dice(seed uint64, id string) *mathrand.Rand {
	h := fnv.New64a()
	h.Write([]byte(id))
	return mathrand.New(mathrand.NewPCG(seed, h.Sum64()))
}

// A stage is one scenario under way on all targets.
type stage struct {
	opts     *Options
	scenario *scenario.Scenario
	script   *scenario.Script
	walkers  []*walker
	dice     *mathrand.Rand
	stirred  bell // something has happened at an upstream
}

// each runs f for every walker at once and waits. Chance decides who starts.
func (r *stage) each(f func(*walker)) {
	if len(r.walkers) == 1 {
		f(r.walkers[0])
		return
	}
	var wg sync.WaitGroup
	for _, i := range r.dice.Perm(len(r.walkers)) {
		wg.Go(func() { f(r.walkers[i]) })
	}
	wg.Wait()
}

// step does one step on all targets.
func (r *stage) step(ctx context.Context, st *scenario.Step) {
	if h, ok := st.Do.(*scenario.Hangup); ok && h.How != scenario.HalfClose {
		r.awaitWindows(ctx, h.Name)
		r.settle(ctx, h.Name)
		r.settleCall(ctx, h.Name)
	}
	if _, kill := st.Do.(*scenario.Kill); kill { // which hangs up all streams at once
		r.awaitWindows(ctx, "")
		for _, name := range r.streamNames() {
			r.settle(ctx, name)
		}
		for _, name := range r.callNames() {
			r.settleCall(ctx, name)
		}
		for _, w := range r.walkers {
			for _, s := range w.opened {
				s.killed = true
			}
		}
	}
	r.each(func(w *walker) { w.t.Steps = append(w.t.Steps, w.do(ctx, st)...) })
}

// awaitWindows waits until no window of a stream is open any more, or of all streams if none is named.
func (r *stage) awaitWindows(ctx context.Context, stream string) {
	var until time.Time
	for _, w := range r.walkers {
		for _, window := range w.t.Windows {
			if end := w.t.Started.Add(window.To); (stream == "" || window.Stream == stream) && end.After(until) {
				until = end
			}
		}
	}
	if wait := time.Until(until); wait > 0 {
		pause(ctx, wait)
	}
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// streamNames returns the names of all streams that any walker has open, each once, in the order of their opening.
func (r *stage) streamNames() []string {
	var names []string
	seen := map[string]bool{}
	for _, w := range r.walkers {
		for _, s := range w.opened {
			if !seen[s.rec.Name] {
				seen[s.rec.Name] = true
				names = append(names, s.rec.Name)
			}
		}
	}
	return names
}

// settle lets a stream that lags behind catch up, in events and in its end, and then decides, for all walkers at once, which
// events still count.
func (r *stage) settle(ctx context.Context, name string) {
	var streams []*stream
	for _, w := range r.walkers {
		if s := w.stream(name); s != nil && !s.closed {
			streams = append(streams, s)
		}
	}
	if len(streams) < len(r.walkers) || len(streams) == 0 {
		return // one walker does not have it, so there is nothing to wait for
	}
	least := r.recorded(name, streams[0].beats)
	if len(streams) == 1 && least == 0 && !r.endRecorded(name) {
		return // nobody is ahead
	}
	ctx, cancel := r.settling(ctx)
	defer cancel()
	seen := looks(streams)
	behind := laggard(seen, least)
	for behind != nil && !behind.ended && ctx.Err() == nil {
		select {
		case <-behind.changed:
		case <-ctx.Done():
		}
		seen = looks(streams)
		behind = laggard(seen, least)
	}
	ends := r.endRecorded(name) || slices.ContainsFunc(seen, func(s sight) bool { return s.ended })
	if behind == nil && ends {
		for _, s := range streams { // it shall be no chance who ends it
			_ = s.Watch.AwaitEnd(ctx) // the transcript tells whether it has
		}
		seen = looks(streams)
	}
	// What counts is what was seen when the streams were held against each other: in between, more may have come on one.
	for i, s := range streams {
		s.cut, s.open = seen[i].all, behind == nil && !ends
	}
}

func looks(streams []*stream) []sight {
	seen := make([]sight, len(streams))
	for i, s := range streams {
		seen[i] = s.look()
	}
	return seen
}

// endRecorded reports whether the server has ended a stream of that name in the recording.
func (r *stage) endRecorded(name string) bool {
	return r.opts.Recorded != nil && slices.ContainsFunc(r.opts.Recorded.Streams, func(s *transcript.Stream) bool {
		return s.Name == name && s.Ended == transcript.EndedByServer
	})
}

// recorded returns how many events a stream of that name has in the recording, heartbeats aside.
func (r *stage) recorded(name string, beats func(*transcript.Event) bool) int {
	n := 0
	if r.opts.Recorded == nil {
		return n
	}
	for _, s := range r.opts.Recorded.Streams {
		for i := range s.Events {
			if ev := &s.Events[i]; s.Name == name && !beats(ev) {
				n++
			}
		}
	}
	return n
}

// laggard returns the sight of a stream that has fewer events than another, or than the recording; nil when there is none.
func laggard(seen []sight, recorded int) *sight {
	least, most := &seen[0], max(seen[0].n, recorded)
	for i := range seen[1:] {
		s := &seen[1+i]
		if s.n < least.n {
			least = s
		}
		most = max(most, s.n)
	}
	if least.n == most {
		return nil
	}
	return least
}

// unique returns a token that has not been used before: a letter, then letters and digits.
func unique() string {
	return "u" + strings.ToLower(rand.Text()[:11])
}

// quote returns a JSON string.
func quote(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("run: a string does not encode: %v", err))
	}
	return b
}

// escapePath percent-encodes everything but unreserved characters (RFC 3986 §2.3), so that a value stays one segment,
// or one query value, wherever it is put.
func escapePath(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
