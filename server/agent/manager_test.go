package agent_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
	m.Stop("a")
	_, used := m.Use("b")
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

func TestAnAgentInUseMakesNoRoom(t *testing.T) {
	m, closed := manage(1)
	a, first := m.Stream("a")
	_, second := m.Stream("a")
	for _, id := range []string{"b", "c"} { // b has to go when c comes
		_, release := m.Use(id)
		release()
	}
	if again, release := m.Use("a"); again != a {
		t.Error("an agent that a stream uses was dropped")
	} else {
		release()
	}
	if m.Stop("b") {
		t.Error("the idle agent has not made room for the one that came last")
	}
	first() // there is no room for c any more
	m.Stop("a")
	if got := closed(); strings.Contains(got, "a") {
		t.Errorf("closed %q while a is in use", got)
	}
	second()
	if m.Stop("c") {
		t.Error("there is one agent too many behind the end of a stream")
	}
	m.Close()
	if got := closed(); got != "abc" {
		t.Errorf("closed %q at the end", got)
	}
}

// One agent too many is there until a stream has ended; the one that goes then is the one that was used longest ago.
func TestTheEndOfAStreamMakesRoom(t *testing.T) {
	m, _ := manage(1)
	_, first := m.Stream("a")
	_, second := m.Stream("b")
	second()
	if m.Stop("b") || !m.Stop("a") {
		t.Error("the end of a stream has not made room")
	}
	first()
	m.Close()
}

func TestDeletingASessionEndsWhatItHasInMemory(t *testing.T) {
	m, closed := manage(3)
	_, stopped := m.Stream("a")
	m.Stop("a") // and yet its reply goes on
	a, used := m.Use("a")
	_, other := m.Use("b")
	deleted := make(chan string)
	go func() {
		_ = m.End("a", func() error {
			deleted <- closed()
			return nil
		})
	}()
	time.AfterFunc(10*time.Millisecond, func() {
		stopped()
		used()
		used()
	})
	got := make(chan *agent.Agent)
	wait := func() {
		again, release := m.Use("a")
		release()
		got <- again
	}
	if got := <-deleted; got != "aa" {
		t.Errorf("closed %q before the session is deleted, want both agents", got)
	}
	go wait()
	if again := <-got; again == a {
		t.Error("the next session with the number has the agent of the one that was deleted")
	}
	other()
	m.Close()
}

func TestASessionThatIsBeingDeletedHasNoAgent(t *testing.T) {
	m, _ := manage(3)
	in, out := make(chan bool), make(chan bool)
	failed := errors.New("the disk is full")
	var err error
	go func() {
		defer close(out)
		err = m.End("a", func() error {
			close(in)
			<-out
			return failed
		})
	}()
	<-in
	used := make(chan bool)
	go func() {
		_, release := m.Use("a")
		release()
		close(used)
	}()
	select {
	case <-used:
		t.Error("there is an agent of a session that is being deleted")
	case <-time.After(20 * time.Millisecond):
	}
	out <- true
	<-used
	<-out
	if err != failed {
		t.Errorf("End returns %v", err)
	}
	m.Close()
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
