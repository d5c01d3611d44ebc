//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListPrintsTheSelectedScenarios(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	p.write(t, "scenarios/rows.yaml", "scenario: rows\nwhy: There are rows\nsource: x\ntable: [{name: one}, {name: two}]\nsteps: [{http: GET /health}]\n")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, `events/beats      events, clock
events/bytes      events, bytes
events/end        events
events/story      events
items/every-step  items
items/story       items
process/stop      process
rows[one]
rows[two]
`},
		{[]string{"events", "--skip-tag", "clock", "--skip-tag", "bytes"}, "events/end    events\nevents/story  events\n"},
		{[]string{"rows[two]"}, "rows[two]\n"},
		{[]string{"--tags"}, "    4  events\n    2  items\n    1  bytes\n    1  clock\n    1  process\n"},
		{[]string{"--tags", "--tag", "clock"}, "    1  clock\n    1  events\n"},
		{[]string{"--tags", "rows", "--format", "json"}, "[]\n"},
		{[]string{"--tags", "--tag", "bytes", "--format", "json"}, `[
  {
    "tag": "bytes",
    "scenarios": 1
  },
  {
    "tag": "events",
    "scenarios": 1
  }
]
`},
	} {
		if diff := cmp.Diff(outcome{exitMatch, tc.want, ""}, p.do(t, "list", tc.args...), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("list %q (-want +got):\n%s", tc.args, diff)
		}
	}
}

// TestListAsJSON checks that the JSON has everything a scenario says about itself.
func TestListAsJSON(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	p.write(t, "scenarios/rows.yaml", "scenario: rows\nwhy: There are <rows>\nsource: x\nisolate: fresh\ntable: [{name: one}]\nsteps: [{http: GET /health}]\n")
	var got []listing
	o := p.do(t, "list", "rows", "--format", "json")
	if err := json.Unmarshal([]byte(o.stdout), &got); err != nil || !strings.Contains(o.stdout, "<rows>") {
		t.Fatalf("%v: %+v", err, o)
	}
	want := []listing{{"rows[one]", "scenarios/rows.yaml", 5, "There are <rows>", "x", []string{}, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}
