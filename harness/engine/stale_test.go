package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// recordable is a project whose reference has every setting that a recording depends on.
const recordable = `
  right:
    command: [./right, --port, "${{ port }}"]
    env: {MODE: plain}
    headers: {X-Client: one}
    version: {file: program}
    ready: {get: /health}
  wrong: {url: "http://127.0.0.1:2", ready: {get: /health}}
secrets: {headers: [X-Own]}
`

// An edit changes one file of a project.
type edit struct{ file, from, to string }

// make changes the file until the test ends. With an empty from, it appends to the file.
func (e edit) make(t *testing.T, dir string) {
	t.Helper()
	if e.file == "" {
		return
	}
	path := filepath.Join(dir, e.file)
	before := testfile.Text(t, path)
	after := before + e.to
	if e.from != "" {
		after = strings.Replace(before, e.from, e.to, 1)
	}
	if after == before {
		t.Fatalf("%s has no %q", e.file, e.from)
	}
	testfile.Write(t, path, after)
	t.Cleanup(func() { os.WriteFile(path, []byte(before), 0o644) })
}

// When something has changed that a recording depends on, exactly the scenarios that use it are unknown, and the report
// names it. Other changes have no effect.
func TestWhatHasChangedSinceTheRecordingIsUnknown(t *testing.T) {
	const config, contract = "lockstep.yaml", "openapi.yaml"
	file := fauxproject.Write(t, recordable)
	dir := filepath.Dir(file)
	testfile.Write(t, filepath.Join(dir, "program"), "one")
	reload := func(t *testing.T) *project.Project {
		t.Helper()
		return fauxproject.Load(t, file)
	}
	both := engine.Options{Select: project.Selection{Paths: []string{"items/story", "events/story"}}}
	wrong := "wrong=" + faux.Serve(t, &faux.Server{})
	tape, _ := record(t, reload(t), both, "right="+faux.Serve(t, &faux.Server{}), wrong)
	for _, tc := range []struct {
		name    string
		edit    edit
		version string
		more    []string // additional scenarios
		unknown string   // the scenarios that are unknown
		says    string
	}{
		{"nothing", edit{}, "", nil, "", ""},
		{"a comment in the contract", edit{contract, "", "# changed\n"}, "", nil, "", ""},
		{"another word in the contract", edit{contract, "What happens on the shelf.", "What goes on."}, "", nil, "", ""},
		{"what the contract calls events", edit{contract, "x-events:\n", "x-events:\n                name: /shelf\n"}, "", nil,
			"events/story", `the contract has changed since the recording: it calls an event of the stream feed "s-`},
		{"a rule of comparison", edit{config, "  volatile:\n", "  volatile:\n    - {at: $.nothing, kind: text, because: nobody says it}\n"}, "", nil, "", ""},
		{"how the other target is reached", edit{config, "127.0.0.1:2", "127.0.0.1:3"}, "", nil, "", ""},
		{"when the reference is ready", edit{config, "ready: {get: /health}", "ready: {get: /health, within: 9s}"}, "", nil, "", ""},
		{"how lockstep.yaml is written", edit{config, "env: {MODE: plain}", "env:\n      MODE: \"plain\""}, "", nil, "", ""},
		{"the command", edit{config, "--port", "--on"}, "", nil, "all", "lockstep.yaml: targets.right.command has changed since the recording"},
		{"the environment", edit{config, "plain", "fancy"}, "", nil, "all", "lockstep.yaml: targets.right.env has changed since the recording"},
		{"what is inherited", edit{config, "    env:", "    inherit: [PWD]\n    env:"}, "", nil, "all", "lockstep.yaml: targets.right.inherit has changed since the recording"},
		{"a header field", edit{config, "X-Client: one", "X-Client: two"}, "", nil, "all", "lockstep.yaml: targets.right.headers has changed since the recording"},
		{"the folder", edit{config, "    env:", "    dir: scenarios\n    env:"}, "", nil, "all", "lockstep.yaml: targets.right.dir has changed since the recording"},
		{"its files", edit{config, "    env:", "    files: {note: {text: hello}}\n    env:"}, "", nil, "all", "lockstep.yaml: targets.right.files has changed since the recording"},
		{"what is secret", edit{config, "[X-Own]", "[X-Own, X-Other]"}, "", nil, "all", "lockstep.yaml: secrets has changed since the recording"},
		{"an upstream", edit{config, "secrets:", "stubs: {llm: {kind: openai}}\nsecrets:"}, "", nil, "all", "lockstep.yaml: stubs has changed since the recording"},
		{"a limit that nothing came up to", edit{config, "body: 1000000", "body: 2000000"}, "", nil, "", ""},
		{"a limit that was not there", edit{config, "events: 800", "events: 2"}, "", nil, "events/story", "limits.events has changed since the recording, when the scenario reached it"},
		{"how long streams may lag behind", edit{config, "settle: 50ms", "settle: 60ms"}, "", nil, "all", "limits.settle has changed since the recording"},
		{"one scenario", edit{"scenarios/items/story.yaml", "", "# changed\n"}, "", nil, "items/story", "scenarios/items/story.yaml has changed since the recording"},
		{"the program", edit{"program", "one", "two"}, "", nil, "all", "the reference has changed since the recording, from "},
		{"the version", edit{}, "1.3", nil, "all", " to 1.3"},
		{"a scenario more", edit{}, "", []string{"items/every-step"}, "items/every-step", "the recording does not have the scenario"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.edit.make(t, dir)
			p, options := reload(t), both
			options.ReferenceVersion = tc.version
			options.Select.Paths = append(options.Select.Paths[:2:2], tc.more...)
			result := replay(t, p, tape, options, wrong)
			for _, s := range result.Scenarios {
				want := verdict.Match
				if tc.unknown == "all" || tc.unknown == s.ID {
					want = verdict.Unknown
				}
				switch {
				case s.Verdict != want:
					t.Errorf("%s: %s, want %s: %v %v", s.ID, s.Verdict, want, s.Reasons, s.Findings)
				case want == verdict.Unknown && (s.Reasons[0].Target != "right" || !strings.Contains(s.Reasons[0].Text, tc.says)):
					t.Errorf("%s: %v, want %q of right", s.ID, s.Reasons, tc.says)
				}
			}
			if len(result.Scenarios) != 2+len(tc.more) {
				t.Errorf("%d scenarios", len(result.Scenarios))
			}
		})
	}
	testfile.Remove(t, filepath.Join(dir, "program"))
	if result := replay(t, reload(t), tape, both, wrong); result.Verdict != verdict.Match {
		t.Errorf("where the reference is not installed: %s", result.Verdict)
	}
}
