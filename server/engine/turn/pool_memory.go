package turn

// A heldMemory is a session's state in memory while it is held.
type heldMemory struct {
	*SessionMemory
	id    string
	holds int
	idle  chan struct{} // closed when the last hold is released; nil unless End waits for that
	over  chan struct{} // closed when the number may be used again; nil unless the session is being deleted
}

// memoryOf returns the memory of a session, and creates it if needed. It waits while the session is being deleted.
// The caller holds the lock.
func (p *Pool) memoryOf(sessionID string) *heldMemory {
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
	m := &heldMemory{id: sessionID}
	m.SessionMemory = NewSessionMemory(func() (release func()) { return p.hold(m) })
	p.memories[sessionID] = m
	return m
}

func (p *Pool) hold(m *heldMemory) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.holds++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unhold(m)
	}
}

// unhold releases one hold. The caller holds the lock.
func (p *Pool) unhold(m *heldMemory) {
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

// End ends everything that a session has in memory, waits for it, calls then, and returns its error. Until End
// returns, nothing new is created for the session.
func (p *Pool) End(sessionID string, then func() error) error {
	p.mu.Lock()
	m := p.memoryOf(sessionID)
	m.over, m.idle = make(chan struct{}), make(chan struct{})
	m.holds++ // so that it cannot become idle before this point
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
