package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// answerPieces is how many pieces an answer has.
const answerPieces = 50

// BenchmarkReplies measures the first replies of sessions, with 50 pieces each, over loopback sockets, with sessions
// on disk. The model is a server in this process, so the figures include its cost and that of the client.
func BenchmarkReplies(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			addr, sessions := startReplies(b, b.N, func(w http.ResponseWriter, _ llmtest.Asked) { w.Write(wholeAnswer) })
			next := make(chan string, len(sessions))
			for _, session := range sessions {
				next <- session
			}
			close(next)
			b.ResetTimer()
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					client := &http.Client{Transport: &http.Transport{}}
					defer client.CloseIdleConnections()
					for session := range next {
						if body := mustPost(b, client, addr, "/reply", ask(session, "hi")); bytes.Count(body, []byte(`"Message"`)) != answerPieces {
							b.Errorf("a reply has other than %d messages: %.300s", answerPieces, body)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "replies/s")
			b.ReportMetric(float64(b.N)*answerPieces/b.Elapsed().Seconds(), "pieces/s")
		})
	}
}

// BenchmarkOpenReplies measures the memory of a reply that waits for its model: heap and stacks of the process, which
// has both ends of both connections.
func BenchmarkOpenReplies(b *testing.B) {
	const open = 500
	for b.Loop() {
		release := make(chan struct{})
		var waiting sync.WaitGroup
		waiting.Add(open)
		addr, sessions := startReplies(b, open, func(w http.ResponseWriter, _ llmtest.Asked) {
			waiting.Done()
			<-release
		})
		before := inUse()
		var conns []net.Conn
		for _, session := range sessions {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Fatal(err)
			}
			conns = append(conns, c)
			io.WriteString(c, withJSON("POST /reply", ask(session, "hi"), secret))
		}
		waiting.Wait()
		b.ReportMetric(float64(inUse()-before)/open/1024, "KiB/reply")
		close(release)
		for _, c := range conns {
			if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
				b.Error(err)
			}
			c.Close()
		}
	}
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// wholeAnswer is what the benchmark's model streams.
var wholeAnswer = func() []byte {
	var answer bytes.Buffer
	for _, event := range llmtest.Says("c1", strings.Split(strings.Repeat("some words ", answerPieces)[:answerPieces*11-1], "s ")[:answerPieces]...) {
		fmt.Fprintf(&answer, "data: %s\n\n", event)
	}
	return answer.Bytes()
}()

// startReplies starts a server, its model and some sessions.
func startReplies(b *testing.B, count int, answer func(http.ResponseWriter, llmtest.Asked)) (addr string, sessions []string) {
	b.Helper()
	model := serveWhile(b, func(ctx context.Context, ln net.Listener) {
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked := llmtest.Asked{Body: string(body), Gone: r.Context().Done()}
			if naming(asked) {
				llmtest.Whole(w, "A name")
				return
			}
			answer(w, asked)
		})}
		go func() {
			<-ctx.Done()
			srv.Close()
		}()
		srv.Serve(ln)
	})
	home := b.TempDir() // removed after the server has ended, which names sessions until then
	addr = serveWhile(b, func(ctx context.Context, ln net.Listener) {
		srv, err := server.New(server.Config{
			Directory: "/", Directories: settings.Below(home), Env: modelEnv("OPENAI_HOST", "http://"+model), MaxActiveAgents: count,
		})
		if err != nil {
			b.Error(err)
			return
		}
		if err := srv.Serve(ctx, ln); err != nil {
			b.Error(err)
		}
	})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range count {
		session := field(b, string(mustPost(b, client, addr, "/agent/start", `{"working_dir":"/w"}`)), "id")
		mustPost(b, client, addr, "/agent/update_provider", `{"provider":"openai","model":"gpt-4o","session_id":"`+session+`"}`)
		sessions = append(sessions, session)
	}
	return addr, sessions
}

// mustPost sends a JSON body with the secret, and returns the body of an answer with status 200.
func mustPost(b *testing.B, client *http.Client, addr, path, body string) []byte {
	req, err := http.NewRequest("POST", "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	name, value, _ := strings.Cut(secret, ": ")
	req.Header.Set(name, value)
	resp, err := client.Do(req)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		b.Errorf("%s: %s %s, %v", path, resp.Status, answer, err)
	}
	return answer
}
