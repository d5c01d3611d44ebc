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

func startWatch(t *testing.T, s *served) *watch {
	w := &watch{quit: make(chan struct{}), took: make(chan []time.Duration, 1)}
	transport := &http.Transport{}
	client := &http.Client{Transport: transport, Timeout: atMost}
	if err := ask(client, s.url); err != nil { // from now on, its connection is open
		t.Errorf("GET /status: %v", err)
	}
	go func() {
		defer transport.CloseIdleConnections()
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

// descriptors returns how many descriptors the server has open to what begins with the prefix.
func (s *served) descriptors(prefix string) (open int) {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.cmd.Process.Pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, prefix) {
			open++
		}
	}
	return open
}

// figures are what cases found, with the servers beside each other.
type figures struct {
	rows    []string
	servers []string
	of      map[[2]string]string // by row and server
}

func (f *figures) add(row, server, value string) {
	if f.of == nil {
		f.of = make(map[[2]string]string)
	}
	if !slices.Contains(f.rows, row) {
		f.rows = append(f.rows, row)
	}
	if !slices.Contains(f.servers, server) {
		f.servers = append(f.servers, server)
	}
	f.of[[2]string{row, server}] = value
}

func (f *figures) String() string {
	var table strings.Builder
	line := func(row string, value func(server string) string) {
		fmt.Fprintf(&table, "%-84s", row)
		for _, server := range f.servers {
			fmt.Fprintf(&table, " %20s", value(server))
		}
		table.WriteByte('\n')
	}
	line("", func(server string) string { return server })
	for _, row := range f.rows {
		line(row, func(server string) string { return f.of[[2]string{row, server}] })
	}
	return table.String()
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
