package llm_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

func logged(t *testing.T, dir string, log *slog.Logger, answer func(http.ResponseWriter, llmtest.Asked)) *llm.Provider {
	t.Helper()
	_, transport := llmtest.Start(t, answer)
	f := &llm.Factory{Settings: openAI, Env: variables(nil).lookup, Transport: transport, Logs: llm.NewLogs(dir, log)}
	p, err := f.New("openai", llm.ModelConfig{ModelName: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheLastTenCallsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	p := logged(t, dir, slog.New(slog.DiscardHandler), func(w http.ResponseWriter, asked llmtest.Asked) {
		llmtest.Events(w, llmtest.Says("c", "ok")...)
	})
	var calls sync.WaitGroup
	for n := range 30 {
		calls.Go(func() {
			for range p.Answer(t.Context(), llm.Request{System: fmt.Sprint("early ", n)}) {
			}
		})
	}
	calls.Wait()
	for n := range 3 {
		for range p.Answer(t.Context(), llm.Request{System: fmt.Sprint("late ", n)}) {
		}
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 10 {
		t.Fatalf("%d files, %v; want 10", len(names), err)
	}
	for n := range 10 {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("llm_request.%d.jsonl", n)))
		lines := strings.Split(string(text), "\n")
		want := "early"
		if n < 3 {
			want = fmt.Sprint("late ", 2-n)
		}
		if err != nil || len(lines) != 4 || !strings.Contains(lines[0], want) || strings.Contains(string(text), "sk-secret") {
			t.Errorf("file %d: %v, want three lines about %q and no key:\n%s", n, err, want, text)
			continue
		}
		if want := `"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`; !strings.HasSuffix(lines[2], want) {
			t.Errorf("file %d ends with\n%s, want\n%s", n, lines[2], want)
		}
	}
}

func TestAFailureIsLogged(t *testing.T) {
	dir := t.TempDir()
	p := logged(t, dir, slog.New(slog.DiscardHandler), func(w http.ResponseWriter, asked llmtest.Asked) { w.WriteHeader(404) })
	for range p.Answer(t.Context(), llm.Request{}) {
	}
	text, err := os.ReadFile(filepath.Join(dir, "llm_request.0.jsonl"))
	if want := `{"error":"Request failed: Resource not found (404): "}` + "\n"; err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("log: %v, %s; want it to end with %s", err, text, want)
	}
}

func TestALogThatCannotBeWrittenFailsNoCall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	testfile.Write(t, dir, "")
	var said strings.Builder
	p := logged(t, dir, slog.New(slog.NewTextHandler(&said, nil)), func(w http.ResponseWriter, asked llmtest.Asked) {
		llmtest.Events(w, llmtest.Says("c", "ok")...)
	})
	if got, err := pieces(t, p); err != nil || len(got) != 2 || !strings.Contains(said.String(), "log of a model call lost") {
		t.Errorf("%s, %v, and logged %q; want an answer and a warning", got, err, said.String())
	}
}

func TestLogsOfAKilledServerAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		"llm_request.1.part": 25 * time.Hour, "llm_request.2.part": 23 * time.Hour,
		"llm_request.0.jsonl": 1000 * time.Hour, "other.part": 1000 * time.Hour,
	} {
		path, then := filepath.Join(dir, name), time.Now().Add(-age)
		err := os.WriteFile(path, []byte("{}"), 0o600)
		if err == nil {
			err = os.Chtimes(path, then, then)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	llm.NewLogs(dir, slog.New(slog.DiscardHandler)).Sweep()
	llm.NewLogs(filepath.Join(dir, "none"), slog.New(slog.DiscardHandler)).Sweep()
	entries, err := os.ReadDir(dir)
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if got, want := strings.Join(left, " "), "llm_request.0.jsonl llm_request.2.part other.part"; got != want || err != nil {
		t.Errorf("left: %s, %v; want %s", got, err, want)
	}
}

// TestABrokenStreamIsLogged checks that the server's log says which model broke off its stream, and how.
func TestABrokenStreamIsLogged(t *testing.T) {
	says := llmtest.Says("c", "ok")
	for name, tc := range map[string]struct {
		events []string
		want   string // the logged reason; "" if nothing is logged
	}{
		"complete":              {says, ""},
		"without [DONE]":        {[]string{`{"id":"c","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`}, ""},
		"without its end":       {[]string{`{"id":"c","choices":[{"delta":{"content":"a"}}]}`}, "EOF"},
		"no JSON":               {[]string{`{"id":"c","choices":[{"delta":{"content":"a"}}]}`, `{`}, "unexpected EOF"},
		"an error of the model": {[]string{`{"error":{"message":"sk-secret is worn out"}}`}, "err="},
	} {
		var log strings.Builder
		_, transport := llmtest.Start(t, func(w http.ResponseWriter, _ llmtest.Asked) { llmtest.Events(w, tc.events...) })
		f := &llm.Factory{Settings: openAI, Env: variables(nil).lookup, Transport: transport, Log: slog.New(slog.NewTextHandler(&log, nil))}
		p, err := f.New("openai", llm.ModelConfig{ModelName: "gpt-x"})
		if err != nil {
			t.Fatal(err)
		}
		for range p.Answer(t.Context(), llm.Request{}) {
		}
		logged := log.String()
		if tc.want == "" {
			if logged != "" {
				t.Errorf("%s: logged %q", name, logged)
			}
			continue
		}
		for _, want := range []string{"stream of a model broke", "provider=openai", "model=gpt-x", tc.want} {
			if !strings.Contains(logged, want) {
				t.Errorf("%s: the log does not say %q: %s", name, want, logged)
			}
		}
		if strings.Contains(logged, "sk-secret") {
			t.Errorf("%s: the log has the key: %s", name, logged)
		}
	}
}
