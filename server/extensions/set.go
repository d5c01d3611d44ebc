package extensions

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
)

// A Set is what one agent is connected to. It implements agent.Extensions.
type Set struct {
	connector *Connector
	sessionID string
	ctx       context.Context // ends with the set
	end       context.CancelFunc

	mu      sync.Mutex
	members map[string]member // by normalised key
	adding  map[string]int    // how many connections are being made, by key
	closed  bool
	connect sync.WaitGroup // of the connections that are being made

	data sync.Mutex // over the extension data of the session, from reading it to writing it
}

// A member is one extension of a set.
type member struct {
	provider
	config extension.Config
}

// NewSet returns the extensions of the new agent of a session, none yet.
func (c *Connector) NewSet(sessionID string) *Set {
	ctx, end := context.WithCancel(context.Background())
	return &Set{connector: c, sessionID: sessionID, ctx: ctx, end: end, members: map[string]member{}, adding: map[string]int{}}
}

// Add connects to an extension. One with the same key stays until that has succeeded, and is closed then.
func (s *Set) Add(ctx context.Context, config extension.Config) error {
	key := extension.NormalizedKey(config.Name)
	if key == "" {
		return noName
	}
	if err := s.reserve(key); err != nil {
		return err
	}
	defer s.unreserve(key)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(closed) })()
	p, err := s.connector.open(ctx, s, config)
	if err != nil {
		return err
	}
	if unused, err := s.put(key, member{p, config}); unused != nil {
		unused.close()
		return err
	}
	return nil
}

// reserve keeps a place for an extension that is going to be connected to: what is not connected yet counts, too, or there
// would be no bound on what runs.
func (s *Set) reserve(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return closed
	}
	keys, connecting := len(s.members), 0
	for other, n := range s.adding {
		connecting += n
		if _, there := s.members[other]; !there {
			keys++
		}
	}
	_, known := s.members[key]
	known = known || s.adding[key] > 0
	if !known && keys >= maxExtensions || connecting >= maxExtensions {
		return tooMany
	}
	s.adding[key]++
	s.connect.Add(1)
	return nil
}

func (s *Set) unreserve(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.adding[key]--; s.adding[key] == 0 {
		delete(s.adding, key)
	}
	s.connect.Done()
}

// put keeps a member, whose place is reserved. It returns what is to be closed: the one before it, or the new one if it
// cannot be kept.
func (s *Set) put(key string, m member) (unused provider, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.members[key]
	if s.closed {
		return m.provider, closed
	}
	s.members[key] = m
	return old.provider, nil
}

// Remove drops an extension; the client's tools cannot be removed (GA 6.8).
func (s *Set) Remove(name string) {
	s.drop(extension.NormalizedKey(name))
}

// drop drops an extension if it is there, unless it is the client's.
func (s *Set) drop(key string) (there, dropped bool) {
	s.mu.Lock()
	m, there := s.members[key]
	dropped = there && !m.isFrontend()
	if dropped {
		delete(s.members, key)
	}
	s.mu.Unlock()
	if dropped {
		m.close()
	}
	return there, dropped
}

// get returns a member.
func (s *Set) get(key string) (m member, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, there = s.members[key]
	return m, there
}

func (m member) isFrontend() bool {
	_, is := m.provider.(*frontend)
	return is
}

// Close drops all extensions, those that are being connected to as well, and keeps new ones from being added.
func (s *Set) Close() {
	s.end()
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.members))
	clear(s.members)
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, m := range all {
		closing.Go(m.close)
	}
	closing.Wait()
	s.connect.Wait()
}

// all returns the members with their keys, in the order of these.
func (s *Set) all() (keys []string, members []member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys = slices.Sorted(maps.Keys(s.members))
	for _, key := range keys {
		members = append(members, s.members[key])
	}
	return keys, members
}

// ToolsOf returns the tools of the extension with this key.
func (s *Set) ToolsOf(ctx context.Context, key string) ([]llm.Tool, error) {
	m, there := s.get(key)
	if !there {
		return nil, nil
	}
	return m.named(ctx, key)
}

// named returns the tools of a member that may be used, under their full names.
func (m member) named(ctx context.Context, key string) ([]llm.Tool, error) {
	tools, err := m.tools(ctx)
	if err != nil {
		return nil, err
	}
	var named []llm.Tool
	for _, tool := range tools {
		if m.allows(tool.Name) {
			tool.Name = key + "__" + tool.Name
			named = append(named, tool)
		}
	}
	return named, nil
}

func (m member) allows(tool string) bool {
	return len(m.config.AvailableTools) == 0 || slices.Contains(m.config.AvailableTools, tool)
}

// Snapshot asks all extensions at once. If one fails, no tools of extensions are in it (decision X2).
func (s *Set) Snapshot(ctx context.Context) (reply.Snapshot, error) {
	keys, members := s.all()
	lists, errs := make([][]llm.Tool, len(keys)), make([]error, len(keys))
	var asking sync.WaitGroup
	for i, m := range members {
		asking.Go(func() { lists[i], errs[i] = m.named(ctx, keys[i]) })
	}
	asking.Wait()
	var snapshot reply.Snapshot
	for i, m := range members {
		snapshot.Frontend = append(snapshot.Frontend, m.frontend()...)
		snapshot.Instructions = append(snapshot.Instructions, reply.Instructions{Key: keys[i], Text: m.instructions(ctx)})
		if note := m.note(ctx); note != "" {
			snapshot.Notes = append(snapshot.Notes, note)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return snapshot, err
	}
	snapshot.Tools = slices.Concat(lists...)
	return snapshot, nil
}

// Call runs a tool of the extension whose key its name begins with (decision X3).
func (s *Set) Call(ctx context.Context, call reply.Call) message.Result[[]message.ToolContent] {
	m, tool, found := s.find(call.Name)
	if !found {
		return unknown(call.Name)
	}
	if !m.allows(tool) {
		return message.Failure[[]message.ToolContent]("-32603: -32002: Tool not available: " + call.Name)
	}
	return m.call(ctx, tool, call)
}

// find returns the member that has a tool: of several keys that fit, the longest.
func (s *Set) find(name string) (m member, tool string, found bool) {
	keys, members := s.all()
	longest := -1
	for i, key := range keys {
		if members[i].isFrontend() || len(key) <= longest {
			continue
		}
		if rest, fits := strings.CutPrefix(name, key+"__"); fits {
			m, tool, longest = members[i], rest, len(key)
		}
	}
	return m, tool, longest >= 0
}
