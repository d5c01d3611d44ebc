//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// TestNamesAreNotExecuted checks that names with control characters or CI commands have no effect on a terminal or a CI
// server.
func TestNamesAreNotExecuted(t *testing.T) {
	const evil = "\x1b[2Ja\r::error::gone ##[error]b \u202ec"
	right, wrong := vaultAnswers(t, "hello"), vaultAnswers(t, "hallo")
	t.Setenv("CANARY", canaries["env"])
	p := newVault(t, fmt.Sprintf("  right: {url: %q, ready: {get: /health}}\n  wrong: {url: %q, ready: {get: /health}}\n", right, wrong))
	story := strings.ReplaceAll(p.read("scenarios/login.yaml"), "why: The key opens the vault", fmt.Sprintf("tags: [opens]\nwhy: %s", `"\u001b[2J\n::error::why ##[error]"`))
	for _, name := range []string{evil, "\n::error::line", "::error::first"} {
		p.write(t, "scenarios/"+strings.ReplaceAll(name, "/", "")+".yaml", strings.Replace(story, "scenario: login", "scenario: "+fmt.Sprintf("%q", name), 1))
	}
	for _, args := range [][]string{
		{"list"}, {"lint"}, {"run", "--verbose"}, {"run", "--format", "github", "--verbose"}, {"run", "--color", "always"}, {"judge"}, {"explain"}, {"run", evil}, {"waive", evil}, {"run", "--target", evil}, {"judge", evil},
		{"coverage"}, {"baseline", "update"}, {"diff", evil, evil}, {"view", evil}, {"merge", evil},
	} {
		o := p.do(t, args[0], args[1:]...)
		for _, line := range strings.Split(o.stdout+"\n"+o.stderr, "\n") {
			line = strings.NewReplacer("\x1b[0m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "").Replace(line)
			ours := args[0] == "run" && strings.Contains(strings.Join(args, " "), "github") && strings.HasPrefix(line, "::error ")
			if strings.HasPrefix(strings.TrimSpace(line), "::") && !ours || strings.Contains(line, "##[") && !ours {
				t.Errorf("lockstep %q prints a command: %q", args, line)
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && !unicode.IsGraphic(r) }); i >= 0 {
				t.Errorf("lockstep %q prints a control character: %q", args, line)
			}
		}
	}
}
