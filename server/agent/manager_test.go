package agent_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/agent"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// connections records which agents have closed theirs.
type connections struct {
	agent.Unconnected
	id     string
	mu     *sync.Mutex
	closed *[]string
}

func (c connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.closed = append(*c.closed, c.id)
}

// manage returns a manager, and what its agents have closed by now.
func manage(capacity int) (*agent.Manager, func() string) {
	var mu sync.Mutex
	var closed []string
	m := agent.NewManager(capacity, func(id string) agent.Extensions {
		return connections{id: id, mu: &mu, closed: &closed}
	})
	return m, func() string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(closed)
		return strings.Join(closed, "")
	}
}

func TestASessionKeepsItsAgent(t *testing.T) {
	m, _ := manage(2)
	defer m.Close()
	a, release := m.Use("a")
	release()
	again, release := m.Use("a")
	defer release()
	if a != again || a.SessionID != "a" || a.Provider() != nil {
		t.Errorf("the agent of a session has changed: %p, %p", a, again)
	}
	if !m.Stop("a") || m.Stop("a") || m.Stop("never") {
		t.Error("Stop does not know which agents there are")
	}
	other, release := m.Use("a")
	defer release()
	if other == a {
		t.Error("a stopped agent is still used")
	}
}

func TestTheLeastRecentlyUsedAgentCloses(t *testing.T) {
	m, closed := manage(2)
	for _, id := range []string{"a", "b", "a", "c", "d"} {
		_, release := m.Use(id)
		release()
		release() // twice is once
	}
	m.Close()
	if got := closed(); got != "abcd" {
		t.Errorf("closed %q", got)
	}
	m, closed = manage(0) // is one
	_, release := m.Use("x")
	release()
	m.Use("y")
	if m.Stop("x") {
		t.Error("two agents in a manager of one")
	}
	m.Close()
	if got := closed(); got != "xy" {
		t.Errorf("closed %q", got)
	}
}

// What an agent runs must not outlast the server, whoever uses it.
func TestAgentsInUseAreClosedAtTheEnd(t *testing.T) {
	m, closed := manage(1)
	_, dropped := m.Use("a")
	_, used := m.Use("b") // a has to go
	m.Close()
	if got := closed(); got != "ab" && got != "ba" {
		t.Errorf("closed %q at the end", got)
	}
	dropped()
	used()
	if got := closed(); len(got) != 2 {
		t.Errorf("closed %q after the last use", got)
	}
	_, late := m.Use("c")
	if got := closed(); got != "abc" {
		t.Errorf("closed %q; an agent that comes late must have no connections", got)
	}
	late()
}

func TestAnAgentInUseKeepsItsConnections(t *testing.T) {
	m, closed := manage(1)
	_, first := m.Use("a")
	_, second := m.Use("a")
	_, release := m.Use("b") // a has to go
	release()
	first()
	if got := closed(); got != "" {
		t.Errorf("closed %q while it is in use", got)
	}
	second()
	m.Close()
	if got := closed(); got != "ab" {
		t.Errorf("closed %q at the end", got)
	}
}

func TestManyUsers(t *testing.T) {
	m, closed := manage(3)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				id := fmt.Sprint((i + j) % 5)
				a, release := m.Use(id)
				if a.SessionID != id {
					t.Errorf("the agent of %s is that of %s", id, a.SessionID)
				}
				if j%7 == 0 {
					m.Stop(id)
				}
				release()
			}
		})
	}
	wg.Wait()
	m.Close()
	if closed() == "" {
		t.Error("nothing was closed")
	}
}
