//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

func TestLintOfACorrectProject(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"), at("wrong", "http://127.0.0.1:2"))
	want := outcome{exitMatch, "lockstep.yaml: no mistakes in 7 scenarios\n", ""}
	if diff := cmp.Diff(want, p.do(t, "lint"), cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("lint (-want +got):\n%s", diff)
	}
	p.write(t, "one/story.yaml", "scenario: story\nwhy: There is one\nsource: x\nsteps: [{http: GET /health}]\n")
	p.write(t, "lockstep.yaml", strings.Replace(p.read("lockstep.yaml"), "scenarios: scenarios", "scenarios: one", 1))
	want.stdout = "lockstep.yaml: no mistakes in 1 scenario\n"
	if diff := cmp.Diff(want, p.do(t, "lint"), cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("lint (-want +got):\n%s", diff)
	}
}

// TestLintReportsWhatIsNotJudged checks that lint notes schemas that cannot be judged, without counting them as
// mistakes.
func TestLintReportsWhatIsNotJudged(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	p.write(t, "openapi.yaml", strings.Replace(p.read("openapi.yaml"), "pattern: '^itm_[0-9a-f]{20}$'", "pattern: '^(?!itm_0)'", 1))
	o := p.do(t, "lint")
	if o.code != exitMatch || o.stdout != "lockstep.yaml: no mistakes in 7 scenarios\n" || !strings.HasPrefix(o.stderr, "note: openapi.yaml:") ||
		!strings.Contains(o.stderr, "the pattern ^(?!itm_0) is not checked: ") || strings.Count(o.stderr, "note: ") != 1 {
		t.Errorf("%+v", o)
	}
}

// TestMistakesInFiles checks that two commands report each mistake in the same words, with its place and a fix, and
// that nothing is started.
func TestMistakesInFiles(t *testing.T) {
	const story = "scenario: items/new\nwhy: It is new\nsource: openapi.yaml\nsteps:\n"
	for _, tc := range []struct {
		name   string
		file   string
		change func(text string) string
		stderr string
	}{
		{"in lockstep.yaml", "lockstep.yaml", func(s string) string { return strings.Replace(s, "reference: right", "refernce: right", 1) }, `lockstep.yaml:3:1: unknown key "refernce"
  3 | refernce: right
    | ^
	fix: did you mean "reference"?
lockstep: 1 mistake
`},
		{"a target that is not there", "lockstep.yaml", func(s string) string { return strings.Replace(s, "reference: right", "reference: left", 1) }, `lockstep.yaml:3:12: reference "left" is not a target
  3 | reference: left
    |            ^
	fix: use one of: right
lockstep: 1 mistake
`},
		{"in the contract", "openapi.yaml", func(s string) string { return strings.Replace(s, "type: integer}", "type: integr}", 1) }, `openapi.yaml:90:81: paths: invalid path /events: invalid operation GET: parameter "beat" schema is invalid: unsupported 'type' value "integr"
  90 | …tion: Milliseconds between two pings., schema: {type: integr}}
     |                                         ^
lockstep: 1 mistake
`},
		{"in a scenario", "scenarios/items/new.yaml", func(string) string { return story + "  - http: GET /health\n    expct: {status: 200}\n" }, `scenarios/items/new.yaml:6:5: unknown key "expct"
  6 |     expct: {status: 200}
    |     ^
	fix: did you mean "expect"?
lockstep: 1 mistake
`},
		{"beside a secret", "lockstep.yaml", func(s string) string {
			return strings.Replace(s, "targets:\n", "targets:\n  other: {url: http://127.0.0.1:2, ready: {get: /}, headers: {X-Api-Key: hunter2}, strp: 1}\n", 1)
		}, `lockstep.yaml:5:84: unknown key "strp"
	fix: did you mean "stop"?
lockstep: 1 mistake
`},
		{"between a scenario and the contract", "scenarios/items/new.yaml", func(string) string { return story + "  - http: GET /healht\n" }, `scenarios/items/new.yaml:5:11: the contract has no operation for GET /healht
  5 |   - http: GET /healht
    |           ^
	fix: did you mean "GET /health"? if this is intended, mark the step malformed: true
lockstep: 1 mistake
`},
		{"a line that is badly indented", "scenarios/items/new.yaml", func(string) string { return story + "  - http: GET /health\n - http: GET /items\n" }, `scenarios/items/new.yaml:6:2: not YAML: the line is indented by 1
  6 |  - http: GET /items
    |  ^
	fix: indent it by 0 or 2, like a line above
lockstep: 1 mistake
`},
		{"a file that is cut off", "scenarios/items/new.yaml", func(string) string { return story + "  - {http: GET /health" }, `scenarios/items/new.yaml:5:5: not YAML: the { is not closed
  5 |   - {http: GET /health
    |     ^
	fix: close it with }
lockstep: 1 mistake
`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &faux.Server{}
			p := newProject(t, at("right", faux.Serve(t, server)))
			p.write(t, tc.file, tc.change(p.read(tc.file)))
			for _, command := range []string{"lint", "run"} {
				want := outcome{exitUsage, "", tc.stderr}
				if diff := cmp.Diff(want, p.do(t, command), cmp.AllowUnexported(outcome{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", command, diff)
				}
			}
			if n := server.Accepted(); n > 0 || p.read("reports/run.jsonl") != "" || len(names(t, p.dir)) != 3 {
				t.Errorf("%d connections were made, and there is %q", n, names(t, p.dir))
			}
		})
	}
}

// TestLintOfSomeScenarios checks that lint with arguments reports the mistakes of the selected scenarios, of the fragments
// that they use, and of the project, and no others.
func TestLintOfSomeScenarios(t *testing.T) {
	const (
		one = `scenarios/new/one.yaml:5:25: unknown key "expct"
  5 |   - {http: GET /health, expct: {status: 200}}
    |                         ^
	fix: did you mean "expect"?
`
		shared = `scenarios/new/shared.yaml:4:5: item 1 of "steps" is not allowed here
  4 |   - htp: GET /health
    |     ^
	fix: did you mean "http" where you wrote "htp"?
`
	)
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	head := func(id string) string {
		return "scenario: new/" + id + "\nwhy: It is new\nsource: openapi.yaml\nsteps:\n"
	}
	p.write(t, "scenarios/new/one.yaml", head("one")+"  - {http: GET /health, expct: {status: 200}}\n")
	p.write(t, "scenarios/new/two.yaml", head("two")+"  - http: GET /health\n")
	p.write(t, "scenarios/new/user.yaml", head("user")+"  - use: new/shared\n")
	fragment := "fragment: new/shared\nwhy: It is shared\nsteps:\n  - http: GET /health\n"
	broken := strings.Replace(fragment, "http", "htp", 1)
	healht := strings.Replace(fragment, "/health", "/healht", 1)
	for _, tc := range []struct {
		name, fragment string
		args           []string
		want           outcome
	}{
		{"a correct one", broken, []string{"new/two", "items"}, outcome{exitMatch, "lockstep.yaml: no mistakes in 3 scenarios\n", ""}},
		{"a file", fragment, []string{p.dir + "/scenarios/new/one.yaml"}, outcome{exitUsage, "", one + "lockstep: 1 mistake\n"}},
		{"a folder", broken, []string{"new"}, outcome{exitUsage, "", one + shared + "lockstep: 2 mistakes\n"}},
		{"a fragment", fragment, []string{"new/shared"}, outcome{exitMatch, "lockstep.yaml: no mistakes in the selected fragments\n", ""}},
		{"a fragment with a mistake", broken, []string{"new/shared"}, outcome{exitUsage, "", shared + "lockstep: 1 mistake\n"}},
		{"a user of a fragment that cannot be read", broken, []string{"new/user"}, outcome{exitUsage, "", one + shared + "lockstep: 2 mistakes\n"}},
		{"a user of a fragment outside the contract", healht, []string{"new/user"}, outcome{exitUsage, "", `scenarios/new/user.yaml:5:10: the contract has no operation for GET /healht
  5 |   - use: new/shared
    |          ^
	fix: did you mean "GET /health"? if this is intended, mark the step malformed: true
lockstep: 1 mistake
`}},
		{"none", fragment, []string{"new/tow"}, outcome{exitUsage, "", "lockstep: no scenario or folder is called \"new/tow\"\n\tfix: did you mean \"new/two\"?\n"}},
	} {
		p.write(t, "scenarios/new/shared.yaml", tc.fragment)
		if diff := cmp.Diff(tc.want, p.do(t, "lint", tc.args...), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("%s: lint %q (-want +got):\n%s", tc.name, tc.args, diff)
		}
	}
	p.write(t, "lockstep.yaml", strings.Replace(p.read("lockstep.yaml"), "reference: right", "refernce: right", 1))
	if o := p.do(t, "lint", "new/two"); o.code != exitUsage || !strings.HasPrefix(o.stderr, "lockstep.yaml:3:1: ") || !strings.HasSuffix(o.stderr, "\nlockstep: 1 mistake\n") {
		t.Errorf("a mistake in lockstep.yaml is not reported: %+v", o)
	}
}

func TestAProjectThatCannotBeRead(t *testing.T) {
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	for _, command := range []string{"lint", "run"} {
		o := lockstep(t, command, "-c", p.dir)
		want := outcome{exitUsage, "", "lockstep: open " + p.dir + ": it is a directory, but must be a regular file\n"}
		if diff := cmp.Diff(want, o, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("%s of a folder (-want +got):\n%s", command, diff)
		}
	}
}
