//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// requestsVariable sets how many requests are sent to clients that never read, in each round: AGENTD_ABUSE_REQUESTS=1000.
const requestsVariable = "AGENTD_ABUSE_REQUESTS"

const (
	// silentRounds is how often all loads are measured in turn.
	silentRounds = 3
	// requestsASecond are sent to clients that never answer. Meanwhile other clients' tools are called callsASecond times.
	requestsASecond, callsASecond = 500, 250
	// wantedRatio is how much longer the p99 of other clients' executions may take with clients that never read. It is
	// reported and not demanded: on a busy machine, the p99 of two equal runs differs by more.
	wantedRatio = 1.2
)

// silentClients sends requests to clients that never read, while other clients' tools are called. Three measurements are
// compared, in rounds: without these requests, with the same requests to clients that read, and to those that do not.
func (a *abuse) silentClients() (err error) {
	requests, silent := number(a.t, requestsVariable, a.scale(10_000, 40)), a.scale(100, 4)
	others, err := a.toolClients(a.crowd, "other", a.scale(200, 4), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disconnect(others)) }()
	loads := []struct {
		what     string
		load     func(prefix string) error
		p50, p99 []float64 // of the rounds
	}{
		{what: "without them", load: func(string) error { return pace(requests, requestsASecond, func(int) error { return nil }) }},
		{what: "with requests to clients that read", load: func(prefix string) error { return a.requestsTo(prefix+"reads", silent, requests, true) }},
		{what: "with requests to those that never read", load: func(prefix string) error { return a.requestsTo(prefix+"silent", silent, requests, false) }},
	}
	for round := range silentRounds {
		for i := range loads { // each is first once
			l := &loads[(i+round)%len(loads)]
			took, err := callDuring(a.crowd, others, func() error { return l.load(fmt.Sprint("r", round)) })
			if err != nil {
				return err
			}
			l.p50, l.p99 = append(l.p50, at(took, 0.5)), append(l.p99, at(took, 0.99))
		}
	}
	for _, l := range loads {
		a.report("others' executions "+l.what+": p50 in ms", "%s", spreadOf(l.p50))
		a.report("others' executions "+l.what+": p99 in ms", "%s", spreadOf(l.p99))
	}
	never := loads[2].p99
	for _, l := range loads[:2] {
		ratios := make([]float64, silentRounds)
		for round := range ratios {
			ratios[round] = never[round] / l.p99[round]
		}
		a.report(fmt.Sprintf("p99 with those that never read, compared with that %s (want %.1f)", l.what, wantedRatio), "%s", spreadOf(ratios))
	}
	a.report("resident MiB after the clients that never read", "%.1f", float64(a.s.resident(a.t))/(1<<20))
	return err
}

// spreadOf returns the median, the smallest and the largest value.
func spreadOf(values []float64) string {
	sorted := slices.Sorted(slices.Values(values))
	return fmt.Sprintf("%.2f (%.2f-%.2f)", sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1])
}

// pace spreads calls over time.
func pace(count, aSecond int, do func(i int) error) error {
	began := time.Now()
	return spread(count, func(i int) error {
		<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(aSecond))))
		return do(i)
	})
}

// callDuring calls the tools of clients in turn, one after the other, until a load is done.
func callDuring(api *api, clients []*toolClient, load func() error) (took []time.Duration, err error) {
	done := make(chan error, 1)
	go func() { done <- load() }()
	calls := time.NewTicker(time.Second / callsASecond)
	defer calls.Stop()
	for i := 0; ; i++ {
		select {
		case err := <-done:
			slices.Sort(took)
			return took, err
		case <-calls.C:
		}
		began := time.Now()
		if err := execute(api, clients[i%len(clients)].id); err != nil {
			return nil, errors.Join(err, <-done)
		}
		took = append(took, time.Since(began))
	}
}

// requestsTo connects clients that never answer, and sends them requests.
func (a *abuse) requestsTo(prefix string, clients, requests int, read bool) (err error) {
	ids := make([]string, clients)
	for i := range ids {
		ids[i] = fmt.Sprint(prefix, i)
		if err := register(a.crowd, ids[i], object{"tools": oneTool}); err != nil {
			return err
		}
		leave, err := a.connectIdle(ids[i], i%2 == 1, read)
		if err != nil {
			return err
		}
		defer leave()
	}
	input := object{"text": strings.Repeat("x", 4<<10)}
	return pace(requests, requestsASecond, func(i int) error {
		_, err := a.crowd.do("POST", "/client-tools/execute", object{"toolID": "client_" + ids[i%clients] + "_a", "input": input, "timeout": 1})
		if err == nil || !strings.Contains(err.Error(), "504") {
			return fmt.Errorf("a request without an answer: %v, want status 504", err)
		}
		return nil
	})
}

// connectIdle opens a client's stream or socket. The client reads the head of the answer, and then everything or nothing.
func (a *abuse) connectIdle(id string, socket, read bool) (leave func(), err error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(a.s.url, "http://"))
	if err != nil {
		return nil, err
	}
	path, upgrade := "/client-tools/pending/", ""
	status := http.StatusOK
	if socket {
		path, upgrade = "/client-tools/ws/", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
		status = http.StatusSwitchingProtocols
	}
	err = errors.Join(c.(*net.TCPConn).SetReadBuffer(4<<10), c.SetReadDeadline(time.Now().Add(atMost)))
	if err == nil {
		_, err = io.WriteString(c, "GET "+path+id+" HTTP/1.1\r\nHost: localhost\r\n"+upgrade+"\r\n")
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		err = errors.Join(oneOf("connect", resp.StatusCode, status), c.SetReadDeadline(time.Time{}))
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if read {
			io.Copy(io.Discard, c)
		}
	}()
	return func() { c.Close(); <-done }, nil
}
