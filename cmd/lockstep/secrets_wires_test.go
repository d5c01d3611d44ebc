//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// secretive are scenarios in which the targets of a wire tell their secrets, and lockstep sends one of them back.
var secretive = map[string]string{
	"socket": `
  - {open: room, socket: /room}
  - {send: room, json: {type: tell}}
  - {await: room, match: {event: text}, capture: {key: $.apiKey}}
  - {send: room, json: {type: none, key: "${{ key }}"}}
  - {send: room, text: "x ${{ key }}"}
  - {send: room, ping: "${{ key }}"}
  - {await: room, match: {event: close, json: {$.reason: never}}, within: 50ms}
`,
	"program": `
  - {open: server, program: {args: [x], env: {OWN: "x"}}}
  - {send: server, json: {jsonrpc: "2.0", id: 1, method: tell}}
  - {await: server, match: {json: {$.id: 1}}, capture: {key: $.result.apiKey}}
  - {send: server, json: {jsonrpc: "2.0", id: 2, method: echo, params: {of: "${{ key }}"}}}
  - {await: server, match: {json: {$.id: 2, $.result.of: never}}, within: 50ms}
  - {send: server, text: "{\"jsonrpc\": \"2.0\", \"method\": \"quit\", \"params\": [\"${{ key }}\"]}"}
  - {await: server, match: {event: exit, json: {$.status: 3}}}
`,
	"driver": `
  - {do: tell, capture: {key: $.ok.apiKey}}
  - {do: "${{ key }}", with: {key: "${{ key }}"}}
  - {do: refuse}
  - {do: chatter, with: {key: "${{ key }}"}}
`,
}

// crashing ends the drivers, which makes the scenario unknown.
const crashing = "scenario: crashing\nwhy: It crashes\nsource: the guide\nsteps:\n  - {do: crash}\n"

// TestSecretsOnWiresAreInNoOutput checks messages, pings, close reasons, lines, standard error and outcomes.
func TestSecretsOnWiresAreInNoOutput(t *testing.T) {
	t.Setenv("CANARY", canaries["env"])
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			p := w.project(t, "other")
			p.write(t, "scenarios/differing.yaml", "scenario: differing\nwhy: It tells\nsource: the guide\nsteps:"+secretive[w.name])
			if w.name == "driver" {
				p.write(t, "scenarios/crashing.yaml", crashing)
			}
			p.do(t, "run", "--reports", "unprotected")
			if text := p.read("unprotected/run.jsonl"); !strings.Contains(text, canaries["env"]) || !strings.Contains(text, canaries["key"]) {
				t.Error("the targets did not tell their secrets")
			}
			p.write(t, "lockstep.yaml", p.read("lockstep.yaml")+"secrets: {env: [CANARY], at: [$..apiKey]}\n")
			outcomes := append(p.differsInFormats(t, "--verbose"), p.do(t, "judge", "--verbose"), p.do(t, "waive"), p.do(t, "mutate"))
			leaks(t, p, outcomes...)
			p.leaksInBytes(t)
			if text := p.read("reports/report.json"); !strings.Contains(text, `"right `) && !strings.Contains(text, `"{\"basic\"`) {
				t.Errorf("what differs is gone, too:\n%s", text)
			}
		})
	}
}

// TestTokensOnWiresAreInNoReport checks what a token rule finds. The run file keeps it, so that it can be judged again.
func TestTokensOnWiresAreInNoReport(t *testing.T) {
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			p := w.project(t, "other")
			p.write(t, "scenarios/differing.yaml", "scenario: differing\nwhy: It tells\nsource: the guide\nsteps:"+secretive[w.name])
			p.write(t, "lockstep.yaml", strings.Replace(p.read("lockstep.yaml"), "compare: {", "compare: {volatile: [{at: $..apiKey, kind: token, because: it is a key}], ", 1))
			outcomes := append(p.differsInFormats(t, "--verbose"), p.do(t, "judge", "--verbose"), p.do(t, "waive"))
			if !strings.Contains(p.read("reports/run.jsonl"), canaries["key"]) {
				t.Error("the targets did not tell the key")
			}
			testfile.Remove(t, filepath.Join(p.dir, "reports", "run.jsonl"))
			tokenLeaks(t, p, outcomes)
		})
	}
}

// tokenLeaks fails for each place in a report or an output that shows the key.
func tokenLeaks(t *testing.T, p testProject, outcomes []outcome) {
	t.Helper()
	texts := map[string]string{}
	for i, o := range outcomes {
		texts[fmt.Sprintf("output %d", i)] = o.stdout + o.stderr
	}
	for _, name := range []string{"report.json", "report.html", "junit.xml", "summary.md"} {
		texts[name] = p.read("reports/" + name)
	}
	for where, text := range texts {
		for _, written := range []string{canaries["key"], base64.StdEncoding.EncodeToString([]byte(canaries["key"]))} {
			if i := strings.Index(text, written); i >= 0 {
				t.Errorf("%s shows the key: …%s…", where, text[max(0, i-120):min(len(text), i+len(written)+20)])
			}
		}
		if text == "" {
			t.Errorf("%s is empty", where)
		}
	}
}

// leaksInBytes fails for each secret in texts of the run file that are in Base64, because they are not UTF-8, or because
// the target has sent them so.
func (p testProject) leaksInBytes(t *testing.T) {
	t.Helper()
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			data, err := base64.StdEncoding.DecodeString(v)
			for name, canary := range canaries {
				if strings.Contains(v, canary) || err == nil && strings.Contains(string(data), canary) {
					t.Errorf("run.jsonl shows the canary %s: %s", name, v)
				}
			}
			var inner any
			if json.Unmarshal([]byte(v), &inner) == nil {
				if _, isText := inner.(string); !isText {
					look(inner)
				}
			}
		case []any:
			for _, item := range v {
				look(item)
			}
		case map[string]any:
			for name, item := range v {
				look(name)
				look(item)
			}
		}
	}
	for line := range strings.Lines(p.read("reports/run.jsonl")) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		look(v)
	}
}
