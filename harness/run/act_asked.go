package run

import (
	"context"
	"fmt"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// asked waits until the target has asked an upstream.
func (w *walker) asked(ctx context.Context, do *scenario.Asked, rec *transcript.Step) error {
	var u *upstream
	for _, other := range w.upstreams {
		if other.name == do.Stub {
			u = other
		}
	}
	if u == nil {
		return &faultError{fmt.Sprintf("there is no stub %q", do.Stub)}
	}
	ctx, cancel := w.within(ctx, do.Within)
	defer cancel()
	for {
		rung := w.stage.stirred.next()
		n := u.asked(do.Rule)
		if n >= do.Times {
			return nil
		}
		select {
		case <-rung:
		case <-ctx.Done():
			rec.Unmet = lacking(do.Times, n)
			rec.Unmet.Kind = "asked"
			rec.Unmet.Why += ": " + context.Cause(ctx).Error()
			return nil
		}
	}
}
