package turn_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server/engine/turn"
)

func TestTheBackgroundIsBoundedAndEnds(t *testing.T) {
	timeless(t, func(t *testing.T) {
		b := turn.NewBackground(slog.New(slog.DiscardHandler))
		var running, done atomic.Int64
		wait := func(ctx context.Context) {
			running.Add(1)
			<-ctx.Done()
			done.Add(1)
		}
		b.Go(func(context.Context) { panic("broken") }) // it is caught, and makes room again
		synctest.Wait()
		for range 300 {
			b.Go(wait)
		}
		synctest.Wait()
		if got := running.Load(); got != 256 {
			t.Errorf("%d tasks run, want 256", got)
		}
		b.Close()
		b.Go(wait)
		synctest.Wait()
		if got := done.Load(); got != 256 || running.Load() != 256 {
			t.Errorf("%d tasks have ended and %d have begun, want 256", got, running.Load())
		}
	})
}
