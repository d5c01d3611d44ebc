//go:build unix

package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// The targets of these tests talk over a socket, over standard input and output, or drive a library. In the variant
// "other" they do something else.

// secretsTold is what a target tells when it is asked for its secrets, by the variant.
func secretsTold(variant string) map[string]any {
	return map[string]any{
		"apiKey": canaries["key"], "greeting": variant + " " + canaries["key"], "plain": variant + canaries["env"],
		"basic": base64.StdEncoding.EncodeToString([]byte(variant + canaries["env"])), "escaped": fmt.Sprintf("%s%%%02x%s", variant, canaries["env"][0], canaries["env"][1:]),
	}
}

// talk plays a program that speaks JSON-RPC.
func talk(p *faux.Process) int {
	variant := p.Listen
	out := json.NewEncoder(os.Stdout)
	fmt.Fprintln(os.Stderr, "ready", uuid.NewString())
	for in := json.NewDecoder(os.Stdin); ; {
		var m struct {
			ID     any    `json:"id"`
			Method string `json:"method"`
			Params any    `json:"params"`
		}
		if in.Decode(&m) != nil {
			return 0
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "echo":
			answer["result"] = map[string]any{"of": m.Params, "token": uuid.NewString()}
		case "tell":
			fmt.Fprintln(os.Stderr, variant, canaries["env"], base64.StdEncoding.EncodeToString([]byte(canaries["env"])))
			answer["result"] = secretsTold(variant)
		case "number":
			answer["result"] = map[string]any{"serial": os.Getpid()}
		case "quit":
			return map[string]int{"right": 3, "other": 4}[variant]
		default:
			answer["error"] = map[string]any{"code": -32601, "message": map[string]string{"right": "Method not found", "other": "no such method"}[variant]}
		}
		_ = out.Encode(answer)
	}
}

// drive plays the driver of a library.
func drive(p *faux.Process) int {
	variant := p.Listen
	out := json.NewEncoder(os.Stdout)
	for in := json.NewDecoder(os.Stdin); ; {
		var m struct {
			ID   int    `json:"id"`
			Do   string `json:"do"`
			With any    `json:"with"`
		}
		if in.Decode(&m) != nil {
			return 0
		}
		switch m.Do {
		case "echo":
			_ = out.Encode(map[string]any{"id": m.ID, "ok": map[string]any{"of": m.With, "token": uuid.NewString()}})
		case "number":
			_ = out.Encode(map[string]any{"id": m.ID, "ok": map[string]any{"serial": os.Getpid()}})
		case "tell":
			_ = out.Encode(map[string]any{"id": m.ID, "ok": secretsTold(variant)})
		case "refuse":
			_ = out.Encode(map[string]any{"id": m.ID, "error": secretsTold(variant)})
		case "crash":
			fmt.Fprintln(os.Stderr, variant, canaries["env"])
			return 1
		case "chatter":
			fmt.Println(variant, canaries["env"])
		default:
			_ = out.Encode(map[string]any{"id": m.ID, "error": map[string]any{"kind": map[string]string{"right": "Unknown", "other": "Missing"}[variant]}})
		}
	}
}

// played returns a target that is the test binary in a role. kind is program or driver.
func played(t *testing.T, kind, role, name, variant string) string {
	t.Helper()
	return fmt.Sprintf("  %s: {%s: [%q, %s], env: {%s: %s, GORACE: atexit_sleep_ms=0}, stop: 100ms}\n", name, kind, testfile.Program(t), variant, roleVariable, role)
}

// sockets serves a chat over a socket, and returns a target.
func sockets(t *testing.T, name, variant string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Sec-WebSocket-Key") == "" {
			return
		}
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
		converse(conn, rw.Reader, variant)
	}))
	t.Cleanup(s.Close)
	return fmt.Sprintf("  %s: {url: %q, ready: {get: /health}}\n", name, s.URL)
}

// converse answers the messages of a socket until one of the sides closes it.
func converse(w io.Writer, r *bufio.Reader, variant string) {
	send := func(opcode byte, payload string) {
		head := []byte{0x80 | opcode, byte(len(payload))}
		if len(payload) > 125 {
			head = binary.BigEndian.AppendUint16([]byte{0x80 | opcode, 126}, uint16(len(payload)))
		}
		_, _ = w.Write(append(head, payload...))
	}
	leave := func(code uint16, reason string) {
		send(8, string(binary.BigEndian.AppendUint16(nil, code))+reason)
		_, _ = io.Copy(io.Discard, r) // until the client ends the connection
	}
	for {
		opcode, payload, err := received(r)
		var m struct{ Type string }
		_ = json.Unmarshal([]byte(payload), &m)
		told, _ := json.Marshal(secretsTold(variant))
		switch {
		case err != nil:
			return
		case opcode == 8:
			send(8, payload)
			return
		case opcode == 2:
			send(2, payload+"\xff")
		case opcode == 9:
			send(10, payload)
		case m.Type == "echo":
			text, _ := json.Marshal(map[string]any{"of": payload, "session": uuid.NewString()})
			send(1, string(text))
		case m.Type == "tell":
			send(1, string(told))
			send(2, "\xff"+variant+canaries["env"])
			send(9, variant+canaries["env"])
			leave(4001, variant+canaries["env"])
			return
		case m.Type == "bye":
			leave(4000, map[string]string{"right": "so long", "other": "so far"}[variant])
			return
		}
	}
}

// received reads a frame of a client. It is an error at the end.
func received(r *bufio.Reader) (opcode byte, payload string, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, "", err
	}
	size := int(head[1] & 0x7f)
	if size == 126 {
		long := make([]byte, 2)
		if _, err := io.ReadFull(r, long); err != nil {
			return 0, "", err
		}
		size = int(binary.BigEndian.Uint16(long))
	}
	masked := make([]byte, 4+size)
	if _, err := io.ReadFull(r, masked); err != nil {
		return 0, "", err
	}
	for i := range size {
		masked[4+i] ^= masked[i%4]
	}
	return head[0] & 0xf, string(masked[4:]), nil
}

// A wire is a kind of target, with a scenario in which the variants differ, and one in which they do not.
type wire struct {
	name             string
	target           func(t *testing.T, name, variant string) string
	differing, equal string // steps
	at               string // the place of the first difference, for waivers
}

var wires = []wire{
	{"socket", sockets, `
  - {open: room, socket: /room}
  - {send: room, json: {type: bye}}
  - {await: room, match: {event: close}}
`, `
  - {open: room, socket: /room}
  - {send: room, json: {type: echo, of: "${{ unique }}"}}
  - {await: room, match: {event: text}, capture: {session: $.session}}
  - {send: room, binary: AAH/}
  - {send: room, ping: "${{ session }}"}
  - {await: room, match: {event: pong}}
  - {close: room, code: 1000, reason: bye}
`, "open room: socket /room: message (close) data /reason"},
	{"program", func(t *testing.T, name, variant string) string { return played(t, "program", "talks", name, variant) }, `
  - {open: server, program: {}}
  - {send: server, json: {jsonrpc: "2.0", id: 1, method: nothing}}
  - {await: server, match: {json: {$.id: 1}}}
  - {send: server, json: {jsonrpc: "2.0", method: quit}}
  - {await: server, match: {event: exit}}
`, `
  - {open: server, program: {}}
  - {send: server, json: {jsonrpc: "2.0", id: 1, method: echo, params: {of: "${{ unique }}"}}}
  - {await: server, match: {json: {$.id: 1}}, capture: {token: $.result.token}}
  - {send: server, json: {jsonrpc: "2.0", id: 2, method: echo, params: {of: "${{ token }}"}}}
  - {await: server, match: {json: {$.id: 2}}}
  - {close: server}
`, "open server: program: line data /error/message"},
	{"driver", func(t *testing.T, name, variant string) string { return played(t, "driver", "drives", name, variant) }, `
  - {do: nothing}
`, `
  - {do: echo, with: {of: "${{ unique }}"}, expect: {json: {$.ok.of.of: "${{ unique }}"}}, capture: {token: $.ok.token}}
  - {do: echo, with: {of: "${{ token }}"}}
`, "do nothing: body /error/kind"},
}

// project returns a project with the two scenarios of a wire. The candidate is the variant.
func (w wire) project(t *testing.T, variant string) testProject {
	t.Helper()
	dir := t.TempDir()
	p := testProject{dir, filepath.Join(dir, "lockstep.yaml")}
	p.config(t, w.target(t, "right", "right")+w.target(t, "wrong", variant))
	for id, steps := range map[string]string{"differing": w.differing, "equal": w.equal} {
		p.write(t, "scenarios/"+id+".yaml", "scenario: "+id+"\nwhy: It shows what it does\nsource: the guide\nsteps:"+steps)
	}
	return p
}

func (p testProject) config(t *testing.T, targets string) {
	t.Helper()
	p.write(t, "lockstep.yaml", "scenarios: scenarios\nreference: right\ntargets:\n"+targets+
		"compare: {streams: {server: {protocol: jsonrpc}}}\nlimits: {step: 30s, scenario: 40s, settle: 50ms}\n")
}
