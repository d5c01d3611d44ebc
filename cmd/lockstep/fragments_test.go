//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	harnessproject "github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

var (
	scenarioSchema = yamldoc.MustSchema(scenario.Schema)
	fragmentSchema = yamldoc.MustSchema(scenario.FragmentSchema, scenario.Schema)
	projectSchema  = yamldoc.MustSchema(harnessproject.Schema, scenario.Schema)
	waiverSchema   = yamldoc.MustSchema(waiver.Schema)
)

// A frame completes a YAML fragment to a whole file, so that it can be checked.
type frame struct {
	of     string // the kind of file
	schema *yamldoc.Schema
	keys   []string
	// around has %s in the place of the fragment, which is indented by indent.
	around string
	indent int
	// missing has the required keys that are added if the fragment lacks them.
	missing []string
}

// frames are tried in this order.
var frames = []frame{
	{"a scenario", scenarioSchema, []string{"scenario"}, "%s", 0, nil},
	{"a fragment", fragmentSchema, []string{"fragment"}, "%s", 0, nil},
	{"lockstep.yaml", projectSchema, []string{"contract", "scenarios", "targets", "secrets", "coverage", "limits", "undocumented", "stubs"}, "%s", 0, project0},
	{"a scenario", scenarioSchema, []string{"vars", "repeat", "table", "teardown", "isolate", "compare"}, "%s", 0, scenario0},
	{"steps", scenarioSchema, []string{"http", "do", "open", "send", "start", "poll", "parallel", "await", "stop", "use"}, strings.Join(scenario0[:3], "") + "steps:\n%s", 2, nil},
	{"an expectation", scenarioSchema, []string{"expect"}, strings.Join(scenario0[:3], "") + "steps:\n  - http: GET /\n%s", 4, nil},
	{"waivers.yaml", waiverSchema, []string{"id"}, "%s", 0, nil},
	{"rules", projectSchema, []string{"volatile"}, strings.Join(project0, "") + "compare:\n%s", 2, nil},
	{"rules of a stub", scenarioSchema, []string{"answer"}, strings.Join(scenario0, "") + "stubs:\n  x:\n%s", 4, nil},
	{"a waiver", waiverSchema, []string{"when"}, waiver0 + "%s", 2, nil},
}

var (
	scenario0 = []string{"scenario: x\n", "why: x\n", "source: x\n", "steps: [{http: GET /}]\n"}
	project0  = []string{"contract: x\n", "scenarios: x\n", "reference: x\n", "targets: {x: {url: \"http://x\", ready: {get: /}}}\n"}
)

const waiver0 = "- id: W-0001\n  scenario: x\n  at: x\n  difference: {kind: value, fingerprint: \"00000000\"}\n  class: intended\n  reason: x\n  owner: x\n  expires: 2027-03-01\n"

// foreign has keys of YAML blocks that are not files of lockstep: of OpenAPI documents, CI servers, pre-commit and
// agentcli.
var foreign = []string{"openapi", "paths", "content", "jobs", "run", "parity", "shard", "command", "apiVersion", "repos", "turns"}

// mistakes checks a fragment with the schemas. It also returns the kind of file, which is "" for a fragment that has
// only comments or is foreign.
func mistakes(file, text string) (of string, problems problem.Problems) {
	n, problems := yamldoc.Parse(file, []byte(text))
	switch {
	case len(problems) > 0 && comments(text):
		return "", nil
	case len(problems) > 0:
		return "YAML", problems
	}
	first := n
	if items := n.Elements(); len(items) > 0 {
		first = items[0]
	}
	for _, f := range frames {
		if f.schema == scenarioSchema && f.of == "a scenario" && first != n {
			continue // a list is not a scenario
		}
		if !slices.ContainsFunc(f.keys, func(key string) bool { return first.Get(key) != nil }) {
			continue
		}
		whole, problems := yamldoc.Parse(file, []byte(f.complete(n, text)))
		if len(problems) > 0 {
			return f.of, problems
		}
		return f.of, f.schema.Check(file, whole)
	}
	if steps := first.Get("steps").Elements(); len(steps) > 0 { // steps of a CI server
		first = steps[0]
	}
	if slices.ContainsFunc(foreign, func(key string) bool { return first.Get(key) != nil }) {
		return "", nil
	}
	return "", problem.Problems{{File: file, Line: 1, What: "it is no part of any file that is known"}}
}

// complete returns the whole file for a fragment.
func (f *frame) complete(n *yamldoc.Node, text string) string {
	for _, line := range f.missing {
		if key, _, _ := strings.Cut(line, ":"); n.Get(key) == nil {
			text = strings.TrimSuffix(text, "\n") + "\n" + line
		}
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	least := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	for i, line := range lines {
		if len(line) >= least {
			lines[i] = strings.Repeat(" ", f.indent) + line[least:]
		}
	}
	return fmt.Sprintf(f.around, strings.Join(lines, "\n")+"\n")
}

// comments reports whether a text has only comments.
func comments(text string) bool {
	for line := range strings.Lines(text) {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") {
			return false
		}
	}
	return true
}

func TestFilesInTheDocumentationHaveKeysThatAreKnown(t *testing.T) {
	found := map[string]int{}
	for name, text := range documentation(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if block[1] != "yaml" {
				continue
			}
			of, problems := mistakes(name, block[2])
			found[of]++
			if len(problems) > 0 {
				t.Errorf("%s shows %s, but %v\n%s", name, of, problems, block[2])
			}
		}
	}
	for of, least := range map[string]int{"a scenario": 4, "lockstep.yaml": 4, "steps": 5, "an expectation": 1, "waivers.yaml": 1, "rules of a stub": 1, "a waiver": 1} {
		if found[of] < least {
			t.Errorf("%d blocks are %s, want %d at least", found[of], of, least)
		}
	}
}

// TestMistakesInFragmentsAreFound checks that a mistake is found in each kind of fragment.
func TestMistakesInFragmentsAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"scenario: a\nwhy: b\nsource: c\nstep: []\n":  `a scenario: unknown key "step"`,
		"vars: {a: b}\ntabel: []\n":                   `a scenario: unknown key "tabel"`,
		"targets: {a: {raedy: {}, command: [x]}}\n":   `lockstep.yaml: unknown key "raedy"`,
		"- {send: a, binray: AA==}\n":                 `steps: unknown key "binray"`,
		"coverage: {statuses: 90}\n":                  `lockstep.yaml: "statuses" is`,
		"- http: GET /\n  expct: {status: 200}\n":     `steps: unknown key "expct"`,
		"expect: {stauts: 200}\n":                     `an expectation: unknown key "stauts"`,
		"- id: W-0001\n  at: x\n":                     `waivers.yaml: item 1 of the list has no "scenario"`,
		"- {answr: {}, answer: {txt: x}}\n":           `rules of a stub: unknown key "`,
		"  when: {target: [a]}\n":                     `a waiver: unknown key "target"`,
		"expect: {status: 200}\nexpect: {body: \"\"}": `YAML: `,
		"colour: red\n":                               `: it is no part of any file`,
		"# nothing\n":                                 "",
		"jobs: {}\n":                                  "",
		"vars: {a: b}\n":                              "",
	} {
		of, problems := mistakes("x.md", text)
		got := ""
		if len(problems) > 0 {
			got = of + ": " + problems[0].What
		}
		if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", text, cmp.Diff(want, got))
		}
	}
}
