package run

import (
	"context"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// settleStreams settles all open streams after the last window.
func (s *session) settleStreams(ctx context.Context) {
	s.awaitWindows(ctx, "")
	for _, name := range s.names(func(d *driver) []string { return d.streams.names() }) {
		s.settleStream(ctx, name)
	}
}

// settleStream gives a slower stream time to catch up, in events and in its end. Then it decides for all drivers at
// once which events still count.
func (s *session) settleStream(ctx context.Context, name string) {
	var open []*stream
	for _, d := range s.drivers {
		if st := d.streams.get(name); st != nil && !st.closed {
			open = append(open, st)
		}
	}
	if len(open) < len(s.drivers) || len(open) == 0 {
		return // a driver without this stream has nothing to wait for
	}
	recorded, endRecorded := s.recorded.events(name, open[0].outside), s.recorded.streamEnded(name)
	if len(open) == 1 && recorded == 0 && !endRecorded {
		return // there is nothing to catch up with
	}
	ctx, cancel := s.opts.settling(ctx)
	defer cancel()
	seen := snapshots(open)
	behind := laggard(seen, recorded)
	for behind != nil && !behind.ended && ctx.Err() == nil {
		select {
		case <-behind.changed:
		case <-ctx.Done():
		}
		seen = snapshots(open)
		behind = laggard(seen, recorded)
	}
	ends := endRecorded || slices.ContainsFunc(seen, func(s snapshot) bool { return s.ended })
	if behind == nil && ends {
		for _, st := range open { // otherwise chance would decide which side ends it
			_ = st.wire.AwaitEnd(ctx) // the transcript says whether it has ended
		}
		seen = snapshots(open)
	}
	// Only what was seen during the comparison counts. More may have arrived on one of the streams since.
	for i, st := range open {
		st.agreed, st.openAtAgreement = seen[i].all, behind == nil && !ends
	}
}

func snapshots(streams []*stream) []snapshot {
	seen := make([]snapshot, len(streams))
	for i, st := range streams {
		seen[i] = st.snapshot()
	}
	return seen
}

// laggard returns the snapshot of the stream with the fewest events if another stream or the recording has more; else
// nil.
func laggard(seen []snapshot, recorded int) *snapshot {
	fewest, most := &seen[0], max(seen[0].events, recorded)
	for i := range seen[1:] {
		s := &seen[1+i]
		if s.events < fewest.events {
			fewest = s
		}
		most = max(most, s.events)
	}
	if fewest.events == most {
		return nil
	}
	return fewest
}

// settleCalls settles all started requests that are neither joined nor cancelled.
func (s *session) settleCalls(ctx context.Context) {
	names := s.names(func(d *driver) []string { return d.calls.names() })
	slices.Sort(names)
	for _, name := range names {
		s.settleCall(ctx, name)
	}
}

// settleCall waits for the response to a started request when another target, or the recording, has one. Then it
// decides for all drivers at once which responses count. Otherwise chance would decide which responses come before the
// request is cancelled.
func (s *session) settleCall(ctx context.Context, name string) {
	var calls []*call
	for _, d := range s.drivers {
		if c := d.calls.get(name); c != nil && !c.agreed {
			calls = append(calls, c)
		}
	}
	answered := doneOf(calls)
	if slices.Contains(answered, true) || len(calls) > 0 && s.recorded.answered(name, s.script.Steps) {
		ctx, cancel := s.opts.settling(ctx)
		defer cancel()
		for _, c := range calls {
			select {
			case <-c.done:
			case <-ctx.Done():
			}
		}
		answered = doneOf(calls)
	}
	for i, c := range calls {
		c.agreed, c.late = true, !answered[i]
	}
}

func doneOf(calls []*call) []bool {
	out := make([]bool, len(calls))
	for i, c := range calls {
		out[i] = waiting.IsClosed(c.done)
	}
	return out
}

// settleUpstreams gives targets time to send the requests to upstreams that the scenario requires, and those that other
// targets have sent. When connections are closed, they must also disconnect from hanging responses. Once all have sent
// the same requests, later ones count on neither side. The exception is a request that no rule answers: it is always
// wrong.
func (s *session) settleUpstreams(ctx context.Context, connectionsClosed bool) {
	ctx, cancel := s.opts.settling(ctx)
	defer cancel()
	for ctx.Err() == nil {
		asked := s.asked.next()
		if s.upstreamsSettled(connectionsClosed) {
			break
		}
		select {
		case <-asked:
		case <-ctx.Done():
		}
	}
}

func (s *session) upstreamsSettled(connectionsClosed bool) bool {
	for _, d := range s.drivers {
		d.upstreams.agree(nil)
	}
	all := make([]requestCounts, len(s.drivers))
	for i, d := range s.drivers {
		if all[i] = d.upstreams.counts(connectionsClosed); d.process.lost() {
			return true // it sends no more, and what the others send alone is a difference already
		}
	}
	recorded := s.recorded.upstreamCounts(false, s.opts.Outside)
	for _, own := range all {
		if own == nil || !own.covers(recorded) || !all[0].equal(own) {
			return false
		}
	}
	for i, d := range s.drivers {
		d.upstreams.agree(all[i])
	}
	return true
}

// settleRecords gives targets time to send to MCP servers what the other targets have sent. The transcript gets the
// records that were compared last.
func (s *session) settleRecords(ctx context.Context) {
	ctx, cancel := s.opts.settling(ctx)
	defer cancel()
	for !s.recordsSettled() && ctx.Err() == nil {
		waiting.Sleep(ctx, recordInterval)
	}
}

func (s *session) recordsSettled() bool {
	recorded := s.recorded.upstreamCounts(true, s.opts.Outside)
	var first requestCounts
	settled, lost := true, false
	for _, d := range s.drivers {
		own := d.records.read()
		settled = settled && own.covers(recorded) && (first == nil || first.equal(own))
		lost = lost || d.process.lost()
		first = own
	}
	return settled || lost // a target that is lost sends no more
}
