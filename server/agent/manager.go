package agent

import (
	"container/list"
	"sync"

	"github.com/lockstep-dev/lockstep/server/reply"
)

// A Manager has the agents that are in memory, one for each session id. When there are too many, the one whose last use is
// the longest ago goes.
type Manager struct {
	capacity int
	connect  func(sessionID string) Extensions

	mu     sync.Mutex
	agents map[string]*list.Element // of order
	order  *list.List               // of *entry, the last used first
	inUse  map[*entry]bool          // those that were dropped, too
	closed bool

	closing sync.WaitGroup
}

// An entry is an agent with those who use it.
type entry struct {
	agent *Agent
	users int
	gone  bool // from the manager; the last user closes it, unless the manager has
	over  bool // it is closed
}

// NewManager returns a manager of at most so many agents, at least one. Connect makes the extensions of a new agent, none
// of which is connected yet.
func NewManager(capacity int, connect func(sessionID string) Extensions) *Manager {
	return &Manager{capacity: max(capacity, 1), connect: connect, agents: map[string]*list.Element{}, order: list.New(), inUse: map[*entry]bool{}}
}

// Use returns the agent of a session, a new one if there is none; the session need not exist. Whoever uses an agent calls
// release at the end: an agent that was dropped meanwhile keeps its connections until then.
func (m *Manager) Use(sessionID string) (a *Agent, release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, ok := m.agents[sessionID]
	if ok {
		m.order.MoveToFront(element)
	} else {
		element = m.add(sessionID)
	}
	e := element.Value.(*entry)
	e.users++
	m.inUse[e] = true
	return e.agent, sync.OnceFunc(func() { m.release(e) })
}

// add adds an agent, for which an old one may go.
func (m *Manager) add(sessionID string) *list.Element {
	if len(m.agents) >= m.capacity {
		m.drop(m.order.Back())
	}
	extensions := m.connect(sessionID)
	if m.closed { // a request that was on its way when the server stopped
		extensions.Close()
	}
	a := &Agent{Agent: reply.NewAgent(extensions), SessionID: sessionID, Extensions: extensions}
	element := m.order.PushFront(&entry{agent: a, over: m.closed})
	m.agents[sessionID] = element
	return element
}

// drop takes an agent out of memory, and closes it if nobody uses it.
func (m *Manager) drop(element *list.Element) {
	e := m.order.Remove(element).(*entry)
	delete(m.agents, e.agent.SessionID)
	e.gone = true
	if e.users == 0 {
		m.close(e)
	}
}

func (m *Manager) release(e *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.users--
	if e.users > 0 {
		return
	}
	delete(m.inUse, e)
	if e.gone {
		m.close(e)
	}
}

// close closes the connections of an agent once, which can take a while; [Manager.Close] waits for it.
func (m *Manager) close(e *entry) {
	if !e.over {
		e.over = true
		m.closing.Go(e.agent.Extensions.Close)
	}
}

// Stop drops the agent of a session, and says whether there was one.
func (m *Manager) Stop(sessionID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	element, ok := m.agents[sessionID]
	if ok {
		m.drop(element)
	}
	return ok
}

// Close drops all agents and waits until they have closed their connections, those that are still in use too: what they run
// would outlast the server. Agents that are made later can have no connections.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	for e := range m.inUse {
		m.close(e)
	}
	for element := m.order.Front(); element != nil; element = m.order.Front() {
		m.drop(element)
	}
	m.mu.Unlock()
	m.closing.Wait()
}
