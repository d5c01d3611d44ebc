package project_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestARunAsksTheContractAboutMessages(t *testing.T) {
	doc, err := contract.Parse([]byte(`openapi: 3.1.0
info: {title: test, version: '1'}
x-messages:
  name: jsonrpc
  received: {list result: {schema: {}}}
  sent: {list: {schema: {type: object, properties: {params: {type: object, properties: {limit: {maximum: 9}}}}}}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := (&project.Project{Contract: doc}).ContractLookup()
	name := asked.EventNamer("program")
	for _, tc := range []struct {
		data, name, want string // want is the place of the objection, with "!" if only the value is wrong
	}{
		{`{"id":1,"method":"list","params":{"limit":1}}`, "list", ""},
		{`{"id":1,"method":"list","params":{"limit":10}}`, "list", "!event data/params/limit"},
		{`{"id":1,"method":"list","params":[]}`, "list", "event data/params"},
		{`{"id":2,"method":"lst"}`, "lst", "event name"},
	} {
		ev := transcript.Event{Item: transcript.ItemLine, Sent: true, Data: tc.data}
		ev.Name = name(&ev)
		got := ""
		for _, o := range asked.MessageObjections("program", &ev) {
			got += map[bool]string{true: "!"}[o.Value] + o.Place
		}
		if ev.Name != tc.name || got != tc.want {
			t.Errorf("%s is named %q, with the objections %q; want %q and %q", tc.data, ev.Name, got, tc.name, tc.want)
		}
	}
	if got := name(&transcript.Event{Item: transcript.ItemLine, Data: `{"id":1,"result":1}`}); got != "list result" {
		t.Errorf("the response is named %q", got)
	}
}

// A rule may be for all programs, whatever the contract says about them, and it knows their messages.
func TestRulesForPrograms(t *testing.T) {
	const messages = "x-messages: {received: {line: {schema: {}}}}\n"
	for _, tc := range []struct {
		name, messages, event string
		want                  []string
	}{
		{"a program that the contract does not describe", "", "anything", nil},
		{"a message", messages, "line", nil},
		{"what is not a message", messages, "exit", nil},
		{"another message", messages, "lien", []string{`lockstep.yaml:7:42: program has no event "lien" → did you mean "line"?`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := fauxproject.Write(t, "")
			rule := "compare: {streams: {program: {optional: [" + tc.event + "]}}}\nlimits:"
			fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(sound, "limits:", rule, 1))
			api := filepath.Join(filepath.Dir(file), "openapi.yaml")
			fauxproject.Add(t, file, "openapi.yaml", tc.messages+testfile.Text(t, api))
			if tc.want == nil {
				fauxproject.Load(t, file) // without any problem
			} else if diff := cmp.Diff(tc.want, problems(t, file)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
