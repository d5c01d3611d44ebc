package telemetry

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/lockstep-dev/lockstep/internal/memnet"
)

// A collector is a server that keeps what it gets, in a bubble of synctest.
type collector struct {
	listener *memnet.Listener
	log      lines // of the failures
	away     atomic.Bool

	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

// lines are what was logged.
type lines struct {
	mu   sync.Mutex
	text []byte
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, line...)
	return len(line), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// collect returns telemetry that exports to a collector with these answers.
func collect(t *testing.T, answer http.HandlerFunc, env map[string]string) (*collector, *Telemetry) {
	t.Helper()
	c := &collector{listener: memnet.Listen()}
	memnet.Serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.requests, c.bodies = append(c.requests, r), append(c.bodies, body)
		c.mu.Unlock()
		answer(w, r)
	})}, c.listener)
	s, warnings := Read(lookup(env))
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	for _, to := range []*target{s.traces, s.metrics, s.logs} {
		if to != nil {
			to.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				if c.away.Load() {
					return nil, syscall.ECONNREFUSED
				}
				return c.listener.Dial(ctx)
			}
		}
	}
	tel, err := Start(s, slog.New(slog.NewTextHandler(&c.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return c, tel
}

func (c *collector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}

// request records a request of a client.
func request(tel *Telemetry, path string) {
	_, span := tel.Request(&http.Request{Method: http.MethodGet, RequestURI: path, Header: http.Header{}})
	span.End("/x", http.StatusOK)
}

// Decision T12.
func TestASilentCollectorDelaysTheEndByTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, tel := collect(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, with())
		request(tel, "/x")
		slog.New(tel.Handler(slog.DiscardHandler)).Info("said")
		begun := time.Now()
		if err := tel.Shutdown(t.Context()); err == nil {
			t.Error("Shutdown reports nothing, want that it was not in time")
		}
		if took := time.Since(begun); took != flushTime {
			t.Errorf("Shutdown took %s, want %s", took, flushTime)
		}
	})
}

func TestTheEndWaitsForRequestsThatAreAboutToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tel := collect(t, func(http.ResponseWriter, *http.Request) {}, with("OTEL_METRICS_EXPORTER", "none"))
		_, span := tel.Request(&http.Request{Method: http.MethodGet, RequestURI: "/x", Header: http.Header{}})
		_, endless := tel.Request(&http.Request{Method: http.MethodGet, RequestURI: "/y", Header: http.Header{}})
		time.AfterFunc(endTime/2, func() { span.End("/x", http.StatusOK) })
		begun := time.Now()
		if err := tel.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took != endTime || c.count() != 1 {
			t.Errorf("Shutdown took %s and made %d exports, want %s and 1", took, c.count(), endTime)
		}
		endless.End("", 0)
	})
}

// The line has only the address of the collector, and redirects are not followed (decision T11).
func TestAFailureIsLoggedOnceUntilASuccess(t *testing.T) {
	const only = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	synctest.Test(t, func(t *testing.T) {
		status := http.StatusBadRequest
		c, tel := collect(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "canary-body")
		}, map[string]string{only: "http://canary-user:canary-password@collector:4318/canary-path?canary-query", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=canary-header"})
		for _, step := range []struct{ status, exports, lines int }{{400, 1, 1}, {500, 2, 1}, {200, 3, 1}, {307, 4, 2}} {
			status = step.status
			request(tel, "/x")
			time.Sleep(6 * time.Second)
			synctest.Wait()
			if lines := strings.Count(c.log.String(), "\n"); lines != step.lines || c.count() != step.exports {
				t.Errorf("after status %d: %d exports and %d lines, want %d and %d", step.status, c.count(), lines, step.exports, step.lines)
			}
		}
		log := c.log.String()
		if !strings.Contains(log, "signal=traces endpoint=http://collector:4318 reason=\"status 400\"") || strings.Contains(log, "canary") {
			t.Errorf("the log is %s", log)
		}
		first := c.requests[0]
		if first.RequestURI != "/canary-path?canary-query" || first.Header.Get("X-Key") != "canary-header" {
			t.Errorf("the first export went to %s with %v", first.RequestURI, first.Header)
		}
		if user, password, _ := first.BasicAuth(); user != "canary-user" || password != "canary-password" {
			t.Errorf("the first export was sent by %q, %q", user, password)
		}
		if err := tel.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAnExportIsSentAgainUntilItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tel := collect(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			with("OTEL_METRICS_EXPORTER", "none", "OTEL_BSP_SCHEDULE_DELAY", "10"))
		request(tel, "/x")
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if c.log.String() != "" || c.count() < 2 {
			t.Errorf("after 9 s: %d exports, and the log is %q; want several and nothing", c.count(), c.log.String())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !strings.Contains(c.log.String(), "status 503") {
			t.Errorf("after 11 s, the log is %q", c.log.String())
		}
		c.away.Store(true) // no connection is a reason to send again, too
		request(tel, "/x")
		time.Sleep(3 * time.Second)
		c.away.Store(false)
		before := c.count()
		time.Sleep(6 * time.Second)
		if c.count() == before {
			t.Error("an export without a connection was not sent again")
		}
		begun := time.Now()
		_ = tel.Shutdown(t.Context())
		if took := time.Since(begun); took > flushTime {
			t.Errorf("Shutdown took %s", took)
		}
	})
}

// Decision T13.
func TestATextThatIsNotUnicodeDoesNotBreakItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tel := collect(t, func(http.ResponseWriter, *http.Request) {}, with("OTEL_METRICS_EXPORTER", "none", "OTEL_LOGS_EXPORTER", "none"))
		request(tel, "/a\xff b")
		ctx, tool := tel.Tool(t.Context(), "a\xffb", "c\xff")
		tool.End(ctx, nil)
		_, call := tel.Chat(ctx, "p\xff", "m\xff", "http://h\xff/")
		call.ResponseModel, call.FinishReason = "r\xff", "f\xff"
		call.End("")
		if err := tel.Shutdown(t.Context()); err != nil || c.log.String() != "" {
			t.Fatal(err, c.log.String())
		}
		var got coltracepb.ExportTraceServiceRequest
		if err := proto.Unmarshal(c.bodies[0], &got); err != nil {
			t.Fatal(err)
		}
		if spans := got.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans(); len(spans) != 3 || spans[1].GetName() != "execute_tool a\uFFFDb" {
			t.Errorf("the spans are %v, want three", spans)
		}
	})
}
