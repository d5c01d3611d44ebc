package connector

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
)

// hello is the answer to the first request of a connection.
const hello = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`

// TestWhatWaitsForAProcessThatDoesNotReadIsBounded uses a process that completes the handshake and then reads
// nothing.
func TestWhatWaitsForAProcessThatDoesNotReadIsBounded(t *testing.T) {
	s := newSet(t)
	s.connector.MaxMessage = 1 << 20
	config := extension.Config{
		Type: "stdio", Name: "test", Cmd: "sh",
		Args: []string{"-c", `read -r line; id=${line#*\"id\":}; printf '` + fmt.Sprintf(hello, "%s") + `\n' "${id%%,*}"; exec sleep 60`},
	}
	add(t, s, config)
	const calls = 5
	results := make(chan string, calls)
	for range calls {
		go func() {
			results <- written(s.Call(t.Context(), quiet("test__x", `{"text":"`+strings.Repeat("x", 300_000)+`"}`)))
		}()
	}
	for range calls {
		if got := within(t, "a call", results); got != "error -32603: Connection closed" {
			t.Errorf("%.200q", got)
		}
	}
	if got := written(s.Call(t.Context(), quiet("test__x", "{}"))); got != "error -32603: Connection closed" {
		t.Errorf("behind that: %.200q", got)
	}
}

// TestAProcessThatStopsReadingEndsWithTheRequest checks that a message which is not read before its request ends
// closes the connection, and that nothing waits any longer.
func TestAProcessThatStopsReadingEndsWithTheRequest(t *testing.T) {
	for name, ctx := range map[string]func(*testing.T) context.Context{
		"late": func(t *testing.T) context.Context { return t.Context() },
		"the client has gone": func(t *testing.T) context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSet(t)
			s.connector.MaxMessage = 1 << 20
			add(t, s, extension.Config{Type: "stdio", Name: "test", Cmd: "sh", Timeout: new(int64(1)), Args: []string{"-c", introducing + "exec sleep 60"}})
			results := make(chan string, 2)
			for range 2 { // the second waits for the first
				go func() {
					results <- written(s.Call(ctx(t), quiet("test__x", `{"text":"`+strings.Repeat("x", 300_000)+`"}`)))
				}()
			}
			for range 2 {
				if got := within(t, "a call", results); got != "error -32603: No answer within 1 s" && got != "error -32603: Connection closed" {
					t.Errorf("%.200q", got)
				}
			}
			if got := written(s.Call(t.Context(), quiet("test__x", "{}"))); got != "error -32603: Connection closed" {
				t.Errorf("behind that: %.200q", got)
			}
		})
	}
}

func TestAProcessThatReadsIsSentAsMuchAsALargestMessage(t *testing.T) {
	s := newSet(t)
	s.connector.MaxMessage = 1 << 20
	add(t, s, server(t, "test", "scripted"))
	for range 3 {
		if got := written(s.Call(t.Context(), quiet("test__size", `{"bytes":1000,"text":"`+strings.Repeat("x", 1<<20-100)+`"}`))); !strings.Contains(got, "xxx") {
			t.Errorf("%.200q", got)
		}
	}
}
