package agentpool

import (
	"container/list"
	"sync"

	"github.com/lockstep-dev/lockstep/server/engine/turn"
)

// A Pool has the agents that are in memory, one for each session id. When there are too many, idle ones go, the one whose
// last use is the longest ago first.
type Pool struct {
	capacity int
	connect  func(sessionID string) Extensions

	mu       sync.Mutex
	agents   map[string]*list.Element // of order
	order    *list.List               // of *entry, the last used first
	inUse    map[*entry]bool          // those that were dropped, too
	memories map[string]*memory
	closed   bool

	closing sync.WaitGroup
}

// An entry is an agent with those who use it.
type entry struct {
	agent  *Agent
	memory *memory
	users  int
	gone   bool // from the pool; the last user closes it, unless the pool has
	over   bool // it is closed
}

// New returns a pool of at most so many agents, at least one. Connect makes the extensions of a new agent, none
// of which is connected yet.
func New(capacity int, connect func(sessionID string) Extensions) *Pool {
	return &Pool{
		capacity: max(capacity, 1), connect: connect,
		agents: map[string]*list.Element{}, order: list.New(), inUse: map[*entry]bool{}, memories: map[string]*memory{},
	}
}

// Use returns the agent of a session, a new one if there is none; the session need not exist. The caller must call
// release at the end: an agent that was dropped meanwhile keeps its connections until then. Use waits while the session is
// being deleted.
func (p *Pool) Use(sessionID string) (a *Agent, release func()) { return p.use(sessionID, false) }

// Stream is Use for a reply. At its end there are no more agents again than there may be.
func (p *Pool) Stream(sessionID string) (a *Agent, release func()) { return p.use(sessionID, true) }

func (p *Pool) use(sessionID string, isStream bool) (a *Agent, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.memoryOf(sessionID)
	element, ok := p.agents[sessionID]
	if ok {
		p.order.MoveToFront(element)
	} else {
		element = p.add(sessionID, m)
	}
	e := element.Value.(*entry)
	e.users++
	p.inUse[e] = true
	m.holds++
	return e.agent, sync.OnceFunc(func() { p.release(e, isStream) })
}

// add adds an agent, for which an idle one may go.
func (p *Pool) add(sessionID string, m *memory) *list.Element {
	p.trim(p.capacity - 1)
	extensions := p.connect(sessionID)
	if p.closed { // a request that was on its way when the server stopped
		extensions.Close()
	} else {
		m.holds++ // until it is closed
	}
	a := &Agent{Agent: turn.NewAgent(extensions, m.SessionMemory), SessionID: sessionID, Extensions: extensions}
	element := p.order.PushFront(&entry{agent: a, memory: m, over: p.closed})
	p.agents[sessionID] = element
	return element
}

// trim drops unused agents, the longest unused first, until there are no more than so many.
func (p *Pool) trim(most int) {
	for element := p.order.Back(); element != nil && len(p.agents) > most; {
		next := element.Prev()
		if element.Value.(*entry).users == 0 {
			p.drop(element)
		}
		element = next
	}
}

// drop takes an agent out of memory, and closes it if it is unused.
func (p *Pool) drop(element *list.Element) {
	e := p.order.Remove(element).(*entry)
	delete(p.agents, e.agent.SessionID)
	e.gone = true
	if e.users == 0 {
		p.close(e)
	}
}

func (p *Pool) release(e *entry, isStream bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.unhold(e.memory)
	e.users--
	if e.users == 0 {
		delete(p.inUse, e)
		if e.gone {
			p.close(e)
		}
	}
	if isStream {
		p.trim(p.capacity)
	}
}

// close closes the connections of an agent once, which can take a while; [Pool.Close] waits for it.
func (p *Pool) close(e *entry) {
	if e.over {
		return
	}
	e.over = true
	p.closing.Go(func() {
		e.agent.Extensions.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unhold(e.memory)
	})
}

// Stop drops the agent of a session, and says whether there was one.
func (p *Pool) Stop(sessionID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	element, ok := p.agents[sessionID]
	if ok {
		p.drop(element)
	}
	return ok
}

// Close drops all agents and waits until they have closed their connections, those that are still in use too: what they run
// would outlast the server. Agents that are made later can have no connections.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for e := range p.inUse {
		p.close(e)
	}
	for element := p.order.Front(); element != nil; element = p.order.Front() {
		p.drop(element)
	}
	p.mu.Unlock()
	p.closing.Wait()
}
