//go:build unix

package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// killsVariable sets how often the tests kill a server: make test-kills sets it.
	killsVariable = "AGENTD_KILLS"
	// seedVariable sets the seed, to repeat a run. The moments of the kills are then the same, but the machine may
	// behave differently.
	seedVariable = "AGENTD_KILLS_SEED"

	ordinaryKills = 5
	killClients   = 6
	// startGuard is far more than a start takes on an idle machine.
	startGuard = 10 * time.Second
	// sampled is how many sessions of earlier rounds are checked after each start. After the last start all are.
	sampled = 20
)

// TestWhatWasAcknowledgedSurvivesKills kills a server with SIGKILL at random moments, under load or during its start.
// After each restart, everything that it acknowledged must still be there.
func TestWhatWasAcknowledgedSurvivesKills(t *testing.T) {
	kills, seed := number(t, killsVariable, ordinaryKills), number(t, seedVariable, rand.Uint64()>>1)
	t.Logf("seed %d (%s)", seed, seedVariable)
	rng := rand.New(rand.NewPCG(seed, 0))
	model := httptest.NewServer(http.HandlerFunc(scripted))
	defer model.Close()
	home, all := t.TempDir(), &ledger{}
	s, _ := startServer(t, home, model.URL)
	var starts []time.Duration
	early := 0
	for round := range kills {
		touched := load(t, s, all, rng)
		if round%5 == 1 { // interrupts the next start
			killStart(t, home, model.URL, time.Duration(rng.IntN(50))*time.Millisecond)
			early++
		}
		var took time.Duration
		s, took = startServer(t, home, model.URL)
		starts = append(starts, took)
		if round == kills-1 {
			touched = all.stories
		} else {
			touched = append(touched, all.sample(rng, sampled)...)
		}
		for _, problem := range append(s.lost(t, touched), broken(t, home)...) {
			t.Errorf("after kill %d: %s", round+1, problem)
		}
		if t.Failed() {
			return
		}
	}
	slices.Sort(starts)
	median, largest := starts[len(starts)/2], starts[len(starts)-1]
	t.Logf("%d kills under load, %d more while starting; acknowledged and found: %d sessions with %d messages, of %d replies, %d renamings, %d imports",
		kills, early, len(all.stories), all.messages(), all.replies.Load(), all.renamings.Load(), all.imports.Load())
	t.Logf("starts after a kill: median %s, largest %s", median.Round(time.Millisecond), largest.Round(time.Millisecond))
	if largest > startGuard {
		t.Errorf("a start took %s", largest)
	}
	if len(all.stories) == 0 || all.replies.Load() == 0 {
		t.Error("nothing was acknowledged: nothing was tried")
	}
}

// number returns a number from the environment.
func number[N int | uint64](t *testing.T, name string, byDefault N) N {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return byDefault
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return N(n)
}

// load has clients work until the server is killed. It returns the sessions that the clients used.
func load(t *testing.T, s *served, all *ledger, rng *rand.Rand) (touched []*story) {
	t.Helper()
	old := all.sample(rng, 2*killClients)
	clients, acts := make([]*client, killClients), make([]func() error, killClients)
	for i := range clients {
		// Each client has sessions of its own, so that the order of a session's requests is known.
		c := &client{api: s.api(), all: all, rng: rand.New(rand.NewPCG(rng.Uint64(), 0))}
		defer c.api.close()
		for n := i; n < len(old); n += killClients {
			c.mine = append(c.mine, old[n])
		}
		clients[i], acts[i] = c, c.act
	}
	workUntilKilled(t, s, rng, acts)
	for _, c := range clients {
		touched = append(touched, c.mine...)
	}
	return touched
}

// workUntilKilled repeats each act, at the same time as the others, until the server has acknowledged a random number of
// them. A random moment later it kills the server, while others are running. An act ends with an error when it is not
// acknowledged.
func workUntilKilled(t *testing.T, s *served, rng *rand.Rand, acts []func() error) {
	t.Helper()
	var killed atomic.Bool
	enough := make(chan struct{})
	reached := sync.OnceFunc(func() { close(enough) })
	var acknowledged atomic.Int64
	wanted, pause := int64(1+rng.IntN(60)), time.Duration(rng.IntN(15_000))*time.Microsecond
	var working sync.WaitGroup
	for _, act := range acts {
		working.Go(func() {
			for {
				if err := act(); err != nil {
					if !killed.Load() {
						t.Errorf("before the kill: %v", err)
						reached()
					}
					return
				}
				if acknowledged.Add(1) == wanted {
					reached()
				}
			}
		})
	}
	<-enough
	<-time.After(pause)
	killed.Store(true)
	s.kill()
	working.Wait()
}
