//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A watch requests the status of a server continually.
type watch struct {
	quit chan struct{}
	took chan []time.Duration
}

// askEvery is the pause between two requests.
const askEvery = 10 * time.Millisecond

func startWatch(t *testing.T, s *served) *watch {
	w := &watch{quit: make(chan struct{}), took: make(chan []time.Duration, 1)}
	go func() {
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: atMost}
		var took []time.Duration
		for {
			began := time.Now()
			if err := ask(client, s.url); err != nil {
				t.Errorf("GET /status after %d answers: %v", len(took), err)
				break
			}
			took = append(took, time.Since(began))
			select {
			case <-w.quit:
				w.took <- took
				return
			case <-time.After(askEvery):
			}
		}
		w.took <- took
	}()
	return w
}

func ask(client *http.Client, url string) error {
	resp, err := client.Get(url + "/status")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || string(body) != "ok" {
		return fmt.Errorf("%d %q, %v", resp.StatusCode, body, err)
	}
	return nil
}

// stop returns how long the answers took, sorted.
func (w *watch) stop() []time.Duration {
	close(w.quit)
	took := <-w.took
	slices.Sort(took)
	return took
}

// at returns a quantile in milliseconds.
func at(sorted []time.Duration, quantile float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := min(int(quantile*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[i].Microseconds()) / 1000
}

// eventually waits for a condition, and fails after atMost.
func eventually(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(atMost); !isSo(); time.Sleep(askEvery) {
		if time.Now().After(deadline) {
			t.Errorf("after %s it is not so that %s", atMost, what)
			return
		}
	}
}

// peak returns the server's peak memory in MiB.
func (s *served) peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Errorf("memory of the server: %v", err)
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Error(err)
	}
	return kib >> 10
}

// sockets returns how many sockets the server has open.
func (s *served) sockets() (open int) {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.cmd.Process.Pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") {
			open++
		}
	}
	return open
}

// marked returns the processes whose environment has the mark of a server.
func marked(mark string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		if environ, err := os.ReadFile(path); err == nil && bytes.Contains(environ, []byte(markVariable+"="+mark+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}
