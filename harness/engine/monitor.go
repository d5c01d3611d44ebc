package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/run"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Monitor reports the progress of a run while it runs. The zero value is ready to use. Its methods may be called from
// any goroutine.
type Monitor struct {
	mu      sync.Mutex
	began   time.Time
	status  report.Status
	targets []string
	active  []*monitored      // in the order in which they began
	running []runningScenario // in the order of their first steps
}

// A monitored is a target that is starting, or a step that is running.
type monitored struct{ scenario, target, step string }

// A runningScenario is a scenario that has begun and is not judged yet.
type runningScenario struct {
	scenario string
	since    time.Time
}

// Status returns the progress of the run, what each target is doing, and what the run waits for: the scenario that has
// been running the longest.
func (m *Monitor) Status() report.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.status
	if !m.began.IsZero() {
		s.Took = time.Since(m.began)
	}
	if a := m.slowest(); a != nil {
		s.Scenario, s.Target, s.Step = a.scenario, a.target, a.step
	}
	for _, u := range m.running {
		if u.scenario == s.Scenario {
			s.Waited = time.Since(u.since)
		}
	}
	for _, name := range m.targets {
		t := report.TargetStatus{Name: name}
		for _, a := range m.active {
			switch {
			case a.target != name:
			case a.scenario == "":
				t.Starting = true
			default:
				t.Steps++
			}
		}
		s.Targets = append(s.Targets, t)
	}
	return s
}

// slowest returns the oldest activity in the scenario that has been running the longest. If no scenario is in a step,
// it is the oldest start of a target. It returns nil when nothing is running.
func (m *Monitor) slowest() *monitored {
	for _, u := range m.running {
		for _, a := range m.active {
			if a.scenario == u.scenario {
				return a
			}
		}
	}
	if len(m.active) > 0 {
		return m.active[0]
	}
	return nil
}

// Begin records that a run of this many scenarios begins.
func (m *Monitor) Begin(scenarios int, targets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.status, m.targets, m.active, m.running = time.Now(), report.Status{Of: scenarios}, targets, nil, nil
}

// Judged records that a scenario is done.
func (m *Monitor) Judged(scenario string, v verdict.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = slices.DeleteFunc(m.running, func(u runningScenario) bool { return u.scenario == scenario })
	m.status.Done++
	switch v {
	case verdict.Differ:
		m.status.Differ++
	case verdict.Unknown:
		m.status.Unknown++
	}
}

// Starting records that a target is starting, until the returned function is called.
func (m *Monitor) Starting(target string) (done func()) {
	return m.add(&monitored{target: target})
}

// Watch records what a target does in scenarios.
func (m *Monitor) Watch(target string) run.Watch {
	return func(a run.Activity) func(run.Outcome) {
		done := m.add(&monitored{a.Scenario, target, a.Step})
		return func(run.Outcome) { done() }
	}
}

func (m *Monitor) add(a *monitored) (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active = append(m.active, a)
	if a.scenario != "" && !slices.ContainsFunc(m.running, func(u runningScenario) bool { return u.scenario == a.scenario }) {
		m.running = append(m.running, runningScenario{a.scenario, time.Now()})
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if i := slices.Index(m.active, a); i >= 0 {
			m.active = slices.Delete(m.active, i, i+1)
		}
	}
}
