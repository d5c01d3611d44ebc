package harness

import (
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Monitor tells how far a run is while it is under way. The zero value is that of a run that has not begun. Its
// methods may be called from any goroutine.
type Monitor struct {
	mu     sync.Mutex
	began  time.Time
	status report.Status
	active []*activity // in the order in which they began
}

// An activity is something that takes time.
type activity struct{ scenario, target, step string }

// Status returns how far the run is, and what has been under way the longest: that is what it waits for.
func (m *Monitor) Status() report.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.status
	if !m.began.IsZero() {
		s.Took = time.Since(m.began)
	}
	if len(m.active) > 0 {
		a := m.active[0]
		s.Scenario, s.Target, s.Step = a.scenario, a.target, a.step
	}
	return s
}

func (m *Monitor) begin(scenarios int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.status, m.active = time.Now(), report.Status{Of: scenarios}, nil
}

func (m *Monitor) judged(v verdict.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status.Done++
	switch v {
	case verdict.Differ:
		m.status.Differ++
	case verdict.Unknown:
		m.status.Unknown++
	}
}

// starting notes that a target is brought up, until the function that it returns is called.
func (m *Monitor) starting(target string) (done func()) {
	return m.add(&activity{target: target})
}

// watch notes what a target does in scenarios.
func (m *Monitor) watch(target string) run.Watch {
	return func(a run.Activity) func(run.Outcome) {
		done := m.add(&activity{a.Scenario, target, a.Step})
		return func(run.Outcome) { done() }
	}
}

func (m *Monitor) add(a *activity) (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active = append(m.active, a)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if i := slices.Index(m.active, a); i >= 0 {
			m.active = slices.Delete(m.active, i, i+1)
		}
	}
}
