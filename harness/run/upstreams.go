package run

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// upstreams are all stubs that one target can call.
type upstreams struct {
	*targetRun
	list   []*upstream
	detach []func() // ends the attachment to each stub
}

// attach lets the scenario answer the target's requests to its stubs.
func (us *upstreams) attach(stubs []scenario.Stub, asked *notifier) {
	for _, name := range slices.Sorted(maps.Keys(us.target.Stubs)) {
		server, line := us.target.Stubs[name], us.scenario.Line
		var rules []scenario.StubRule
		for _, s := range stubs {
			if s.Name == name {
				rules, line = s.Rules, s.Line
			}
		}
		u := newUpstream(name, server, rules, line, us.targetRun, asked)
		u.collector = newCollector(u)
		us.list = append(us.list, u)
		us.detach = append(us.detach, server.Attach(u, us.t.Unique, us.scenario.Fresh, us.t.Started))
	}
}

// await waits until the target has sent a number of requests to an upstream.
func (us *upstreams) await(ctx context.Context, do *scenario.Asked, rec *transcript.Step) error {
	i := slices.IndexFunc(us.list, func(u *upstream) bool { return u.name == do.Stub })
	if i < 0 {
		return &faultError{fmt.Sprintf("there is no stub %q", do.Stub)}
	}
	u := us.list[i]
	ctx, cancel := us.within(ctx, do.Within)
	defer cancel()
	for {
		asked := u.asked.next()
		counts, _ := u.counts(false)
		n := counts[scenario.UpstreamID(u.name, do.Rule)]
		if n >= do.Times {
			return nil
		}
		select {
		case <-asked:
		case <-ctx.Done():
			rec.Unmet = tooFew(do.Times, n)
			rec.Unmet.Kind = "asked"
			rec.Unmet.Why += ": " + context.Cause(ctx).Error()
			return nil
		}
	}
}

// counts returns how many requests each rule has answered; nil when an upstream is not done, see upstream.counts.
func (us *upstreams) counts(connectionsClosed bool) requestCounts {
	all := requestCounts{}
	for _, u := range us.list {
		counts, done := u.counts(connectionsClosed)
		if !done {
			return nil
		}
		maps.Copy(all, counts)
	}
	return all
}

// agree sets how many requests count. With nil, all count.
func (us *upstreams) agree(counts requestCounts) {
	for _, u := range us.list {
		u.agree(counts)
	}
}

// freeze is called when a program is about to be ended, see upstream.
func (us *upstreams) freeze() {
	for _, u := range us.list {
		u.freeze()
	}
}

// close ends all responses and adds the requests to the transcript.
func (us *upstreams) close() {
	for i, u := range us.list {
		u.conclude()
		us.detach[i]()
		steps, sockets := u.record()
		us.t.Upstream, us.t.Streams = append(us.t.Upstream, steps...), append(us.t.Streams, sockets...)
	}
}
