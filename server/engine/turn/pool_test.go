package turn_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/engine/turn"
)

// connections records which agents have closed their connections.
type connections struct {
	turn.Extensions // nil, because no other method is called
	id              string
	mu              *sync.Mutex
	closed          *[]string
}

func (c connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.closed = append(*c.closed, c.id)
}

// newPool returns a pool, and a function that returns what its agents have closed so far.
func newPool(capacity int) (*turn.Pool, func() string) {
	var mu sync.Mutex
	var closed []string
	p := turn.NewPool(capacity, func(id string) turn.Extensions {
		return connections{id: id, mu: &mu, closed: &closed}
	})
	return p, func() string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(closed)
		return strings.Join(closed, "")
	}
}

func TestASessionKeepsItsAgent(t *testing.T) {
	p, _ := newPool(2)
	defer p.Close()
	a, release := p.Use("a")
	release()
	again, release := p.Use("a")
	defer release()
	if a != again || a.SessionID != "a" || a.Provider() != nil {
		t.Errorf("the agent of a session has changed: %p, %p", a, again)
	}
	if !p.Stop("a") || p.Stop("a") || p.Stop("never") {
		t.Error("Stop does not know which agents there are")
	}
	other, release := p.Use("a")
	defer release()
	if other == a {
		t.Error("a stopped agent is still used")
	}
}

func TestTheLeastRecentlyUsedAgentCloses(t *testing.T) {
	p, closed := newPool(2)
	for _, id := range []string{"a", "b", "a", "c", "d"} {
		_, release := p.Use(id)
		release()
		release() // a second call has no effect
	}
	p.Close()
	if got := closed(); got != "abcd" {
		t.Errorf("closed %q", got)
	}
	p, closed = newPool(0) // counts as one
	_, release := p.Use("x")
	release()
	p.Use("y")
	if p.Stop("x") {
		t.Error("two agents in a pool of one")
	}
	p.Close()
	if got := closed(); got != "xy" {
		t.Errorf("closed %q", got)
	}
}

// TestAgentsInUseAreClosedAtTheEnd checks that an agent's processes do not outlive the server, even while a request
// uses the agent.
func TestAgentsInUseAreClosedAtTheEnd(t *testing.T) {
	p, closed := newPool(1)
	_, dropped := p.Use("a")
	p.Stop("a")
	_, used := p.Use("b")
	p.Close()
	if got := closed(); got != "ab" && got != "ba" {
		t.Errorf("closed %q at the end", got)
	}
	dropped()
	used()
	if got := closed(); len(got) != 2 {
		t.Errorf("closed %q after the last use", got)
	}
	_, late := p.Use("c")
	if got := closed(); got != "abc" {
		t.Errorf("closed %q; an agent that comes late must have no connections", got)
	}
	late()
}

func TestAnAgentInUseIsNotDroppedToMakeRoom(t *testing.T) {
	p, closed := newPool(1)
	a, first := p.Stream("a")
	_, second := p.Stream("a")
	for _, id := range []string{"b", "c"} { // b must be dropped for c
		_, release := p.Use(id)
		release()
	}
	if again, release := p.Use("a"); again != a {
		t.Error("an agent that a stream uses was dropped")
	} else {
		release()
	}
	if p.Stop("b") {
		t.Error("the idle agent has not made room for the one that came last")
	}
	first() // there is no room for c
	p.Stop("a")
	if got := closed(); strings.Contains(got, "a") {
		t.Errorf("closed %q while a is in use", got)
	}
	second()
	if p.Stop("c") {
		t.Error("there is one agent too many behind the end of a stream")
	}
	p.Close()
	if got := closed(); got != "abc" {
		t.Errorf("closed %q at the end", got)
	}
}

// TestTheEndOfAStreamMakesRoom checks that the pool may exceed its capacity by one agent until a stream ends. It then
// drops the least recently used agent.
func TestTheEndOfAStreamMakesRoom(t *testing.T) {
	p, _ := newPool(1)
	_, first := p.Stream("a")
	_, second := p.Stream("b")
	second()
	if p.Stop("b") || !p.Stop("a") {
		t.Error("the end of a stream has not made room")
	}
	first()
	p.Close()
}

func TestDeletingASessionEndsWhatItHasInMemory(t *testing.T) {
	p, closed := newPool(3)
	_, stopped := p.Stream("a")
	p.Stop("a") // its reply continues
	a, used := p.Use("a")
	_, other := p.Use("b")
	deleted := make(chan string)
	go func() {
		_ = p.End("a", func() error {
			deleted <- closed()
			return nil
		})
	}()
	time.AfterFunc(10*time.Millisecond, func() {
		stopped()
		used()
		used()
	})
	got := make(chan *turn.Agent)
	wait := func() {
		again, release := p.Use("a")
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
	p.Close()
}

func TestASessionThatIsBeingDeletedHasNoAgent(t *testing.T) {
	p, _ := newPool(3)
	in, out := make(chan bool), make(chan bool)
	failed := errors.New("the disk is full")
	var err error
	go func() {
		defer close(out)
		err = p.End("a", func() error {
			close(in)
			<-out
			return failed
		})
	}()
	<-in
	used := make(chan bool)
	go func() {
		_, release := p.Use("a")
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
	p.Close()
}

func TestManyUsers(t *testing.T) {
	p, closed := newPool(3)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				id := fmt.Sprint((i + j) % 5)
				a, release := p.Use(id)
				if a.SessionID != id {
					t.Errorf("the agent of %s is that of %s", id, a.SessionID)
				}
				if j%7 == 0 {
					p.Stop(id)
				}
				release()
			}
		})
	}
	wg.Wait()
	p.Close()
	if closed() == "" {
		t.Error("nothing was closed")
	}
}
