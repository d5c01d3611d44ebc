package scenario

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMistakesInStepsOnWiresHaveTheirPlacesAndFixes is about the steps on sockets, programs and drivers.
func TestMistakesInStepsOnWiresHaveTheirPlacesAndFixes(t *testing.T) {
	for _, tc := range []struct {
		name, steps string
		want        []string // "column: what → fix"; all are in line 4
	}{
		{"another name", `{open: a, socket: /x}, {send: b, text: x}`, []string{`39: send b: no such socket or program → did you mean "a"?`}},
		{"nothing to send", `{open: a, socket: /x}, {send: a}`, []string{`32: item 2 of "steps" is not allowed here → say what to send: json, text, binary, ping, pong, frames, or bytes`}},
		{"two messages", `{open: a, socket: /x}, {send: a, text: x, json: 1}`, []string{`42: a step sends both json and text → use a step for each of them`}},
		{"a ping in fragments", `{open: a, socket: /x}, {send: a, ping: x, fragments: 2}`, []string{`51: ping cannot be sent in fragments → remove fragments; only json, text and binary can have them`}},
		{"one fragment", `{open: a, socket: /x}, {send: a, text: x, fragments: 1}`, []string{`62: "fragments" is 1 → write a number of at least 2`}},
		{"no base64", `{open: a, socket: /x}, {send: a, binary: '!!'}`, []string{`50: base64: illegal base64 data at input byte 0 → write standard base64 with its padding`}},
		{"no bytes", `{open: a, socket: /x}, {send: a, bytes: {}}`, []string{`49: "bytes" is not allowed here → give the bytes as text, or as base64`}},
		{"bytes in two ways", `{open: a, socket: /x}, {send: a, bytes: {text: a, base64: AA==}}`, []string{`59: both text and base64 say what the bytes are → remove one of them`}},
		{"a frame without an opcode", `{open: a, socket: /x}, {send: a, frames: [{fin: true}]}`, []string{`51: item 1 of "frames" has no "opcode" → add it: opcode, 0 continuation, 1 text, 2 binary, 8 close, 9 ping, 10 pong; others are reserved`}},
		{"an opcode of five bits", `{open: a, socket: /x}, {send: a, frames: [{opcode: 16}]}`, []string{`60: "opcode" is 16 → write a number of at most 15`}},
		{"a payload in two ways", `{open: a, socket: /x}, {send: a, frames: [{opcode: 1, text: a, base64: AA==}]}`, []string{`72: both text and base64 say what the bytes are → remove one of them`}},
		{"a misspelt key", `{open: a, socket: /x}, {send: a, txt: x}`, []string{`42: unknown key "txt" → did you mean "text"?`}},
		{"a signal to a socket", `{open: a, socket: /x}, {signal: a, name: SIGINT}`, []string{`41: signal is only for a program, and a is a socket → open it with program, or leave the step out`}},
		{"a code that is too large", `{open: a, socket: /x}, {close: a, code: 70000}`, []string{`49: "code" is 70000 → write a number of at most 65535`}},
		{"a misspelt code", `{open: a, socket: /x}, {close: a, cod: 1}`, []string{`43: unknown key "cod" → did you mean "code"?`}},
		{"a message after the close", `{open: a, socket: /x}, {close: a}, {send: a, text: x}`, []string{`51: send a: close a in line 4 already ended it → move this step before that one, or leave it out`}},
		{"an unknown value", `{open: a, socket: /x}, {send: a, text: '${{ nobody }}'}`, []string{`48: ${{ nobody }} is not defined here → use one of: directory, lockstep, unique`}},
		{"a path without a slash", `{open: a, socket: x}`, []string{`27: "socket" is "x" → write a path, such as /chat`}},
		{"a misspelt reflex", `{open: a, socket: /x, manual: [pings]}`, []string{`40: item 1 of "manual" is "pings" → did you mean "pong"?`}},
		{"an opening of nothing", `{open: a}`, []string{`9: item 1 of "steps" has no "sse" → say what to open: sse, socket, or program`}},
		{"a binary message to a program", `{open: a, program: {}}, {send: a, binary: AA==}`, []string{`43: binary is only for a socket, and a is a program → a program reads lines: send json, text or bytes`}},
		{"a ping to a program", `{open: a, program: {}}, {send: a, ping: x}`, []string{`43: ping is only for a socket, and a is a program → leave the step out`}},
		{"frames to a program", `{open: a, program: {}}, {send: a, frames: [{opcode: 1}]}`, []string{`43: frames is only for a socket, and a is a program → a program reads lines: send json, text or bytes`}},
		{"two lines at once", `{open: a, program: {}}, {send: a, text: "a\nb"}`, []string{`49: the text has a line end, and a program gets one line → use a step for each line, or bytes`}},
		{"a signal without a name", `{open: a, program: {}}, {signal: a}`, []string{`33: item 2 of "steps" has no "name" → add it: name, the signal`}},
		{"a signal that no program gets", `{open: a, program: {}}, {signal: a, name: SIGSTOP}`, []string{`51: "name" is "SIGSTOP" → did you mean "SIGHUP"?`}},
		{"a signal to nobody", `{open: a, program: {}}, {signal: b, name: SIGINT}`, []string{`42: signal b: no such program → did you mean "a"?`}},
		{"a code for a program", `{open: a, program: {}}, {close: a, code: 1000}`, []string{`44: code is only for a socket, and a is a program → remove it`}},
		{"misspelt arguments", `{open: a, program: {arg: [x]}}`, []string{`29: unknown key "arg" → did you mean "args"?`}},
		{"a program with a limit", `{open: a, program: {}, within: 1s}`, []string{`32: unknown key "within" → use one of: compare, open, program, ready`}},
		{"a message on an event stream", `{open: a, sse: GET /}, {send: a, text: x}`, []string{`39: send a: it is an event stream, which only the server writes to → open a socket or a program to send to it`}},
		{"a code for an event stream", `{open: a, sse: GET /}, {close: a, code: 1000}`, []string{`43: code is only for a socket, and a is an event stream → remove it`}},
		{"a reason for a request", `{start: a, http: GET /}, {close: a, reason: x}`, []string{`45: reason is only for a socket, and a is a started request → remove it`}},
		{"nothing to do", `{do: ''}`, []string{`14: "do" is too short → fill it in`}},
		{"a body for a driver", `{do: x, json: {}}`, []string{`17: unknown key "json" → use one of: burst, capture, compare, do, expect, with, within`}},
		{"a status of a driver", `{do: x, expect: {status: 200, headers: {A: b}}}`, []string{`26: the outcome of a driver has no status → expect something of its JSON: json: {$.ok: …}, or {$.error: …}`, `39: the outcome of a driver has no headers → expect something of its JSON: json: {$.ok: …}, or {$.error: …}`}},
		{"a header field of a driver", `{do: x, headers: {A: b}}`, []string{`17: unknown key "headers" → use one of: burst, capture, compare, do, expect, with, within`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, problems := Parse("f", "a/b", []byte(head+"steps: ["+tc.steps+"]"))
			var got []string
			for _, p := range problems {
				if p.Line != 4 || p.Fix == "" {
					t.Errorf("%+v has another line, or no fix", p)
				}
				got = append(got, fmt.Sprintf("%d: %s → %s", p.Column, p.What, p.Fix))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
