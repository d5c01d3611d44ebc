//go:build unix

package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub/mcp/record"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A host is a server that starts MCP servers. The test writes the records of these servers itself.
func host(t *testing.T, dir string, say func(unique string) map[string][]record.Message) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, messages := range say(strings.TrimPrefix(r.URL.Path, "/")) {
			file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			for _, m := range messages {
				if err := record.Write(file, m); err != nil {
					t.Error(err)
				}
			}
			file.Close()
		}
		answer("{}")(w, r)
	})
}

// recorded runs a scenario on targets with directories, and returns what it recorded about the first one.
func recorded(t *testing.T, s *scenario.Scenario, opts *Options, dir string, say func(unique string) map[string][]record.Message) (steps []string, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		target := target(t, "ref", host(t, dir, say))
		target.Directory = dir
		began := time.Now()
		got := Scenario(t.Context(), s, []*Target{target}, opts)[0]
		took = time.Since(began)
		for _, st := range got.Upstream {
			if st.Fault != "" {
				steps = append(steps, st.ID+" fault: "+st.Fault)
			}
			for _, x := range st.Exchanges {
				steps = append(steps, fmt.Sprintf("%s %s: %s %s %s", st.ID, st.Text, x.Request.Method, x.Request.Target, x.Request.Body.Bytes))
			}
		}
	})
	return steps, took
}

const speaking = "steps:\n  - http: GET /${{ unique }}\n    headers: {X-Home: \"${{ directory }}\"}\n"

func TestMessagesToMCPServersAreUpstreamRequests(t *testing.T) {
	said := []record.Message{
		{Method: "initialize", Body: json.RawMessage(`{"clientInfo":{"name":"x"}}`)},
		{Method: "tools/call", Body: json.RawMessage(`{"name":"echo","_meta":{"progressToken":7,"a":1}}`)},
		{Method: "notifications/initialized"},
		{Method: "tools/call", Body: json.RawMessage(`{"name":"slow"}`)},
		{Body: json.RawMessage(`{"action":"accept"}`)},
	}
	say := func(unique string) map[string][]record.Message {
		return map[string][]record.Message{unique + "-tools.mcp": said, unique + ".mcp": said[:1], "other-tools.mcp": said, unique + "-tools.txt": nil}
	}
	tools := []string{
		`tools.initialize MCP server tools, initialize: MCP initialize {"clientInfo":{"name":"x"}}`,
		`tools.tools/call MCP server tools, tools/call: MCP tools/call {"name":"echo","_meta":{"progressToken":0,"a":1}}`,
		`tools.tools/call MCP server tools, tools/call: MCP tools/call {"name":"slow"}`,
		`tools.notifications/initialized MCP server tools, notifications/initialized: MCP notifications/initialized {}`,
		`tools.answer MCP server tools, answer: MCP answer {"action":"accept"}`,
	}
	mcp := []string{`mcp.initialize MCP server mcp, initialize: MCP initialize {"clientInfo":{"name":"x"}}`}
	got, _ := recorded(t, story(t, speaking), options(), t.TempDir(), say)
	if diff := cmp.Diff(append(tools, mcp...), got); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
	got, _ = recorded(t, story(t, "isolate: fresh\n"+speaking), options(), t.TempDir(), say)
	if len(got) != 2*len(tools)+len(mcp) || !strings.HasPrefix(got[0], "other-tools.initialize ") {
		t.Errorf("fresh: %q", got)
	}
	got, _ = recorded(t, story(t, "steps: [{http: \"GET /${{ unique }}\"}]"), options(), t.TempDir(), say)
	if len(got) > 0 {
		t.Errorf("a scenario that does not speak of its directory: %q", got)
	}
}

func TestARecordThatCannotBeReadIsAFault(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"no JSON":              func(file string) error { return os.WriteFile(file, []byte("{\n"), 0o600) },
		"a folder":             func(file string) error { return os.Mkdir(file, 0o700) },
		"a link to elsewhere":  func(file string) error { return os.Symlink("/etc/passwd", file) },
		"a link within":        func(file string) error { return os.Symlink("nothing", file) },
		"a pipe nobody writes": func(file string) error { return syscall.Mkfifo(file, 0o600) },
	} {
		dir := t.TempDir()
		got, _ := recorded(t, story(t, "isolate: fresh\n"+speaking), options(), dir, func(string) map[string][]record.Message {
			if err := spoil(filepath.Join(dir, "a.b.mcp")); err != nil {
				t.Error(err)
			}
			return nil
		})
		if len(got) != 1 || !strings.HasPrefix(got[0], "a-b.record fault: the record of an MCP server cannot be read: ") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWhatTheRecordingHasIsWaitedFor(t *testing.T) {
	opts := options()
	opts.Recorded = &transcript.Transcript{Upstream: []transcript.Step{
		{ID: "mcp.ping", Exchanges: []*transcript.Exchange{{Request: transcript.Request{Method: "MCP"}}}},
		{ID: "llm.1", Exchanges: []*transcript.Exchange{{Request: transcript.Request{Method: "POST"}}}},
	}}
	ping := []record.Message{{Method: "ping"}}
	dir := t.TempDir()
	late := func(unique string) map[string][]record.Message {
		go func() {
			time.Sleep(300 * time.Millisecond) // on the fake clock
			file, _ := os.Create(filepath.Join(dir, unique+".mcp"))
			record.Write(file, ping[0])
			file.Close()
		}()
		return nil
	}
	opts.Recorded.Upstream = opts.Recorded.Upstream[:1]
	if got, took := recorded(t, story(t, speaking), opts, dir, late); len(got) != 1 || took < 300*time.Millisecond || took > 350*time.Millisecond {
		t.Errorf("late: %q after %s", got, took)
	}
	never := func(string) map[string][]record.Message { return nil }
	if got, took := recorded(t, story(t, speaking), opts, t.TempDir(), never); len(got) != 0 || took != opts.Settle {
		t.Errorf("never: %q after %s", got, took)
	}
}
