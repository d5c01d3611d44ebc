package run

import "context"

// settling bounds what lags behind: by the settle limit, of time in which the machine lets things go on. It is counted in ticks,
// and a tick that comes late counts no more than one that is on time: on a machine that keeps this process waiting, targets are
// kept waiting as well, and what they still have to do takes as much longer.
func (r *stage) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for left := r.opts.Settle; left > 0 && ctx.Err() == nil; left -= tick {
			pause(ctx, min(tick, left))
		}
		cancel(&overError{"settle limit", r.opts.Settle})
	}()
	return ctx, func() {
		cancel(errDone)
		<-done
	}
}
