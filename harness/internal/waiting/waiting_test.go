package waiting

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleepEndsWithItsTimeOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if !Sleep(ctx, time.Second) || time.Since(start) != time.Second {
			t.Errorf("it ended after %s", time.Since(start))
		}
		if Sleep(ctx, time.Hour) || time.Since(start) != 3*time.Second {
			t.Errorf("it ended after %s, and not with its context", time.Since(start))
		}
	})
}

func TestIsClosedDoesNotWait(t *testing.T) {
	c := make(chan struct{})
	if IsClosed(c) {
		t.Error("it is open")
	}
	if close(c); !IsClosed(c) {
		t.Error("it is closed")
	}
}
