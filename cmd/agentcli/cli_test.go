package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// asCLI makes the test binary agentcli.
const asCLI = "AGENTCLI_TEST_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(asCLI) != "" {
		main()
	}
	os.Exit(m.Run())
}

func write(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.yaml")
	testfile.Write(t, file, script)
	return file
}

// played runs a script with lines of an SDK.
func played(t *testing.T, script, lines string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errors bytes.Buffer
	lookup := func(name string) (string, bool) { return "", false }
	code = run(append([]string{"--script", write(t, script)}, args...), lookup, strings.NewReader(lines), &out, &errors)
	return code, out.String(), errors.String()
}

const (
	hello      = `{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}` + "\n"
	helloCalc  = `{"type":"control_request","request_id":"r1","request":{"subtype":"initialize","sdkMcpServers":["calc"],"sdkMcpServerManifests":{"calc":{"initializeResult":{"protocolVersion":"2025-11-25"},"toolsListResult":{"tools":[{"name":"add"}]}}}}}` + "\n"
	helloHooks = `{"type":"control_request","request_id":"r1","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash|Edit","hookCallbackIds":["hook_0"]},{"matcher":"Read","hookCallbackIds":["hook_1"]}],"Stop":[{"hookCallbackIds":["hook_2"]}]}}}` + "\n"
	add        = `{"type":"user","message":{"role":"user","content":"Add them"}}` + "\n"
	interrupt  = `{"type":"control_request","request_id":"r9","request":{"subtype":"interrupt"}}` + "\n"
	calling    = "turns: [{steps: [{call: add, input: {a: 1}}, {text: 'It is {result}.'}]}]"
	asking     = "turns: [{steps: [{ask: Bash, input: {command: ls}, output: a.txt}, {text: 'I see {result}.'}]}]"
	stdio      = "--permission-prompt-tool=stdio"
)

// answer returns a control response.
func answer(id, payload string) string {
	return `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":` + payload + "}}\n"
}

// conversations are scripts with the lines of an SDK. Each want is a part of a line of the CLI, in this order.
var conversations = map[string]struct {
	script, in string
	args       []string
	code       int
	want       []string
}{
	"a text and its result": {
		"turns: [{prompt: Add, steps: [{text: Hello}]}]", hello + add, []string{"--output-format", "stream-json", "--unknown"}, 0,
		[]string{
			`{"response":{"request_id":"r1","response":{`, `"subtype":"init"`, `"content":[{"text":"Hello","type":"text"}]`,
			`"is_error":false,"modelUsage":{},"num_turns":1,"permission_denials":[],"result":"Hello"`,
		},
	},
	"a handshake with a server": {
		"turns: [{steps: [{call: add}]}]",
		strings.Replace(hello, `"initialize"}`, `"initialize","sdkMcpServers":["calc"]}`, 1) +
			answer("cli_1", `{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}}`) + add +
			answer("cli_2", `{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{}}}`) +
			answer("cli_3", `{"mcp_response":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add"}]}}}`) +
			answer("cli_4", `{"mcp_response":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"42"}]}}}`), nil, 0,
		[]string{
			`"method":"initialize"`, `"request_id":"r1"`, `"method":"notifications/initialized"`, `"method":"tools/list"`,
			`"mcp_servers":[{"name":"calc","source":"sdk","status":"connected"}]`, `"name":"mcp__calc__add"`, `"id":2,"jsonrpc":"2.0","method":"tools/call"`,
			`"content":[{"text":"42","type":"text"}],"tool_use_id":"toolu_1"`, `"type":"result"`,
		},
	},
	"a call, and what it has returned": {
		calling, helloCalc + add + answer("cli_1", `{"mcp_response":{"result":{"content":[{"type":"text","text":"42"}]}}}`), nil, 0,
		[]string{`"sdk_mcp_manifests_parked":{"calc":"parked"}`, `"tools":["mcp__calc__add"]`, `"tool_use"`, `"arguments":{"a":1},"name":"add"`, `"tool_result"`, `"It is 42."`, `"result":"It is 42."`},
	},
	"a call that has failed": {
		calling, helloCalc + add + answer("cli_1", `{"mcp_response":{"error":{"code":-32602,"message":"no a"}}}`), nil, 0,
		[]string{``, `"init"`, `"tool_use"`, `tools/call`, `[{"text":"no a","type":"text"}],"is_error":true`, `"It is no a."`, `"is_error":false`},
	},
	"a permission that is given, with another input": {
		asking, hello + add + answer("cli_1", `{"behavior":"allow","updatedInput":{"command":"ls -a"},"updatedPermissions":[{"type":"setMode","mode":"plan"}]}`), []string{stdio}, 0,
		[]string{``, `"init"`, `"tool_use"`, `"input":{"command":"ls"},"subtype":"can_use_tool"`, `"permissionMode":"plan"`, `"a.txt"`, `"I see a.txt."`, `"permission_denials":[]`},
	},
	"a permission that is refused": {
		asking, hello + add + answer("cli_1", `{"behavior":"deny","message":"not here"}`), []string{stdio}, 0,
		[]string{``, `"init"`, `"tool_use"`, `can_use_tool`, `"not here","type":"text"}],"is_error":true`, `"I see not here."`, `"permission_denials":[{"tool_input":{"command":"ls"},"tool_name":"Bash","tool_use_id":"toolu_1"}]`},
	},
	"a refusal that ends the turn": {
		asking, hello + add + answer("cli_1", `{"behavior":"deny","message":"stop","interrupt":true}`), []string{stdio}, 1,
		[]string{``, `"init"`, `"tool_use"`, `can_use_tool`, `"is_error":true`, `interrupted`, `"terminal_reason":"aborted_tools"`},
	},
	"a malformed answer": {
		asking, hello + add + answer("cli_1", `{"allowed":true}`), []string{stdio}, 0,
		[]string{``, `"init"`, `"tool_use"`, `can_use_tool`, `not valid: {\"allowed\":true}`, `"I see`, `"result"`},
	},
	"a permission without an answer": {
		asking, hello + add, nil, 0,
		[]string{``, `"init"`, `"tool_use"`, `permission_denied`, `--permission-prompt-tool=stdio`, `"I see`, `"result"`},
	},
	"a hook that refuses": {
		asking, helloHooks + add + answer("cli_1", `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no shell"}}`), []string{stdio}, 0,
		[]string{``, `"init"`, `"tool_use"`, `"callback_id":"hook_0"`, `"no shell"`, `"I see no shell."`, `"result"`},
	},
	"a hook that allows": {
		asking, helloHooks + add + answer("cli_1", `{"hookSpecificOutput":{"permissionDecision":"allow"}}`), []string{stdio}, 0,
		[]string{``, `"init"`, `"tool_use"`, `"callback_id":"hook_0"`, `"a.txt"`, `"I see a.txt."`, `"result"`},
	},
	"a hook that ends the turn": {
		"turns: [{steps: [{hook: Stop, input: {last_assistant_message: x}}, {text: never}]}]", helloHooks + add + answer("cli_1", `{"continue":false,"stopReason":"enough"}`), nil, 0,
		[]string{``, `"init"`, `"callback_id":"hook_2","input":{"hook_event_name":"Stop","last_assistant_message":"x"`, `"result":"enough"`},
	},
	"an interrupt during a call": {
		calling, helloCalc + add + interrupt, nil, 1,
		[]string{``, `"init"`, `"tool_use"`, `tools/call`, `"method":"notifications/cancelled","params":{"reason":"interrupted","requestId":2}`, `"request_id":"r9","response":{"still_queued":[]}`, `"is_error":true`, `interrupted`, `"aborted_tools"`},
	},
	"an interrupt during a question": {
		asking, hello + add + interrupt, []string{stdio}, 1,
		[]string{``, `"init"`, `"tool_use"`, `can_use_tool`, `{"request_id":"cli_1","type":"control_cancel_request"}`, `"r9"`, `"is_error":true`, `interrupted`, `"aborted_tools"`},
	},
	"an interrupt when nothing runs": {"turns: [{steps: []}]", hello + interrupt, nil, 0, []string{`"r1"`, `{"still_queued":[]}`}},
	"a prompt that joins the turn":   {"turns: [{steps: [{wait: prompt}, {text: Both}]}]", hello + add + add, nil, 0, []string{``, `"init"`, `"Both"`, `"type":"result"`}},
	"waits for requests": {
		"turns: [{steps: [{wait: set_model}, {text: a}, {wait: interrupt}]}]",
		hello + add + `{"type":"control_request","request_id":"r2","request":{"subtype":"set_model","model":"other"}}` + "\n" + interrupt, nil, 1,
		[]string{``, `"init"`, `{"model":"other"}`, `"model":"other"`, `"r9"`, `interrupted`, `"terminal_reason":"aborted_streaming"`},
	},
	"modes, and an unknown request": {
		"turns: [{steps: []}]", hello +
			`{"type":"control_request","request_id":"r2","request":{"subtype":"set_permission_mode","mode":"plan"}}` + "\n" +
			`{"type":"control_request","request_id":"r3","request":{"subtype":"set_permission_mode","mode":"bad"}}` + "\n" +
			`{"type":"control_request","request_id":"r4","request":{"subtype":"set_permission_mode","mode":"bypassPermissions"}}` + "\n" +
			`{"type":"control_request","request_id":"r5","request":{"subtype":"mcp_status"}}` + "\n" +
			`{"type":"control_request","request_id":"r6","request":{"subtype":"fly"}}` + "\n", nil, 0,
		[]string{`"r1"`, `{"mode":"plan"}`, `"permissionMode":"plan"`, `invalid_mode`, `bypass_not_launched`, `{"mcpServers":[]}`, `unsupported_request`},
	},
	"a result with everything": {
		"turns: [{steps: [{result: error_max_turns, cost: 0.5, turns: 3, errors: [too many], reason: max_turns}]}]", hello + add, nil, 1,
		[]string{``, `"init"`, `"errors":["too many"],"is_error":true,"modelUsage":{},"num_turns":3`},
	},
	"a success that is an error": {"turns: [{steps: [{result: success, error: true, text: busy}]}]", hello + add, nil, 1, []string{``, `"init"`, `"is_error":true`}},
	"raw lines and an exit":      {"turns: [{steps: [{raw: not JSON}, {raw: {type: x}}, {exit: 3}]}]", hello + add, nil, 3, []string{``, `"init"`, `not JSON`, `{"type":"x"}`}},
	"the end of the input":       {"turns: [{steps: [{wait: end}, {exit: 0}]}]", hello + add, nil, 0, []string{``, `"init"`}},
	"a second initialize":        {"turns: [{steps: []}]", hello + hello, nil, 0, []string{`"success"`, `"error":"the session is initialized already"`}},
	"a refused start":            {"error: too old\nturns: [{steps: []}]", hello, nil, 0, []string{`"error":"too old","request_id":"r1","subtype":"error"`}},
	"harmless lines":             {"turns: [{steps: []}]", "\n{}\n42\n[]\n{\"type\":\"keep_alive\"}\n" + answer("x", "{}"), nil, 0, nil},
}

func TestLines(t *testing.T) {
	for name, tc := range conversations {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := played(t, tc.script, tc.in, tc.args...)
			if code != tc.code || stderr != "" {
				t.Errorf("code %d, want %d; stderr %q", code, tc.code, stderr)
			}
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if out == "" {
				lines = nil
			}
			if len(lines) != len(tc.want) {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), len(tc.want), out)
			}
			for i, want := range tc.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("line %d: want %s\n got %s", i+1, want, lines[i])
				}
			}
			if _, again, _ := played(t, tc.script, tc.in, tc.args...); again != out {
				t.Errorf("a second run differs:\n%s", cmp.Diff(out, again))
			}
		})
	}
}

// TestWhatIsWrongIsExplained plays scripts that do not fit to the SDK.
func TestWhatIsWrongIsExplained(t *testing.T) {
	for name, tc := range map[string]struct{ script, in, want string }{
		"no turn left":       {"turns: [{steps: []}]", hello + add + add, `no turn for prompt 2, "Add them": add one`},
		"another prompt":     {"turns: [{prompt: Subtract, steps: []}]", hello + add, `turn 1 wants a prompt with "Subtract", got "Add them"`},
		"no such argument":   {"args: [--model=opus]\nturns: [{steps: []}]", hello, "wants the argument --model=opus"},
		"no server":          {calling, hello + add, "script.yaml:1: call of add: the SDK has announced 0 servers []: add server: NAME to the step"},
		"another server":     {"turns: [{steps: [{call: add, server: x}]}]", helloCalc + add, `announced no server "x", only ["calc"]`},
		"no mcp_response":    {calling, helloCalc + add + answer("cli_1", "{}"), `the SDK's answer to tools/call of server "calc" has no mcp_response`},
		"the end in a turn":  {calling, helloCalc + add, "the input has ended, and turn 1"},
		"not JSON":           {calling, "what\n", "not a JSON object: what"},
		"null":               {calling, "null\n", "not a JSON object: null"},
		"a user without one": {calling, `{"type":"user"}` + "\n", `without message.role "user"`},
		"too many prompts":   {"turns: [{steps: [{wait: interrupt}]}]", hello + strings.Repeat(add, 1002), "1000 prompts wait"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, stderr := played(t, tc.script, tc.in); code != 1 || !strings.Contains(stderr, tc.want) {
				t.Errorf("code %d, stderr %s\nwant %s", code, stderr, tc.want)
			}
		})
	}
}

func TestMistakesInAScriptHaveAPlaceAndAFix(t *testing.T) {
	for script, want := range map[string]string{
		"turns:\n- steps:\n  - txt: Hello\n":                      "s.yaml:3:5: unknown key \"txt\"\n\tfix: did you mean \"text\"?",
		"turns:\n- steps:\n  - call: 3\n":                         "s.yaml:3:11: \"call\" is a number\n\tfix: write the name of a tool: call: add",
		"turns:\n- steps:\n  - {id: a}\n":                         "s.yaml:3:5: the step does nothing\n\tfix: add one of: ask, call, crash, exit, hook, raw, result, stderr, text, wait",
		"turns:\n- steps:\n  - {text: a, call: b}\n":              "s.yaml:3:15: text and call are two steps\n\tfix: begin the second one with - on a line of its own",
		"turns:\n- steps:\n  - {text: a, cost: 1}\n":              "s.yaml:3:15: text has no cost\n\tfix: remove it",
		"turns:\n- steps:\n  - {ask: a, cost: 1}\n":               "s.yaml:3:14: ask has no cost\n\tfix: remove it; allowed are input, id, output, suggestions",
		"turns:\n- steps:\n  - wait: set_modl\n":                  "s.yaml:3:11: there is no wait for \"set_modl\"\n\tfix: did you mean \"set_model\"?",
		"turns:\n- steps:\n  - result: success\n  - text: late\n": "s.yaml:4:5: this step comes after result, which ends the turn\n\tfix: remove it, or put it before",
	} {
		if _, err := parse("s.yaml", []byte(script)); err == nil || err.Error() != want {
			t.Errorf("%q: got\n%v\nwant\n%s", script, err, want)
		}
	}
}

func TestTheExampleOfTheHelpWorks(t *testing.T) {
	var out bytes.Buffer
	if code := run([]string{"--verbose", "--help"}, os.LookupEnv, nil, &out, nil); code != 0 {
		t.Fatalf("code %d", code)
	}
	_, example, found := strings.Cut(out.String(), "\n  turns:\n")
	if !found {
		t.Fatal("the help has no example")
	}
	example, _, _ = strings.Cut(example, "\n\nEach prompt")
	in := helloCalc + add + answer("cli_1", `{"mcp_response":{"result":{"content":[{"type":"text","text":"42"}]}}}`)
	code, got, stderr := played(t, "turns:\n"+strings.ReplaceAll(example, "\n  ", "\n")[2:], in)
	if code != 0 || !strings.Contains(got, `"result":"The sum is 42."`) {
		t.Errorf("code %d: %s\n%s", code, stderr, got)
	}
	for verb := range with {
		if !strings.Contains(out.String(), "\n  "+verb+":") {
			t.Errorf("the help does not name the step %s", verb)
		}
	}
	for _, wait := range waits {
		if _, err := parse("", []byte("turns: [{steps: [{wait: "+wait+"}]}]")); err != nil {
			t.Errorf("wait: %s: %v", wait, err)
		}
	}
}

func TestTheLogHasArgumentsAndLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	lookup := func(name string) (string, bool) {
		return map[string]string{"AGENTCLI_LOG": file, "AGENTCLI_SCRIPT": write(t, "turns: [{steps: []}]")}[name], true
	}
	for range 2 { // as when an SDK connects again
		if code := run([]string{"--verbose", "--model=opus"}, lookup, strings.NewReader(hello), new(bytes.Buffer), os.Stderr); code != 0 {
			t.Fatalf("code %d", code)
		}
	}
	if want := `["--verbose","--model=opus"]` + "\n" + hello; testfile.Text(t, file) != want+want {
		t.Errorf("got %s", testfile.Text(t, file))
	}
}

func TestWithoutAScript(t *testing.T) {
	for name, args := range map[string][]string{"set AGENTCLI_SCRIPT": nil, "read the script": {"--script=/no/such/file"}} {
		var stderr bytes.Buffer
		none := func(string) (string, bool) { return "", false }
		if code := run(args, none, strings.NewReader(""), nil, &stderr); code != 1 || !strings.Contains(stderr.String(), name) {
			t.Errorf("code %d: %s", code, stderr.String())
		}
	}
}
