//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

// A prompter is a program with a client library and a tool. It sends prompts in a new session, one after the other.
type prompter func(prompts int) error

// prompts is the number of prompts of a session, and sessions the minimum number of sessions of a benchmark.
const prompts, sessions = 10, 40

// BenchmarkTurn measures what a client's tool adds to a turn of a model: the time from the end of the answer that calls
// the tool to the model's next request. The model, the server and the client have processes of their own; only the
// client in Go shares that of the model. In every second turn the model calls a tool that does not exist. The server
// answers that by itself, with the same number of requests to the model.
func BenchmarkTurn(b *testing.B) {
	for _, server := range servers {
		for _, library := range []struct {
			name  string
			start func(b *testing.B, s *served) prompter
		}{
			{"go-sse", func(b *testing.B, s *served) prompter { return promptInGo(b, s, clienttools.SSE) }},
			{"go-websocket", func(b *testing.B, s *served) prompter { return promptInGo(b, s, clienttools.WebSocket) }},
			{"typescript-sse", promptInTypeScript},
		} {
			b.Run(server.name+"-server/"+library.name, func(b *testing.B) {
				upstream, err := stub.Start("llm", stub.OpenAI, stub.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(upstream.Close)
				model := &adder{}
				b.Cleanup(upstream.Attach(model, "", true, time.Now()))
				s := startContender(b, server, b.TempDir(), upstream.URL(), withoutRateLimit(b))
				prompt := library.start(b, s)
				if err := prompt(prompts); err != nil { // warms both up
					b.Fatal(err)
				}
				model.forget()
				done := 0
				session := func() {
					if err := prompt(prompts); err != nil {
						b.Fatal(err)
					}
					done++
				}
				for b.Loop() {
					session()
				}
				for done < sessions {
					session()
				}
				model.report(b, done*prompts/2)
			})
		}
	}
}

// An adder is a model that calls a tool with its first answer of a turn, and ends the turn with the second one. In every
// second turn, the tool does not exist.
type adder struct {
	mu        sync.Mutex
	asked     int
	exchanges []*transcript.Exchange
	stray     string // what should not have happened
}

func (m *adder) Answer(r *transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	turn, first, body := m.asked/2, m.asked%2 == 0, string(r.Body.Bytes)
	m.asked++
	const b = 1_000_000
	piece := stub.Piece{}
	switch text := "done"; {
	case first && turn%2 == 0:
		piece.Tool = &stub.Tool{ID: fmt.Sprint("call_", turn), Name: "client_bench_add", Arguments: []string{fmt.Sprintf(`{"a":%d,"b":%d}`, turn+1, b)}}
	case first:
		piece.Tool = &stub.Tool{ID: fmt.Sprint("call_", turn), Name: "client_bench_none", Arguments: []string{"{}"}}
	default:
		piece.Text = &text
		if turn%2 == 0 && !strings.Contains(body, strconv.Itoa(turn+1+b)) {
			m.stray = "the model does not get the sum: " + body
		}
	}
	return &stub.Answer{Message: &stub.Message{ID: fmt.Sprint("m", m.asked), Model: "gpt-4o", Pieces: []stub.Piece{piece}}}, func(x *transcript.Exchange) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.exchanges = append(m.exchanges, &transcript.Exchange{Sent: x.Sent, Done: x.Done})
	}
}

func (m *adder) Unexpected(_ *transcript.Exchange, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stray = why
}

func (m *adder) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exchanges = nil
}

// report reports the times between the two requests of the turns, for either tool.
func (m *adder) report(b *testing.B, turnsOfEither int) {
	b.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stray != "" || len(m.exchanges) != 4*turnsOfEither {
		b.Fatalf("%d requests to the model, want %d; %.1000s", len(m.exchanges), 4*turnsOfEither, m.stray)
	}
	slices.SortFunc(m.exchanges, func(x, y *transcript.Exchange) int { return int(x.Sent - y.Sent) })
	var took [2][]time.Duration
	for turn := range 2 * turnsOfEither {
		took[turn%2] = append(took[turn%2], m.exchanges[2*turn+1].Sent-m.exchanges[2*turn].Done)
	}
	b.ReportMetric(0, "ns/op") // removes the time of a session, which has no meaning
	for i, name := range []string{"tool", "no-tool"} {
		slices.Sort(took[i])
		b.ReportMetric(at(took[i], 0.5), name+"-p50-ms")
		b.ReportMetric(at(took[i], 0.99), name+"-p99-ms")
	}
	b.ReportMetric(at(took[0], 0.5)-at(took[1], 0.5), "added-p50-ms")
}

// promptInGo uses the library in Go.
func promptInGo(b *testing.B, s *served, transport clienttools.Transport) prompter {
	api := s.api()
	b.Cleanup(api.close)
	client, err := clienttools.New(s.url, &clienttools.Options{ClientID: "bench", SecretKey: "test", Transport: transport})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := client.Close(); err != nil {
			b.Error(err)
		}
	})
	type numbers struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	add := clienttools.Tool("add", "Adds two numbers.", func(_ context.Context, in numbers) (string, error) { return strconv.Itoa(in.A + in.B), nil })
	if err := client.Register(b.Context(), add); err != nil {
		b.Fatal(err)
	}
	return func(prompts int) error {
		session, err := client.StartSession(b.Context(), "/")
		if err != nil {
			return err
		}
		_, err = api.do("PUT", "/sessions/"+session.ID+"/name", object{"name": "Named"}) // otherwise the server asks the model for one
		if err = errors.Join(err, session.SetModel(b.Context(), "openai", "gpt-4o")); err != nil {
			return err
		}
		for range prompts {
			if _, err := session.Prompt(b.Context(), "Add."); err != nil {
				return err
			}
		}
		return nil
	}
}

// promptInTypeScript uses the library in TypeScript, in a process of its own.
func promptInTypeScript(b *testing.B, s *served) prompter {
	library, err := filepath.Abs("../../sdk/ts/dist/index.js")
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), "node", "testdata/prompts.mjs", library, s.url)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Process.Kill() // its client does not end by itself
		cmd.Wait()
	})
	said := bufio.NewReader(out)
	return func(prompts int) error {
		if _, err := fmt.Fprintln(in, prompts); err != nil {
			return err
		}
		line, err := said.ReadString('\n')
		if err == nil && line != "prompted\n" {
			err = fmt.Errorf("the client says %q", line)
		}
		return err
	}
}
