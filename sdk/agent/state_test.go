package agentsdk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

var states = []agentsdk.SessionState{
	agentsdk.StateIdle, agentsdk.StateStarting, agentsdk.StateRunning, agentsdk.StateWaitingToolCall, agentsdk.StateWaitingPermission,
	agentsdk.StatePaused, agentsdk.StateCompleted, agentsdk.StateFailed, agentsdk.StateCancelled,
}

// table is that of section 11.1: rows and columns are the states, in their order.
var table = strings.Fields(`
	- y M - - - M M y
	M - y - - - - y y
	M - - y y y y y y
	- - y - X - - y y
	- - y X - - - y y
	- - y - - - - X y
	- - - - - - - - -
	- - - - - - - - -
	- - - - - - - - -`)

func allowed(from, to agentsdk.SessionState, multi bool) bool {
	entry := table[slices.Index(states, from)*len(states)+slices.Index(states, to)]
	return entry == "y" || entry == "X" || entry == "M" && multi
}

// paths lead from idle to each state of a session of several turns.
var paths = map[agentsdk.SessionState][]agentsdk.SessionState{
	agentsdk.StateIdle: {}, agentsdk.StateStarting: {agentsdk.StateStarting}, agentsdk.StateRunning: {agentsdk.StateStarting, agentsdk.StateRunning},
}

func init() {
	for _, s := range states[3:] {
		paths[s] = []agentsdk.SessionState{agentsdk.StateStarting, agentsdk.StateRunning, s}
	}
}

func TestTheTableOfTransitions(t *testing.T) {
	for _, multi := range []bool{false, true} {
		for _, from := range states {
			for _, to := range states {
				synctest.Test(t, func(t *testing.T) {
					var options []agentsdk.StateOption
					if multi {
						options = append(options, agentsdk.MultiTurn())
					}
					m := agentsdk.NewSessionStateManager("s", options...)
					for _, step := range paths[from] {
						if err := m.Transition(step); err != nil {
							t.Fatal(err)
						}
					}
					events := 0
					m.OnStateChange(func(c agentsdk.StateChange) {
						if events++; c.From != from || c.To != to || c.Info.State != to {
							t.Errorf("event: %+v", c)
						}
					})
					err := m.Transition(to)
					synctest.Wait()
					want := allowed(from, to, multi)
					if (err == nil) != want || want && events != 1 || !want && (events != 0 || m.GetState().State != from) {
						t.Errorf("multi %v, %s to %s: %v, %d events, now %s", multi, from, to, err, events, m.GetState().State)
					}
					if failed := (*agentsdk.InvalidStateError)(nil); err != nil && (!errors.As(err, &failed) || failed.Current != from) {
						t.Errorf("error: %v", err)
					}
				})
			}
		}
	}
}

// TestRandomHistories checks with any history of calls that only valid transitions happen, that terminal states stay, that
// the state is the one that the pending operations ask for, and that events are a chain.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		multi := rapid.Bool().Draw(rt, "multi")
		var options []agentsdk.StateOption
		if multi {
			options = append(options, agentsdk.MultiTurn())
		}
		m := agentsdk.NewSessionStateManager("s", options...)
		changes := make(chan agentsdk.StateChange, 1000)
		m.OnStateChange(func(c agentsdk.StateChange) { changes <- c })
		count := 0
		for i := range rapid.IntRange(0, 60).Draw(rt, "length") {
			before, pending := m.GetState(), len(m.PendingOperations())
			id := fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "id"))
			busy := slices.Contains([]agentsdk.SessionState{agentsdk.StateRunning, agentsdk.StateWaitingToolCall, agentsdk.StateWaitingPermission}, before.State)
			switch rapid.SampledFrom([]string{"transition", "run", "call", "called", "ask", "asked"}).Draw(rt, fmt.Sprint("step ", i)) {
			case "run":
				_ = m.Transition(agentsdk.StateStarting)
				_ = m.Transition(agentsdk.StateRunning)
			case "transition":
				to := rapid.SampledFrom(states).Draw(rt, "to")
				if err := m.Transition(to); (err == nil) != allowed(before.State, to, multi) {
					rt.Fatalf("%s to %s: %v", before.State, to, err)
				}
				continue // the state need not be what the operations ask for
			case "call":
				if err := m.StartToolCall(agentsdk.PendingToolCall{ToolUseID: id}); (err == nil) != busy {
					rt.Fatalf("in %s: %v", before.State, err)
				}
			case "called":
				if m.CompleteToolCall(id) {
					count++
				} else if len(m.PendingOperations()) != pending {
					rt.Fatal("an unknown call changed something")
				}
			case "ask":
				if err := m.StartPermissionRequest(agentsdk.PendingPermission{RequestID: id}); (err == nil) != busy {
					rt.Fatalf("in %s: %v", before.State, err)
				}
			case "asked":
				m.CompletePermissionRequest(id)
			}
			now := m.GetState()
			if before.State.IsTerminal() && (now.State != before.State || now.PendingToolCall != nil || now.PendingPermission != nil) {
				rt.Fatalf("%s became %+v", before.State, now)
			}
			if now.Stats.ToolCallCount != count || now.Stats.CompletedAt != nil != now.State.IsTerminal() {
				rt.Fatalf("%d calls: %+v", count, now.Stats)
			}
		}
		checkChain(rt, m.GetState(), changes, multi)
	})
}

// checkChain checks that the events lead from idle to the final state.
func checkChain(rt *rapid.T, final agentsdk.SessionStateInfo, changes <-chan agentsdk.StateChange, multi bool) {
	at := agentsdk.StateIdle
	for at != final.State || len(changes) > 0 {
		select {
		case c := <-changes:
			if c.From != at || c.Info.State != c.To || !allowed(c.From, c.To, multi) {
				rt.Fatalf("%s, then %s to %s", at, c.From, c.To)
			}
			at = c.To
		case <-time.After(10 * time.Second):
			rt.Fatalf("no event leads from %s to %s", at, final.State)
		}
	}
}

func TestWaitForState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := agentsdk.NewSessionStateManager("s")
		if info, err := m.WaitForState(t.Context(), agentsdk.StateIdle); err != nil || info.SessionID != "s" {
			t.Errorf("%+v, %v", info, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.WaitForState(ctx, agentsdk.StateRunning)
		if late := (*agentsdk.TimeoutError)(nil); !errors.As(err, &late) || late.Operation != "waitForState" || late.Timeout != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("deadline: %v", err)
		}
		got := make(chan error)
		for _, want := range []agentsdk.SessionState{agentsdk.StateRunning, agentsdk.StateCompleted} {
			go func() {
				info, err := m.WaitForState(t.Context(), want)
				if info.State != agentsdk.StateRunning && err == nil {
					err = fmt.Errorf("it was %s", info.State)
				}
				got <- err
			}()
		}
		synctest.Wait()
		for _, to := range []agentsdk.SessionState{agentsdk.StateStarting, agentsdk.StateRunning, agentsdk.StateFailed} { // running lasts no time
			if err := m.Transition(to); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := <-got, <-got; errors.Is(a, agentsdk.ErrInvalidState) == errors.Is(b, agentsdk.ErrInvalidState) || a != nil && b != nil {
			t.Errorf("%v and %v", a, b)
		}
		if _, err := m.WaitForState(t.Context(), agentsdk.StateRunning); !errors.Is(err, agentsdk.ErrInvalidState) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestASnapshotIsACopy(t *testing.T) {
	m := agentsdk.NewSessionStateManager("s")
	_, _ = m.Transition(agentsdk.StateStarting), m.Transition(agentsdk.StateRunning)
	input := object{"a": []any{object{"b": 1}}}
	if err := m.StartPermissionRequest(agentsdk.PendingPermission{RequestID: "p", ToolInput: input}); err != nil {
		t.Fatal(err)
	}
	input["a"].([]any)[0].(object)["b"] = 2
	m.GetState().PendingPermission.ToolInput["a"].([]any)[0].(object)["b"] = 3
	*m.GetState().Stats.StartedAt = time.Time{}
	if info := m.GetState(); info.PendingPermission.ToolInput["a"].([]any)[0].(object)["b"] != 1 || info.Stats.StartedAt.IsZero() {
		t.Errorf("%+v", info.PendingPermission)
	}
	op := m.PendingOperations()[0]
	if op.Type != "permission" || op.ID != "p" || op.StartedAt.IsZero() || op.Metadata["toolName"] != "" {
		t.Errorf("%+v", op)
	}
}
