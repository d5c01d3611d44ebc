package scaffold_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/lab/scaffold"
)

const (
	room = `paths:
  /rooms/{room}:
    get:
      operationId: join
      parameters: [{name: room, in: path, required: true, schema: {type: string, enum: [hall]}}, {name: as, in: query, required: true, schema: {type: string, enum: [ann]}}]
      responses: {'101': {description: x}}
`
	said = `x-messages:
  name: /type
  received: {welcome: {schema: {}}, told: {schema: {}}}
  sent: {say: {schema: {}}}
`
)

func TestASocketIsOpened(t *testing.T) {
	const opened = `  - open: socket
    socket: /rooms/hall
    query: {as: ann}
  # Add a step that sends a message, and await the answer:
  # - send: socket
  #   json: {}%s
  # - await: socket
  #   match: {event: its-name}%s
  - close: socket
`
	for _, tc := range []struct{ name, document, sent, received string }{
		{"by its response", room, "", ""},
		{"with messages", room + "      " + strings.ReplaceAll(strings.TrimSpace(said), "\n", "\n      ") + "\n", "   # say", "   # welcome, told"},
	} {
		steps, f := only(t, drafted(t, tc.document, nil))
		want := strings.Replace(strings.Replace(opened, "%s", tc.sent, 1), "%s", tc.received, 1)
		if diff := cmp.Diff(want, steps); diff != "" || f.Missing != "" || f.Name != "rooms/join.yaml" {
			t.Errorf("%s: %s is missing %q (-want +got):\n%s", tc.name, f.Name, f.Missing, diff)
		}
	}
}

func TestAProgramIsStarted(t *testing.T) {
	d := drafted(t, "paths: {}\n"+said, nil)
	steps, f := only(t, d)
	want := `  - open: program
    program: {}
  # Add a step that sends a message, and await the answer:
  # - send: program
  #   json: {}   # say
  # - await: program
  #   match: {event: its-name}   # welcome, told
  - half-close: program
  - await: program
    match: {event: exit}
`
	if diff := cmp.Diff(want, steps); diff != "" || f.Missing != "" || f.Name != "program.yaml" {
		t.Errorf("%s is missing %q (-want +got):\n%s", f.Name, f.Missing, diff)
	}
	if want := "targets:\n  old:\n    program: [\"./old\"]\n  new:\n    program: [\"./new\"]\n"; !strings.Contains(string(d.Config), want) {
		t.Errorf("lockstep.yaml has no %q:\n%s", want, d.Config)
	}
}

// Targets of a project are of one kind. What the document says about another kind is set aside.
func TestAServerAndAProgramAreTwoProjects(t *testing.T) {
	for _, tc := range []struct {
		target scaffold.Target
		aside  string // the only file that is set aside
		has    string // in lockstep.yaml
	}{
		{scaffold.Target{Name: "old", URL: "http://127.0.0.1:1"}, "program.yaml.todo", "    url: http://127.0.0.1:1\n    ready: {"},
		{scaffold.Target{Name: "old", Command: []string{"x"}, Program: true}, "rooms/join.yaml.todo", "    program: [x]\n\ncompare:"},
	} {
		d := drafted(t, room+said, &scaffold.Options{Targets: []scaffold.Target{tc.target}})
		var aside []string
		for _, f := range d.Scenarios {
			if f.Missing != "" {
				aside = append(aside, f.Name)
			}
		}
		if diff := cmp.Diff([]string{tc.aside}, aside); diff != "" || len(d.Scenarios) != 2 || !strings.Contains(string(d.Config), tc.has) {
			t.Errorf("set aside (-want +got):\n%s\nlockstep.yaml, which should have %q:\n%s", diff, tc.has, d.Config)
		}
	}
}
