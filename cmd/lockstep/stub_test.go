package main

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
)

func TestStubMCPUsesStandardInputAndOutput(t *testing.T) {
	const said = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"env","arguments":{"name":"HOME"}}}
`
	in, client := io.Pipe()
	answers, out := io.Pipe()
	var stderr syncbuffer.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"stub", "mcp"}, &environment{
			stdin: in, stdout: out, stderr: &stderr, getenv: func(name string) string { return "the " + name },
		})
	}()
	io.WriteString(client, said)
	lines := bufio.NewScanner(answers)
	lines.Scan() // the answer to initialize
	lines.Scan()
	if want := `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"the HOME"}]}}`; lines.Text() != want {
		t.Errorf("answered %s, want %s", lines.Text(), want)
	}
	client.Close()
	if code := <-ended; code != exitMatch || stderr.String() != "" {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}

func TestStubsThatDoNotExist(t *testing.T) {
	for args, want := range map[string]string{
		"stub":                            "lockstep: stub needs a command\n\tfix: `lockstep stub mcp` is an MCP server, `lockstep stub openai --script model.yaml` is a model\n",
		"stub mpc":                        "lockstep: unknown command \"mpc\" of lockstep stub\n\tfix: did you mean \"mcp\"?\n",
		"stub openai":                     "lockstep: --script is missing\n\tfix: name a file with rules, such as `- {answer: {text: Hello}, times: any}`\n",
		"stub http --script nowhere.yaml": "lockstep: open nowhere.yaml: no such file or directory\n\tfix: name a file with rules: docs/stubs.md has examples\n",
		"stub mcp tools":                  "lockstep: mcp takes no arguments: \"tools\"\n\tfix: leave it out\n",
	} {
		if diff := cmp.Diff(outcome{exitUsage, "", want}, lockstep(t, strings.Fields(args)...), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
}
