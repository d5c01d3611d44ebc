//go:build linux

package agentsdk_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

// A fake is the CLI's side, in a process of its own.
type fake struct{ in *bufio.Reader }

func newFake() *fake { return &fake{in: bufio.NewReaderSize(os.Stdin, 1<<20)} }

func (f *fake) raw(text string) { os.Stdout.WriteString(text) }

func (f *fake) send(message any) {
	line, _ := json.Marshal(message)
	f.raw(string(line) + "\n")
}

// next returns the next line; nil at the end of the input.
func (f *fake) next() object {
	line, err := f.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var o object
	_ = json.Unmarshal(line, &o)
	return o
}

// handshake answers initialize.
func (f *fake) handshake(payload any) {
	first := f.next()
	f.send(object{"type": "control_response", "response": object{"subtype": "success", "request_id": first["request_id"], "response": payload}})
}

func (f *fake) init() {
	f.send(object{"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "tools": []string{}})
}

func (f *fake) result(subtype string, isError bool, more ...string) {
	m := object{"subtype": subtype, "is_error": isError, "session_id": "s-1", "num_turns": 1, "result": "done", "type": "result"}
	for _, reason := range more {
		m["terminal_reason"] = reason
	}
	f.send(m)
}

// turn answers a prompt.
func (f *fake) turn() bool {
	for m := f.next(); m != nil; m = f.next() {
		if m["type"] == "user" {
			f.init()
			f.send(object{"type": "assistant", "session_id": "s-1", "message": object{"id": "m1", "model": "m", "content": []any{object{"type": "text", "text": prompted(m)}}}})
			f.result("success", false)
			return true
		}
		if m["type"] == "control_request" {
			f.send(object{"type": "control_response", "response": object{"subtype": "success", "request_id": m["request_id"], "response": object{}}})
		}
	}
	return false
}

func callLine(id int, tool, args string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":"c%d","request":{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}}}`+"\n", id, id, tool, args)
}

// fakes has the CLIs by their names. Each returns its exit code.
var fakes = map[string]func(*fake) int{
	"good": func(f *fake) int {
		f.handshake(object{"pid": os.Getpid(), "claude_code_version": "2.1.328"})
		for f.turn() {
		}
		return 0
	},
	"echo": func(f *fake) int { // its first message has the arguments, the environment and the folder
		f.handshake(object{})
		cwd, _ := os.Getwd()
		f.send(object{"type": "echo", "args": os.Args[1:], "env": os.Environ(), "cwd": cwd})
		f.turn()
		return 0
	},
	"early exit": func(f *fake) int {
		fmt.Fprintln(os.Stderr, "no such session")
		return 1
	},
	"refuses": func(f *fake) int {
		first := f.next()
		f.send(object{"type": "control_response", "response": object{"subtype": "error", "request_id": first["request_id"], "error": "too old", "error_code": "old"}})
		for f.next() != nil {
		}
		return 0
	},
	"silent": func(f *fake) int {
		for f.next() != nil {
		}
		return 0
	},
	"silent after the handshake": func(f *fake) int {
		f.handshake(object{})
		for f.next() != nil {
		}
		return 0
	},
	"no result": func(f *fake) int { f.handshake(object{}); f.next(); f.init(); return 0 },
	"exit 3": func(f *fake) int {
		f.handshake(object{})
		f.next()
		f.init()
		fmt.Fprint(os.Stderr, "it broke")
		return 3
	},
	"killed": func(f *fake) int {
		f.handshake(object{})
		f.next()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	},
	"exit 1 after an error": func(f *fake) int { f.handshake(object{}); f.next(); f.result("success", true); return 1 },
	"exit 1 after success":  func(f *fake) int { f.handshake(object{}); f.next(); f.result("success", false); return 1 },
	"stubborn": func(f *fake) int { // ignores the end of its input and SIGTERM, and says when they come
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		f.handshake(object{"pid": os.Getpid()})
		go func() {
			for f.next() != nil {
			}
			fmt.Fprintln(os.Stderr, "EOF")
		}()
		<-signals
		fmt.Fprintln(os.Stderr, "SIGTERM")
		select {}
	},
	"junk": func(f *fake) int {
		f.handshake(object{})
		f.next()
		f.raw("not json\n\n  \t\nnull\n42\n[]\n\"x\"\n{}\n{\"type\":7}\n")
		f.raw(`{"type":"control_response"}` + "\n" + `{"type":"control_response","response":{}}` + "\n" + `{"type":"control_response","response":{"subtype":"success","request_id":"none"}}` + "\n")
		f.raw(`{"type":"control_request","request":{"subtype":"interrupt"}}` + "\n" + `{"type":"keep_alive"}` + "\n")
		f.raw(`{"type":"system","subtype":"session_state_changed","sdk_host_only":true}` + "\n")
		for _, b := range []byte("  {\"type\":\"new\",\"text\":\"\u2028é\"}\r\n") { // one byte after the other
			f.raw(string([]byte{b}))
		}
		f.raw(`{"session_id":"s-1","subtype":"success","type":"result"}`) // without a line end
		return 0
	},
	"flood": func(f *fake) int {
		f.handshake(object{})
		f.next()
		for range 3 << 10 {
			fmt.Fprint(os.Stderr, strings.Repeat("e", 1<<10))
		}
		f.result("success", false)
		return 0
	},
	"half a line": func(f *fake) int {
		f.handshake(object{})
		f.next()
		f.result("success", false)
		f.raw(`{"type":"assis`)
		return 0
	},
	"large line": func(f *fake) int {
		f.handshake(object{})
		size := 0
		_, _ = fmt.Sscan(prompted(f.next()), &size)
		f.send(object{"type": "assistant", "message": object{"content": []any{object{"type": "text", "text": strings.Repeat("x", size)}}}})
		f.result("success", false)
		return 0
	},
	"calls": func(f *fake) int { // each prompt says how many, and how many at the same time
		f.handshake(object{})
		out := bufio.NewWriterSize(os.Stdout, 64<<10)
		for m := f.next(); m != nil; m = f.next() {
			n, window := 0, 0
			_, _ = fmt.Sscan(prompted(m), &n, &window)
			sent := 0
			for answered := 0; answered < n; {
				for sent < n && sent-answered < window {
					sent++
					_, _ = out.WriteString(callLine(sent, "add", `{"a":1,"b":2}`))
				}
				_ = out.Flush()
				for {
					if line, err := f.in.ReadSlice('\n'); err != nil || !bytes.Contains(line, []byte(`"text":"3"`)) {
						fmt.Fprintf(os.Stderr, "1 and 2 are 3, got %s, %v\n", line, err)
						return 1
					}
					answered++
					if f.in.Buffered() == 0 {
						break
					}
				}
			}
			f.result("success", false)
		}
		return 0
	},
	"held open": func(f *fake) int { // a process of its own keeps the pipes
		f.handshake(object{})
		f.next()
		child, err := os.StartProcess("/bin/sleep", []string{"sleep", "30"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
		f.send(object{"type": "child", "pid": child.Pid, "err": err})
		f.result("success", false)
		return 0
	},
	"slow to end": func(f *fake) int {
		f.handshake(object{"pid": os.Getpid()})
		for f.next() != nil {
		}
		time.Sleep(time.Hour)
		return 0
	},
}

// options start one of the fakes.
func options(t testing.TB, name string) agentsdk.AgentOptions {
	t.Helper()
	return agentsdk.AgentOptions{CLIPath: testfile.Program(t), Env: map[string]string{"FAKE_CLI": name, "GORACE": "atexit_sleep_ms=0"}}
}
