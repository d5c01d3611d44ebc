//go:build unix

package harnesstest_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// play runs stories in a test of another process. It returns whether the test passed, and its output.
func play(t *testing.T, file string, names ...string) (passed bool, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{file}, names...)...)
	cmd.Env = append(os.Environ(), roleVariable+"=stories", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// urls are two running targets.
func urls(right, wrong string) string {
	return "\n  right: {url: \"" + right + "\", ready: {get: /health}}\n  wrong: {url: \"" + wrong + "\", ready: {get: /health}}\n"
}

// own is a target that the test binary plays.
func own(name, key, role, args, rest string) string {
	return fmt.Sprintf("\n  %s: {%s: [%q, %s], env: {%s: %s}%s}", name, key, os.Args[0], args, roleVariable, role, rest)
}

func server(name, fault string) string {
	return own(name, "command", "server", `"${{ host }}:${{ port }}", `+fault, ", ready: {get: /health}")
}

// at returns the place of the story's line with a comment.
func at(t *testing.T, comment string) string {
	t.Helper()
	for i, line := range strings.Split(testfile.Text(t, "stories_test.go"), "\n") {
		if strings.Contains(line, "// "+comment) {
			return fmt.Sprintf("stories_test.go:%d: ", i+1)
		}
	}
	t.Fatalf("no line says %q", comment)
	return ""
}

func TestScenariosInGo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	right := faux.Serve(t, &faux.Server{})
	same := urls(right, faux.Serve(t, &faux.Server{}))
	faulty := func(id string) string { return urls(right, faux.Serve(t, &faux.Server{Fault: faux.Named(t, id)})) }
	processes := func(fault string) string { return server("right", "right") + server("wrong", fault) + "\n" }
	program := func(kind, args string) string {
		return own("right", kind, kind, "right", "") + own("wrong", kind, kind, args, "") + "\n"
	}
	for _, tc := range []struct {
		name    string
		targets string
		stories []string
		passes  bool
		says    []string
	}{
		{"what matches passes", same, []string{"items", "events", "parallel"}, true, []string{"--- PASS: TestStories/items ", "--- PASS: TestStories/events ", "--- PASS: TestStories/parallel "}},
		{"a wrong response fails at its line", faulty("wrong-type"), []string{"items"}, false, []string{"--- FAIL: TestStories/items ", at(t, "reads the lamp") + "step 2: body /size: the types differ"}},
		{"a wrong status fails at its line", faulty("wrong-status"), []string{"items"}, false, []string{at(t, "adds a lamp") + "step 1: status: the statuses differ: reference 201, wrong 200 (candidate)"}},
		{"a wrong event fails", faulty("wrong-event-data"), []string{"events"}, false, []string{"--- FAIL: TestStories/events ", "data /name"}},
		{"processes are started once, and shared", processes("right"), []string{"items", "events", "fresh"}, true, []string{"--- PASS: TestStories/fresh "}},
		{"a target that crashes fails", processes("exits-in-answer"), []string{"items"}, false, []string{"wrong: the process ended: exit status 3", "panic: assignment to entry in nil map", at(t, "reads the lamp") + "step 2: process: wrong: the target's process ended"}},
		{"a target that does not start fails", processes("exits-at-start"), []string{"items"}, false, []string{"the disk is full", "exited before it was ready"}},
		{"what does not apply is skipped", same, []string{"fresh", "items"}, true, []string{"--- SKIP: TestStories/fresh ", "it needs newly started targets"}},
		{"when nothing applies, that is no success", same, []string{"fresh"}, false, []string{"nothing was judged"}},
		{"an assertion of the test makes it unknown", same, []string{"assertion"}, false, []string{"not what Go wanted", "cut short: the test failed by itself"}},
		{"FailNow closes everything", same, []string{"fatal", "items"}, false, []string{"--- FAIL: TestStories/fatal ", "--- PASS: TestStories/items ", "cut short: the function of the test did not return"}},
		{"a panic closes everything", processes("right"), []string{"panics"}, false, []string{"panic: a mistake of the test", "cut short: the function of the test did not return"}},
		{"a misspelt key", same, []string{"misspelt"}, false, []string{at(t, "misspells a key") + `unknown key "expct"`, `did you mean "expect"?`}},
		{"an unknown name", same, []string{"undefined"}, false, []string{at(t, "uses an unknown name") + "${{ lamp }} is not defined here"}},
		{"an operation that the contract lacks", same, []string{"undeclared"}, false, []string{at(t, "calls what the contract lacks") + "the contract has no operation for GET /chairs"}},
		{"a request that breaks the contract", same, []string{"invalid"}, false, []string{at(t, "breaks the contract") + "right: step 1: the request breaks the contract: body/"}},
		{"a request that is never joined", same, []string{"unjoined"}, false, []string{at(t, "starts and never joins") + "start slow: no step joins or closes it"}},
		{"no JSONPath", same, []string{"pathless"}, false, []string{at(t, "captures without a path")}},
		{"a value that is missing", same, []string{"valueless"}, false, []string{at(t, "captures nothing") + "step 1: ", "nothing from $.nothing"}},
		{"no why", same, []string{"whyless"}, false, []string{`"why"`}},
		{"programs match", program("program", "right"), []string{"program"}, true, []string{"--- PASS: TestStories/program "}},
		{"programs differ", program("program", "wrong"), []string{"program"}, false, []string{at(t, "starts the program") + "step 1, stream p: line 1 data /said: "}},
		{"sockets match", urls(echo(t, ""), echo(t, "")), []string{"socket"}, true, []string{"--- PASS: TestStories/socket "}},
		{"sockets differ", urls(echo(t, ""), echo(t, " ")), []string{"socket"}, false, []string{at(t, "opens a socket") + "step 1, stream talk: "}},
		{"drivers match", program("driver", "right"), []string{"driver"}, true, []string{"--- PASS: TestStories/driver "}},
		{"drivers differ", program("driver", "wrong"), []string{"driver"}, false, []string{at(t, "says one") + "step 1: body /ok/said"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			file := fauxproject.Write(t, tc.targets)
			if strings.Contains(tc.name, "programs") || strings.Contains(tc.name, "drivers") || strings.Contains(tc.name, "sockets") {
				testfile.Write(t, file, []byte("reference: right\ntargets:"+tc.targets)) // no contract, and no scenarios
			}
			passed, output := play(t, file, tc.stories...)
			if passed != tc.passes {
				t.Errorf("passed: %t, want %t", passed, tc.passes)
			}
			for _, want := range tc.says {
				if !strings.Contains(output, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			if strings.Contains(output, "DATA RACE") {
				t.Error("there is a data race")
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}

// echo serves a socket that answers each message with itself, apart from a member that is added.
func echo(t *testing.T, added string) (url string) {
	t.Helper()
	if added != "" {
		added = `,"more":1}`
	}
	l := faux.Listen(t)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Sec-WebSocket-Key")
		if key == "" {
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
		repeat(conn, rw.Reader, added)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-served })
	return "http://" + l.Addr().String()
}

// repeat answers short frames until a close frame.
func repeat(w io.Writer, r *bufio.Reader, added string) {
	for head := make([]byte, 6); ; {
		if _, err := io.ReadFull(r, head); err != nil {
			return
		}
		body := make([]byte, head[1]&0x7f)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		for i := range body {
			body[i] ^= head[2+i%4]
		}
		if added != "" && head[0] == 0x81 {
			body = append(bytes.TrimSuffix(body, []byte("}")), added...)
		}
		w.Write(append([]byte{head[0], byte(len(body))}, body...))
		if head[0]&0xf == 8 {
			return
		}
	}
}

// A mistake in what comes before the steps starts no server.
func TestWhatDoesNotRunStartsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const command = `{command: [touch, started, "${{ port }}"], ready: {get: /health}}`
	file := fauxproject.Write(t, "\n  right: "+command+"\n  wrong: "+command+"\n")
	if passed, output := play(t, file, "whyless"); passed || !strings.Contains(output, "TestStories/whyless") {
		t.Errorf("passed: %t\n%s", passed, output)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), "started")); err == nil {
		t.Error("a server was started")
	}
}

// Waivers and a baseline accept the findings of scenarios in Go. The reports have them, and a run of the files does not
// find them stale.
func TestAcceptedFindingsOfScenariosInGo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	right, wrong := faux.Serve(t, &faux.Server{}), faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")})
	const waiver = `- id: W-0001
  scenario: TestStories/items
  at: "GET /items/${{ id }}: body /name"
  difference: {kind: value, fingerprint: "469ed423"}
  class: intended
  reason: it was always so
  owner: ann
  expires: 9000-01-01
`
	for _, tc := range []struct {
		name, candidate string
		story           string
		passes          bool
		says            string
	}{
		{"what is waived passes, and is logged", wrong, "items", true, at(t, "reads the lamp") + "step 2: body /name"},
		{"a waiver that is stale fails", faux.Serve(t, &faux.Server{}), "items", false, "waiver W-0001 is stale"},
		{"a waiver of another test is left alone", faux.Serve(t, &faux.Server{}), "events", true, "--- PASS: TestStories/events "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := fauxproject.Write(t, urls(right, tc.candidate))
			fauxproject.Add(t, file, "scenarios/waivers.yaml", waiver)
			passed, output := play(t, file, tc.story)
			if passed != tc.passes || !strings.Contains(output, tc.says) {
				t.Errorf("passed: %t, want %t and %q:\n%s", passed, tc.passes, tc.says, output)
			}
		})
	}
	t.Run("a run of the files does not look for it", func(t *testing.T) {
		file := fauxproject.Write(t, urls(right, faux.Serve(t, &faux.Server{})))
		fauxproject.Add(t, file, "scenarios/waivers.yaml", waiver)
		result, err := engine.Run(t.Context(), fauxproject.Load(t, file), &engine.Options{Environ: os.Environ()})
		if err != nil || len(result.Waivers) != 1 || result.Waivers[0].State != verdict.NotLooked {
			t.Errorf("%v, %+v", err, result.Waivers)
		}
	})
}

func TestReportsOfScenariosInGo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	file := fauxproject.Write(t, urls(faux.Serve(t, &faux.Server{}), faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-type")})))
	if passed, output := play(t, file, "items", "events"); passed {
		t.Fatal(output)
	}
	for suffix, wants := range map[string][]string{
		".xml":  {"TestStories/items", "TestStories/events", "stories_test.go"},
		".html": {"go test -run '^TestStories$/^items$'", `c.HTTP(\"GET /items/\" + id)`},
	} {
		for _, want := range wants {
			if text := testfile.Text(t, file+suffix); !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", suffix, want)
			}
		}
	}
	_, err := engine.Judge(t.Context(), fauxproject.Load(t, file), bytes.NewReader(testfile.Read(t, file+".jsonl")), nil)
	if usage, ok := errors.AsType[*project.UsageError](err); !ok || !strings.Contains(usage.What, "a scenario in Go") {
		t.Errorf("Judge: %v", err)
	}
}
