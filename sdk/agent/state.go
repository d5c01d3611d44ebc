package agentsdk

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// A SessionState says what a session is doing.
type SessionState string

// The states of a session. The last three are terminal.
const (
	StateIdle              SessionState = "idle"
	StateStarting          SessionState = "starting"
	StateRunning           SessionState = "running"
	StateWaitingToolCall   SessionState = "waiting_tool_call"
	StateWaitingPermission SessionState = "waiting_permission"
	StatePaused            SessionState = "paused"
	StateCompleted         SessionState = "completed"
	StateFailed            SessionState = "failed"
	StateCancelled         SessionState = "cancelled"
)

// IsTerminal reports whether no other state can follow.
func (s SessionState) IsTerminal() bool {
	return s == StateCompleted || s == StateFailed || s == StateCancelled
}

// transitions has the states that may follow each state. multiTurn adds those of a session with several turns, which
// is idle between them.
var (
	transitions = map[SessionState][]SessionState{
		StateIdle:              {StateStarting, StateCancelled},
		StateStarting:          {StateRunning, StateFailed, StateCancelled},
		StateRunning:           {StateWaitingToolCall, StateWaitingPermission, StatePaused, StateCompleted, StateFailed, StateCancelled},
		StateWaitingToolCall:   {StateRunning, StateWaitingPermission, StateFailed, StateCancelled},
		StateWaitingPermission: {StateRunning, StateWaitingToolCall, StateFailed, StateCancelled},
		StatePaused:            {StateRunning, StateFailed, StateCancelled},
	}
	multiTurn = map[SessionState][]SessionState{
		StateIdle:     {StateRunning, StateCompleted, StateFailed},
		StateStarting: {StateIdle},
		StateRunning:  {StateIdle},
	}
)

// A PendingToolCall is a call that has arrived, and is not answered yet.
type PendingToolCall struct {
	ToolUseID  string          `json:"toolUseId"`
	ToolName   string          `json:"toolName"`   // the server's own name of it
	ServerName string          `json:"serverName"` // the key under which the server is registered
	Arguments  json.RawMessage `json:"arguments"`
	StartedAt  time.Time       `json:"startedAt"` // zero means now
}

// A PendingPermission is a question of the CLI that has arrived, and is not answered yet.
type PendingPermission struct {
	RequestID string         `json:"requestId"`
	ToolName  string         `json:"toolName"`
	ToolInput map[string]any `json:"toolInput"`
}

// A PendingOperation is a tool call or a permission request.
type PendingOperation struct {
	Type      string         `json:"type"` // "tool_call" or "permission"
	ID        string         `json:"id"`
	StartedAt time.Time      `json:"startedAt"`
	Metadata  map[string]any `json:"metadata"`

	call       *PendingToolCall
	permission *PendingPermission
}

// SessionStats counts what a session has done.
type SessionStats struct {
	StartedAt     *time.Time `json:"startedAt,omitempty"`   // first entry into running
	CompletedAt   *time.Time `json:"completedAt,omitempty"` // entry into a terminal state
	ToolCallCount int        `json:"toolCallCount"`         // finished calls, also failed and cancelled ones
	MessageCount  int        `json:"messageCount"`          // delivered messages, except stream events
}

// SessionStateInfo is a snapshot of a session. It shares no memory with the session.
type SessionStateInfo struct {
	State             SessionState       `json:"state"`
	SessionID         string             `json:"sessionId"`
	PendingToolCall   *PendingToolCall   `json:"pendingToolCall,omitempty"`   // the oldest
	PendingPermission *PendingPermission `json:"pendingPermission,omitempty"` // the oldest
	Stats             SessionStats       `json:"stats"`
}

// A StateChange is a transition that has happened.
type StateChange struct {
	From      SessionState     `json:"from"`
	To        SessionState     `json:"to"`
	Info      SessionStateInfo `json:"info"`
	Timestamp time.Time        `json:"timestamp"`
}

// A StateOption changes the rules of a SessionStateManager.
type StateOption func(*SessionStateManager)

// MultiTurn allows the transitions of a session with several turns.
func MultiTurn() StateOption { return func(m *SessionStateManager) { m.multi = true } }

// A SessionStateManager holds the state of a session. It is safe for concurrent use. Listeners are called one after
// the other, in the order of the transitions, on a goroutine of their own.
type SessionStateManager struct {
	multi  bool
	events *serial

	mu        sync.Mutex
	info      SessionStateInfo // without what is pending
	pending   []PendingOperation
	waiters   map[*waiter]struct{}
	listeners map[int]func(StateChange)
	next      int // key of the next listener
}

// A waiter is told once: its channel gets one value.
type waiter struct {
	states []SessionState
	ended  chan waited
}

type waited struct {
	info SessionStateInfo
	err  error
}

// NewSessionStateManager returns a manager of a session that is idle.
func NewSessionStateManager(sessionID string, o ...StateOption) *SessionStateManager {
	m := &SessionStateManager{events: &serial{}, waiters: map[*waiter]struct{}{}, listeners: map[int]func(StateChange){}}
	m.info = SessionStateInfo{State: StateIdle, SessionID: sessionID}
	for _, option := range o {
		option(m)
	}
	return m
}

// Transition changes the state, or returns an *InvalidStateError and changes nothing.
func (m *SessionStateManager) Transition(to SessionState) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.transition(to)
}

func (m *SessionStateManager) allows(from, to SessionState) bool {
	return slices.Contains(transitions[from], to) || m.multi && slices.Contains(multiTurn[from], to)
}

func (m *SessionStateManager) allowed(from SessionState) []SessionState {
	if m.multi {
		return slices.Concat(transitions[from], multiTurn[from])
	}
	return transitions[from]
}

// transition changes the state and reports it. The caller holds the lock.
func (m *SessionStateManager) transition(to SessionState) error {
	from := m.info.State
	if !m.allows(from, to) {
		return &InvalidStateError{Current: from, Expected: m.allowed(from), what: "transition to " + string(to)}
	}
	now := time.Now().UTC()
	m.info.State = to
	switch {
	case to == StateRunning && m.info.Stats.StartedAt == nil:
		m.info.Stats.StartedAt = &now
	case to.IsTerminal():
		m.info.Stats.CompletedAt = &now
		m.pending = nil
	}
	if len(m.listeners)+len(m.waiters) == 0 {
		return nil
	}
	info := m.snapshot()
	change := StateChange{From: from, To: to, Info: info, Timestamp: now}
	for _, key := range slices.Sorted(maps.Keys(m.listeners)) {
		listener := m.listeners[key]
		m.events.post(func() { listener(change) })
	}
	for w := range m.waiters {
		switch {
		case slices.Contains(w.states, to):
			w.ended <- waited{info: info}
		case to.IsTerminal():
			w.ended <- waited{info: info, err: &InvalidStateError{Current: to, Expected: w.states, what: "wait for a state"}}
		default:
			continue
		}
		delete(m.waiters, w)
	}
	return nil
}

// StartToolCall adds a call, and changes to waiting_tool_call unless a permission is pending. It is an error if no turn
// runs.
func (m *SessionStateManager) StartToolCall(p PendingToolCall) error {
	if p.StartedAt.IsZero() {
		p.StartedAt = time.Now().UTC()
	}
	p.Arguments = slices.Clone(p.Arguments)
	return m.start(PendingOperation{Type: "tool_call", ID: p.ToolUseID, StartedAt: p.StartedAt, call: &p})
}

// CompleteToolCall removes a call and counts it. It returns false if there is no such call.
func (m *SessionStateManager) CompleteToolCall(id string) bool { return m.complete("tool_call", id) }

// StartPermissionRequest adds a request, and changes to waiting_permission. It is an error if no turn runs.
func (m *SessionStateManager) StartPermissionRequest(p PendingPermission) error {
	p.ToolInput = deepCopy(p.ToolInput)
	return m.start(PendingOperation{Type: "permission", ID: p.RequestID, StartedAt: time.Now().UTC(), permission: &p})
}

// CompletePermissionRequest removes a request. It returns false if there is no such request.
func (m *SessionStateManager) CompletePermissionRequest(id string) bool {
	return m.complete("permission", id)
}

func (m *SessionStateManager) start(op PendingOperation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.info.State {
	case StateRunning, StateWaitingToolCall, StateWaitingPermission:
		m.pending = append(m.pending, op)
		m.recompute()
		return nil
	}
	return &InvalidStateError{Current: m.info.State, Expected: []SessionState{StateRunning, StateWaitingToolCall, StateWaitingPermission}, what: "start a " + op.Type}
}

func (m *SessionStateManager) complete(kind, id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.pending, func(op PendingOperation) bool { return op.Type == kind && op.ID == id })
	if i < 0 {
		return false
	}
	m.pending = slices.Delete(m.pending, i, i+1)
	if kind == "tool_call" {
		m.info.Stats.ToolCallCount++
	}
	m.recompute()
	return true
}

// recompute changes to the state that the pending operations ask for.
func (m *SessionStateManager) recompute() {
	want := StateRunning
	for _, op := range m.pending {
		if op.permission != nil {
			want = StateWaitingPermission
			break
		}
		want = StateWaitingToolCall
	}
	if want != m.info.State {
		_ = m.transition(want) // running and the two waiting states may all follow each other
	}
}

// drop forgets what is pending, because the turn has ended.
func (m *SessionStateManager) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.pending) == 0 {
		return
	}
	for _, op := range m.pending {
		if op.call != nil {
			m.info.Stats.ToolCallCount++
		}
	}
	m.pending = nil
	m.recompute()
}

func (m *SessionStateManager) countMessage(sessionID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info.Stats.MessageCount++
	if sessionID != "" {
		m.info.SessionID = sessionID
	}
}

// GetState returns a snapshot.
func (m *SessionStateManager) GetState() SessionStateInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.snapshot()
}

func (m *SessionStateManager) snapshot() SessionStateInfo {
	info := m.info
	for _, op := range m.pending {
		if op.call != nil && info.PendingToolCall == nil {
			call := *op.call
			call.Arguments = slices.Clone(call.Arguments)
			info.PendingToolCall = &call
		}
		if op.permission != nil && info.PendingPermission == nil {
			permission := *op.permission
			permission.ToolInput = deepCopy(permission.ToolInput)
			info.PendingPermission = &permission
		}
	}
	if at := info.Stats.StartedAt; at != nil {
		info.Stats.StartedAt = new(*at)
	}
	if at := info.Stats.CompletedAt; at != nil {
		info.Stats.CompletedAt = new(*at)
	}
	return info
}

// PendingOperations returns all tool calls and permission requests that are not answered yet, oldest first.
func (m *SessionStateManager) PendingOperations() []PendingOperation {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.pending)
	for i := range all {
		if call := all[i].call; call != nil {
			all[i].Metadata = map[string]any{"toolName": call.ToolName, "serverName": call.ServerName, "arguments": slices.Clone(call.Arguments)}
		} else {
			p := all[i].permission
			all[i].Metadata = map[string]any{"toolName": p.ToolName, "toolInput": deepCopy(p.ToolInput)}
		}
		all[i].call, all[i].permission = nil, nil
	}
	return all
}

// WaitForState returns once the session is in one of the states, also if it leaves that state at once. It returns a
// *TimeoutError at the deadline of ctx, and an *InvalidStateError if the session ends in another state.
func (m *SessionStateManager) WaitForState(ctx context.Context, states ...SessionState) (SessionStateInfo, error) {
	began := time.Now()
	w := &waiter{states: slices.Clone(states), ended: make(chan waited, 1)}
	m.mu.Lock()
	info := m.snapshot()
	if slices.Contains(states, info.State) {
		m.mu.Unlock()
		return info, nil
	}
	if info.State.IsTerminal() {
		m.mu.Unlock()
		return info, &InvalidStateError{Current: info.State, Expected: w.states, what: "wait for a state"}
	}
	m.waiters[w] = struct{}{}
	m.mu.Unlock()
	select {
	case got := <-w.ended:
		return got.info, got.err
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.waiters, w)
		return m.snapshot(), waitError(ctx, "waitForState", began)
	}
}

// waitError says why a wait has ended: a deadline is a *TimeoutError.
func waitError(ctx context.Context, operation string, began time.Time) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &TimeoutError{Operation: operation, Timeout: time.Since(began).Round(time.Millisecond)}
	}
	return ctx.Err()
}

// OnStateChange adds a listener. It is not called after remove has returned, except for changes that came before.
func (m *SessionStateManager) OnStateChange(fn func(StateChange)) (remove func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := m.next
	m.next++
	m.listeners[key] = fn
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.listeners, key)
	}
}

// deepCopy copies a JSON object.
func deepCopy(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	return copyValue(object).(map[string]any)
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[key] = copyValue(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyValue(item)
		}
		return out
	}
	return value
}
