// Package run takes a scenario through all targets side by side, and records what happens.
//
// A session is one run of a scenario. Each target has a driver with its own values, streams and connections. All
// drivers finish a step before any of them starts the next one. Nothing is judged here: a failed request, or an event
// that does not come, is only recorded. The driver then goes on as far as it can, because the rest is evidence too.
//
// The types follow the data:
//
//	session     the drivers of a scenario, and what they wait for together (settle_*.go)
//	driver      performs the steps of a scenario on one target
//	targetRun   what these steps share: options, values, transcript
//	calls       requests that are sent, started, joined and polled
//	streams     event streams that are opened, awaited and closed
//	process     the end and the restart of the target's process
//	upstreams   the scenario's responses when the target calls its upstreams
//	mcpRecords  what the target sent to the MCP servers that it started
//
// Closing a stream takes some care. Two correct servers send the last event, and end a stream, at slightly different
// times. So a stream is closed when all drivers have received the same number of events, and all or none of the servers
// have ended it. A slower driver gets Options.Settle to catch up. A run without differences hardly waits.
package run

import (
	"cmp"
	"context"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Scenario runs one scenario on the targets and returns a transcript for each, in their order. It returns when
// everything that it started has ended.
func Scenario(ctx context.Context, sc *scenario.Scenario, targets []*Target, opts *Options) []*transcript.Transcript {
	return observe(ctx, sc, targets, opts, func(ctx context.Context, s *session) {
		for i := range s.script.Steps {
			s.step(ctx, &s.script.Steps[i])
		}
	})
}

// observe is Scenario for a function that performs the steps.
func observe(ctx context.Context, sc *scenario.Scenario, targets []*Target, opts *Options, perform func(context.Context, *session)) []*transcript.Transcript {
	limit := cmp.Or(sc.Limit, opts.Scenario)
	bounded, cancel := context.WithTimeoutCause(ctx, limit, &timeoutError{"scenario", limit})
	defer cancel()
	stalls := watchStalls(time.After)
	defer stalls()
	s := newSession(sc, targets, opts)
	starved := watchStarvation(opts, s.runs(), time.After)
	defer starved()
	perform(bounded, s)
	s.closeSteps(bounded)
	s.runTeardown(ctx)
	if len(s.script.Teardown) > 0 {
		s.settleUpstreams(bounded, true)
	}
	s.each(func(d *driver) { d.upstreams.close() })
	if sc.Directory { // MCP servers write their records below the target's directory
		s.settleRecords(bounded)
		s.each(func(d *driver) { d.t.Upstream = append(d.t.Upstream, d.records.latest...) })
	}
	s.each(func(d *driver) { d.finish(bounded) })
	stalled, starvation := stalls(), starved()
	out := make([]*transcript.Transcript, len(targets))
	for i, d := range s.drivers {
		d.t.Stalled, d.t.Starved, d.t.Delayed = stalled, starvation[i], starvation[len(s.drivers)]
		out[i] = d.t
	}
	s.watchExits()
	return out
}

// closeSteps closes what the steps have left open.
func (s *session) closeSteps(ctx context.Context) {
	s.settleStreams(ctx)
	s.settleUpstreams(ctx, false)
	s.each((*driver).closeAll)
	s.settleUpstreams(ctx, true)
}

// runTeardown runs the teardown, last step first. Each step has its own limit, because the teardown matters most when
// the scenario has used up its limit.
func (s *session) runTeardown(ctx context.Context) {
	for i := len(s.script.Teardown) - 1; i >= 0; i-- {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Step)
		s.step(bounded, &s.script.Teardown[i])
		cancel()
	}
}
