package turn

import (
	"container/list"
	"sync"
)

// A Pool holds the agents in memory, one for each session ID. When there are too many, it drops idle ones, the least
// recently used first.
type Pool struct {
	capacity int
	connect  func(sessionID string) Extensions

	mu       sync.Mutex
	agents   map[string]*list.Element // elements of order
	order    *list.List               // of *pooledAgent, most recently used first
	inUse    map[*pooledAgent]bool    // including dropped ones
	memories map[string]*heldMemory
	closed   bool

	closing sync.WaitGroup
}

// A pooledAgent is an agent and its number of users.
type pooledAgent struct {
	agent  *Agent
	memory *heldMemory
	users  int
	gone   bool // dropped from the pool; the last user closes it, unless the pool already has
	over   bool // closed
}

// NewPool returns a pool of at most capacity agents, but at least one. connect creates the extensions of a new agent,
// without any connection.
func NewPool(capacity int, connect func(sessionID string) Extensions) *Pool {
	return &Pool{
		capacity: max(capacity, 1), connect: connect,
		agents: map[string]*list.Element{}, order: list.New(), inUse: map[*pooledAgent]bool{}, memories: map[string]*heldMemory{},
	}
}

// Use returns the agent of a session, and creates one if necessary. The session need not exist. The caller must call
// release at the end: until then, even a dropped agent keeps its connections. Use waits while the session is being
// deleted.
func (p *Pool) Use(sessionID string) (a *Agent, release func()) { return p.use(sessionID, false) }

// Stream is Use for a reply. When a reply ends, the pool drops agents above its capacity.
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
	e := element.Value.(*pooledAgent)
	e.users++
	p.inUse[e] = true
	m.holds++
	return e.agent, sync.OnceFunc(func() { p.release(e, isStream) })
}

// add adds an agent, and may drop an idle one for it.
func (p *Pool) add(sessionID string, m *heldMemory) *list.Element {
	p.trim(p.capacity - 1)
	extensions := p.connect(sessionID)
	if p.closed { // a request was running when the server stopped
		extensions.Close()
	} else {
		m.holds++ // until it is closed
	}
	a := NewAgent(sessionID, extensions, m.SessionMemory)
	element := p.order.PushFront(&pooledAgent{agent: a, memory: m, over: p.closed})
	p.agents[sessionID] = element
	return element
}

// trim drops unused agents, the least recently used first, until at most the given number is left.
func (p *Pool) trim(most int) {
	for element := p.order.Back(); element != nil && len(p.agents) > most; {
		next := element.Prev()
		if element.Value.(*pooledAgent).users == 0 {
			p.drop(element)
		}
		element = next
	}
}

// drop removes an agent from the pool, and closes it if it is unused.
func (p *Pool) drop(element *list.Element) {
	e := p.order.Remove(element).(*pooledAgent)
	delete(p.agents, e.agent.SessionID)
	e.gone = true
	e.agent.stop()
	if e.users == 0 {
		p.close(e)
	}
}

func (p *Pool) release(e *pooledAgent, isStream bool) {
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

// close closes the connections of an agent once. It can take a while; [Pool.Close] waits for it.
func (p *Pool) close(e *pooledAgent) {
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

// Stop drops the agent of a session, and reports whether there was one.
func (p *Pool) Stop(sessionID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	element, ok := p.agents[sessionID]
	if ok {
		p.drop(element)
	}
	return ok
}

// Close drops all agents, and waits until they have closed their connections. It also closes agents in use, because
// their processes would outlive the server. Later agents cannot connect to anything.
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
