//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const plain = `scenario: plain
why: There is much that is not said
source: x
tags: [items]
vars: {shelf: "s-${{ unique }}", both: "${{ shelf }}/${{ row.size }}"}
repeat: {big: {text: ab, times: 1000}}
compare:
  headers: [ETag]
  streams: {GET /events: {optional: [hello], gap: {max: 2s}}}
table:
  - {name: one, size: 1}
  - {name: two, size: 2}
steps:
  - http: POST /items
    json: {shelf: "${{ both }}", name: "$${{ x }}", tags: ["${{ big }}"]}
    capture: {id: $.id}
    compare:
      volatile: [{at: $.createdAt, kind: time, near: 10s, because: of the clock}]
  - parallel:
      left:
        - http: GET /items/${{ id }}
          within: 2s
          malformed: false
      right:
        - poll: GET /items
          query: {shelf: "${{ both }}"}
          until: {status: 200}
  - open: events
    sse: GET /events
    query: {shelf: "${{ shelf }}"}
  - await: events
    match: {event: created}
`

const explainedPlain = `scenario: plain[two]
file: scenarios/plain.yaml:12:1
why: There is much that is not said
source: x
tags: [items]
isolate: shared
targets:
  - {name: right, role: reference, url: "http://127.0.0.1:1"}
  - {name: wrong, role: candidate, url: "http://127.0.0.1:2"}
limits: {scenario: 40s, step: 30s, settle: 50ms, body: 67108864, events: 100000}
row: {name: two, size: 2}
vars:
  big: "‹ab› … [2000 bytes]"
  shelf: s-${{ unique }}
  both: s-${{ unique }}/2
steps:
  - step: "1"
    line: 14
    http: POST /items
    json:
      shelf: s-${{ unique }}/2
      name: "${{ x }}"
      tags:
        - "‹ab› … [2000 bytes]"
    capture: {id: $.id}
    sends: {request: POST /items, headers: ["Accept: */*", "Content-Type: application/json"]}
    by_default: {within: 30s}
  - step: "2"
    line: 19
    parallel:
      left:
        - step: "2.left.1"
          line: 21
          http: GET /items/${{ id }}
          within: 2s
          malformed: false
          sends: {request: "GET /items/${{ id }}", headers: ["Accept: */*"]}
      right:
        - step: "2.right.1"
          line: 25
          poll: GET /items
          query: {shelf: "s-${{ unique }}/2"}
          until: {status: 200}
          sends: {request: "GET /items?shelf=s-${{ unique }}%2F2", headers: ["Accept: */*"]}
          by_default: {within: 30s, every: 20ms..200ms, compare: final}
`

func TestExplainShowsDefaults(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"), at("wrong", "http://127.0.0.1:2"))
	p.write(t, "scenarios/plain.yaml", plain)
	p.write(t, "scenarios/waivers.yaml", `- id: W-0001
  scenario: plain
  at: "GET /items/${{ id }}: body /name"
  difference: {kind: value, fingerprint: "8d1f0c2a"}
  class: intended
  reason: it is so
  owner: ann
  expires: 2026-11-20
`)
	t.Chdir(p.dir) // the width of a line must not depend on the project's path
	o := shell{today: "2026-11-20"}.lockstep(t, "explain", "plain[two]")
	o.stdout = strings.ReplaceAll(o.stdout, strings.Repeat("ab", 200), "‹ab› ")
	got, rest, _ := strings.Cut(o.stdout, "  - step: \"3\"\n")
	if diff := cmp.Diff(explainedPlain, got); diff != "" || o.code != exitMatch || o.stderr != "" {
		t.Errorf("explain exits with %d, stderr %q (-want +got):\n%s", o.code, o.stderr, diff)
	}
	_, rules, _ := strings.Cut(rest, "rules:\n")
	want := `  - rule: volatile $.createdAt
    of: step 1
    from: scenarios/plain.yaml:18:18
    says: {kind: time, near: 10s, because: of the clock}
  - {rule: header ETag, of: scenario, from: "scenarios/plain.yaml:8:13"}
  - rule: stream GET /events
    of: scenario
    from: scenarios/plain.yaml:9:13
    says: {optional: [hello], gap: {max: 2s}}
  - {rule: header Cache-Control, of: project, from: "lockstep.yaml:8:13"}
  - {rule: header Content-Type, of: project, from: "lockstep.yaml:8:28"}
  - {rule: header Location, of: project, from: "lockstep.yaml:8:42"}
  - {rule: header X-Shelf, of: project, from: "lockstep.yaml:8:52"}
  - rule: volatile $..serial
    of: project
    from: lockstep.yaml:10:7
    says: {kind: id, because: each server counts for itself}
waivers:
  - id: W-0001
    from: scenarios/waivers.yaml:1:1
    at: "GET /items/${{ id }}: body /name"
    kind: value
    fingerprint: "8d1f0c2a"
    class: intended
    reason: it is so
    owner: ann
    expires: "2026-11-20"
    expired: true
`
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("the rules and the waivers (-want +got):\n%s", diff)
	}
}

// TestExplainAll explains every scenario, and checks that the text has what the JSON has.
func TestExplainAll(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"), start(t, "wrong", "right", "x"))
	o := p.do(t, "explain", "--format", "json", "--target", "wrong")
	var all []struct {
		Scenario string
		Targets  []struct{ Name, Role string }
		Steps    []struct{ Step string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil || len(all) != 7 {
		t.Fatalf("%v: %d scenarios; %s", err, len(all), o.stderr)
	}
	for _, s := range all {
		if len(s.Targets) != 1 || s.Targets[0].Name != "wrong" || s.Targets[0].Role != "alone, against the contract" || len(s.Steps) == 0 {
			t.Errorf("%+v", s)
		}
	}
	if text := p.do(t, "explain"); strings.Count(text.stdout, "\n---\n") != 6 || !strings.Contains(text.stdout, "  - name: wrong\n    role: candidate\n    command: [") {
		t.Errorf("%+v", text)
	}
}

// TestExplainAndListMaskSecrets checks that declared secrets appear nowhere.
func TestExplainAndListMaskSecrets(t *testing.T) {
	t.Setenv("CANARY", "canary-5d41402abc4b")
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	p.write(t, "lockstep.yaml", p.read("lockstep.yaml")+"secrets: {env: [CANARY]}\n")
	p.write(t, "scenarios/told.yaml", "scenario: told\nwhy: It has canary-5d41402abc4b in it\nsource: x\nsteps: [{http: GET /health, headers: {X-Key: canary-5d41402abc4b}}]\n")
	for _, args := range [][]string{{"explain", "told"}, {"explain", "told", "--format", "json"}, {"list", "told", "--format", "json"}} {
		o := p.do(t, args[0], args[1:]...)
		if o.code != exitMatch || strings.Contains(o.stdout, "5d41402abc4b") || !strings.Contains(o.stdout, "It has ") {
			t.Errorf("%q: %+v", args, o)
		}
	}
}

// TestExplainDoesNotShowSecrets checks that the values of header fields that a target adds are not shown, because they
// may be secret.
func TestExplainDoesNotShowSecrets(t *testing.T) {
	p := newProject(t, `  right: {url: "http://127.0.0.1:1", ready: {get: /health}, headers: {Authorization: Bearer abc}}`)
	o := p.do(t, "explain", "items/story")
	if !strings.Contains(o.stdout, "adds_headers: [Authorization]") || strings.Contains(o.stdout, "abc") {
		t.Errorf("%+v", o)
	}
}

func TestExplainAndListRejectUnknownNames(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	const noStory = "no scenario or folder is called \"item/story\"\n\tfix: did you mean \"items/story\"?"
	for _, tc := range []struct {
		command string
		args    []string
		stderr  string
	}{
		{"explain", []string{"item/story"}, noStory},
		{"explain", []string{"--target", "rihgt"}, "target \"rihgt\" is not in lockstep.yaml\n\tfix: did you mean \"right\"?"},
		{"explain", []string{"--format", "yaml"}, `--format is "yaml": write text or json`},
		{"list", []string{"item/story"}, noStory},
		{"list", []string{"--tag", "evnets"}, "no scenario has the tag \"evnets\"\n\tfix: did you mean \"events\"?"},
		{"list", []string{"items", "--tag", "clock"}, "no scenario is selected: --tag \"clock\" fits none of the 2 that the other selectors leave\n\tfix: use fewer selectors: a scenario must fit all paths, tags and names"},
	} {
		want := outcome{exitUsage, "", "lockstep: " + tc.stderr + "\n"}
		if diff := cmp.Diff(want, p.do(t, tc.command, tc.args...), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tc.command, tc.args, diff)
		}
	}
}
