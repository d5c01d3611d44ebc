package run

import (
	"context"
	"time"
)

// settling bounds what lags behind, by the settle limit.
func (r *stage) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return withPatience(ctx, r.opts.Settle)
}

// withPatience returns a context that ends after so much of the time in which the machine lets things go on. It is counted in ticks,
// and a tick that comes late counts no more than one that is on time: on a machine that keeps this process waiting, targets are
// kept waiting as well, and what they still have to do takes as much longer.
func withPatience(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for left := limit; left > 0 && ctx.Err() == nil; left -= tick {
			pause(ctx, min(tick, left))
		}
		cancel(&overError{"settle limit", limit})
	}()
	return ctx, func() {
		cancel(errDone)
		<-done
	}
}
