package connector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/mcp/platform"
)

// A Set has the extensions of one agent. It implements turn.Extensions.
type Set struct {
	connector *Connector
	host      *platform.Host
	ctx       context.Context // ends with the set
	end       context.CancelFunc

	mu      sync.Mutex
	members map[string]member // by normalised key
	adding  map[string]int    // how many connections are being opened, by key
	closed  bool
	connect sync.WaitGroup // the connections that are being opened
}

// A member is one extension of a set.
type member struct {
	provider
	config extension.Config
}

// NewSet returns the extensions of a session's new agent, which has none yet.
func (c *Connector) NewSet(sessionID string) *Set {
	ctx, end := context.WithCancel(context.Background())
	s := &Set{connector: c, ctx: ctx, end: end, members: map[string]member{}, adding: map[string]int{}}
	s.host = &platform.Host{
		SessionID: sessionID, Sessions: c.Sessions, SetData: c.SetData, Settings: c.Settings, Extensions: s, Skills: c.Skills,
		TodoLimit: c.TodoLimit, Log: c.Log,
	}
	return s
}

// Add connects to an extension. One with the same key stays until the new connection succeeds, and is closed then.
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
	defer context.AfterFunc(s.ctx, func() { cancel(mcperror.Closed) })()
	p, err := s.connector.open(ctx, s, config)
	if err != nil {
		return err
	}
	if unused, err := s.put(key, member{p, config}); unused != nil {
		unused.Close()
		return err
	}
	return nil
}

// reserve reserves a place for a new extension. Connections that are being opened count too, because otherwise the
// number of processes would be unlimited.
func (s *Set) reserve(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return mcperror.Closed
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

// put stores a member in its reserved place. It returns the provider to close: the previous one, or the new one if it
// cannot be stored.
func (s *Set) put(key string, m member) (unused provider, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.members[key]
	if s.closed {
		return m.provider, mcperror.Closed
	}
	s.members[key] = m
	return old.provider, nil
}

// Remove drops an extension, except one whose tools the client runs (GA 6.8).
func (s *Set) Remove(name string) {
	s.Drop(extension.NormalizedKey(name))
}

// Drop drops an extension if it exists, unless the client runs its tools.
func (s *Set) Drop(key string) (there, dropped bool) {
	s.mu.Lock()
	m, there := s.members[key]
	dropped = there && !m.isFrontend()
	if dropped {
		delete(s.members, key)
	}
	s.mu.Unlock()
	if dropped {
		m.Close()
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

// Close drops all extensions, including those that are being connected, and rejects new ones.
func (s *Set) Close() {
	s.end()
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.members))
	clear(s.members)
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, m := range all {
		closing.Go(m.Close)
	}
	closing.Wait()
	s.connect.Wait()
}

// list returns the members with their keys, in the order of the keys.
func (s *Set) list() (keys []string, members []member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys = slices.Sorted(maps.Keys(s.members))
	for _, key := range keys {
		members = append(members, s.members[key])
	}
	return keys, members
}

// All returns the extensions in the form that package platform uses.
func (s *Set) All() (all []platform.Connected) {
	keys, members := s.list()
	for i, m := range members {
		connected := platform.Connected{Key: keys[i], Config: m.config, Frontend: m.isFrontend()}
		if server, ok := m.provider.(resourceServer); ok && server.HasResources() {
			connected.Resources = server
		}
		all = append(all, connected)
	}
	return all
}

// A resourceServer may offer resources.
type resourceServer interface {
	toolbox.ResourceServer
	HasResources() bool
}

// ToolsOf returns the tools of the extension with this key.
func (s *Set) ToolsOf(ctx context.Context, key string) ([]llm.Tool, error) {
	m, there := s.get(key)
	if !there {
		return nil, nil
	}
	return m.named(ctx, key)
}

// named returns the available tools of a member with their full names.
func (m member) named(ctx context.Context, key string) ([]llm.Tool, error) {
	tools, err := m.Tools(ctx)
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

// Snapshot asks all extensions concurrently. If one fails, the snapshot has no tools of extensions (decision X2).
func (s *Set) Snapshot(ctx context.Context) (toolbox.Snapshot, error) {
	keys, members := s.list()
	lists, errs := make([][]llm.Tool, len(keys)), make([]error, len(keys))
	var asking sync.WaitGroup
	for i, m := range members {
		asking.Go(func() { lists[i], errs[i] = m.named(ctx, keys[i]) })
	}
	asking.Wait()
	var snapshot toolbox.Snapshot
	for i, m := range members {
		snapshot.Instructions = append(snapshot.Instructions, toolbox.Instructions{Key: keys[i], Text: m.Instructions(ctx)})
		if f, ok := m.provider.(*frontend); ok {
			snapshot.Frontend = append(snapshot.Frontend, f.list...)
		}
		if noter, ok := m.provider.(interface{ Note(context.Context) string }); ok {
			if note := noter.Note(ctx); note != "" { // for the context note (decision M19)
				snapshot.Notes = append(snapshot.Notes, note)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return snapshot, err
	}
	snapshot.Tools = slices.Concat(lists...)
	return snapshot, nil
}

// Call runs a tool of the extension whose key is the prefix of its name (decision X3).
func (s *Set) Call(ctx context.Context, call toolbox.Call) message.ToolResult {
	m, tool, found := s.find(call.Name)
	if !found {
		return mcperror.UnknownTool(call.Name)
	}
	if !m.allows(tool) {
		return mcperror.UnavailableTool(call.Name)
	}
	return m.Call(ctx, tool, call)
}

// find returns the member that has a tool. If several keys match, the longest wins.
func (s *Set) find(name string) (m member, tool string, found bool) {
	keys, members := s.list()
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
