package project_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// sound is a lockstep.yaml without a mistake.
const sound = `contract: openapi.yaml
scenarios: scenarios
reference: right
targets:
  right: {url: "http://127.0.0.1:1", ready: {get: /health}}
  wrong: {command: [serve, "${{ port }}"], ready: {get: /health}}
limits: {step: 5s}
`

func TestAllMistakesOfAProjectHaveTheirPlacesAndFixes(t *testing.T) {
	const (
		time    = `write a number with a unit, such as 300ms, 2s or 1m`
		digits  = `write a smaller number, in digits`
		example = `docs/project.md has an example of each key`
	)
	for _, tc := range []struct {
		name     string
		old, new string   // in lockstep.yaml
		want     []string // "file:line:column: what → fix"
	}{
		{"an empty file", sound, "", []string{"lockstep.yaml: the file is empty"}},
		{"no YAML", "reference: right", "reference: {right", []string{"lockstep.yaml:3:12: not YAML: the { is not closed → close it with }"}},
		{"a list", sound, "[]", []string{`lockstep.yaml:1:1: the file is a list → make it a map`}},
		{"no reference", "reference: right\n", "", []string{`lockstep.yaml:1:1: the file has no "reference" → add it: reference, the target that the others are compared with`}},
		{"a misspelt key", "limits:", "limtis:", []string{`lockstep.yaml:7:1: unknown key "limtis" → did you mean "limits"?`}},
		{"a misspelt key of a target", "{get: /health}}\n  wrong", "{gte: /health}}\n  wrong", []string{`lockstep.yaml:5:46: unknown key "gte" → did you mean "get"?`}},
		{"a misspelt command", "command: [", "comand: [", []string{`lockstep.yaml:6:11: unknown key "comand" → did you mean "command"?`}},
		{"no contract, and one that nobody knows", "contract: openapi.yaml", "contract: [openapi.yaml]\npath: x", []string{
			`lockstep.yaml:1:11: "contract" is a list → make it a string`,
			`lockstep.yaml:2:1: unknown key "path" → use one of: baseline, compare, contract, coverage, files, limits, reference, scenarios, secrets, stubs, targets, undocumented, waivers`,
		}},
		{"a demand that is no share", "limits: {step: 5s}", "coverage: {statuses: 101%, events: 5}", []string{
			`lockstep.yaml:7:22: "statuses" is "101%" → write a share of a hundred, such as 90% or 95.5%`, `lockstep.yaml:7:36: "events" is a number → write a share of a hundred, such as 90% or 95.5%`,
		}},
		{"a demand of nothing", "limits: {step: 5s}", "coverage: {except: []}", []string{`lockstep.yaml:7:11: coverage sets no minimum → add one: statuses: 90%`}},
		{"an unknown measure", "limits: {step: 5s}", "coverage: {status: 90%}", []string{`lockstep.yaml:7:12: unknown key "status" → did you mean "statuses"?`}},
		{"exceptions for what is not declared, twice the same, for two things, for nothing", "limits: {step: 5s}", "coverage:\n  statuses: 95.5%\n  except:\n" +
			"    - {status: GET /itmes 200, because: x}\n    - {event: GET /events ping, because: x}\n    - {event: GET /events ping, because: x}\n    - {status: GET /items 200, operation: GET /items, because: x}", []string{
			`lockstep.yaml:10:16: the contract does not declare the status "GET /itmes 200" → did you mean "GET /items 200"?`,
			`lockstep.yaml:12:15: event "GET /events ping" already has an exception in line 11 → keep one of them`,
			`lockstep.yaml:13:16: the exception names more than one item → write one exception for each`,
		}},
		{"an exception for nothing", "limits: {step: 5s}", "coverage:\n  statuses: 95.5%\n  except:\n    - {because: x}", []string{
			`lockstep.yaml:10:7: the exception does not say what it is for → name what is not reached: {status: POST /items 413, because: …}`,
		}},
		{"an exception without a reason", "limits: {step: 5s}", "coverage:\n  statuses: 95.5%\n  except:\n    - {status: GET /items 200}", []string{
			`lockstep.yaml:10:7: item 1 of "except" has no "because" → add it: because, why no scenario reaches it`,
		}},
		{"a reference that is not a target", "reference: right", "reference: rihgt", []string{`lockstep.yaml:3:12: reference "rihgt" is not a target → did you mean "right"?`}},
		{"a target in capitals", "  wrong:", "  Wrong:", []string{`lockstep.yaml:6:3: key "Wrong" is not a valid name → use lower-case letters, digits and hyphens`}},
		{"a target that is nowhere", `command: [serve, "${{ port }}"], `, "", []string{`lockstep.yaml:6:10: "wrong" is not allowed here → give it a command, a url, a program, or a driver`}},
		{"a target that is in two places", "command:", `url: "http://127.0.0.1:2", command:`, []string{`lockstep.yaml:6:3: target "wrong" has both a command and a url → keep one: command starts a server, url names a running one, program and driver are started by steps`}},
		{"a server that is never ready", `, ready: {get: /health}}
limits`, "}\nlimits", []string{`lockstep.yaml:6:3: target "wrong" has no "ready" → add the request that shows that the server is ready: ready: {get: /status}`}},
		{"targets of two kinds, and a program that is a server", "command: [serve,", "env: {AT: \"${{ host }}\"}, headers: {A: b}, program: [\"${{ prot }}\", ", []string{
			`lockstep.yaml:6:3: target "wrong" is a program, but "right" is a server → compare targets of one kind: write a lockstep.yaml for each kind`,
			`lockstep.yaml:6:21: a program has no ${{ host }} → leave it out: a program talks over standard input and output`,
			`lockstep.yaml:6:37: target "wrong" is a program, which has no "headers" → remove it: a program talks over standard input and output`,
			`lockstep.yaml:6:64: ${{ prot }} is unknown; there are ${{ directory }}, ${{ lockstep }} → write ${{ directory }}`,
			`lockstep.yaml:6:80: a program has no ${{ port }} → leave it out: a program talks over standard input and output`,
			`lockstep.yaml:6:96: target "wrong" is a program, which has no "ready" → remove it: a program talks over standard input and output`,
		}},
		{"a program and a driver", "command:", "program: [a], driver:", []string{
			`lockstep.yaml:6:3: target "wrong" has both a program and a driver → keep one: command starts a server, url names a running one, program and driver are started by steps`,
			`lockstep.yaml:6:41: a driver has no ${{ port }} → leave it out: a program talks over standard input and output`,
		}},
		{"a command as a text", `[serve, "${{ port }}"]`, `serve`, []string{`lockstep.yaml:6:20: "command" is a string → write a list: [program, argument, …]`}},
		{"a command that does not learn its port", `, "${{ port }}"`, "", []string{`lockstep.yaml:6:20: target "wrong": no argument, env value or file contains ${{ port }}, so the server cannot know where to listen → use ${{ port }}, or write url: for a running server`}},
		{"a misspelt port", "${{ port }}", "${{ prot }}", []string{`lockstep.yaml:6:28: ${{ prot }} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}, ${{ lockstep }} → did you mean "port"?`}},
		{"a misspelt port in the environment", `, "${{ port }}"]`, `], env: {PORT: "${{prto}}"}`, []string{`lockstep.yaml:6:41: ${{prto}} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}, ${{ lockstep }} → did you mean "port"?`}},
		{"something else than a port", "${{ port }}", "${{ workspace }}/x", []string{`lockstep.yaml:6:28: ${{ workspace }} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}, ${{ lockstep }} → write ${{ port }}, ${{ host }} or ${{ directory }}`}},
		{"a port that does not end", "${{ port }}", "${{ port", []string{`lockstep.yaml:6:28: "${{ port" is not closed by }} → write ${{ port }}, ${{ host }} or ${{ directory }}`}},
		{"no scheme", "http://127.0.0.1:1", "127.0.0.1:1", []string{`lockstep.yaml:5:16: "url" is "127.0.0.1:1" → begin with http:// or https://`}},
		{"a url with a query", "http://127.0.0.1:1", "http://127.0.0.1:1/?a=b", []string{`lockstep.yaml:5:3: target "right": url "http://127.0.0.1:1/?a=b" may only have a host and a path → ` + example}},
		{"a folder for what already runs", `1", ready`, `1", dir: old, ready`, []string{`lockstep.yaml:5:3: target "right": directory, files, environment, stop and log are only allowed for a server that lockstep starts, not for a URL → ` + example}},
		{"a status that is never final", "{get: /health}}\n  wrong", "{get: /health, status: 101}}\n  wrong", []string{`lockstep.yaml:5:3: target "right": ready status 101 is not a final HTTP status → ` + example}},
		{"a status in other words", "{get: /health}}\n  wrong", "{get: /health, status: 2e2}}\n  wrong", []string{`lockstep.yaml:5:68: 2e2 is not a whole number in range → ` + digits}},
		{"no time to be ready", "{get: /health}}\n  wrong", "{get: /health, within: 0s}}\n  wrong", []string{`lockstep.yaml:5:68: "0s" is not a duration above 0 → ` + time}},
		{"no time for a step", "{step: 5s}", "{step: 0.0s}", []string{`lockstep.yaml:7:16: "0.0s" is not a duration above 0 → ` + time}},
		{"more time than there is", "{step: 5s}", "{scenario: 999999999999m}", []string{`lockstep.yaml:7:20: "999999999999m" is not a duration above 0 → ` + time}},
		{"a time without a unit", "{step: 5s}", "{settle: 5}", []string{`lockstep.yaml:7:18: "settle" is a number → write a time with its unit, such as 300ms, 2s or 1m`}},
		{"a number in other words", "{step: 5s}", "{events: 1e3}", []string{`lockstep.yaml:7:18: 1e3 is not a whole number in range → ` + digits}},
		{"a number beyond all numbers", "{step: 5s}", "{body: 99999999999999999999}", []string{`lockstep.yaml:7:16: 99999999999999999999 is not a whole number in range → ` + digits}},
		{"no contract", "openapi.yaml", "opneapi.yaml", []string{`lockstep.yaml:1:11: open opneapi.yaml: no such file or directory → name the OpenAPI document, relative to this file`}},
		{"no scenarios", "scenarios: scenarios", "scenarios: stories", []string{`lockstep.yaml:2:12: stories is not a folder → name the folder with the scenarios, relative to this file`}},
		{"a folder without scenarios", "scenarios: scenarios", "scenarios: empty", []string{`lockstep.yaml:2:12: no scenario in empty → write one: docs/scenarios.md describes the language`}},
		{"a file instead of a folder", "scenarios: scenarios", "scenarios: scenarios/items/story.yaml", []string{`lockstep.yaml:2:12: scenarios/items/story.yaml is not a folder → name the folder with the scenarios, relative to this file`}},
		{"a path that is none", "limits:", "compare: {volatile: [{at: id, kind: id, because: it is made up}]}\nlimits:", []string{`lockstep.yaml:7:27: "at" is "id" → begin the path with $`}},
		{"a rule for all programs, misspelt", "limits:", "compare: {streams: {progam: {protocol: jsonrpc}}}\nlimits:", []string{`lockstep.yaml:7:21: rules for "progam", which is not a stream → did you mean "program"?`}},
		{"a rule for no operation", "limits:", "compare: {streams: {GET /event: {framing: exact}}}\nlimits:", []string{`lockstep.yaml:7:21: rules for "GET /event", which is not a stream → did you mean "GET /events"?`}},
		{"a heartbeat that the contract does not have", "limits:", "compare: {streams: {GET /events: {heartbeat: {event: pnig}}}}\nlimits:", []string{`lockstep.yaml:7:54: GET /events has no event "pnig" → did you mean "ping"?`}},
		{"an optional event that the contract does not have", "limits:", "compare: {streams: {GET /events: {optional: [ping, pnig]}}}\nlimits:", []string{`lockstep.yaml:7:52: GET /events has no event "pnig" → did you mean "ping"?`}},
		{"pieces of an event that the contract does not have", "limits:", "compare: {streams: {GET /events: {collapse: [{event: pnig, text: $.x, because: it is cut}]}}}\nlimits:", []string{`lockstep.yaml:7:54: GET /events has no event "pnig" → did you mean "ping"?`}},
		{"an anchor that the contract does not have", "limits:", "compare: {streams: {GET /events: {order: {within: $.id, across: free, anchors: [hello, deleetd], because: b}}}}\nlimits:", []string{`lockstep.yaml:7:88: GET /events has no event "deleetd" → did you mean "deleted"?`}},
		{"a time that is stable since a step", "limits:", "compare: {volatile: [{at: $.a, kind: time, stable: 2, because: b}]}\nlimits:", []string{`lockstep.yaml:7:52: stable since step 2, but a project has no steps → write true, or move the rule to the scenario`}},
		{"files that leave the directory, are not there, or are folders", "limits:", "files: {../a: empty/readme.txt, /b: {text: x}, c: empty/none.txt, d: empty, e: {text: \"${{ prot }}\"}}\nlimits:", []string{
			`lockstep.yaml:7:9: file "../a" is not a path below the directory, such as config/config.yaml → write a path below the directory, with slashes and without ..`,
			`lockstep.yaml:7:33: file "/b" is not a path below the directory, such as config/config.yaml → write a path below the directory, with slashes and without ..`,
			`lockstep.yaml:7:51: stat empty/none.txt: no such file or directory → name a file, relative to this one, or give its text: {text: …}`,
			`lockstep.yaml:7:70: empty is not a regular file → name each file separately`,
			`lockstep.yaml:7:87: ${{ prot }} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}, ${{ lockstep }} → did you mean "port"?`,
		}},
		{"a file in the place of a folder", "wrong: {", "wrong: {files: {a: {text: x}, a/b: {text: x}}, ", []string{`lockstep.yaml:6:3: target "wrong": files "a" and "a/b" conflict: they have the same path, or one is in the other → ` + example}},
		{"a file that is neither named nor written", "wrong: {", "wrong: {files: {a: [x]}, ", []string{`lockstep.yaml:6:22: "a" is not allowed here → name a file, or write {text: …}`}},
		{"files for what already runs", "right: {", "right: {files: {a: {text: x}}, ", []string{`lockstep.yaml:5:3: target "right": directory, files, environment, stop and log are only allowed for a server that lockstep starts, not for a URL → ` + example}},
		{"a working directory that names a port", "wrong: {", "wrong: {dir: \"x${{ directory }}\", ", []string{`lockstep.yaml:6:16: dir is "x${{ directory }}" → begin it with ${{ directory }}, or write a folder relative to this file`}},
		{"two mistakes that have nothing to do with each other", "reference: right\ntargets:", "reference: left\nundocumented: report\ntargets:\n  third: {url: \"http://127.0.0.1:1\", ready: {get: /, within: 0s}}", []string{
			`lockstep.yaml:3:12: reference "left" is not a target → use one of: right, third, wrong`, `lockstep.yaml:6:62: "0s" is not a duration above 0 → ` + time,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if strings.Count(sound, tc.old) != 1 {
				t.Fatalf("%q is not there once", tc.old)
			}
			file := fauxproject.Write(t, "")
			fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(sound, tc.old, tc.new, 1))
			fauxproject.Add(t, file, "empty/readme.txt", "nothing")
			if diff := cmp.Diff(tc.want, problems(t, file)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// problems returns the mistakes of a project, without the path of its folder.
func problems(t *testing.T, file string) []string {
	t.Helper()
	p, err := project.Load(file)
	all, ok := errors.AsType[scenario.Problems](err)
	if p != nil || !ok {
		t.Fatalf("Load: %v, %v; want problems", p, err)
	}
	var out []string
	for _, problem := range all {
		text := strings.ReplaceAll(problem.Error(), filepath.Dir(file)+"/", "")
		out = append(out, strings.ReplaceAll(text, "\n\tfix: ", " → "))
	}
	return out
}

func TestASoundProjectHasNoMistakes(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", sound)
	fauxproject.Load(t, file)
}

// A user must not have to fix one file to learn about the mistakes in the next.
func TestMistakesOfAllFilesAreReportedAtOnce(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(sound, "reference: right", "reference: left", 1))
	fauxproject.Add(t, file, "openapi.yaml", "openapi: 3.0.3\ninfo: {title: T, version: 1.0.0}\npaths:\n  /x:\n    gte: {}\n")
	fauxproject.Add(t, file, "scenarios/items/story.yaml", "scenario: items/story\nwhy: x\nsource: x\nsteps: [{htpp: GET /}]\n")
	fauxproject.Add(t, file, "scenarios/items/every-step.yaml", "")
	got := problems(t, file)
	for i, want := range []string{
		`lockstep.yaml:3:12: reference "left" is not a target`,
		`openapi.yaml:4:3: paths: `,
		`scenarios/items/every-step.yaml: the file is empty`,
		`scenarios/items/story.yaml:4:9: item 1 of "steps" is not allowed here → did you mean "http" where you wrote "htpp"?`,
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("problem %d is not %q:\n%s", i+1, want, strings.Join(got, "\n"))
		}
	}
}

// A mistake in lockstep.yaml does not hide mistakes in other files, or between them.
func TestOtherFilesAreReadBesideAProjectOfAnotherShape(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(sound, "{get: /health}}\n  wrong: {", "{get: /health}}\n  wrong: {redy: {get: /}, ", 1))
	fauxproject.Add(t, file, "scenarios/items/story.yaml", "scenario: items/story\nwhy: x\nsource: x\nsteps: [{http: GET /itmes}, {http: GET /items}]\n")
	fauxproject.Add(t, file, "scenarios/items/every-step.yaml", "steps: 5")
	got := problems(t, file)
	for i, want := range []string{
		`lockstep.yaml:6:11: unknown key "redy" → did you mean "ready"?`,
		`scenarios/items/every-step.yaml:1:1: the file has no "scenario"`,
		`scenarios/items/every-step.yaml:1:1: the file has no "why"`,
		`scenarios/items/every-step.yaml:1:1: the file has no "source"`,
		`scenarios/items/every-step.yaml:1:8: "steps" is a number`,
		`scenarios/items/story.yaml:4:16: the contract has no operation for GET /itmes`,
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("problem %d is not %q:\n%s", i+1, want, strings.Join(got, "\n"))
		}
	}
	if len(got) != 6 { // the query that GET /items needs depends on the targets
		t.Errorf("%d problems:\n%s", len(got), strings.Join(got, "\n"))
	}
	fauxproject.Add(t, file, "openapi.yaml", "openapi: [")
	if got := problems(t, file); len(got) != 6 || !strings.HasPrefix(got[1], "openapi.yaml:1:10: not YAML: the [ is not closed") {
		t.Errorf("with a contract that is not YAML:\n%s", strings.Join(got, "\n"))
	}
}

func TestAMissingProject(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lockstep.yaml")
	want := []string{"lockstep.yaml: no such file → lockstep init creates one; or name another with --config"}
	if diff := cmp.Diff(want, problems(t, file)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if p, err := project.Load(filepath.Dir(file)); p != nil || err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("Load of a folder: %v, %v", p, err)
	}
}

func TestEveryKeyOfAProjectIsRead(t *testing.T) {
	file := fauxproject.Write(t, "")
	dir := filepath.Dir(file)
	elsewhere := t.TempDir()
	fauxproject.Add(t, file, "lockstep.yaml", `
contract: openapi.yaml
scenarios: scenarios
reference: live
targets:
  new:
    command: [./serve, --listen, "${{ host }}:${{ port }}"]
    dir: new
    env: {MODE: "test"}
    inherit: [DATABASE_URL]
    headers: {X-Secret-Key: test, A: b}
    ready: {get: /health, status: 204, within: 20s}
    stop: 1m
  other: {command: [serve, "${{ port }}"], dir: "`+elsewhere+`", ready: {get: /}}
  live: {url: "http://127.0.0.1:8080", headers: {X: y}, ready: {get: /health}}
compare:
  headers: [ETag]
  volatile: [{at: $.id, kind: id, because: it is made up}]
  streams: {GET /events: {framing: exact, heartbeat: {event: ping}}}
limits: {step: 1s, scenario: 2s, settle: 3s, body: 4, events: 5}
`)
	p := fauxproject.Load(t, file)
	given := map[string]string{"lockstep": ""} // its value is known when the server starts
	want := []project.Target{
		{
			Spec: target.Spec{
				Name: "new", Values: given, Command: []string{"./serve", "--listen", "${{ host }}:${{ port }}"}, Dir: filepath.Join(dir, "new"),
				Env: map[string]string{"MODE": "test"}, Inherit: []string{"DATABASE_URL"},
				Ready: target.Ready{Path: "/health", Status: 204, Within: 20 * time.Second, Place: "lockstep.yaml:11"}, Stop: target.Stop{Grace: time.Minute},
			},
			Header: transcript.Header{{Name: "X-Secret-Key", Value: "test"}, {Name: "A", Value: "b"}},
			Line:   6, Column: 15,
		},
		{Spec: target.Spec{Name: "other", Values: given, Command: []string{"serve", "${{ port }}"}, Dir: elsewhere, Ready: target.Ready{Path: "/", Place: "lockstep.yaml:13"}}, Line: 13, Column: 21},
		{Spec: target.Spec{Name: "live", Values: given, URL: "http://127.0.0.1:8080", Ready: target.Ready{Path: "/health", Place: "lockstep.yaml:14"}}, Header: transcript.Header{{Name: "X", Value: "y"}}},
	}
	if diff := cmp.Diff(want, p.Targets); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(project.Limits{Step: time.Second, Scenario: 2 * time.Second, Settle: 3 * time.Second, Body: 4, Events: 5}, p.Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if p.Reference != "live" || p.File != file || p.ContractFile != filepath.Join(dir, "openapi.yaml") || p.Contract == nil || len(p.Scenarios) != 7 {
		t.Errorf("reference %q, file %q, contract %q, %d scenarios", p.Reference, p.File, p.ContractFile, len(p.Scenarios))
	}
	if r := p.Rules; len(r.Headers) != 1 || len(r.Volatile) != 1 || !r.Streams["GET /events"].Exact {
		t.Errorf("rules %+v", r)
	}
}

func TestLimitsThatAreNotGivenHaveDefaults(t *testing.T) {
	file := fauxproject.Write(t, "")
	fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(sound, "limits: {step: 5s}\n", "", 1))
	want := project.Limits{Step: 10 * time.Second, Scenario: time.Minute, Settle: time.Second, Body: 64 << 20, Events: 100_000}
	if diff := cmp.Diff(want, fauxproject.Load(t, file).Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}
