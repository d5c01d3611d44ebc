package chatstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestAQueueIsBounded checks that a reader that stops costs at most a full queue, and that the engine then waits
// (GA 7.5).
func TestAQueueIsBounded(t *testing.T) {
	for _, tc := range []struct {
		name   string
		size   int // of each frame, in bytes
		queued int // how many frames fit before the writer waits
	}{
		{"by its frames", 1, maxQueued},
		{"by its bytes", maxQueuedBytes / 4, 4},
		{"of frames that are larger than all of it", maxQueuedBytes + 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, frame := NewQueue(), make([]byte, tc.size)
				ctx, cancel := context.WithCancelCause(t.Context())
				pushed := 0
				ended := make(chan error)
				go func() {
					for {
						if err := q.Push(ctx, frame); err != nil {
							ended <- err
							return
						}
						pushed++
					}
				}()
				for taken := range 3 {
					synctest.Wait() // until the writer waits
					if want := tc.queued + taken; pushed != want {
						t.Errorf("%d frames were pushed and %d taken, want %d pushed", pushed, taken, want)
					}
					if got, more := q.Next(); len(got) != tc.size || !more {
						t.Errorf("Next: %d bytes, %v", len(got), more)
					}
				}
				gone := errors.New("the client has gone")
				cancel(gone)
				if err := <-ended; !errors.Is(err, gone) {
					t.Errorf("Push: %v, want %v", err, gone)
				}
			})
		})
	}
}
