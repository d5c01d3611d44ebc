// Package clienttools lets the server's clients execute tools for it (CT 1 to 6, 8).
//
// A client registers definitions of tools, listens on a stream for requests to execute them, and posts the results.
// The [Registry] holds the tools of all clients, and the executions that wait for a result. [Handlers] connect it to
// HTTP.
//
// Every change of the registry happens under one lock, and its events are published before the lock is released. So
// events are in the order of the changes, and come before the answers to the requests that made them (decision S13).
// Publishing never blocks, so the lock is held briefly.
package clienttools

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

// A Registry holds what clients have registered, for all directories. It is only in memory, and is empty at first.
// Its methods are safe for concurrent use.
type Registry struct {
	bus    *events.Bus
	bounds Bounds

	mu      sync.Mutex
	clients ordered[string, *client]
	known   uint64 // how many clients there have ever been
	owners  owners
	pending executions
	windows windows
	stopped bool
	size    int // of all clients, in bytes

	questions questions
	leases    *leases
}

// A client is a client with its tools, by full tool ID.
type client struct {
	id    string
	rank  uint64 // increases in the order of the clients
	tools ordered[string, definition]
	size  int // of its ID and its tools, in bytes
	lease *lease
}

// NewRegistry returns an empty registry that publishes on the bus.
func NewRegistry(bus *events.Bus, bounds Bounds, limit RateLimit) *Registry {
	r := &Registry{bus: bus, bounds: bounds.withDefaults(), owners: owners{}, windows: windows{limit: limit}}
	r.leases = &leases{registry: r, streams: map[string]int{}, saved: map[string]bool{}}
	return r
}

const prefix = "client_"

// fullID returns the ID by which the server knows a client's tool (CT 2.6). It is not unique: the clients "a" and
// "a_b" can have tools with the same full ID.
func fullID(clientID, short string) string { return prefix + clientID + "_" + short }

// A Registration is a client's request to add tools.
type Registration struct {
	ClientID string
	Tools    []api.ClientToolDefinition
	// Lease is how long the client's tools stay after its disconnect. 0 means that they do not.
	Lease time.Duration
	// Then, unless it is nil, is called with the full IDs before any of the tools can be executed. It must not block.
	Then func([]api.ToolID)
}

// Register adds tools to a client, or overwrites them without moving them. It returns their full IDs, one for each
// definition (CT 2.4, 4.1). The errors are [ErrTooManyTools] and [ErrTooManyClients]; after an error nothing has
// changed.
func (r *Registry) Register(directory string, n Registration) ([]api.ToolID, error) {
	ids, err := r.register(directory, n)
	if err == nil {
		r.leases.save(n.ClientID)
	}
	return ids, err
}

func (r *Registry) register(directory string, n Registration) ([]api.ToolID, error) {
	defined := define(n.ClientID, n.Tools)
	r.mu.Lock()
	defer r.mu.Unlock()
	c, known := r.clients.get(n.ClientID)
	if !known {
		c = &client{id: n.ClientID}
	}
	growth, err := r.bounds.admit(r, c, !known, defined)
	if err != nil {
		return nil, err
	}
	r.add(c, growth)
	r.leases.set(c, directory, n.Lease)
	ids := make([]api.ToolID, len(defined))
	for i, tool := range defined {
		ids[i] = tool.ID
		if _, ok := c.tools.get(tool.ID); !ok {
			r.owners.add(c, tool.ID)
		}
		c.tools.set(tool.ID, tool)
	}
	r.bus.Publish(directory, api.ClientToolRegisteredEvent{
		Type:       api.ClientToolRegisteredEventTypeClientToolRegistered,
		Properties: api.ClientToolSet{ClientID: c.id, ToolIDs: ids},
	})
	if n.Then != nil {
		n.Then(ids)
	}
	return ids, nil
}

// add adds a client, unless it is known, and counts its new size.
func (r *Registry) add(c *client, growth int) {
	if c.rank == 0 {
		r.known++
		c.rank = r.known
		r.clients.set(c.id, c)
	}
	c.size += growth
	r.size += growth
}

// Unregister removes the named tools of a client, and returns the full IDs of those that existed, in the order of the
// names (CT 4.2). A name with the prefix of full IDs is a full ID. The client keeps its position among the others,
// even without tools.
func (r *Registry) Unregister(directory, clientID string, names []string) []api.ToolID {
	defer r.leases.save(clientID)
	r.mu.Lock()
	defer r.mu.Unlock()
	removed := []api.ToolID{}
	c, ok := r.clients.get(clientID)
	if !ok {
		return removed
	}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			name = fullID(clientID, name)
		}
		if tool, ok := c.tools.get(name); ok {
			c.size -= tool.size
			r.size -= tool.size
			c.tools.delete(name)
			r.owners.remove(c, name)
			removed = append(removed, name)
		}
	}
	if len(removed) > 0 && c.tools.len() == 0 {
		r.leases.set(c, directory, 0)
	}
	publishUnregistered(r.bus, directory, clientID, removed)
	return removed
}

// UnregisterAll removes a client with all its tools, and returns their full IDs in registry order (CT 4.2).
func (r *Registry) UnregisterAll(directory, clientID string) []api.ToolID {
	defer r.leases.save(clientID)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forget(directory, clientID)
}

func (r *Registry) forget(directory, clientID string) []api.ToolID {
	removed := []api.ToolID{}
	c, ok := r.clients.get(clientID)
	if !ok {
		return removed
	}
	c.lease.stop()
	for id := range c.tools.all() {
		r.owners.remove(c, id)
		removed = append(removed, id)
	}
	r.clients.delete(clientID)
	r.size -= c.size
	publishUnregistered(r.bus, directory, clientID, removed)
	return removed
}

func publishUnregistered(bus *events.Bus, directory, clientID string, ids []api.ToolID) {
	if len(ids) == 0 {
		return
	}
	bus.Publish(directory, api.ClientToolUnregisteredEvent{
		Type:       api.ClientToolUnregisteredEventTypeClientToolUnregistered,
		Properties: api.ClientToolSet{ClientID: clientID, ToolIDs: ids},
	})
}

// Tools returns the tools of a client in registry order (CT 4.5).
func (r *Registry) Tools(clientID string) []api.ClientToolDefinition {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.clients.get(clientID)
	if !ok {
		return nil
	}
	tools := make([]api.ClientToolDefinition, 0, c.tools.len())
	for _, tool := range c.tools.all() {
		tools = append(tools, tool.ClientToolDefinition)
	}
	return tools
}

// AllTools returns the tools of all clients in registry order, and each ID once: at the position of the first client
// that has it, with the definition of the last one (CT 2.6, 4.6).
func (r *Registry) AllTools() []api.ClientToolDefinition {
	r.mu.Lock()
	defer r.mu.Unlock()
	tools := make([]api.ClientToolDefinition, 0, len(r.owners))
	for _, c := range r.clients.all() {
		for id, tool := range c.tools.all() {
			owners := r.owners[id]
			if owners[0] != c {
				continue
			}
			if last := owners[len(owners)-1]; last != c {
				tool, _ = last.tools.get(id)
			}
			tools = append(tools, tool.ClientToolDefinition)
		}
	}
	return tools
}

// owners maps the full ID of a tool to the clients that have it, in the order of the clients.
type owners map[string][]*client

func (o owners) add(c *client, id string) {
	clients := o[id]
	at := len(clients)
	for at > 0 && clients[at-1].rank > c.rank {
		at--
	}
	o[id] = slices.Insert(clients, at, c)
}

func (o owners) remove(c *client, id string) {
	clients := slices.DeleteFunc(o[id], func(other *client) bool { return other == c })
	if len(clients) == 0 {
		delete(o, id)
		return
	}
	o[id] = clients
}
