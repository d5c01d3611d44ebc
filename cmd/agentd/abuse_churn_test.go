//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// clientsVariable sets how many clients each round of churn has: AGENTD_ABUSE_CLIENTS=10000.
const clientsVariable = "AGENTD_ABUSE_CLIENTS"

// churnRounds is how often all clients of churn are replaced by new ones.
const churnRounds = 3

// mostGrowth is how much larger the server's resident memory may be after the last round than after the first.
const mostGrowth = 1.05

// churn connects clients, calls the tool of each, and disconnects them, in rounds. A round leaves nothing behind.
func (a *abuse) churn() error {
	count := number(a.t, clientsVariable, a.scale(1000, 20))
	before := a.s.descriptors("")
	var resident [churnRounds]int64
	for round := range churnRounds {
		if err := a.churnRound(round, count); err != nil {
			return err
		}
		a.api.close()
		eventually(a.t, "no client has a tool", func() bool {
			tools, err := a.api.do("GET", "/client-tools/tools", nil)
			a.api.close()
			return err == nil && strings.TrimSpace(string(tools)) == "{}"
		})
		eventually(a.t, "it has no more descriptors open than before", func() bool { return a.s.descriptors("") <= before })
		resident[round] = a.s.resident(a.t)
		a.report(fmt.Sprintf("churn, round %d: resident MiB afterwards", round+1), "%.1f", float64(resident[round])/(1<<20))
	}
	growth := float64(resident[churnRounds-1]) / float64(resident[0])
	a.report("churn: memory after round 3, divided by that after round 1", "%.3f", growth)
	if a.whole && growth > mostGrowth {
		return fmt.Errorf("its resident memory has grown by %.1f %%, want %.0f %% at most", 100*(growth-1), 100*(mostGrowth-1))
	}
	return nil
}

// churnRound has all clients connected at once.
func (a *abuse) churnRound(round, count int) (err error) {
	api := a.newCaller()
	defer api.close()
	began := time.Now()
	clients, err := a.toolClients(api, fmt.Sprintf("r%dc", round), count)
	if err != nil {
		return err
	}
	connected := time.Since(began)
	took := make([]time.Duration, count)
	began = time.Now()
	err = spread(count, func(i int) error {
		began := time.Now()
		defer func() { took[i] = time.Since(began) }()
		return execute(api, clients[i].id)
	})
	executed := time.Since(began)
	peak := a.s.resident(a.t)
	if left := disconnect(clients); err == nil {
		err = left
	}
	name := fmt.Sprintf("churn, round %d: ", round+1)
	slices.Sort(took)
	a.report(name+"clients connected a second", "%.0f", float64(count)/connected.Seconds())
	a.report(name+"deliveries a second", "%.0f", float64(count)/executed.Seconds())
	a.report(name+"execution, p50 and p99 in ms", "%.1f, %.1f", at(took, 0.5), at(took, 0.99))
	a.report(name+"resident MiB with all connected", "%.1f", float64(peak)/(1<<20))
	return err
}
