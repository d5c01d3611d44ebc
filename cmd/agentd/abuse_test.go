//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// abuseVariable makes TestAbuse apply the full load to both built servers: make test-abuse sets it.
const abuseVariable = "AGENTD_ABUSE"

// markVariable is in the environment of a server under abuse, and so in that of every process it starts.
const markVariable = "AGENTD_ABUSE_MARK"

// longest is how much longer GET /status may take than on an idle server, in ms.
const longest = 100.0

// A contender is a server under abuse.
type contender struct {
	name    string
	command []string
	mostMiB int64 // of memory; 0 means unlimited
	atOnce  int   // how many clients come and go at once
	// growth is how much larger its resident memory may be after the last round of clients than after the first.
	growth float64
}

// servers are the two built servers.
var servers = []contender{
	{"go", []string{"../../bin/agentd"}, 300, 1000, 1.05},
	{"typescript", []string{"node", "../../reference/dist/main.js"}, 600, 250, 1.2},
}

// An abuseCase is one kind of load. Every test run applies most cases at a small scale, and `make test-abuse` applies
// all at full scale.
type abuseCase struct {
	name  string
	run   func(a *abuse) error
	small bool
}

var abuseCases = []abuseCase{
	{"registrations of 60 MB", (*abuse).registrations, true},
	{"100 held bodies", (*abuse).heldBodies, true},
	{"a million issues", (*abuse).issues, true},
	{"repeated keys, 9,000 levels", (*abuse).repeatedKeys, true},
	{"giant numbers", (*abuse).giantNumbers, true},
	{"template bombs", (*abuse).templateBombs, true},
	{"1,000 readers that never read", (*abuse).readers, true},
	{"clients that come and go", (*abuse).churn, true},
	{"100 clients that never read", (*abuse).silentClients, true},
	{"an MCP server that stops reading", misbehaving("deaf"), true},
	{"an MCP server that floods", misbehaving("flood"), false},
	{"an MCP server that hangs", misbehaving("hang"), false},
	{"an MCP server that dies", misbehaving("die"), true},
	{"an MCP server that never answers", misbehaving("mute"), false},
}

// TestAbuse checks that under load a server keeps answering, does not grow without bound, and leaves nothing behind.
func TestAbuse(t *testing.T) {
	whole := os.Getenv(abuseVariable) != ""
	self := testfile.Program(t)
	contenders := []contender{{name: "go", command: []string{self}}}
	if whole {
		contenders = servers
	}
	var table strings.Builder
	found := &figures{}
	fmt.Fprintf(&table, "%-11s %-34s %6s %8s %8s %8s %8s %9s\n", "server", "load", "asked", "p50 ms", "p99 ms", "max ms", "idle ms", "peak MiB")
	for _, c := range contenders {
		for _, load := range abuseCases {
			if !whole && !load.small {
				continue
			}
			t.Run(c.name+"/"+load.name, func(t *testing.T) {
				watched, idle, peak, most := underAbuse(t, c, load, whole, found)
				fmt.Fprintf(&table, "%-11s %-34s %6d %8.1f %8.1f %8.1f %8.1f %9d\n", c.name, load.name, len(watched), at(watched, 0.5), at(watched, 0.99), at(watched, 1), at(idle, 1), peak)
				if late := longest + at(idle, 1); whole && at(watched, 1) > late {
					t.Errorf("GET /status was answered after %.1f ms, want %.1f ms at most", at(watched, 1), late)
				}
				if c.mostMiB > 0 && peak > most {
					t.Errorf("its memory was %d MiB, want %d at most", peak, most)
				}
			})
		}
	}
	t.Logf("what GET /status took meanwhile, and the memory:\n%s\n%s", &table, found)
}

// An abuse is one load on one server.
type abuse struct {
	t     *testing.T
	s     *served
	whole bool
	model *caller
	api   *api

	c        contender
	crowd    *api     // for several requests at once
	extraMiB int64    // what this load may take in addition to what every load may
	ends     bool     // the server is killed at the end, and shows its goroutines
	found    *figures // of all servers
}

// report keeps a figure of a case for the table of both servers.
func (a *abuse) report(what, format string, values ...any) {
	a.found.add(what, a.c.name, fmt.Sprintf(format, values...))
}

// scale chooses the number for the full load, or for the small one.
func (a *abuse) scale(whole, small int) int {
	if a.whole {
		return whole
	}
	return small
}

// underAbuse runs one case on a server of its own. It returns the sorted durations of GET /status on that server and
// on an idle one, and the peak memory of the server in MiB with what it may be. Delays of the idle server come from the
// machine or the client.
func underAbuse(t *testing.T, c contender, load abuseCase, whole bool, found *figures) (watched, idle []time.Duration, peak, most int64) {
	home := t.TempDir()
	upstream, err := stub.Start("llm", stub.OpenAI, stub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	leave := sync.OnceFunc(upstream.Close)
	t.Cleanup(leave)
	model := &caller{}
	t.Cleanup(upstream.Attach(model, "", true, time.Now()))
	s := startContender(t, c, home, upstream.URL())
	beside := startContender(t, c, t.TempDir(), upstream.URL())
	a := &abuse{t: t, s: s, whole: whole, model: model, api: s.api(), c: c, crowd: s.newCrowd(), found: found}
	defer a.api.close()
	defer a.crowd.close()
	eventually(t, "the server answers", func() bool { _, err := a.api.do("GET", "/status", nil); return err == nil })
	a.api.close()
	sockets := s.descriptors("socket:")

	watch, watchBeside := startWatch(t, s), startWatch(t, beside)
	if err := load.run(a); err != nil {
		t.Error(err)
	}
	a.api.close()
	a.crowd.close()
	watched, idle = watch.stop(), watchBeside.stop()
	leave() // closes the connections that the server keeps for its next turn

	eventually(t, "no process is left but the server", func() bool { return len(marked(home)) <= 1 })
	eventually(t, "its sockets are closed", func() bool { return s.descriptors("socket:") <= sockets })
	peak, most = s.peak(t), c.mostMiB+a.extraMiB
	if a.ends && c.name == "go" {
		noMoreGoroutines(a, beside)
		return watched, idle, peak, most
	}
	s.stopInOrder(t)
	eventually(t, "no process is left", func() bool { return len(marked(home)) == 0 })
	for _, pattern := range []string{"tmp/*", "state/logs/*.part", "config/*.tmp", "data/sessions/*-wal"} {
		if left, _ := filepath.Glob(filepath.Join(home, pattern)); len(left) > 0 {
			t.Errorf("files are left: %q", left)
		}
	}
	return watched, idle, peak, most
}

func startContender(t testing.TB, c contender, home, model string, env ...string) *served {
	t.Helper()
	tmp := filepath.Join(home, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	args := append(c.command[1:len(c.command):len(c.command)], "agent", "--port", "0", "--directory", "/")
	cmd := exec.CommandContext(t.Context(), c.command[0], args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GOOSE_PATH_ROOT=" + home, "TMPDIR=" + tmp, markVariable + "=" + home,
		"OPENAI_HOST=" + model, "OPENAI_API_KEY=sk-test", "GOOSE_PROVIDER_SKIP_BACKOFF=true", "GOOSE_PRICING_URL=none", "GOOSE_MODE=auto", asAgentd + "=1"}
	cmd.Env = append(cmd.Env, env...)
	s := &served{cmd: cmd, home: home, stderr: &syncbuffer.Buffer{}}
	cmd.Stderr = s.stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	t.Cleanup(func() {
		if said := s.stderr.String(); t.Failed() {
			t.Logf("the server said: %.4000s", said)
		}
	})
	if _, err := fmt.Fscanf(stdout, "listening on %s\n", &s.url); err != nil {
		t.Fatalf("a server that does not start: %v; stderr: %s", err, s.stderr)
	}
	return s
}

// withoutRateLimit returns the setting of a server that lets a client be called as often as anybody likes.
func withoutRateLimit(t testing.TB) (env string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.json")
	testfile.Write(t, config, `{"clientTools": {"rateLimit": {"calls": 0}}}`)
	return "AGENTD_CONFIG=" + config
}

// stopInOrder asks the server to stop. It may take five seconds, and somewhat longer on a busy machine.
func (s *served) stopInOrder(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("stop the server: %v", err)
	}
	timer := time.AfterFunc(atMost, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server stopped with %v, want status 0", err)
	}
}
