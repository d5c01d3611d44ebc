package run

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A mortal is a process that still sends events while it is being killed.
type mortal struct {
	life
	t    *testing.T
	feed *feed
	last string
}

func (m *mortal) Kill(ctx context.Context) (string, error) {
	m.feed.says(m.t, m.last)
	m.feed.server.Close() // one of the two streams notices this later than the other
	return m.life.Kill(ctx)
}

// It is chance which events a killed process still sends. So the drivers agree before the kill which events count.
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
	killed(t, []*feed{ref, cand}, []string{"cd", "c"}, func(d *driver) {
		c, rec := "c", transcript.Step{}
		if awaitEvents(t.Context(), d.streams.get("feed"), &transcript.Pattern{Data: &c}, 1, "event", &rec); rec.Unmet != nil {
			t.Errorf("unmet: %+v", rec.Unmet)
		}
	})
	if r, c := ref.data(), cand.data(); r != "abc" || c != "abc" {
		t.Errorf("the streams have %q and %q, want abc on both sides", r, c)
	}
}

// killed kills servers that still send some events, calls then for each driver, and ends the scenario.
func killed(t *testing.T, feeds []*feed, last []string, then func(*driver)) {
	s := bareSession(&Options{Step: time.Minute, Settle: time.Minute})
	for i, f := range feeds {
		m := &mortal{life: life{exited: make(chan struct{})}, t: t, feed: f, last: last[i]}
		d := driverOf(bareRun(s.opts, &Target{Process: m}))
		d.streams.add(f.stream)
		s.drivers = append(s.drivers, d)
	}
	s.step(t.Context(), &scenario.Step{ID: "1", Do: &scenario.Kill{}})
	for _, d := range s.drivers {
		if then != nil {
			then(d)
		}
	}
	s.settleStream(t.Context(), "feed")
	for _, d := range s.drivers {
		d.closeAll()
	}
}
