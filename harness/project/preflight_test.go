package project_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
)

// Loading a project reports requests that a run would refuse to send, as far as that can be known.
func TestRequestsThatTheContractRefusesAreMistakes(t *testing.T) {
	const (
		cure = " → correct it; or if this is intended, mark the step malformed: true"
		at   = "scenarios/items/wrong.yaml:"
		// captured is a step that captures a value which is unknown before the run.
		captured = "steps:\n  - {http: GET /health, capture: {id: $.id}}\n"
	)
	for _, tc := range []struct {
		name, text string // from vars on, which is line 4
		want       []string
	}{
		{"a body", "steps:\n  - http: POST /items\n    json: {shelf: a, name: 5}\n", []string{
			at + `5:11: the request breaks the contract: body/name: the number 5 stands here; a string is wanted` + cure,
		}},
		{"all of a body", "steps:\n  - http: POST /items\n    raw: {text: '{\"name\": 5}', type: application/json}\n", []string{
			at + `5:11: the request breaks the contract: body/shelf: "shelf" is missing; body/name: the number 5 stands here; a string is wanted` + cure,
		}},
		{"no body, in a teardown", "steps: [{http: GET /health}]\nteardown: [{http: POST /items}]\n", []string{
			at + `5:19: the request breaks the contract: body: POST /items requires a body and none is sent` + cure,
		}},
		{"a query", "steps:\n  - {open: feed, sse: GET /events, query: {beat: soon}}\n", []string{
			at + `5:23: the request breaks the contract: query shelf: the query parameter "shelf" is required and missing; query beat: the string "soon" stands here; an integer is wanted` + cure,
		}},
		{"a content type", "steps:\n  - {http: POST /items, headers: {Content-Type: text/plain}, json: {shelf: a, name: b}}\n", []string{
			at + `5:12: the request breaks the contract: header Content-Type: the content type is "text/plain"; POST /items takes application/json` + cure,
		}},
		{"a variable", "vars: {n: 5, item: {shelf: \"s-${{ unique }}\", name: \"${{ n }}\"}}\nsteps: [{http: POST /items, json: \"${{ item }}\"}]\n", []string{
			at + `5:16: the request breaks the contract: body/name: the number 5 stands here; a string is wanted` + cure,
		}},
		{"a row", "table: [{name: good, of: a}, {name: bad, of: 1}]\nsteps: [{http: POST /items, json: {shelf: a, name: \"${{ row.of }}\"}}]\n", []string{
			at + `5:16: in row "bad", the request breaks the contract: body/name: the number 1 stands here; a string is wanted` + cure,
		}},
		{"beside what is captured", captured + "  - {http: \"GET /events?shelf=${{ id }}\", query: {beat: x, shelf: \"${{ id }}\"}, headers: {X-A: \"${{ id }}\"}}\n", []string{
			at + `6:12: the request breaks the contract: query beat: the string "x" stands here; an integer is wanted` + cure,
		}},
		{"beside a name that is not there", "steps:\n  - {http: POST /items, json: {shelf: a, name: 5}, headers: {X-A: \"${{ id }}\"}}\n  - {http: POST /items, json: \"${{ id }}\"}\n", []string{
			at + `5:12: the request breaks the contract: body/name: the number 5 stands here; a string is wanted` + cure,
			at + `5:67: ${{ id }} is not defined here → use one of: directory, lockstep, unique`,
			at + `6:31: ${{ id }} is not defined here → use one of: directory, lockstep, unique`,
		}},
		{"a mark on what obeys", "steps: [{http: GET /health, malformed: true}]\n", []string{
			at + `4:16: the request is marked malformed, but obeys the contract → remove the mark`,
		}},
		{"a mark on some rows", "table: [{name: good, bad: true}, {name: bad, bad: false}]\nsteps: [{http: GET /items, malformed: \"${{ row.bad }}\"}]\n", []string{
			at + `5:16: in row "bad", the request breaks the contract: query shelf: the query parameter "shelf" is required and missing` + cure,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := fauxproject.Write(t, fauxproject.Running)
			fauxproject.Add(t, file, "scenarios/items/wrong.yaml", "scenario: items/wrong\nwhy: The request breaks the contract\nsource: openapi.yaml\n"+tc.text)
			if diff := cmp.Diff(tc.want, problems(t, file)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Generated rows stay only if they break the contract.
func TestRowsThatObeyTheContractAreLeftOut(t *testing.T) {
	for _, tc := range []struct {
		name, row, step string
		want            []string // the rows
	}{
		{"an optional member", "{name: a, body: {shelf: s, name: n, tags: [x]}, wrong: body}", `json: "${{ row.body }}"`, []string{
			"null", "number", "boolean", "array", "text", "object-in-a-list",
			"without-shelf", "shelf-null", "shelf-number", "shelf-boolean", "shelf-array", "shelf-object",
			"without-name", "name-null", "name-number", "name-boolean", "name-array", "name-object",
			"tags-null", "tags-number", "tags-boolean", "tags-object", "tags-text", "key-in-capitals",
		}},
		{"what nobody knows before the run", "{name: a, body: x, wrong: body}", `json: {shelf: "${{ id }}", name: "${{ row.body }}"}`, []string{
			"null", "number", "boolean", "array", "object",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := fauxproject.Write(t, fauxproject.Running)
			fauxproject.Add(t, file, "scenarios/items/wrong.yaml", "scenario: items/wrong\nwhy: w\nsource: s\ntable:\n  - "+tc.row+
				"\nsteps:\n  - {http: GET /health, capture: {id: $.id}}\n  - {http: POST /items, malformed: true, "+tc.step+"}\n")
			p := fauxproject.Load(t, file)
			var got []string
			for _, s := range p.Scenarios {
				if row, ok := strings.CutPrefix(s.ID, "items/wrong[a-"); ok {
					got = append(got, strings.TrimSuffix(row, "]"))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "scenarios/items/wrong.yaml", "scenario: items/wrong\nwhy: w\nsource: s\ntable:\n  - {name: a, body: {}, wrong: body}\nsteps: [{http: GET /health}]\n")
	want := []string{"scenarios/items/wrong.yaml:5:5: this row has no invalid value: the contract allows all of them → name another column under wrong, and send it in a step marked malformed: true"}
	if diff := cmp.Diff(want, problems(t, file)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// What is unknown before the run is checked in the run.
func TestRequestsWithUnknownValuesAreNotChecked(t *testing.T) {
	const captured = "steps:\n  - {http: GET /health, capture: {id: $.id}}\n"
	for name, text := range map[string]string{
		"part of a body":               captured + "  - {http: POST /items, json: {shelf: 5, name: \"${{ id }}\"}}\n",
		"a query":                      captured + "  - {http: GET /events, query: {shelf: a, beat: \"${{ id }}\"}}\n",
		"a query in the path":          captured + "  - http: GET /events?${{ id }}\n",
		"a path":                       captured + "  - http: GET /items/${{ id }}\n",
		"a content type":               captured + "  - {http: POST /items, headers: {Content-Type: \"${{ id }}\"}, json: 5}\n",
		"a mark":                       captured + "  - {http: GET /items, malformed: \"${{ id }}\"}\n",
		"a marked body":                captured + "  - {http: POST /items, json: \"${{ id }}\", malformed: true}\n",
		"a variable that is captured":  "vars: {id: 5}\n" + captured + "  - {http: POST /items, json: {shelf: a, name: \"${{ id }}\"}}\n",
		"a body that would take long":  "repeat: {big: {text: '[', times: 20000}}\nsteps: [{http: POST /items, raw: {text: \"${{ big }}\", type: application/json}}]\n",
		"what is malformed on purpose": "steps: [{http: POST /items, malformed: true}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			file := fauxproject.Write(t, fauxproject.Running)
			fauxproject.Add(t, file, "scenarios/items/odd.yaml", "scenario: items/odd\nwhy: It may be right\nsource: openapi.yaml\n"+text)
			fauxproject.Load(t, file)
		})
	}
}

// A target may add header fields that a request lacks.
func TestHeaderFieldsThatTargetsAddAreNotMissed(t *testing.T) {
	file := fauxproject.Write(t, `
  right: {url: "http://127.0.0.1:1", headers: {Content-Type: text/plain, X-Secret: a}, ready: {get: /health}}
`)
	fauxproject.Add(t, file, "scenarios/items/odd.yaml", `
scenario: items/odd
why: It may be right
source: openapi.yaml
steps:
  - {http: POST /items, json: 5}
  - {http: GET /health, malformed: true}
`)
	fauxproject.Load(t, file)
}
