package server_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// streams is the number of streams that receive each event.
const streams = 500

// BenchmarkFanOut sends events to 500 streams, each after all streams have received the previous one, and counts
// deliveries over loopback sockets. The same client reads all servers. "bare" is the cost of a handler that only
// writes and flushes the same bytes. It and the server share this process with the client; the reference has a
// process of its own.
func BenchmarkFanOut(b *testing.B) {
	const events = 10 // per round
	round := func(b *testing.B, addr string, cost func(ratio.Cost) ratio.Cost) func() ratio.Cost {
		publish := fanOut(b, addr)
		publish() // waits until every stream is warm
		return func() ratio.Cost {
			return cost(ratio.Of(func() {
				for range events {
					publish()
				}
			}))
		}
	}
	all := func(c ratio.Cost) ratio.Cost { return c }
	withoutCPU := func(c ratio.Cost) ratio.Cost { return ratio.Cost{Wall: c.Wall} } // the CPU time of another process is not known
	for _, bm := range []struct {
		name  string
		start func(testing.TB) (addr string)
		cost  func(ratio.Cost) ratio.Cost
	}{
		{"server", startServer, all},
		{"reference", startReference, withoutCPU},
	} {
		b.Run(bm.name, func(b *testing.B) {
			ours, theirs := ratio.Report(b, events*streams,
				ratio.Candidate{Name: bm.name, Round: round(b, bm.start(b), bm.cost)},
				ratio.Candidate{Name: "bare", Round: round(b, startBare(b), all)},
			)
			b.ReportMetric(1/ours.Seconds(), bm.name+"-deliveries/s")
			b.ReportMetric(1/theirs.Seconds(), "bare-deliveries/s")
		})
	}
}

// fanOut opens the streams of a server. The returned function publishes an event, and waits until every stream has
// received it.
func fanOut(b *testing.B, addr string) (publish func()) {
	audience := listen(b, addr)
	b.Cleanup(audience.close)
	client := &http.Client{}
	b.Cleanup(client.CloseIdleConnections)
	body := `{"clientID":"c","tools":[{"id":"` + strings.Repeat("x", 100) + `","description":"","parameters":{}}]}`
	return func() {
		audience.missing.Add(streams)
		resp, err := client.Post("http://"+addr+"/client-tools/register", "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			b.Fatal(resp.Status)
		}
		<-audience.complete
	}
}

func startServer(b testing.TB) (addr string) { return startServerIn(b, settings.Below(b.TempDir())) }

func startServerIn(b testing.TB, directories settings.Directories) (addr string) {
	return serveWhile(b, func(ctx context.Context, ln net.Listener) {
		srv, err := server.New(server.Config{RateLimit: &clienttools.RateLimit{}, Directory: "/", Directories: directories})
		if err != nil {
			b.Error(err)
			return
		}
		if err := srv.Serve(ctx, ln); err != nil {
			b.Error(err)
		}
	})
}

func startBare(b *testing.B) (addr string) {
	event := []byte(data(registeredEvent("c", "client_c_"+strings.Repeat("x", 100))))
	return serveWhile(b, func(ctx context.Context, ln net.Listener) { serveBare(ctx, ln, event) })
}

// serveWhile serves until the benchmark ends.
func serveWhile(b testing.TB, serve func(context.Context, net.Listener)) (addr string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { serve(ctx, ln) })
	b.Cleanup(func() {
		stop()
		running.Wait()
	})
	return ln.Addr().String()
}

// startReference starts the reference server, which chooses its port.
func startReference(b testing.TB) (addr string) {
	const program = "../reference/dist/main.js"
	if _, err := os.Stat(program); err != nil {
		b.Skip("the reference server is not built: run make build")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		b.Skip(err)
	}
	cmd := exec.Command(node, program, "agent", "--port", "0", "--directory", "/")
	cmd.Env = []string{"HOME=" + b.TempDir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on http://")
	if !ok {
		b.Fatalf("the reference server says %q (%v)", line, err)
	}
	return addr
}

// serveBare streams to GET /event, and publishes the event on any other request.
func serveBare(ctx context.Context, ln net.Listener, event []byte) {
	var mu sync.Mutex
	var streams []chan []byte
	mux := http.NewServeMux()
	mux.HandleFunc("GET /event", func(w http.ResponseWriter, r *http.Request) {
		mine := make(chan []byte, 16)
		mu.Lock()
		streams = append(streams, mine)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		flush := w.(http.Flusher).Flush
		io.WriteString(w, connected)
		flush()
		for {
			select {
			case b := <-mine:
				w.Write(b)
				flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range streams {
			s <- event
		}
	})
	serveUntil(ctx, ln, &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx }})
}

// serveUntil runs a server until the context ends.
func serveUntil(ctx context.Context, ln net.Listener, srv *http.Server) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		<-ctx.Done()
		srv.Close()
	}()
	srv.Serve(ln)
	<-closed
}

// An audience is a set of streams that count their events.
type audience struct {
	conns    []net.Conn
	reading  sync.WaitGroup
	missing  atomic.Int64 // how many expected events have not arrived
	complete chan struct{}
}

// listen opens the streams, and returns when each has received its first event.
func listen(b *testing.B, addr string) *audience {
	b.Helper()
	a := &audience{complete: make(chan struct{}, 1)}
	a.missing.Store(streams)
	for range streams {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		a.conns = append(a.conns, c)
		io.WriteString(c, "GET /event HTTP/1.1\r\nHost: localhost\r\n\r\n")
		a.reading.Go(func() { a.count(c) })
	}
	<-a.complete
	return a
}

// count counts the events of a stream by their ends, which comments do not have.
func (a *audience) count(stream io.Reader) {
	end := []byte("}\n\n")
	buf := make([]byte, 4096)
	kept := 0 // bytes at the start of buf that were read before and may be the start of an end
	for {
		n, err := stream.Read(buf[kept:])
		got := buf[:kept+n]
		if events := bytes.Count(got, end); events > 0 && a.missing.Add(int64(-events)) == 0 {
			a.complete <- struct{}{}
		}
		if err != nil {
			return
		}
		kept = copy(buf, got[max(0, len(got)-len(end)+1):])
	}
}

func (a *audience) close() {
	for _, c := range a.conns {
		c.Close()
	}
	a.reading.Wait()
}

// BenchmarkExecuteOverHTTP measures a whole execution: the caller's request, the client's stream, and the client's
// answer.
func BenchmarkExecuteOverHTTP(b *testing.B) {
	srv, err := server.New(server.Config{RateLimit: &clienttools.RateLimit{}, Directory: "/", Directories: settings.Below(b.TempDir())})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		if err := srv.Serve(ctx, ln); err != nil {
			b.Error(err)
		}
	})
	client := &http.Client{}
	defer client.CloseIdleConnections()
	post := func(path, body string) {
		resp, err := client.Post("http://"+ln.Addr().String()+path, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			b.Fatalf("%s: %s", path, resp.Status)
		}
	}
	post("/client-tools/register", `{"clientID":"c","tools":[{"id":"a","description":"","parameters":{}}]}`)
	pending, err := client.Get("http://" + ln.Addr().String() + "/client-tools/pending/c")
	if err != nil {
		b.Fatal(err)
	}
	running.Go(func() {
		events := bufio.NewScanner(pending.Body)
		for events.Scan() {
			if strings.HasPrefix(events.Text(), "data: {") {
				post("/client-tools/result", `{"requestID":"r","result":{"status":"success","title":"","output":"5"}}`)
			}
		}
	})
	for b.Loop() {
		post("/client-tools/execute", `{"toolID":"client_c_a","requestID":"r","input":{"x":1}}`)
	}
	pending.Body.Close()
}
