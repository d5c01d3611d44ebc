package agent

import (
	"container/list"
	"sync"

	"github.com/lockstep-dev/lockstep/server/reply"
)

// A Manager has the agents that are in memory, one for each session id. When there are too many, idle ones go, the one whose
// last use is the longest ago first.
type Manager struct {
	capacity int
	connect  func(sessionID string) Extensions

	mu     sync.Mutex
	agents map[string]*list.Element // of order
	order  *list.List               // of *entry, the last used first
	inUse  map[*entry]bool          // those that were dropped, too
	lives  map[string]*life
	closed bool

	closing sync.WaitGroup
}

// An entry is an agent with those who use it.
type entry struct {
	agent *Agent
	life  *life
	users int
	gone  bool // from the manager; the last user closes it, unless the manager has
	over  bool // it is closed
}

// NewManager returns a manager of at most so many agents, at least one. Connect makes the extensions of a new agent, none
// of which is connected yet.
func NewManager(capacity int, connect func(sessionID string) Extensions) *Manager {
	return &Manager{
		capacity: max(capacity, 1), connect: connect,
		agents: map[string]*list.Element{}, order: list.New(), inUse: map[*entry]bool{}, lives: map[string]*life{},
	}
}

// Use returns the agent of a session, a new one if there is none; the session need not exist. Whoever uses an agent calls
// release at the end: an agent that was dropped meanwhile keeps its connections until then. Use waits while the session is
// being deleted.
func (m *Manager) Use(sessionID string) (a *Agent, release func()) { return m.use(sessionID, false) }

// Stream is Use for a reply. At its end there are no more agents again than there may be.
func (m *Manager) Stream(sessionID string) (a *Agent, release func()) { return m.use(sessionID, true) }

func (m *Manager) use(sessionID string, isStream bool) (a *Agent, release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.living(sessionID)
	element, ok := m.agents[sessionID]
	if ok {
		m.order.MoveToFront(element)
	} else {
		element = m.add(sessionID, l)
	}
	e := element.Value.(*entry)
	e.users++
	m.inUse[e] = true
	l.holds++
	return e.agent, sync.OnceFunc(func() { m.release(e, isStream) })
}

// add adds an agent, for which an idle one may go.
func (m *Manager) add(sessionID string, l *life) *list.Element {
	m.trim(m.capacity - 1)
	extensions := m.connect(sessionID)
	if m.closed { // a request that was on its way when the server stopped
		extensions.Close()
	} else {
		l.holds++ // until it is closed
	}
	a := &Agent{Agent: reply.NewAgent(extensions, l.Live), SessionID: sessionID, Extensions: extensions}
	element := m.order.PushFront(&entry{agent: a, life: l, over: m.closed})
	m.agents[sessionID] = element
	return element
}

// trim drops agents that nobody uses, the longest unused first, until there are no more than so many.
func (m *Manager) trim(most int) {
	for element := m.order.Back(); element != nil && len(m.agents) > most; {
		next := element.Prev()
		if element.Value.(*entry).users == 0 {
			m.drop(element)
		}
		element = next
	}
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

func (m *Manager) release(e *entry, isStream bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.let(e.life)
	e.users--
	if e.users == 0 {
		delete(m.inUse, e)
		if e.gone {
			m.close(e)
		}
	}
	if isStream {
		m.trim(m.capacity)
	}
}

// close closes the connections of an agent once, which can take a while; [Manager.Close] waits for it.
func (m *Manager) close(e *entry) {
	if e.over {
		return
	}
	e.over = true
	m.closing.Go(func() {
		e.agent.Extensions.Close()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.let(e.life)
	})
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
