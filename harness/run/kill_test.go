package run

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A mortal is a process that still says something on its stream before it is dead.
type mortal struct {
	life
	t    *testing.T
	feed *feed
	last string
}

func (m *mortal) Kill(ctx context.Context) (string, error) {
	m.feed.says(m.t, m.last)
	m.feed.server.Close() // which one notices later than the other
	return m.life.Kill(ctx)
}

// Which event a killed process still sends is chance: those that count were agreed on before.
func TestWhatAKilledProcessStillSendsCountsOnNoSide(t *testing.T) {
	ref, cand := newFeed(t, "ab"), newFeed(t, "ab")
	killed(t, []*feed{ref, cand}, []string{"c", ""}, nil)
	if r, c := ref.data(), cand.data(); r != "ab" || c != "ab" {
		t.Errorf("the streams have %q and %q, want ab on both sides", r, c)
	}
	if r, c := ref.rec.Ended, cand.rec.Ended; r != c {
		t.Errorf("the streams were ended by the %s and the %s", r, c)
	}
}

func TestWhatIsAwaitedOfAKilledProcessCounts(t *testing.T) {
	ref, cand := newFeed(t, "ab"), newFeed(t, "ab")
	killed(t, []*feed{ref, cand}, []string{"cd", "c"}, func(w *walker) {
		c, rec := "c", transcript.Step{}
		if w.awaitEvents(t.Context(), w.stream("feed"), &transcript.Pattern{Data: &c}, 1, "event", &rec); rec.Unmet != nil {
			t.Errorf("unmet: %+v", rec.Unmet)
		}
	})
	if r, c := ref.data(), cand.data(); r != "abc" || c != "abc" {
		t.Errorf("the streams have %q and %q, want abc on both sides", r, c)
	}
}

// killed takes streams through a kill, in which their servers still send some events, through what follows, and to the end of
// the scenario.
func killed(t *testing.T, feeds []*feed, last []string, then func(*walker)) {
	r := &stage{opts: &Options{Step: time.Minute, Settle: time.Minute}, dice: dice(1, "kill")}
	for i, f := range feeds {
		m := &mortal{life: life{exited: make(chan struct{})}, t: t, feed: f, last: last[i]}
		r.walkers = append(r.walkers, &walker{
			stage: r, server: &Target{Process: m}, t: &transcript.Transcript{Started: time.Now()},
			streams: map[string]*stream{"feed": f.stream}, opened: []*stream{f.stream},
		})
	}
	r.step(t.Context(), &scenario.Step{ID: "1", Do: &scenario.Kill{}})
	for _, w := range r.walkers {
		if then != nil {
			then(w)
		}
	}
	r.settle(t.Context(), "feed")
	for _, w := range r.walkers {
		w.closeAll()
	}
}
