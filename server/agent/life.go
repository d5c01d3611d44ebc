package agent

import "github.com/lockstep-dev/lockstep/server/reply"

// A life is what a session has in memory, for as long as somebody holds it.
type life struct {
	*reply.Live
	id    string
	holds int
	quiet chan struct{} // closed when nobody holds it any more; nil unless somebody waits for that
	over  chan struct{} // closed when the number may be used again; nil unless the session is being deleted
}

// living returns the life of a session, and makes one if needed. It waits while the session is being deleted. The lock is
// held.
func (m *Manager) living(sessionID string) *life {
	for {
		l := m.lives[sessionID]
		if l == nil {
			break
		}
		if l.over == nil {
			return l
		}
		m.mu.Unlock()
		<-l.over
		m.mu.Lock()
	}
	l := &life{id: sessionID}
	l.Live = reply.NewLive(func() (release func()) { return m.hold(l) })
	m.lives[sessionID] = l
	return l
}

func (m *Manager) hold(l *life) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.holds++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.let(l)
	}
}

// let gives up one hold. The lock is held.
func (m *Manager) let(l *life) {
	l.holds--
	if l.holds > 0 {
		return
	}
	switch {
	case l.quiet != nil:
		close(l.quiet)
	case !l.Lasts():
		delete(m.lives, l.id)
	}
}

// End ends all that a session has in memory, and waits for that. Then it calls then, before whose end the number has nothing
// in memory again. What then returns is returned.
func (m *Manager) End(sessionID string, then func() error) error {
	m.mu.Lock()
	l := m.living(sessionID)
	l.over, l.quiet = make(chan struct{}), make(chan struct{})
	l.holds++ // so that it is quiet at the earliest now
	l.Live.End()
	if element, ok := m.agents[sessionID]; ok {
		m.drop(element)
	}
	for e := range m.inUse {
		if e.life == l {
			m.close(e)
		}
	}
	m.let(l)
	m.mu.Unlock()
	<-l.quiet
	l.Forget()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.lives, sessionID)
		close(l.over)
	}()
	return then()
}
