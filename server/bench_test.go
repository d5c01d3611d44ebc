package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-dev/lockstep/server"
)

// BenchmarkFanOut sends one event to 500 streams and waits until all have it. "bare" is what a handler costs that does
// nothing but write and flush the same bytes: the figure to be near to.
func BenchmarkFanOut(b *testing.B) {
	const streams = 500
	event := data(registeredEvent("c", "client_c_"+strings.Repeat("x", 100)))
	body := `{"clientID":"c","tools":[{"id":"` + strings.Repeat("x", 100) + `","description":"","parameters":{}}]}`
	for _, tc := range []struct {
		name  string
		serve func(context.Context, net.Listener)
	}{
		{"server", func(ctx context.Context, ln net.Listener) {
			srv, err := server.New(server.Config{Directory: "/"})
			if err != nil {
				b.Fatal(err)
			}
			if err := srv.Serve(ctx, ln); err != nil {
				b.Error(err)
			}
		}},
		{"bare", func(ctx context.Context, ln net.Listener) { serveBare(ctx, ln, []byte(event)) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() { tc.serve(ctx, ln) })
			defer running.Wait()
			defer stop()

			audience := listen(b, ln.Addr().String(), streams)
			defer audience.close()
			client := &http.Client{}
			defer client.CloseIdleConnections()
			publish := func() {
				audience.expect(fmt.Sprintf("%x\r\n%s\r\n", len(event), event))
				resp, err := client.Post("http://"+ln.Addr().String()+"/client-tools/register", "application/json", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				<-audience.complete
			}
			publish() // and wait until every stream is warm
			for b.Loop() {
				publish()
			}
			b.ReportMetric(float64(b.N*streams)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}

// serveBare streams to GET /event and publishes the event on any other request.
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
	srv := &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		srv.Close()
	}()
	srv.Serve(ln)
	<-done
}

// An audience are streams that count what they get.
type audience struct {
	conns    []net.Conn
	reading  sync.WaitGroup
	missing  atomic.Int64 // bytes that are expected and have not come
	complete chan struct{}
}

func listen(b *testing.B, addr string, streams int) *audience {
	b.Helper()
	a := &audience{complete: make(chan struct{}, 1)}
	for range streams {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		a.conns = append(a.conns, c)
		io.WriteString(c, "GET /event HTTP/1.1\r\nHost: test\r\n\r\n")
		head := bufio.NewReader(c)
		for line := ""; !strings.Contains(line, "server.connected"); {
			if line, err = head.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		}
		for range 2 { // the blank line behind the event, and the end of the chunk
			if _, err := head.ReadString('\n'); err != nil {
				b.Fatal(err)
			}
		}
		rest, _ := head.Peek(head.Buffered())
		a.reading.Go(func() { a.count(io.MultiReader(bytes.NewReader(rest), c)) })
	}
	return a
}

func (a *audience) count(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		if n > 0 && a.missing.Add(int64(-n)) == 0 {
			a.complete <- struct{}{}
		}
		if err != nil {
			return
		}
	}
}

// expect says what every stream will get next.
func (a *audience) expect(bytes string) { a.missing.Add(int64(len(bytes) * len(a.conns))) }

func (a *audience) close() {
	for _, c := range a.conns {
		c.Close()
	}
	a.reading.Wait()
}

// BenchmarkExecuteOverHTTP is a whole execution: the caller's request, the client's stream, the client's answer.
func BenchmarkExecuteOverHTTP(b *testing.B) {
	srv, err := server.New(server.Config{Directory: "/"})
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
