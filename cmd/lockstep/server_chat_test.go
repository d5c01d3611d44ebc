//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// chat returns what the section "Chat with it" of docs/server.md asks the reader to write and run, and the output
// that it shows.
func chat(t *testing.T) (rules, commands string, shown []string) {
	t.Helper()
	_, text, _ := strings.Cut(documentation(t)["docs/server.md"], "\n## Chat with it\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		switch block[1] {
		case "yaml":
			rules += block[2]
		case "sh":
			commands += block[2]
		case "":
			shown = append(shown, strings.Split(strings.TrimSpace(block[2]), "\n")...)
		}
	}
	return rules, commands, shown
}

// unseen returns the lines of a shown output that are missing in the printed text, or out of order.
func unseen(printed string, shown []string) (missing []string) {
	lines := strings.Split(printed, "\n")
	for _, want := range shown {
		i := 0
		for i < len(lines) && !abridges(want, lines[i]) {
			i++
		}
		if i == len(lines) {
			missing = append(missing, want)
			continue
		}
		lines = lines[i+1:]
	}
	return missing
}

// abridges reports whether short is line with some parts replaced by "…".
func abridges(short, line string) bool {
	for i, part := range strings.Split(short, "…") {
		at := strings.Index(line, part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		line = line[at+len(part):]
	}
	return true
}

func TestTheChatInTheDocumentationIsTrue(t *testing.T) {
	rules, commands, shown := chat(t)
	if len(shown) < 10 || !strings.Contains(commands, "/reply") || !strings.Contains(commands, "tool-confirmation") {
		t.Fatalf("the chat is not all there: %q, %q", commands, shown)
	}
	r := newReader(t)
	r.buildAgent(t)
	testProject{dir: r.dir}.write(t, "model.yaml", rules)
	for _, port := range []string{":3000", ":8400"} { // the documented ports may be taken
		own := freePort(t)
		commands = strings.ReplaceAll(commands, port, ":"+own)
		commands = strings.ReplaceAll(commands, "--port "+port[1:], "--port "+own)
	}
	printed := r.runAll(t, commands)
	if missing := unseen(printed, shown); len(missing) > 0 {
		t.Errorf("docs/server.md shows what is not printed:\n%s\nprinted:\n%s", strings.Join(missing, "\n"), printed)
	}
}

// buildAgent adds the agent server to the reader's PATH.
func (r *reader) buildAgent(t *testing.T) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(r.bin, "agentd"), "./cmd/agentd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// runAll runs commands in one shell, as if they were pasted, and returns their output.
func (r *reader) runAll(t *testing.T, commands string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", commands+"wait\n")
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+r.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+r.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // also ends the servers when a command fails
	cmd.Cancel = group
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// TestWhatIsNotPrintedInAChatIsFound checks that unseen finds lines that are missing, changed, or out of order.
func TestWhatIsNotPrintedInAChatIsFound(t *testing.T) {
	const printed = "data: {\"a\":1,\"b\":2}\n\ndata: {\"c\":3}\n"
	for _, tc := range []struct {
		shown []string
		found bool
	}{
		{[]string{`data: {"a":1,…`, `data: {…3}`}, true},
		{[]string{`data: {…"b":2…`, `data: {"c":3}`}, true},
		{[]string{`data: {"c":3}`, `data: {"a":1,…`}, false},
		{[]string{`data: {…"b":2,…"a":1…`}, false},
		{[]string{`data: {"c":3}`, `data: {"c":3}`}, false},
		{[]string{`{"c":3}`}, false},
	} {
		if got := len(unseen(printed, tc.shown)) == 0; got != tc.found {
			t.Errorf("%q: found: %t, want %t", tc.shown, got, tc.found)
		}
	}
}
