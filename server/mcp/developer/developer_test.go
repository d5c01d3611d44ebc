package developer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// client returns a client of a server that works in a directory.
func client(t *testing.T, directory string) *mcp.ClientSession {
	t.Helper()
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.Background(), theirIn, theirOut, Setting{directory, directory, os.Environ()})
	}()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: ourIn, Writer: ourOut}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-03-26"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return c
}

// TestAClientMayStopReadingFirst checks that a client which has gone before it gets its answer is not an error.
func TestAClientMayStopReadingFirst(t *testing.T) {
	const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"
	for name, pipe := range map[string]func(t *testing.T) (io.Closer, io.WriteCloser){
		"in memory": func(*testing.T) (io.Closer, io.WriteCloser) { return io.Pipe() },
		"of the system": func(t *testing.T) (io.Closer, io.WriteCloser) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			return r, w
		},
	} {
		t.Run(name, func(t *testing.T) {
			reader, out := pipe(t)
			_ = reader.Close()
			in, asks := io.Pipe()
			go func() { _, _ = io.WriteString(asks, initialize) }()
			if err := Serve(t.Context(), in, out, Setting{t.TempDir(), t.TempDir(), os.Environ()}); err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

// ask returns the text of a tool for the user, or the code and message of its error.
func ask(t *testing.T, c *mcp.ClientSession, tool, arguments string) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if failure, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Sprintf("%d: %s", failure.Code, failure.Message)
	} else if err != nil {
		t.Fatal(err)
	}
	return result.Content[len(result.Content)-1].(*mcp.TextContent).Text
}

func TestProcessesOfACommandEndWithIt(t *testing.T) {
	directory := t.TempDir()
	c := client(t, directory)
	if got := ask(t, c, "shell", `{"command":"sleep 600 & echo $! > pid; echo done"}`); got != "done\n" {
		t.Errorf("got %q", got)
	}
	pid := testfile.Read(t, filepath.Join(directory, "pid"))
	goes(t, string(pid))
}

func TestTooMuchOutputEndsTheCommand(t *testing.T) {
	c := client(t, t.TempDir())
	for _, command := range []string{"yes " + strings.Repeat("x", 1000), "cat /dev/zero"} {
		want := "-32603: Shell output from command '" + command + "' has too many characters (400001). Maximum character count is 400000."
		if got := ask(t, c, "shell", `{"command":"`+command+`"}`); got != want {
			t.Errorf("got %.99q", got)
		}
	}
}

// TestTooMuchOutputIsFoundBeforeItsNotifications checks that a client which reads notifications slowly does not
// keep a command running.
func TestTooMuchOutputIsFoundBeforeItsNotifications(t *testing.T) {
	told, taken := 0, make(chan struct{})
	o := &output{log: func(any) {
		told++
		<-taken
	}}
	cmd := exec.Command("yes")
	if err := o.start(cmd); err != nil {
		t.Fatal(err)
	}
	select {
	case <-o.tooMuch:
	case <-time.After(20 * time.Second):
		t.Error("the command still runs after 20 s")
	}
	_ = cmd.Process.Kill()
	close(taken)
	_ = cmd.Wait()
	o.close(t.Context())
	if told != 1 {
		t.Errorf("the client hears of %d lines, want 1", told)
	}
}

func TestALongOutputIsKeptForTheModelAlone(t *testing.T) {
	c := client(t, t.TempDir())
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "shell", Arguments: json.RawMessage(`{"command":"seq 300"}`)})
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(result.Content[0].(*mcp.TextContent).Text, "remainder of lines in ")
	path, _, _ = strings.Cut(path, " ")
	content, _ := os.ReadFile(path)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 || strings.Count(string(content), "\n") != 300 {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	_ = c.Close()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return
		}
	}
	t.Errorf("%s is still there", path)
}

func TestPathIsThatOfALoginShell(t *testing.T) {
	home := t.TempDir()
	shell := filepath.Join(home, "bash")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\n[ \"$1$2\" = -l-i ] && { shift 2; PATH=/login:$PATH; echo hello; }\n[ \"$BASH_ENV\" ] && echo env\nexec /bin/sh \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", shell)
	if got := ask(t, client(t, home), "shell", `{"command":"echo $PATH; echo $BASH_ENV"}`); !strings.HasPrefix(got, "env\n/login:") || !strings.HasSuffix(got, "/.bash_env\n") {
		t.Errorf("got %q", got)
	}
}

// goes fails the test if a process does not end.
func goes(t *testing.T, text string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || strings.Contains(string(status), ") Z ") {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
}

func TestACommandEndsWithItsCall(t *testing.T) {
	directory := t.TempDir()
	fifo := filepath.Join(directory, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(c *mcp.ClientSession, cancel func()){
		"cancelled": func(_ *mcp.ClientSession, cancel func()) { cancel() },
		"closed":    func(c *mcp.ClientSession, cancel func()) { go c.Close(); cancel() },
	} {
		c := client(t, directory)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "shell", Arguments: map[string]any{"command": "sleep 600 & echo $! > fifo; wait"}})
			ended <- err
		}()
		pid := testfile.Text(t, fifo)
		end(c, cancel)
		if err := <-ended; err == nil {
			t.Errorf("%s: the call has not failed", name)
		}
		goes(t, pid)
	}
}

func TestAFullDiskDoesNotChangeTheFile(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	e := newEditor(paths{directory, readIgnored(directory)})
	e.write = func(w io.Writer, text string) (int, error) {
		n, _ := io.WriteString(w, text[:1])
		return n, syscall.ENOSPC
	}
	for _, given := range []string{
		`{"path":"a","command":"write","file_text":"x"}`,
		`{"path":"a","command":"str_replace","old_str":"one","new_str":"1"}`,
		`{"path":"a","command":"insert","insert_line":0,"new_str":"x"}`,
		`{"path":"a","command":"str_replace","diff":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n"}`,
	} {
		_, err := e.run(t.Context(), call{Arguments: arguments.Parse(json.RawMessage(given), argumentErrors)})
		if err == nil || err.Error() != "Failed to write file: a" {
			t.Errorf("%s: %v", given, err)
		}
		content, _ := os.ReadFile(path)
		if entries, _ := os.ReadDir(directory); string(content) != "one\ntwo\n" || len(entries) != 1 {
			t.Errorf("%s: it is %q among %d files", given, content, len(entries))
		}
	}
	if len(e.history.changes) != 0 {
		t.Error("what did not happen can be undone")
	}
}

func TestIgnoreRules(t *testing.T) {
	for _, tc := range []struct{ rules, ignored, not string }{
		{"", "", "a"},
		{"# a\n\n\\#b \n", "#b x/#b", "a"},
		{"*.key", "a.key x/y/a.key", "a.keys"},
		{"/a", "a a/b", "x/a"},
		{"x/a", "x/a x/a/b", "y/x/a a"},
		{"a/", "a/b x/a/b", "a x/a"},
		{"a/**", "a/b a/b/c", "a"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "b"},
		{"**/b", "b a/b", "ab"},
		{"a?[b-d]", "axb a!d", "axe a/b"},
		{"[!a]x", "bx", "ax"},
		{"*\n!keep", "a x", "keep"},
		{"d/\n!d/a", "d/a", ""},
		{"a\\*b", "a*b", "axb"},
		{"[", "[", "a"},
	} {
		directory := t.TempDir()
		testfile.Write(t, filepath.Join(directory, ".gooseignore"), tc.rules)
		r := readIgnored(directory)
		for _, name := range strings.Fields(tc.ignored) {
			if !r.ignored(filepath.Join(directory, name)) {
				t.Errorf("%q does not ignore %s", tc.rules, name)
			}
		}
		for _, name := range strings.Fields(tc.not) {
			if r.ignored(filepath.Join(directory, name)) {
				t.Errorf("%q ignores %s", tc.rules, name)
			}
		}
	}
	if r := readIgnored(t.TempDir()); !r.ignored("/etc/x/.env") || r.ignored("/etc/environment") {
		t.Error("the rules that hold without a file")
	}
}

func TestOnlyTheLastTenChangesAreKept(t *testing.T) {
	var f undo
	for i := range 12 {
		f.push("a", new(strings.Repeat("x", i)))
	}
	f.push("b", nil)
	for i := 11; i >= 2; i-- {
		if content, ok := f.last("a"); !ok || len(*content) != i {
			t.Fatalf("change %d: %v, %v", i, content, ok)
		}
		f.pop("a")
	}
	if _, ok := f.last("a"); ok || f.bytes != 0 {
		t.Errorf("more than ten, or %d bytes", f.bytes)
	}
	f.push("c", new(strings.Repeat("x", maxUndoBytes)))
	f.push("c", new("x"))
	if content, _ := f.last("b"); content != nil || f.bytes != 1 {
		t.Errorf("%d bytes are kept", f.bytes)
	}
}

// TestThePrompt checks decision X46.
func TestThePrompt(t *testing.T) {
	c := client(t, t.TempDir())
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 1 || list.Prompts[0].Name != "unit_test" || len(list.Prompts[0].Arguments) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "unit_test", Arguments: map[string]string{"source_code": "x = 1", "language": "python"}})
	const want = "Write unit tests for the following python code. Cover usual cases, edge cases and failures.\n\n```python\nx = 1\n```\n"
	if err != nil || len(got.Messages) != 1 || got.Messages[0].Content.(*mcp.TextContent).Text != want {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "unit_test", Arguments: map[string]string{"source_code": "x"}})
	if failure, ok := errors.AsType[*jsonrpc.Error](err); !ok || failure.Code != -32602 || failure.Message != "missing field `language`" {
		t.Errorf("%v", err)
	}
}

// TestTheIntroduction checks decision X14.
func TestTheIntroduction(t *testing.T) {
	directory := t.TempDir()
	c := client(t, directory)
	got := c.InitializeResult()
	if got.ServerInfo.Name != "goose-developer" || got.ServerInfo.Version != "1.16.0" || got.ProtocolVersion != "2025-03-26" ||
		!strings.Contains(got.Instructions, "\nCurrent directory: "+directory+"\n") {
		t.Errorf("%+v", got)
	}
	if got := ask(t, c, "sing", "{}"); got != "-32602: tool not found" {
		t.Error(got)
	}
}

func TestToolsOfTheDecisions(t *testing.T) {
	document := testfile.Text(t, "../../../docs/behaviour/goose-api.md")
	for name, tool := range tools {
		if row := fmt.Sprintf("\n| `developer__%s` | `%s` | `%s` |\n", name, tool.description, tool.schema); !strings.Contains(document, row) {
			t.Errorf("docs/behaviour/goose-api.md does not have%s", row)
		}
	}
}
