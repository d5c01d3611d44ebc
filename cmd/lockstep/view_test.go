//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// viewed sends a request to a viewer of the folder.
func viewed(t *testing.T, dir, method, target, host string) *http.Response {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	r := httptest.NewRequest(method, "http://x/", nil)
	r.URL.Path, r.Host = target, host
	w := httptest.NewRecorder()
	(&viewer{root}).ServeHTTP(w, r)
	return w.Result()
}

func reportsFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"report.html": "<!DOCTYPE html><p>all is well", "run.jsonl": "{}\n", "badge.svg": "<svg/>", "secret.txt": "none of yours", "baseline.json": "{}",
	} {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	if err := os.Symlink("secret.txt", filepath.Join(dir, "summary.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "junit.xml"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheViewerServesReportsAndNothingElse(t *testing.T) {
	dir := reportsFolder(t)
	for _, tc := range []struct {
		method, path, host string
		status             int
		says               string
	}{
		{"GET", "/", "127.0.0.1:8080", 200, "all is well"},
		{"GET", "/report.html", "localhost:8080", 200, "all is well"},
		{"GET", "/report.html", "LOCALHOST", 200, "all is well"},
		{"GET", "/run.jsonl", "[::1]:8080", 200, "{}"},
		{"GET", "/badge.svg", "127.0.0.1", 200, "<svg/>"},
		{"HEAD", "/", "127.0.0.1:8080", 200, ""},
		{"GET", "/", "evil.example:8080", 421, "wrong host"},
		{"GET", "/", "127.0.0.1.evil.example", 421, "wrong host"},
		{"GET", "/", "localhost.evil.example", 421, "wrong host"},
		{"GET", "/", "192.0.2.1:8080", 421, "wrong host"},
		{"GET", "/", "", 421, "wrong host"},
		{"POST", "/", "127.0.0.1:8080", 405, "only GET and HEAD"},
		{"DELETE", "/report.html", "127.0.0.1:8080", 405, "only GET and HEAD"},
		{"GET", "/secret.txt", "127.0.0.1:8080", 404, "no such report"},
		{"GET", "/baseline.json", "127.0.0.1:8080", 404, "no such report"},
		{"GET", "/../" + filepath.Base(dir) + "/report.html", "127.0.0.1:8080", 404, "no such report"},
		{"GET", "//report.html", "127.0.0.1:8080", 404, "no such report"},
		{"GET", "/report.html/", "127.0.0.1:8080", 404, "no such report"},
		{"GET", "/report.json", "127.0.0.1:8080", 404, "when it ends"},
		{"GET", "/summary.md", "127.0.0.1:8080", 404, "no such report"}, // a link
		{"GET", "/junit.xml", "127.0.0.1:8080", 404, "no such report"},  // a folder
	} {
		res := viewed(t, dir, tc.method, tc.path, tc.host)
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != tc.status || !strings.Contains(string(body), tc.says) || strings.Contains(string(body), "none of yours") {
			t.Errorf("%s %s of %q: %d %q, want %d %q", tc.method, tc.path, tc.host, res.StatusCode, body, tc.status, tc.says)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", tc.method, tc.path, name, got, want)
			}
		}
		if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s %s: the policy is %q", tc.method, tc.path, policy)
		}
	}
}

// TestViewUntilInterrupted checks that the command prints its address, answers there, and ends when it is
// interrupted.
func TestViewUntilInterrupted(t *testing.T) {
	dir := reportsFolder(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"view", dir}, &environment{stdout: in, stderr: in, getenv: func(string) string { return "" }})
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	_, rest, _ := strings.Cut(line, " is at ")
	address, _, ok := strings.Cut(rest, " until Ctrl-C\n")
	if err != nil || !ok || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("it says %q, %v", line, err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || string(body) != "<!DOCTYPE html><p>all is well" || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s: %q, %v, %v", address, body, err, res.Header)
	}
	interrupt()
	if got := <-code; got != exitMatch {
		t.Errorf("exit code %d", got)
	}
	if res, err := client.Get(address); err == nil {
		res.Body.Close()
		t.Error("it listens on")
	}
}

func TestWhatIsWrongWithView(t *testing.T) {
	l := faux.Listen(t)
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{t.TempDir()}, "report.html: no such file or directory\n\tfix: `lockstep run` writes report.html; or name the folder that has it\n"},
		{[]string{"/nowhere/at/all"}, "/nowhere/at/all: no such file or directory\n\tfix: `lockstep run` writes report.html"},
		{[]string{"a", "b"}, "view takes at most one folder: \"b\" is a second one\n\tfix: leave it out\n"},
		{[]string{reportsFolder(t), "--port", port}, "address already in use\n\tfix: name another port with --port, or leave out --port\n"},
		{[]string{"--port", "70000"}, "value out of range\n\tfix: lockstep view --help lists the flags\n"},
	} {
		if o := lockstep(t, append([]string{"view"}, tc.args...)...); o.code != exitUsage || !strings.Contains(o.stderr, tc.says) || o.stdout != "" {
			t.Errorf("view %q: %+v, want %q", tc.args, o, tc.says)
		}
	}
}
