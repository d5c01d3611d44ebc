package run

import (
	"context"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// briefly is how long a step waits for a head that the server has kept back before.
const briefly = 3 * tick

// awaitHead waits for the head of a stream's response, and reports whether it has come, or none will.
//
// Most servers send it at once, and the client is subscribed then: no step that causes events may come before. Some send it with
// the first event, so that a step which waited for it would wait for a later one. The step goes on without it when it has not
// come within the settle limit, and is joined with it when the scenario is over. Of an operation that has kept its head back once
// it is taken to be so again, or each stream would cost as much. With a bound of its own, the step waits for that.
func (w *walker) awaitHead(ctx context.Context, within time.Duration, operation string, opened *httpwire.Stream) bool {
	if within > 0 {
		ctx, cancel := w.within(ctx, within)
		defer cancel()
		select {
		case <-opened.Head():
		case <-ctx.Done():
			opened.GiveUp(context.Cause(ctx))
		}
		return true
	}
	limit := w.stage.opts.Settle
	if _, late := w.server.late.Load(operation); late {
		limit = min(limit, briefly)
	}
	ctx, cancel := withPatience(ctx, limit)
	defer cancel()
	select {
	case <-opened.Head():
		w.server.late.Delete(operation)
		return true
	case <-ctx.Done():
		w.server.late.Store(operation, true)
		return false
	}
}
