package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/client"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// openQuestions is how many questions of a server may be open.
const openQuestions = 16

func unreadable(err error) bool {
	return err != nil && err.Error() == "The list of tools cannot be read"
}

// TestMessagesAreBounded checks the bounds of decision X12 on all transports.
func TestMessagesAreBounded(t *testing.T) {
	overAll(t, false, func(t *testing.T, s *Set, _ *heard) {
		size := func(bytes int) string {
			result := make(chan string, 1)
			go func() {
				result <- written(s.Call(t.Context(), quiet("test__size", fmt.Sprintf(`{"bytes":%d}`, bytes))))
			}()
			return within(t, "the call", result)
		}
		if got := size(maxInTests); len(got) < maxInTests-1000 {
			t.Errorf("the largest message: %.100q", got)
		}
		for _, when := range []string{"a larger one", "behind that"} {
			if got := size(maxInTests + 2*1024); got != "error -32603: Connection closed" {
				t.Errorf("%s: %.100q", when, got)
			}
		}
	})
}

func TestLevelsOfMessagesAreBounded(t *testing.T) {
	overAll(t, false, func(t *testing.T, s *Set, _ *heard) {
		for _, tc := range []struct {
			levels int
			want   string
		}{{1000, `"text":"deep"`}, {1001, "error -32603: Connection closed"}, {10, "error -32603: Connection closed"}} {
			result := make(chan string, 1)
			go func() {
				result <- written(s.Call(t.Context(), quiet("test__deep", fmt.Sprintf(`{"levels":%d}`, tc.levels))))
			}()
			if got := within(t, "the call", result); !strings.Contains(got, tc.want) {
				t.Errorf("%d levels: %.100q, want %s", tc.levels, got, tc.want)
			}
		}
	})
}

func TestTheBoundOfMessages(t *testing.T) {
	if got := new(Connector).maxMessage(); got != 16<<20 {
		t.Errorf("%d bytes, want 16 MiB", got)
	}
}

func TestListsOfToolsAreBounded(t *testing.T) {
	overAll(t, false, func(t *testing.T, s *Set, h *heard) {
		if tools, err := s.ToolsOf(t.Context(), "test"); !unreadable(err) || tools != nil {
			t.Errorf("an endless list: %d tools, %v", len(tools), err)
		}
		if n := h.count(`"method":"tools/list"`); n != 0 && n != 100 { // 0 if the transport does not count
			t.Errorf("%d pages were asked for, want 100", n)
		}
		if got := written(s.Call(t.Context(), quiet("test__size", `{"bytes":1000}`))); !strings.Contains(got, "xxx") {
			t.Errorf("a call behind that: %q", got)
		}
	})
}

func TestThePagesOfAListAreBoundedTogether(t *testing.T) {
	overAll(t, false, func(t *testing.T, s *Set, h *heard) {
		m, _ := s.get("test")
		m.provider.(*client.Client).MaxList = 10 * len(page(""))
		if tools, err := s.ToolsOf(t.Context(), "test"); !unreadable(err) || tools != nil {
			t.Errorf("a list that is too large: %d tools, %v", len(tools), err)
		}
		if n := h.count(`"method":"tools/list"`); n != 0 && n != 10 { // 0 if the transport does not count; the tenth page has a longer number
			t.Errorf("%d pages were asked for, want 10", n)
		}
	})
}

func TestRequestsAreLimitedInTime(t *testing.T) {
	t.Parallel()
	overAll(t, true, func(t *testing.T, s *Set, h *heard) {
		asked := make(chan struct{}, 2)
		var both sync.WaitGroup
		for name, arguments := range map[string]string{"silent": `{}`, "ask": `{"questions":2}`} {
			call := quiet("test__"+name, arguments)
			call.Elicit = func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
				asked <- struct{}{}
				<-ctx.Done() // questions have the time limit of the call
				return nil, errors.New("Timeout waiting for user response")
			}
			both.Go(func() {
				start := time.Now()
				got := written(s.Call(t.Context(), call))
				if took := time.Since(start); got != "error -32603: No answer within 1 s" || took < time.Second {
					t.Errorf("%s: %q after %s", name, got, took)
				}
			})
		}
		both.Wait()
		<-asked
		<-asked
		if strings.HasSuffix(t.Name(), "stdio") {
			return
		}
		h.await(t, `"error":{"code":-32603,"message":"Timeout waiting for user response"}`, 2)
	})
}

// callWithoutAnswers calls a tool whose questions the user does not answer. asked gets a value for each question.
func callWithoutAnswers(t *testing.T, s *Set, call toolbox.Call) (asked chan struct{}, result chan string, cancel context.CancelFunc) {
	asked, result = make(chan struct{}, openQuestions), make(chan string, 1)
	call.Elicit = func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { result <- written(s.Call(ctx, call)) }()
	return asked, result, cancel
}

func TestQuestionsAreBounded(t *testing.T) {
	overAll(t, false, func(t *testing.T, s *Set, h *heard) {
		call := quiet("test__ask", fmt.Sprintf(`{"questions":%d}`, openQuestions+2))
		asked, result, cancel := callWithoutAnswers(t, s, call)
		for range openQuestions {
			<-asked
		}
		if !strings.HasSuffix(t.Name(), "stdio") {
			h.await(t, `"error":{"code":-32603,"message":"Too many open questions"}`, 2)
		}
		cancel()
		within(t, "the call", result)
	})
}

// TestRejectionsWaitForAServerThatAsksFirst: a server asks 1,500 questions before it reads an answer, and the refusals
// are more than a pipe holds. With more questions than the limit, it must read meanwhile (decisions X9, X12).
func TestRejectionsWaitForAServerThatAsksFirst(t *testing.T) {
	for questions, want := range map[int]string{1500: "xxx", 6000: "error -32603: Connection closed"} {
		s := newSet(t)
		add(t, s, server(t, "test", "scripted"))
		call := quiet("test__ask", fmt.Sprintf(`{"questions":%d}`, questions))
		asked, result, cancel := callWithoutAnswers(t, s, call)
		<-asked
		if got := written(s.Call(t.Context(), quiet("test__size", `{"bytes":1000}`))); !strings.Contains(got, want) {
			t.Errorf("a call behind %d questions: %.99q, want %s", questions, got, want)
		}
		cancel()
		within(t, "the call", result)
	}
}

func TestExtensionsAreBounded(t *testing.T) {
	s := newSet(t)
	add := func(n int) error {
		return s.Add(t.Context(), extension.Config{Type: "frontend", Name: "e" + strconv.Itoa(n)})
	}
	for n := range maxExtensions {
		if err := add(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(maxExtensions); !errors.Is(err, tooMany) {
		t.Errorf("one more: %v", err)
	}
	if err := add(7); err != nil {
		t.Errorf("one in the place of another: %v", err)
	}
}

// TestExtensionsThatAreConnectedToAreBounded checks that connections that are being opened count too.
func TestExtensionsThatAreConnectedToAreBounded(t *testing.T) {
	s := newSet(t)
	add := func(config extension.Config) error { return s.Add(t.Context(), config) }
	for n := range maxExtensions - 1 {
		if err := add(extension.Config{Type: "frontend", Name: "e" + strconv.Itoa(n)}); err != nil {
			t.Fatal(err)
		}
	}
	accepted := make(chan struct{}, 1)
	connecting := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		accepted <- struct{}{}
		<-r.Context().Done()
	}))
	defer connecting.Close()
	last := make(chan error, 1)
	go func() { last <- add(extension.Config{Type: "streamable_http", Name: "slow", URI: connecting.URL}) }()
	<-accepted
	if err := add(extension.Config{Type: "frontend", Name: "more"}); !errors.Is(err, tooMany) {
		t.Errorf("one more: %v", err)
	}
	for _, name := range []string{"e7", "slow"} {
		if err := add(extension.Config{Type: "frontend", Name: name}); err != nil {
			t.Errorf("%s in the place of another, or of one that is being connected to: %v", name, err)
		}
	}
	s.Close()
	s.mu.Lock()
	if len(s.adding) > 0 {
		t.Error("the set is closed, and one is still being connected to")
	}
	s.mu.Unlock()
	if err := <-last; !errors.Is(err, mcperror.Closed) {
		t.Errorf("the one that was connected to: %v", err)
	}
	if err := add(extension.Config{Type: "frontend", Name: "late"}); !errors.Is(err, mcperror.Closed) {
		t.Errorf("one behind the end: %v", err)
	}
}

func TestTimeLimits(t *testing.T) {
	for seconds, want := range map[int64]time.Duration{-1: 300 * time.Second, 0: 300 * time.Second, 1: time.Second, 86400: 86400 * time.Second, 86401: 86400 * time.Second, 1 << 62: 86400 * time.Second} {
		config := extension.Config{Timeout: &seconds}
		if seconds < 0 {
			config.Timeout = nil
		}
		if got := timeoutOf(config); got != want {
			t.Errorf("timeout %d: %s, want %s", seconds, got, want)
		}
	}
}
