package project_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
)

// Rules for lists belong to a project, a scenario, a step, a stub, a rule of a stub, or a method of MCP servers.
func TestRulesForListsAreReadAtEveryLevel(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", `contract: openapi.yaml
scenarios: scenarios
reference: right
targets:
  right: {command: [serve, "${{ port }}", "${{ stub.llm }}"], ready: {get: /health}}
stubs: {llm: {kind: http}}
compare:
  lists: [{at: $.project, order: none, because: x}]
  stubs: {llm: {lists: [{at: $.stub, key: $.id, because: x}]}}
  mcp: {tools/call: {lists: [{at: $.method, order: none, because: x}]}}
`)
	fauxproject.Add(t, file, "scenarios/lists.yaml", `
scenario: lists
why: x
source: x
compare: {lists: [{at: $.scenario, order: none, because: x}]}
steps: [{http: GET /health, compare: {lists: [{at: $, key: $.a.b, because: x}]}}]
`)
	p := fauxproject.Load(t, file)
	for _, s := range p.Scenarios {
		if s.ID != "lists" {
			continue
		}
		rules, got := p.CompareRules(s), map[string]string{}
		add := func(level string, all []jsondiff.Volatile) {
			for _, r := range all {
				got[level+" "+r.At] = string(r.Kind) + " " + r.Key + " " + r.Rule
			}
		}
		add("all", rules.Volatile)
		add("step", rules.Steps["1"].Volatile)
		add("stub", rules.Stubs["llm"].Volatile)
		add("mcp", rules.MCP["tools/call"])
		dir := file[:len(file)-len("lockstep.yaml")]
		want := map[string]string{
			"all $.project":  "list  " + file + ":8:11",
			"all $.scenario": "list  " + dir + "scenarios/lists.yaml:4:19",
			"step $":         "list $.a.b " + dir + "scenarios/lists.yaml:5:47",
			"stub $.stub":    "list $.id " + file + ":9:25",
			"mcp $.method":   "list  " + file + ":10:30",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
	}
}
