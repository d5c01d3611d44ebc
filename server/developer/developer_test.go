package developer

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// client returns a client of a server that works in a directory.
func client(t *testing.T, directory string) *mcp.ClientSession {
	t.Helper()
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), theirIn, theirOut, directory) }()
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

// call returns what a tool says, with an exclamation mark in front if it failed.
func call(t *testing.T, c *mcp.ClientSession, tool, arguments string) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return "!" + text
	}
	return text
}

func TestCommands(t *testing.T) {
	directory := t.TempDir()
	c := client(t, directory)
	for _, tc := range []struct{ arguments, want string }{
		{`{"command":"echo a; echo b >&2; echo c"}`, "a\nb\nc\n"},
		{`{"command":"cat; printf x"}`, "x"},
		{`{"command":"true"}`, "[No output]"},
		{`{"command":"printf x; exit 3"}`, "!x\n[Exit status: 3]"},
		{`{"command":"exit 3"}`, "![Exit status: 3]"},
		{`{"command":"kill -9 $$"}`, "![Exit status: 137]"},
		{`{"command":"printf '\\377\\n'"}`, "\uFFFD\n"},
		{`{"command":"sleep 600 & echo $! > pid; echo done"}`, "done\n"},
		{`{"command":"head -c 1048580 /dev/zero | tr '\\0' x"}`, strings.Repeat("x", 1<<20) + "\n[The output was cut at 1048576 bytes.]"},
		{`{}`, "!Missing argument: command"},
		{`{"command":null}`, "!Missing argument: command"},
		{`{"command":["ls"]}`, "!Invalid argument: command"},
	} {
		if got := call(t, c, "shell", tc.arguments); got != tc.want {
			t.Errorf("%s:\n got %.200q\nwant %.200q", tc.arguments, got, tc.want)
		}
	}
	pid, err := os.ReadFile(filepath.Join(directory, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	goes(t, string(pid))
}

// goes fails the test if a process stays.
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
		pid, err := os.ReadFile(fifo)
		if err != nil {
			t.Fatal(err)
		}
		end(c, cancel)
		if err := <-ended; err == nil {
			t.Errorf("%s: the call has not failed", name)
		}
		goes(t, string(pid))
	}
}

func TestEdits(t *testing.T) {
	directory := t.TempDir()
	c := client(t, directory)
	large := strings.Repeat("x", maxFile+1)
	for _, tc := range []struct{ name, arguments, want string }{
		{"no command", `{"path":"a"}`, "!Missing argument: command"},
		{"unknown command", `{"command":"sing","path":"a"}`, "!Invalid argument: command"},
		{"no path", `{"command":"view"}`, "!Missing argument: path"},
		{"empty directory", `{"command":"view","path":"."}`, "[The directory is empty.]"},
		{"no file", `{"command":"view","path":"a"}`, "!No such file: a"},
		{"nothing to undo", `{"command":"undo_edit","path":"a"}`, "!Nothing to undo in a"},
		{"no text", `{"command":"write","path":"a"}`, "!Missing argument: file_text"},
		{"write", `{"command":"write","path":"d/a","file_text":"one\ntwo\nthree"}`, "Wrote d/a"},
		{"view", `{"command":"view","path":"d/../d/a"}`, "1: one\n2: two\n3: three"},
		{"range", `{"command":"view","path":"d/a","view_range":[2,-1]}`, "2: two\n3: three"},
		{"beyond", `{"command":"view","path":"d/a","view_range":[3,9]}`, "3: three"},
		{"range from 0", `{"command":"view","path":"d/a","view_range":[0,1]}`, "!Invalid argument: view_range"},
		{"range beyond", `{"command":"view","path":"d/a","view_range":[4,4]}`, "!Invalid argument: view_range"},
		{"backwards", `{"command":"view","path":"d/a","view_range":[2,1]}`, "!Invalid argument: view_range"},
		{"half a range", `{"command":"view","path":"d/a","view_range":[2]}`, "!Invalid argument: view_range"},
		{"no range", `{"command":"view","path":"d/a","view_range":"all"}`, "!Invalid argument: view_range"},
		{"directory", `{"command":"view","path":""}`, "d/"},
		{"write a directory", `{"command":"write","path":"d","file_text":""}`, "!Not a file: d"},
		{"below a file", `{"command":"write","path":"d/a/b","file_text":""}`, "!Cannot write d/a/b"},
		{"replace", `{"command":"str_replace","path":"d/a","old_str":"two","new_str":"2"}`, "Changed d/a"},
		{"no such text", `{"command":"str_replace","path":"d/a","old_str":"two","new_str":"2"}`, "!No such text in d/a"},
		{"several", `{"command":"str_replace","path":"d/a","old_str":"e","new_str":"E"}`, "!3 such texts in d/a, there must be one"},
		{"of nothing", `{"command":"str_replace","path":"d/a","old_str":"","new_str":"E"}`, "!Invalid argument: old_str"},
		{"insert at the end", `{"command":"insert","path":"d/a","insert_line":3,"new_str":"four"}`, "Changed d/a"},
		{"insert at the beginning", `{"command":"insert","path":"d/a","insert_line":0,"new_str":"zero\n"}`, "Changed d/a"},
		{"insert beyond", `{"command":"insert","path":"d/a","insert_line":6,"new_str":""}`, "!Invalid argument: insert_line"},
		{"as it is", `{"command":"view","path":"d/a"}`, "1: zero\n2: one\n3: 2\n4: three\n5: four"},
		{"undo", `{"command":"undo_edit","path":"d/a"}`, "Undid the last change of d/a"},
		{"undo", `{"command":"undo_edit","path":"d/./a"}`, "Undid the last change of d/./a"},
		{"undone", `{"command":"view","path":"d/a"}`, "1: one\n2: 2\n3: three"},
		{"undo", `{"command":"undo_edit","path":"d/a"}`, "Undid the last change of d/a"},
		{"undo the making", `{"command":"undo_edit","path":"d/a"}`, "Undid the last change of d/a"},
		{"gone", `{"command":"view","path":"d/a"}`, "!No such file: d/a"},
		{"all is undone", `{"command":"undo_edit","path":"d/a"}`, "!Nothing to undo in d/a"},
		{"too large", `{"command":"write","path":"l","file_text":"` + large + `"}`, "!File is too large: l"},
		{"empty", `{"command":"write","path":"e","file_text":""}`, "Wrote e"},
		{"an empty file", `{"command":"view","path":"e"}`, "[The file is empty.]"},
		{"a range of nothing", `{"command":"view","path":"e","view_range":[1,1]}`, "!Invalid argument: view_range"},
	} {
		if got := call(t, c, "text_editor", tc.arguments); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

func TestOnlyTheLastTenChangesAreKept(t *testing.T) {
	var f former
	for i := range 12 {
		f.push("a", []byte{byte(i)})
	}
	f.push("b", nil)
	for i := 11; i >= 2; i-- {
		if content, ok := f.last("a"); !ok || content[0] != byte(i) {
			t.Fatalf("change %d: %v, %v", i, content, ok)
		}
		f.pop("a")
	}
	if _, ok := f.last("a"); ok || f.bytes != 0 {
		t.Errorf("more than ten, or %d bytes", f.bytes)
	}
	f.push("c", make([]byte, maxFormerBytes))
	f.push("c", make([]byte, 1))
	if content, _ := f.last("b"); content != nil || f.bytes != 1 {
		t.Errorf("%d bytes are kept", f.bytes)
	}
}
