package scenario

import (
	"encoding/json"
	"strings"
	"testing"
)

// draft returns a draft with a capture. Its place is line 7 of a_test.go.
func draft(t *testing.T, more map[string]any) (*Draft, Problems) {
	t.Helper()
	keys := map[string]any{"why": "it is a test"}
	for k, v := range more {
		keys[k] = v
	}
	d, problems := NewDraft(Place{File: "a_test.go", Line: 7}, "TestA", keys)
	if len(problems) == 0 {
		if _, problems := d.Step(8, map[string]any{"http": "GET /items", "capture": map[string]string{"id": "$.id"}}); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	return d, problems
}

// A step of a draft is the step that a file would have.
func TestADraftDecodesStepsLikeAFile(t *testing.T) {
	d, problems := draft(t, map[string]any{"vars": map[string]any{"n": 3}, "isolate": "fresh", "tags": []string{"x"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	step, problems := d.Step(9, map[string]any{"http": "POST /items/${{ id }}", "json": map[string]any{"n": "${{ n }}", "<é\u2028": 1.5e30},
		"compare": map[string]any{"headers": []string{"X-A"}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	body, err := step.Request().Body.JSON.Resolve(row{"n": json.RawMessage("3")})
	if err != nil || string(body) != "{\"<é\u2028\":1.5e+30,\"n\":3}" {
		t.Errorf("the body is %s, %v", body, err)
	}
	if step.ID != "2" || step.Line != 9 || step.Text != "POST /items/${{ id }}" || step.Kind() != "http" {
		t.Errorf("the step is %+v", step)
	}
	s := d.Scenario
	if s.ID != "TestA" || s.Source != "a_test.go:7" || !s.Fresh || len(s.StepRules) != 1 || s.StepRules[0].Step != "2" || len(s.Script().Steps) != 2 {
		t.Errorf("the scenario is %+v", s)
	}
	for _, want := range []string{"id_2", "id_3"} {
		if c, problems := d.Capture(10, Capture{Name: "id", Path: "$.id"}); c.Name != want || len(problems) > 0 {
			t.Errorf("Capture: %s, %v, want %s", c.Name, problems, want)
		}
	}
}

type row map[string]json.RawMessage

func (r row) Lookup(name string) (json.RawMessage, bool) { v, ok := r[name]; return v, ok }

func TestMistakesInADraft(t *testing.T) {
	for _, tc := range []struct {
		name       string
		head, step map[string]any
		want       string
	}{
		{"steps", map[string]any{"steps": []any{}}, nil, `a_test.go:7: a scenario in code has no key "steps"`},
		{"a table", map[string]any{"table": []any{}}, nil, "use a loop of subtests"},
		{"no why", map[string]any{"why": ""}, nil, "a_test.go:7: "},
		{"a value that is no JSON", map[string]any{"vars": func() {}}, nil, "unsupported type"},
		{"a setup of shared targets", map[string]any{"env": map[string]any{"A": "b"}}, nil, "add isolate: fresh to the scenario"},
		{"no step", nil, map[string]any{}, "begin the step with one of: http"},
		{"a key that the step lacks", nil, map[string]any{"http": "GET /", "jsn": 1}, `a_test.go:9: unknown key "jsn"`},
		{"a name", nil, map[string]any{"http": "GET /${{ di }}"}, "did you mean \"id\"?"},
		{"a stream", nil, map[string]any{"await": "feed", "match": map[string]any{"event": "a"}}, "no such stream"},
		{"a rule of a stub", nil, map[string]any{"asked": "llm.1"}, "no rule under stubs"},
		{"a stop of shared targets", nil, map[string]any{"stop": "target"}, "stop needs targets of its own"},
		{"a fragment", nil, map[string]any{"use": "login"}, "write a function with these steps"},
		{"a directory", nil, map[string]any{"http": "GET /", "query": map[string]any{"d": "${{ directory }}"}}, `"vars": {"my_directory": "${{ directory }}"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, problems := draft(t, tc.head)
			if tc.step != nil {
				_, problems = d.Step(9, tc.step)
			}
			if got := problems.Error(); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	d, _ := draft(t, nil)
	if _, problems := d.Step(9, map[string]any{"start": "slow", "http": "GET /"}); len(problems) > 0 {
		t.Fatal(problems)
	}
	if problems := d.End(); !strings.Contains(problems.Error(), "a_test.go:9: start slow: no step joins or closes it") {
		t.Errorf("End: %v", problems)
	}
}
