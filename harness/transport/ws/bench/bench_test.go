// Package bench measures how much CPU a socket needs, next to a client of another library. It is a separate module, so
// that lockstep does not depend on that library.
package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/transport/ws"
	"github.com/lockstep-dev/lockstep/internal/ratio"
)

// serverVariable makes the test binary an echo server, so that the clients' CPU time is measured without the server's.
const serverVariable = "BENCH_ECHO_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve echoes messages until standard input ends.
func serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() { _ = http.Serve(l, http.HandlerFunc(echo)) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func echo(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	for {
		kind, data, err := c.Read(r.Context())
		if err == nil {
			err = c.Write(r.Context(), kind, data)
		}
		if err != nil {
			return
		}
	}
}

// start starts the echo server, and returns its address. The server ends with the test.
func start(t testing.TB) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), serverVariable+"=1"), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	if _, err := fmt.Fscanln(stdout, &addr); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait() // the end of the test may have killed it first
	})
	return addr
}

func BenchmarkRoundTrip(b *testing.B) {
	addr := start(b)
	for _, size := range []int{20, 1000, 64 << 10} {
		const n = 1000
		payload := []byte(strings.Repeat("x", size))
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			ratio.Report(b, n,
				ratio.Candidate{Name: "lockstep", Round: func() ratio.Cost { return ratio.Of(func() { lockstep(b, addr, payload, n) }) }},
				ratio.Candidate{Name: "coder", Round: func() ratio.Cost { return ratio.Of(func() { coder(b, addr, payload, n) }) }},
			)
		})
	}
}

// TestTheLibraryAgrees sends messages through a server of the library.
func TestTheLibraryAgrees(t *testing.T) {
	addr := start(t)
	for _, size := range []int{0, 1, 125, 126, 65535, 65536, 1 << 20} {
		lockstep(t, addr, []byte(strings.Repeat("x", size)), 2)
		coder(t, addr, []byte(strings.Repeat("x", size)), 2)
	}
}

// lockstep does round trips, and then closes.
func lockstep(t testing.TB, addr string, payload []byte, n int) {
	ctx := t.Context()
	client := httpwire.NewClient(&url.URL{Scheme: "http", Host: addr}, nil)
	defer client.Close()
	s := ws.Open(ctx, client, time.Now(), &httpwire.Request{Method: "GET", Target: "/"}, nil, nil)
	defer s.Close()
	message := &ws.Message{Item: transcript.ItemText, Data: payload}
	came := func(ev *transcript.Event) bool { return !ev.Sent }
	from := 0
	for range n {
		if err := s.Send(ctx, message); err != nil {
			t.Fatal(err)
		}
		i, err := s.Await(ctx, from, came)
		if err != nil {
			t.Fatal(err)
		}
		from = i + 1
	}
	if err := s.Send(ctx, &ws.Message{Item: transcript.ItemClose, Code: 1000}); err != nil {
		t.Fatal(err)
	}
	if err := s.AwaitEnd(ctx); err != nil {
		t.Fatal(err)
	}
	var rec transcript.Stream
	s.Record(&rec)
	if last := rec.Events[len(rec.Events)-1]; rec.Ended != transcript.EndedByServer || len(rec.Events) != 2*n+2 || last.Item != transcript.ItemClose {
		t.Fatalf("ended by %s: %+v, after %d events", rec.Ended, rec.Failure, len(rec.Events))
	}
	for i, ev := range rec.Events[:2*n] {
		if ev.Data != string(payload) {
			t.Fatalf("event %d has %d bytes", i, len(ev.Data))
		}
	}
}

func coder(t testing.TB, addr string, payload []byte, n int) {
	ctx := t.Context()
	c, _, err := websocket.Dial(ctx, "ws://"+addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	for range n {
		if err := c.Write(ctx, websocket.MessageText, payload); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(ctx); err != nil || len(got) != len(payload) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil && ctx.Err() == context.Canceled {
		t.Fatal(err)
	}
}
