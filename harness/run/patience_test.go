package run

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSettlingEndsWithItsLimitOrItsUser(t *testing.T) {
	for _, limit := range []time.Duration{time.Second, 50 * time.Millisecond, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			opts := &Options{Settle: limit}
			start := time.Now()
			ctx, cancel := opts.settling(t.Context())
			<-ctx.Done()
			if took := time.Since(start); took != limit {
				t.Errorf("it took %s, want %s", took, limit)
			}
			if why := context.Cause(ctx).Error(); why != "the settle limit's "+limit.String()+" were over" {
				t.Errorf("the cause is %s", why)
			}
			cancel()
			_, cancel = opts.settling(t.Context())
			cancel() // must end its goroutine, or the bubble would not end
		})
	}
}
