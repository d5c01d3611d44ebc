package run

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/waiting"
)

// tick is how often the harness checks whether it runs on time.
const tick = 20 * time.Millisecond

// errDone is the cause with which lockstep ends what is still running at the end of a scenario.
var errDone = errors.New("the scenario is over")

// withPatience returns a context that ends after a limit, counted in ticks. A late tick counts only as much as one on
// time. A machine that keeps lockstep waiting keeps the targets waiting too, so they get more time.
func withPatience(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for left := limit; left > 0 && ctx.Err() == nil; left -= tick {
			waiting.Sleep(ctx, min(tick, left))
		}
		cancel(&timeoutError{"settle limit", limit})
	}()
	return ctx, func() {
		cancel(errDone)
		<-done
	}
}
