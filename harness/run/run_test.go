package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// anything is a contract that has every operation. It objects to every target with "wrong" in it.
type anything struct{}

func (anything) Operation(method, target string) string {
	path, _, _ := strings.Cut(target, "?")
	return method + " " + path
}

func (anything) EventNamer(string) func(*transcript.Event) string {
	return func(ev *transcript.Event) string { return cmp.Or(string(ev.Item), ev.Type) }
}

func (anything) MessageObjections(string, *transcript.Event) []scenario.Objection { return nil }

func (anything) Objections(_, target string, _ transcript.Header, _ []byte) []scenario.Objection {
	if strings.Contains(target, "wrong") {
		return []scenario.Objection{{Place: "path", Text: "it is wrong"}}
	}
	return nil
}

// story parses the steps of a scenario.
func story(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	return stories(t, text)[0]
}

// stories parses the steps of a scenario, for each row of its table.
func stories(t *testing.T, text string) []*scenario.Scenario {
	t.Helper()
	dir := t.TempDir()
	text = "scenario: story\nwhy: It is told\nsource: here\n" + strings.TrimLeft(text, "\n")
	testfile.Write(t, filepath.Join(dir, "story.yaml"), text)
	var all []*scenario.Scenario
	if err := scenario.Each(dir, func(rows []*scenario.Scenario) { all = append(all, rows...) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func options() *Options {
	return &Options{
		Step: 10 * time.Second, Scenario: time.Minute, Settle: time.Second, Events: 1000, Seed: 1, Contract: anything{},
		Outside:    func(_, _ string, ev *transcript.Event) bool { return ev.Sent || ev.Item == "" && ev.Name == "ping" },
		Processors: func(time.Duration) (runqueue.Use, bool) { return runqueue.Use{}, false },
	}
}

// target returns a target that answers over memory until the test ends.
func target(t *testing.T, name string, handler http.Handler) *Target {
	l := memnet.Listen()
	memnet.Serve(t, &http.Server{Handler: handler}, l)
	c := httpwire.NewClient(&url.URL{Scheme: "http", Host: "memory"}, &httpwire.Options{
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
	})
	t.Cleanup(c.Close)
	return &Target{Name: name, Client: c}
}

// walk runs a story on two servers with a fake clock. It calls check with both transcripts and the time that it took.
func walk(
	t *testing.T, s *scenario.Scenario, opts *Options, ref, cand http.Handler,
	check func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		targets := []*Target{target(t, "ref", ref), target(t, "cand", cand)}
		start := time.Now()
		ts := Scenario(t.Context(), s, targets, opts)
		check(t, ts[0], ts[1], time.Since(start))
	})
}

// answer is a server that responds to every request with a JSON text.
func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, text)
	}
}

// moment advances the fake clock by next to nothing.
const moment = time.Nanosecond

// A line is an event, or a comment when its name begins with a colon, and the pause before it.
type line struct {
	after time.Duration
	name  string
}

// tell is a server whose streams send these lines and then stay silent. It answers all other requests with {}, a moment
// later, so that the lines sent before have arrived.
func tell(lines ...line) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			time.Sleep(moment)
			answer("{}")(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for _, l := range lines {
			select {
			case <-time.After(l.after):
			case <-r.Context().Done():
				return
			}
			if strings.HasPrefix(l.name, ":") {
				fmt.Fprintf(w, "%s\n\n", l.name)
			} else {
				fmt.Fprintf(w, "event: %s\ndata: {}\n\n", l.name)
			}
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

// names returns the names of a stream's events.
func names(t *transcript.Transcript, stream string) []string {
	var out []string
	for _, s := range t.Streams {
		if s.Name != stream {
			continue
		}
		for _, ev := range s.Events {
			out = append(out, ev.Name)
		}
	}
	return out
}

// outcomes returns one text for each step: done, "skipped: …", "unmet: …", "fault: …", "failed: …".
func outcomes(t *transcript.Transcript) []string {
	var out []string
	for _, s := range t.Steps {
		word := "done"
		switch {
		case s.Skipped != "":
			word = "skipped: " + s.Skipped
		case s.Fault != "":
			word = "fault: " + s.Fault
		case s.Unmet != nil:
			word = "unmet: " + s.Unmet.What + ": " + s.Unmet.Why
		}
		for _, x := range s.Exchanges {
			if x.Failure != nil {
				word = "failed: " + x.Failure.Text
			}
		}
		out = append(out, s.ID+" "+word)
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// ended is a server whose streams have one event and then end.
func ended(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: %s\ndata: {}\n\n", name)
	}
}
