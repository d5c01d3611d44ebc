//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// clientsVariable sets how many clients each round of churn has: AGENTD_ABUSE_CLIENTS=1000.
	clientsVariable = "AGENTD_ABUSE_CLIENTS"
	// atOnceVariable sets how many of them are connected at the same time: AGENTD_ABUSE_AT_ONCE=1000.
	atOnceVariable = "AGENTD_ABUSE_AT_ONCE"

	// churnRounds is how often all clients of churn are replaced by new ones.
	churnRounds = 3
	// unsettled is by how many MiB the memory of two equal servers may differ after they have settled: pages remain
	// resident that are not quite free.
	unsettled = 8.0
	// clientKiB is the memory that a server may have for each client that is connected.
	clientKiB = 64
)

// churn connects clients, calls the tool of each, and disconnects them, in rounds. A round leaves nothing behind.
func (a *abuse) churn() error {
	count := number(a.t, clientsVariable, a.scale(10_000, 20))
	atOnce := min(count, number(a.t, atOnceVariable, a.scale(a.c.atOnce, 10)))
	a.extraMiB = int64(atOnce) * clientKiB >> 10
	a.ends = true
	a.report("churn: clients in a round, and at once", "%d, %d", count, atOnce)
	descriptors := a.s.descriptors("")
	var resident [churnRounds]float64
	for round := range churnRounds {
		if err := a.churnRound(fmt.Sprint("r", round, "c"), count, atOnce); err != nil {
			return err
		}
		eventually(a.t, "no client has a tool", func() bool {
			tools, err := a.api.do("GET", "/client-tools/tools", nil)
			a.api.close()
			return err == nil && strings.TrimSpace(string(tools)) == "{}"
		})
		eventually(a.t, "no lease is kept", func() bool {
			left, err := filepath.Glob(filepath.Join(a.s.home, "data/leases/*.json"))
			return len(left) == 0 && err == nil
		})
		eventually(a.t, "it has no more descriptors open than before", func() bool { return a.s.descriptors("") <= descriptors })
		if round == 0 || round == churnRounds-1 {
			if err := a.settle(fmt.Sprint("settle", round)); err != nil {
				return err
			}
			resident[round] = float64(a.s.resident(a.t)) / (1 << 20)
			a.report(fmt.Sprintf("churn, round %d: resident MiB afterwards", round+1), "%.1f", resident[round])
		}
	}
	growth := resident[churnRounds-1] / resident[0]
	a.report("churn: memory after round 3, divided by that after round 1", "%.3f", growth)
	if most := max(resident[0]*a.c.growth, resident[0]+unsettled); a.whole && resident[churnRounds-1] > most {
		return fmt.Errorf("its resident memory is %.1f MiB after the last round, want %.1f at most", resident[churnRounds-1], most)
	}
	return nil
}

// churnRound connects and disconnects clients, with a number of them at once.
func (a *abuse) churnRound(prefix string, count, atOnce int) error {
	var connecting, executing time.Duration
	var took []time.Duration
	var most int64
	for first := 0; first < count; first += atOnce {
		began := time.Now()
		clients, err := a.toolClients(a.crowd, fmt.Sprint(prefix, first, "_"), min(atOnce, count-first), true)
		if err != nil {
			return err
		}
		connecting += time.Since(began)
		began = time.Now()
		calls, err := timed(len(clients), func(i int) error { return execute(a.crowd, clients[i].id) })
		executing += time.Since(began)
		most = max(most, a.s.resident(a.t))
		took = append(took, calls...)
		if left := disconnect(clients); err == nil {
			err = left
		}
		if err == nil {
			err = spread(len(clients), func(i int) error { return isOver(a.crowd, clients[i].id) })
		}
		if err != nil {
			return err
		}
	}
	a.crowd.close()
	slices.Sort(took)
	round := "churn, round " + string(prefix[1]+1) + ": "
	a.report(round+"clients connected a second", "%.0f", float64(count)/connecting.Seconds())
	a.report(round+"deliveries a second", "%.0f", float64(count)/executing.Seconds())
	a.report(round+"execution, p50 and p99 in ms", "%.1f, %.1f", at(took, 0.5), at(took, 0.99))
	a.report(round+"resident MiB with all connected", "%.1f", float64(most)/(1<<20))
	return nil
}

// timed spreads calls, and returns how long each took.
func timed(count int, do func(i int) error) (took []time.Duration, err error) {
	took = make([]time.Duration, count)
	err = spread(count, func(i int) error {
		began := time.Now()
		defer func() { took[i] = time.Since(began) }()
		return do(i)
	})
	return took, err
}

// isOver checks that the server no longer expects a result of a client's execution.
func isOver(api *api, id string) error {
	_, err := api.do("POST", "/client-tools/result", object{"requestID": requestOf(id), "result": resultOf(id)})
	if err == nil || !strings.Contains(err.Error(), "404") {
		return fmt.Errorf("a second result of %s: %v, want status 404", id, err)
	}
	return nil
}

// settling is how long the servers get to return memory. Go collects garbage every two minutes at least.
const settling = 150 * time.Second

// settle makes a server collect garbage, and waits until it has returned memory. What clients have used is garbage until
// then, and what pools keep until the second time. Half-way, a call lets the server drop the windows of the rate limit,
// which last a minute.
func (a *abuse) settle(name string) error {
	if !a.whole {
		return nil
	}
	body := `{"clientID":"unknown","toolIDs":["` + strings.Repeat("x", 1<<20) + `"]}`
	for range a.s.resident(a.t) >> 20 {
		status, _, err := a.send("DELETE", "/client-tools/unregister", body)
		if err = errors.Join(err, oneOf("unregister", status, 200)); err != nil {
			return err
		}
	}
	<-time.After(settling / 2)
	one, err := a.toolClients(a.api, name, 1, false)
	if err == nil {
		err = errors.Join(execute(a.api, one[0].id), disconnect(one))
	}
	a.api.close()
	<-time.After(settling / 2)
	return err
}

// noMoreGoroutines kills two servers in Go, and checks that the first one has no more goroutines than the other, which
// was idle.
func noMoreGoroutines(a *abuse, idle *served) {
	t := a.t
	t.Helper()
	all, few := a.s.goroutines(t), idle.goroutines(t)
	a.report("goroutines afterwards, and of an idle server", "%d, %d", len(all), len(few))
	if len(few) == 0 {
		t.Errorf("an idle server has %d goroutines", len(few))
	}
	if len(all) > len(few) {
		t.Errorf("%d goroutines, and an idle server has %d: %.5000s", len(all), len(few), strings.Join(all, "\n\n"))
	}
}

// goroutines kills a server in Go so that it prints the stacks of its goroutines.
func (s *served) goroutines(t *testing.T) (stacks []string) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Errorf("SIGQUIT: %v", err)
	}
	_ = s.cmd.Wait() // it was killed
	for _, stack := range strings.Split(s.stderr.String(), "\n\n") {
		// Goroutine 0 is the thread that got the signal, if it ran none. The runtime's own are those of the collector.
		if strings.HasPrefix(stack, "goroutine ") && !strings.HasPrefix(stack, "goroutine 0 ") && !strings.Contains(stack, "created by runtime.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
