package pending_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/engine/pending"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// requests returns Requests that keep the given number of early answers.
func requests[A any](keep int) *pending.Requests[A] {
	b := &pending.Requests[A]{}
	b.SetKeep(keep)
	return b
}

// answered opens a request, and returns the answer that it gets within a second.
func answered(t *testing.T, b *pending.Requests[string], id string) string {
	t.Helper()
	q := b.Ask(id)
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	value, err := q.Wait(ctx)
	if err != nil {
		return "none"
	}
	return value
}

func TestAnAnswerFindsItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := requests[string](2)
		a, other := b.Ask("a"), b.Ask("b")
		defer other.Close()
		if !b.Open("a") || b.Open("c") {
			t.Error("a is open and c is not")
		}
		if b.Answer("c", "nobody asked") || !b.Answer("a", "yes") || b.Answer("a", "again") {
			t.Error("an answer is asked for when its request is open, and only once")
		}
		if value, err := a.Wait(t.Context()); value != "yes" || err != nil {
			t.Errorf("a is answered %q, %v; want yes", value, err)
		}
		a.Close()
		if got := answered(t, b, "a"); got != "again" {
			t.Errorf("a, asked again, is answered %q; want what came early", got)
		}
	})
}

func TestEarlyAnswersAreKeptAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := requests[string](2)
		for _, id := range []string{"a", "b", "c"} {
			b.Answer(id, "early "+id)
		}
		for id, want := range map[string]string{"a": "none", "b": "early b", "c": "early c"} {
			if got := answered(t, b, id); got != want {
				t.Errorf("%s is answered %q, want %q", id, got, want)
			}
		}
		if got := answered(t, b, "b"); got != "none" {
			t.Errorf("b, asked again, is answered %q, want none", got)
		}
		none := &pending.Requests[string]{}
		none.Answer("a", "early")
		if got := answered(t, none, "a"); got != "none" {
			t.Errorf("requests that keep nothing answer %q", got)
		}
	})
}

func TestEarlyAnswersAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := requests[string](3)
		for _, id := range []string{"a", "b", "c"} {
			b.Answer(id, "early "+id)
		}
		b.SetKeep(1)
		if got := answered(t, b, "a"); got != "none" {
			t.Errorf("a is answered %q, which was to be dropped", got)
		}
		b.SetKeep(0)
		b.SetKeep(3)
		if got := answered(t, b, "c"); got != "none" {
			t.Errorf("c is answered %q, which was to be dropped", got)
		}
	})
}

func TestRequestsWithOneIDAreAnsweredInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := requests[string](3)
		for _, value := range []string{"early", "earlier than the request"} {
			b.Answer("a", value)
		}
		var asked []*pending.Request[string]
		for range 5 {
			asked = append(asked, b.Ask("a"))
		}
		asked[2].Close()
		for _, value := range []string{"third", "fourth"} {
			if !b.Answer("a", value) {
				t.Errorf("nobody asks for %q", value)
			}
		}
		if b.Answer("a", "kept") {
			t.Error("somebody asks for a fifth answer")
		}
		for i, want := range map[int]string{0: "early", 1: "earlier than the request", 3: "third", 4: "fourth"} {
			if got, err := asked[i].Wait(t.Context()); got != want || err != nil {
				t.Errorf("request %d is answered %q, %v; want %q", i, got, err, want)
			}
			asked[i].Close()
		}
		if got := answered(t, b, "a"); got != "kept" {
			t.Errorf("a, asked again, is answered %q, want kept", got)
		}
	})
}

func TestAnAnswerToAnAbandonedRequestIsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := requests[string](1)
		gone, next := b.Ask("a"), b.Ask("a")
		b.Answer("a", "yes")
		gone.Close() // its client has left, and it no longer waits
		if got, err := next.Wait(t.Context()); got != "yes" || err != nil {
			t.Errorf("the next request is answered %q, %v; want yes", got, err)
		}
		next.Close()
		alone := b.Ask("a")
		b.Answer("a", "yes")
		alone.Close()
		if got := answered(t, b, "a"); got != "yes" {
			t.Errorf("a, asked again, is answered %q, want yes", got)
		}
	})
}

func TestARequestEndsWithItsContext(t *testing.T) {
	b := requests[string](1)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client has gone")
	cancel(gone)
	q := b.Ask("a")
	if _, err := q.Wait(ctx); !errors.Is(err, gone) {
		t.Errorf("Wait: %v, want %v", err, gone)
	}
	q.Close()
	if b.Answer("a", "late") {
		t.Error("a request that is closed was answered")
	}
}

func TestManyAskAtOnce(t *testing.T) {
	b := requests[int](100)
	var all sync.WaitGroup
	for n := range 100 {
		id := fmt.Sprint(n)
		all.Go(func() {
			q := b.Ask(id)
			defer q.Close()
			if got, err := q.Wait(t.Context()); got != n || err != nil {
				t.Errorf("request %d is answered %d, %v", n, got, err)
			}
		})
		all.Go(func() { b.Answer(id, n) })
	}
	all.Wait()
}
