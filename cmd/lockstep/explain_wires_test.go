//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStepsOnWiresAreExplained checks that explain shows what steps send, and their defaults.
func TestStepsOnWiresAreExplained(t *testing.T) {
	for i, tc := range []struct{ steps, want string }{
		{`
  - {open: room, socket: "/room/${{ who }}", protocols: [a, "b-${{ unique }}"], headers: {Upgrade: x}}
  - {send: room, json: {b: "${{ who }}", a: "${{ unique }}"}}
  - {send: room, text: hello, fragments: 3, within: 1s}
  - {send: room, binary: AAE=}
  - {send: room, frames: [{opcode: 1, fin: false, text: "ab ${{ who }}"}, {opcode: 0, base64: AAE=, length: 9}]}
  - {close: room}
`, `  - step: "1"
    line: 6
    open: room
    socket: /room/ann
    protocols: [a, "b-${{ unique }}"]
    headers: {Upgrade: x}
    sends:
      request: GET /room/ann
      headers:
        - "Upgrade: x"
        - "Connection: Upgrade"
        - "Sec-WebSocket-Version: 13"
        - "Sec-WebSocket-Key: ‹16 random bytes›"
        - "Sec-WebSocket-Protocol: a, b-${{ unique }}"
    by_default: {within: 30s}
  - step: "2"
    line: 7
    send: room
    json: {b: ann, a: "${{ unique }}"}
    sends: {text: "{\"b\":\"ann\",\"a\":\"${{ unique }}\"}"}
    by_default: {within: 30s}
  - step: "3"
    line: 8
    send: room
    text: hello
    fragments: 3
    within: 1s
    sends: {text: hello, in: "3 frames"}
  - step: "4"
    line: 9
    send: room
    binary: AAE=
    sends: {binary: "‹2 bytes›"}
    by_default: {within: 30s}
  - step: "5"
    line: 10
    send: room
    frames: [{opcode: 1, fin: false, text: ab ann}, {opcode: 0, base64: "AAE=", length: 9}]
    sends:
      frames:
        - "opcode 1, fin false, rsv 0, masked true: ab ann"
        - "opcode 0, fin true, rsv 0, masked true: 2 bytes, announced as 9 bytes"
    by_default: {within: 30s}
  - {step: "6", line: 11, close: room, by_default: {code: "1000", within: 50ms}}
`},
		{`
  - {open: server, program: {args: [x]}}
  - {send: server, json: {b: "${{ who }}", a: "${{ unique }}"}}
  - {send: server, bytes: {text: hel}}
  - {signal: server, name: SIGINT}
  - {close: server}
`, `  - {step: "1", line: 6, open: server, program: {args: [x]}}
  - step: "2"
    line: 7
    send: server
    json: {b: ann, a: "${{ unique }}"}
    sends: {line: "{\"b\":\"ann\",\"a\":\"${{ unique }}\"}"}
    by_default: {within: 30s}
  - {step: "3", line: 8, send: server, bytes: {text: hel}, sends: {bytes: hel}, by_default: {within: 30s}}
  - {step: "4", line: 9, signal: server, name: SIGINT}
  - {step: "5", line: 10, close: server}
`},
		{`
  - {do: "sing-${{ who }}", with: {song: "${{ unique }}"}}
  - {start: song, do: dance}
  - {join: song}
`, `  - step: "1"
    line: 6
    do: sing-ann
    with: {song: "${{ unique }}"}
    sends: {line: {id: "‹number›", do: sing-ann, with: {song: "${{ unique }}"}}}
    by_default: {within: 30s}
  - {step: "2", line: 7, start: song, do: dance, sends: {line: {id: "‹number›", do: dance}}}
  - {step: "3", line: 8, join: song, by_default: {within: 30s}}
`},
	} {
		p := wires[i].project(t, "right")
		p.write(t, "scenarios/plain.yaml", "scenario: plain\nwhy: There is much that is not said\nsource: x\nvars: {who: ann}\nsteps:"+tc.steps)
		o := p.do(t, "explain", "plain")
		_, got, _ := strings.Cut(o.stdout, "steps:\n")
		got, _, _ = strings.Cut(got, "rules:\n")
		if diff := cmp.Diff(tc.want, got); diff != "" || o.code != exitMatch {
			t.Errorf("%s: explain exits with %d, stderr %q (-want +got):\n%s", wires[i].name, o.code, o.stderr, diff)
		}
	}
}
