package agentpool

import "github.com/lockstep-dev/lockstep/server/engine/turn"

// A memory is what a session has in memory, for as long as it is held.
type memory struct {
	*turn.SessionMemory
	id    string
	holds int
	idle  chan struct{} // closed when the last hold is given up; nil unless End waits for that
	over  chan struct{} // closed when the number may be used again; nil unless the session is being deleted
}

// memoryOf returns the memory of a session, and makes one if needed. It waits while the session is being deleted. The lock is
// held.
func (p *Pool) memoryOf(sessionID string) *memory {
	for {
		m := p.memories[sessionID]
		if m == nil {
			break
		}
		if m.over == nil {
			return m
		}
		p.mu.Unlock()
		<-m.over
		p.mu.Lock()
	}
	m := &memory{id: sessionID}
	m.SessionMemory = turn.NewSessionMemory(func() (release func()) { return p.hold(m) })
	p.memories[sessionID] = m
	return m
}

func (p *Pool) hold(m *memory) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.holds++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unhold(m)
	}
}

// unhold gives up one hold. The lock is held.
func (p *Pool) unhold(m *memory) {
	m.holds--
	if m.holds > 0 {
		return
	}
	switch {
	case m.idle != nil:
		close(m.idle)
	case !m.Lasts():
		delete(p.memories, m.id)
	}
}

// End ends all that a session has in memory, waits for that, calls then, and returns what then returns. Until it returns,
// nothing is in memory again for the session.
func (p *Pool) End(sessionID string, then func() error) error {
	p.mu.Lock()
	m := p.memoryOf(sessionID)
	m.over, m.idle = make(chan struct{}), make(chan struct{})
	m.holds++ // so that it is idle at the earliest now
	m.SessionMemory.End()
	if element, ok := p.agents[sessionID]; ok {
		p.drop(element)
	}
	for e := range p.inUse {
		if e.memory == m {
			p.close(e)
		}
	}
	p.unhold(m)
	p.mu.Unlock()
	<-m.idle
	m.Forget()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.memories, sessionID)
		close(m.over)
	}()
	return then()
}
