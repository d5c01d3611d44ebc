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

// requestsVariable sets how many requests are sent to clients that never read: AGENTD_ABUSE_REQUESTS=10000.
const requestsVariable = "AGENTD_ABUSE_REQUESTS"

// wantedRatio is how much longer the p99 of other clients' executions may take with clients that never read. It is
// reported and not demanded: on a busy machine, the p99 of two equal runs differs by more.
const wantedRatio = 1.2

// silentClients sends requests to clients that never read, while other clients' tools are called. Three measurements in
// one run are compared: without these requests, with the same requests to clients that read, and to those that do not.
func (a *abuse) silentClients() (err error) {
	requests, silent := number(a.t, requestsVariable, a.scale(10_000, 40)), a.scale(200, 4)
	api := a.newCaller()
	defer api.close()
	others, err := a.toolClients(api, "other", a.scale(200, 4))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disconnect(others)) }()
	var p99 [3]float64
	for i, one := range []struct {
		what string
		load func() error
	}{
		{"without them", func() error { return nil }},
		{"with the same requests to clients that read", func() error { return a.requestsTo("reads", silent, requests, true) }},
		{"with clients that never read", func() error { return a.requestsTo("silent", silent, requests, false) }},
	} {
		took, err := callDuring(api, others, one.load)
		if err != nil {
			return err
		}
		p99[i] = at(took, 0.99)
		a.report("others' executions "+one.what+": p50 and p99 in ms", "%.1f, %.1f (%d)", at(took, 0.5), p99[i], len(took))
	}
	a.report(fmt.Sprintf("their p99: never read / read (wanted %.1f at most)", wantedRatio), "%.2f", p99[2]/p99[1])
	a.report(fmt.Sprintf("their p99: never read / without (wanted %.1f at most)", wantedRatio), "%.2f", p99[2]/p99[0])
	a.report("resident MiB after the clients that never read", "%.1f", float64(a.s.resident(a.t))/(1<<20))
	return err
}

// callsEach is how often the tool of each client is called in one measurement. Three of them remain below the limit of
// 100 calls per minute.
const callsEach = 30

// callDuring calls the tools of clients in turn until a load is done, each ten times at least and callsEach times at
// most. It returns after the load is done.
func callDuring(api *api, clients []*toolClient, load func() error) (took []time.Duration, err error) {
	done := make(chan struct{})
	var failed error
	go func() {
		defer close(done)
		failed = load()
	}()
	isDone := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	for i := 0; i < callsEach*len(clients) && (i < 10*len(clients) || !isDone()) && err == nil; i++ {
		began := time.Now()
		err = execute(api, clients[i%len(clients)].id)
		took = append(took, time.Since(began))
	}
	<-done
	slices.Sort(took)
	return took, errors.Join(err, failed)
}

// requestsTo connects clients that never answer, and sends them requests.
func (a *abuse) requestsTo(prefix string, clients, requests int, read bool) (err error) {
	api := a.newCaller()
	defer api.close()
	for i := range clients {
		id := fmt.Sprintf("%s%d", prefix, i)
		if err := register(api, id); err != nil {
			return err
		}
		leave, err := a.connectIdle(id, i%2 == 1, read)
		if err != nil {
			return err
		}
		defer leave()
	}
	input := object{"text": strings.Repeat("x", 4<<10)}
	return spread(requests, func(i int) error {
		id := fmt.Sprintf("%s%d", prefix, i%clients)
		_, err := api.do("POST", "/client-tools/execute", object{"toolID": "client_" + id + "_a", "input": input, "timeout": 1})
		if err == nil || !strings.Contains(err.Error(), "504") {
			return fmt.Errorf("a request that nobody answers: %v, want status 504", err)
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
