package server_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
)

func disposedEvent(directory string) string {
	return `{"type":"server.instance.disposed","properties":{"directory":"` + directory + `"}}`
}

func TestAStopNotifiesCallsAndStreamsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", "a")
		other, here := r.open("/event?directory=/other"), r.open("/event")
		global, pending := r.open("/global/event"), r.open("/client-tools/pending/c")
		one := r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","requestID":"1"}`))
		two := r.start(withJSON("POST /client-tools/execute?directory=/other", `{"toolID":"client_c_a","requestID":"2"}`))
		for _, s := range []*stream{other, here, global, pending} {
			s.take()
		}
		began := time.Now()
		r.stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("the stop took %s with nothing to wait for", took)
		}

		failed := failedEvent("c", "client_c_a", "Server is shutting down")
		wrapped := func(directory, event string) string {
			return data(`{"directory":"` + directory + `","payload":` + event + `}`)
		}
		same(t, "the default directory", []string{data(failed), data(disposedEvent("/default"))}, here.take())
		same(t, "the other directory", []string{data(failed), data(disposedEvent("/other"))}, other.take())
		all := global.take()
		if len(all) == 4 && all[0] > all[1] { // the order of the two executions is not defined here
			all[0], all[1] = all[1], all[0]
		}
		same(t, "all directories", []string{
			wrapped("/default", failed), wrapped("/other", failed),
			wrapped("/other", disposedEvent("/other")), wrapped("/default", disposedEvent("/default")), // oldest stream first
		}, all)
		same(t, "the pending stream", 0, len(pending.take()))
		for _, s := range []*stream{here, other, global, pending} {
			<-s.ended
			if !errors.Is(s.err, io.EOF) {
				t.Errorf("a stream ended with %v, want its proper end", s.err)
			}
		}
		for _, answered := range []<-chan answer{one, two} {
			(<-answered).is(t, "execute", 500, coded("INTERNAL_ERROR", "Server is shutting down"))
		}
		if _, err := r.dial(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a connection after the stop: %v, want it refused", err)
		}
	})
}

func TestAStopDoesNotWaitForReadersThatDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		stuck := r.connect("GET /event HTTP/1.1\r\nHost: test\r\n\r\n")
		defer stuck.Close()
		pending := r.open("/client-tools/pending/c")
		synctest.Wait()
		began := time.Now()
		r.stop()
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("the stop took %s, want the 4 s it has", took)
		}
		<-pending.ended
		if log := r.log.String(); !strings.Contains(log, `msg="connections cut" err="not done after 4s"`) {
			t.Errorf("the log does not say that connections were cut, and why:\n%s", log)
		}
	})
}

func TestAStopWaitsForAnswersThatAreBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.register("c", strings.Repeat("long", 10_000))
		c := r.connect("GET /client-tools/tools HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
		synctest.Wait() // the answer exceeds the server's buffers, and nobody has read it
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			r.stop()
		}()
		time.Sleep(time.Second)
		all, err := io.ReadAll(c)
		if err != nil || len(all) < 80_000 {
			t.Errorf("read %d bytes, %v; want the whole answer", len(all), err)
		}
		<-stopped
	})
}

func TestAnIdleConnectionIsClosedByAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		c := r.connect("GET /status HTTP/1.1\r\nHost: test\r\n\r\n")
		ended := make(chan error, 1)
		go func() {
			_, err := io.ReadAll(c)
			ended <- err
		}()
		synctest.Wait() // answered, and kept open
		if len(ended) > 0 {
			t.Errorf("the connection ended before the stop: %v", <-ended)
		}
		r.stop()
		if err := <-ended; err != nil {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

func TestAStopDoesNotWaitForConnectionsWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		c, err := r.dial()
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		r.stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("the stop took %s with nothing to wait for", took)
		}
		if _, err := io.ReadAll(c); err != nil {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

// stubborn is a server for an extension that only SIGKILL ends.
const stubborn = `trap "" TERM; read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},` +
	`"serverInfo":{"name":"x","version":"1"}}}'; while :; do sleep 0.1; done`

func TestAStopDoesNotWaitForExtensionsThatDoNotEnd(t *testing.T) {
	// Only the end of the stop's time, which is over at once, can end this extension before the test fails.
	r := startTCP(t, server.Config{StopTimeout: time.Nanosecond, ExtensionGrace: time.Hour, Environment: os.Environ(), Directory: t.TempDir()})
	id := r.newSession("/w")
	r.post("POST /agent/add_extension", `{"session_id":"`+id+`","config":{"type":"stdio","name":"x","cmd":"sh","args":["-c",`+string(quoted(t, stubborn))+`]}}`).
		is(t, "add_extension", 200, "")
	stopped := make(chan struct{})
	go func() { defer close(stopped); r.stop() }()
	select {
	case <-stopped:
	case <-time.After(time.Minute):
		t.Fatal("the server still waits for its extension")
	}
}

// TestAStopEndsExtensionsThatAreInUse checks that an extension's processes do not outlive the server, even if a
// request waits for them when the server stops.
func TestAStopEndsExtensionsThatAreInUse(t *testing.T) {
	const deaf = `; while :; do sleep 0.1; done`
	for _, tc := range []struct {
		name, says string // what the extension does before it reports where it is
		listed     bool   // its tools are requested
	}{
		{"it is connected to", `trap "" TERM`, false},
		{"its tools are listed", `trap "" TERM; read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"x","version":"1"}}}'; read initialized; read list`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pid")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			r := startTCP(t, server.Config{StopTimeout: 10 * time.Millisecond, Environment: os.Environ(), Directory: t.TempDir()})
			id := r.newSession("/w")
			script := tc.says + "; echo $$ > " + pipe + deaf
			added := r.start(withJSON("POST /agent/add_extension",
				`{"session_id":"`+id+`","config":{"type":"stdio","name":"x","cmd":"sh","args":["-c",`+string(quoted(t, script))+`]}}`, secret))
			if tc.listed {
				(<-added).is(t, "add_extension", 200, "")
				r.start("GET /agent/tools?session_id=" + id + " HTTP/1.1\r\nHost: test\r\n" + secret + "\r\n\r\n")
			}
			line, err := os.ReadFile(pipe)
			pid, bad := strconv.Atoi(strings.TrimSpace(string(line)))
			if err != nil || bad != nil {
				t.Fatalf("the extension is %q: %v", line, err)
			}
			r.stop()
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the server has stopped, and its extension runs: %v", err)
			}
		})
	}
}
