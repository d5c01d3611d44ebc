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
	// killsVariable says how often TestWhatWasAcknowledgedSurvivesKills kills a server: make test-kills sets it.
	killsVariable = "AGENTD_KILLS"
	// seedVariable is the seed of a run that is to be done again. The moments are the same, the machine is not.
	seedVariable = "AGENTD_KILLS_SEED"

	ordinaryKills = 5
	killClients   = 6
	// startGuard is far above what a start takes on a machine that has nothing else to do.
	startGuard = 10 * time.Second
	// sampled is how many sessions of earlier rounds are looked at after each start; after the last one it is all.
	sampled = 20
)

// A server that is killed with SIGKILL at any moment, under load or while it starts, has lost nothing of what it had
// acknowledged when it is started again.
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
		if round%5 == 1 { // the next start does not come to its end
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

// number is a variable of the environment.
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

// load lets clients work until the server has acknowledged a random number of things, and kills it a random moment later,
// in the middle of others. It returns the sessions that were gone on with.
func load(t *testing.T, s *served, all *ledger, rng *rand.Rand) (touched []*story) {
	t.Helper()
	var killed atomic.Bool
	enough := make(chan struct{})
	reached := sync.OnceFunc(func() { close(enough) })
	var acknowledged atomic.Int64
	wanted, pause := int64(1+rng.IntN(60)), time.Duration(rng.IntN(15_000))*time.Microsecond
	old := all.sample(rng, 2*killClients)
	clients := make([]*client, killClients)
	var working sync.WaitGroup
	for i := range clients {
		// Each has sessions of its own: in which order things happen to a session is known.
		c := &client{api: s.api(), all: all, rng: rand.New(rand.NewPCG(rng.Uint64(), 0))}
		for n := i; n < len(old); n += killClients {
			c.mine = append(c.mine, old[n])
		}
		clients[i] = c
		working.Go(func() {
			defer c.api.close()
			for {
				if err := c.act(); err != nil {
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
	for _, c := range clients {
		touched = append(touched, c.mine...)
	}
	return touched
}
