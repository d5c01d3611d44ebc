package project_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/compare/streamdiff"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// The rules of a scenario are added to those of the project, and come before them. If both have a rule for a stream,
// only the scenario's applies. The rules of a step apply only to that step.
func TestTheRulesOfAScenarioComeBeforeThoseOfTheProject(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "scenarios/rules.yaml", `
scenario: rules
why: Rules add up
source: openapi.yaml
steps:
  - http: GET /health
  - http: GET /health
    compare: {headers: [Date], volatile: [{at: $.c, kind: text, because: the step says so}]}
  - open: feed
    sse: GET /events?shelf=a
  - parallel:
      left: [{http: GET /health, compare: {headers: [Server]}}]
      right: [{http: GET /health}]
compare:
  headers: [etag, Allow]
  volatile: [{at: $.b, kind: time, because: the scenario says so}]
  streams:
    feed: {order: {within: $.id, across: free, anchors: [hello], because: clients do not wait}, heartbeat: {comment: any, every: 2s}}
    GET /events: {framing: semantic, optional: [created], gap: {max: 500ms, tolerance: 300ms}, collapse: [{event: created, by: [$.id], text: $.name, because: it is cut anywhere}]}
`)
	fauxproject.Add(t, file, "scenarios/plain.yaml", "scenario: plain\nwhy: It has no rules\nsource: x\nsteps: [{http: GET /health}]\n")
	fauxproject.Add(t, file, "lockstep.yaml", `contract: openapi.yaml
scenarios: scenarios
reference: right
targets: {right: {url: "http://127.0.0.1:1", ready: {get: /health}}}
compare:
  headers: [ETag, X-Shelf]
  volatile: [{at: $.a, kind: id, because: the project says so}]
  streams:
    GET /events: {framing: exact, heartbeat: {event: ping}}
`)
	p := fauxproject.Load(t, file)
	rules := map[string]*compare.Rules{}
	for _, s := range p.Scenarios {
		if s.ID == "rules" || s.ID == "plain" {
			rules[s.ID] = p.CompareRules(s)
		}
	}
	want := map[string]*compare.Rules{
		"plain": {
			Headers:  []string{"ETag", "X-Shelf"},
			Volatile: []jsondiff.Volatile{{At: "$.a", Kind: jsondiff.VolatileKind(scenario.VolatileID)}},
			Streams:  map[string]streamdiff.Rules{"GET /events": {Exact: true, Heartbeat: &streamdiff.Heartbeat{Event: "ping"}}},
			Steps:    map[string]compare.Step{},
		},
		"rules": {
			Headers: []string{"etag", "Allow", "X-Shelf"},
			Volatile: []jsondiff.Volatile{
				{At: "$.b", Kind: jsondiff.VolatileKind(scenario.VolatileTime)}, {At: "$.a", Kind: jsondiff.VolatileKind(scenario.VolatileID)},
			},
			Streams: map[string]streamdiff.Rules{
				"feed": {OrderWithin: "$.id", Anchors: []string{"hello"}, Heartbeat: &streamdiff.Heartbeat{Every: 2 * time.Second, First: 2 * time.Second, Tolerance: time.Second}},
				"GET /events": {
					Optional: []string{"created"}, Gap: &streamdiff.Gap{Max: 500 * time.Millisecond, Tolerance: 300 * time.Millisecond},
					Collapse: []streamdiff.Collapse{{Event: "created", By: []string{"$.id"}, Text: "$.name"}},
				},
			},
			Steps: map[string]compare.Step{
				"2":        {Headers: []string{"Date"}, Volatile: []jsondiff.Volatile{{At: "$.c", Kind: jsondiff.VolatileKind(scenario.VolatileText)}}},
				"4.left.1": {Headers: []string{"Server"}, Volatile: []jsondiff.Volatile{}},
			},
		},
	}
	if diff := cmp.Diff(want, rules, cmpopts.IgnoreFields(jsondiff.Volatile{}, "Rule")); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// Unless the project says otherwise, Content-Type is the only header field that is compared.
func TestTheContentTypeIsComparedByDefault(t *testing.T) {
	for _, tc := range []struct {
		compare string
		want    []string
	}{
		{"", []string{"Content-Type"}},
		{"compare: {volatile: [{at: $.a, kind: id, because: it counts}]}", []string{"Content-Type"}},
		{"compare: {headers: []}", nil},
		{"compare: {headers: [ETag]}", []string{"ETag"}},
	} {
		file := fauxproject.Write(t, "")
		fauxproject.Add(t, file, "lockstep.yaml", `contract: openapi.yaml
scenarios: scenarios
reference: right
targets: {right: {url: "http://127.0.0.1:1", ready: {get: /health}}}
`+tc.compare+"\n")
		p := fauxproject.Load(t, file)
		if diff := cmp.Diff(tc.want, p.CompareRules(p.Scenarios[0]).Headers); diff != "" {
			t.Errorf("%q: header fields (-want +got):\n%s", tc.compare, diff)
		}
	}
}

// A header field that no rule names is not compared, and the report says so.
func TestAHeaderFieldThatNoRuleNamesIsCounted(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", fauxproject.Plain+`compare: {headers: [], volatile: [{at: $..serial, kind: id, because: each server counts for itself}]}
`)
	result, err := engine.Run(t.Context(), fauxproject.Load(t, file), &engine.Options{
		Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{Fault: faux.Named(t, "extra-header")})},
		Select:  project.Selection{Paths: []string{"items/story"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := result.Totals.Compared.Unnamed["Cache-Control"]; n != 1 || result.Verdict != verdict.Match {
		t.Errorf("the run is %s, and counts %v", result.Verdict, result.Totals.Compared.Unnamed)
	}
}

// Every option of a volatile place reaches the comparison.
func TestTheOptionsOfAVolatilePlaceAreRead(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", `contract: openapi.yaml
scenarios: scenarios
reference: right
targets: {right: {url: "http://127.0.0.1:1", ready: {get: /health}}}
compare:
  volatile:
    - {at: $.a, kind: time, unit: us, near: 10s, monotone: true, stable: true, of: $.key, because: the clock says so}
    - {at: $.b, kind: duration, unit: ms, max: 5s, because: machines differ}
    - {at: $.c, kind: duration, unit: s, tolerance: 200ms, because: machines differ}
    - {at: $.d, kind: number, tolerance: 0.50, because: it is measured}
    - {at: $.e, kind: number, tolerance: 5%, because: it is measured}
    - {at: $.f, kind: token, because: it is a secret}
    - {at: $.g, kind: time, digits: 3, because: it is written so}
    - {at: $.g, kind: json, because: it is parsed}
`)
	p := fauxproject.Load(t, file)
	want := []jsondiff.Volatile{
		{At: "$.a", Kind: jsondiff.Time, Unit: ident.Microseconds, Near: 10 * time.Second, Monotone: true, Stable: true, Of: "$.key"},
		{At: "$.b", Kind: jsondiff.Duration, Unit: ident.Milliseconds, Max: 5 * time.Second},
		{At: "$.c", Kind: jsondiff.Duration, Unit: ident.Seconds, Tolerance: jsondiff.Tolerance{Amount: "200000000"}},
		{At: "$.d", Kind: jsondiff.Number, Tolerance: jsondiff.Tolerance{Amount: "0.50"}},
		{At: "$.e", Kind: jsondiff.Number, Tolerance: jsondiff.Tolerance{Amount: "5", Percent: true}},
		{At: "$.f", Kind: jsondiff.Token},
		{At: "$.g", Kind: jsondiff.Time, Digits: "3"},
		{At: "$.g", Kind: jsondiff.JSON},
	}
	if diff := cmp.Diff(want, p.CompareRules(p.Scenarios[0]).Volatile, cmpopts.IgnoreFields(jsondiff.Volatile{}, "Rule")); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// A rule that selected nothing is reported with its place, if the run had all scenarios that it is about. It does not
// make the run red. A rule of the project is about all scenarios.
func TestARuleThatNeverApplied(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", fauxproject.Plain+`compare:
  headers: [Content-Type, X-Never]
  volatile:
    - {at: $..serial, kind: id, because: each server counts for itself}
    - {at: $.nowhere, kind: text, because: it is not there}
  streams: {GET /events: {order: {within: $.id, across: free, because: clients do not wait}, heartbeat: {event: ping}}}
`)
	fauxproject.Add(t, file, "scenarios/own.yaml", `
scenario: own
why: It has rules of its own
source: x
compare: {headers: [x-neither], streams: {feed: {order: {within: $.none, across: free, because: clients do not wait, anchors: [deleted]}, collapse: [{event: created, text: $.name, because: nobody cuts it}]}}, ids: [{name: ticket, pattern: "T[0-9]{9}", because: nobody has one}, {name: health, pattern: "ok|right", because: it says so}]}
steps:
  - {http: GET /health, compare: {headers: [X-Step, Content-Type], volatile: [{at: $.none, kind: text, because: it is not there}]}}
  - {open: feed, sse: GET /events, query: {shelf: a}}
`)
	p := fauxproject.Load(t, file)
	run := func(paths ...string) []string {
		result, err := engine.Run(t.Context(), p, &engine.Options{
			Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{})},
			Select:  project.Selection{Paths: paths},
		})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range result.Unused {
			out = append(out, fmt.Sprintf("%s:%d:%d: %s", filepath.Base(r.File), r.Line, r.Column, r.Rule))
		}
		if result.Verdict != verdict.Match {
			t.Errorf("the run of %q is %s", paths, result.Verdict)
		}
		return out
	}
	own := []string{
		"own.yaml:4:21: header x-neither", "own.yaml:4:66: order $.none of feed", "own.yaml:4:128: anchor deleted of feed", "own.yaml:4:158: collapse created of feed", "own.yaml:4:216: id ticket",
		"own.yaml:6:45: header X-Step", "own.yaml:6:79: volatile $.none",
	}
	if diff := cmp.Diff(own, run("own")); diff != "" {
		t.Errorf("rules that never applied to one scenario (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string(nil), run("items/story")); diff != "" {
		t.Errorf("a rule of the project is accused by a part of the scenarios (-want +got):\n%s", diff)
	}
}
