// Package heartbeat calls a function at regular times.
package heartbeat

import (
	"math"
	"sync"
	"time"
)

// A Heartbeat calls a function at every multiple of an interval since its start, without drift. It replaces a
// time.Ticker, because waiting for a ticker in a select costs more than writing an event.
type Heartbeat struct {
	interval time.Duration
	tick     func()

	mu    sync.Mutex
	timer *time.Timer
	next  time.Time
	over  bool
}

// Start starts a heartbeat. tick must not block.
func Start(interval time.Duration, tick func()) *Heartbeat {
	m := &Heartbeat{interval: interval, tick: tick, next: time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer = time.AfterFunc(math.MaxInt64, m.beat)
	m.schedule()
	return m
}

// Stop stops the heartbeat. A call that has begun may still be running.
func (m *Heartbeat) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	m.timer.Stop()
}

func (m *Heartbeat) beat() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.tick()
		m.schedule()
	}
}

// schedule sets the timer to the next multiple of the interval in the future.
func (m *Heartbeat) schedule() {
	now := time.Now()
	m.next = m.next.Add(m.interval)
	if late := now.Sub(m.next); late > 0 { // for example after the machine was suspended
		m.next = m.next.Add(late.Truncate(m.interval) + m.interval)
	}
	m.timer.Reset(m.next.Sub(now))
}
