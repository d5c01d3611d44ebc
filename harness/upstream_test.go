package harness_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

const asking = `
contract: openapi.yaml
scenarios: scenarios
reference: right
targets:
  right: {url: "http://127.0.0.1:1", ready: {get: /health}}
  wrong: {url: "http://127.0.0.1:2", ready: {get: /health}}
stubs: {llm: {kind: openai}}
limits: {step: 5s, scenario: 7s, settle: 100ms}
`

// askers loads the project of the servers that ask a model, with these scenarios beside its own.
func askers(t *testing.T, config string, scenarios map[string]string) *harness.Project {
	t.Helper()
	dir := t.TempDir()
	if err := faux.WriteAsking(dir); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("lockstep.yaml", config)
	for id, text := range scenarios {
		put("scenarios/"+id+".yaml", "scenario: "+id+"\nwhy: It is told\nsource: here\n"+text)
	}
	p, err := harness.Load(filepath.Join(dir, "lockstep.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// asker serves until the test ends.
func asker(t *testing.T, l *faux.Lapse) string {
	transport := &http.Transport{}
	s := httptest.NewServer(&faux.Asker{Lapse: l, Client: &http.Client{Transport: transport}})
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	return s.URL
}

// askBoth runs scenarios on a right asker and another.
func askBoth(t *testing.T, p *harness.Project, l *faux.Lapse, ids ...string) *harness.Result {
	t.Helper()
	var file bytes.Buffer
	result, err := p.Run(t.Context(), &harness.Options{
		Targets: []string{"right=" + asker(t, nil), "wrong=" + asker(t, l)}, Select: harness.Selection{Paths: ids}, RunFile: &file,
	})
	if err != nil {
		t.Fatal(err)
	}
	isJudgedAgain(t, p, &file, result)
	return result
}

func TestRightAskersAskTheSame(t *testing.T) {
	result := askBoth(t, askers(t, asking, nil), nil)
	for _, s := range result.Scenarios {
		if s.Verdict != verdict.Match {
			t.Errorf("%s: %s %v %v", s.ID, s.Verdict, s.Findings, s.Reasons)
		}
	}
	if n := len(result.Scenarios); n != 7 {
		t.Errorf("%d scenarios", n)
	}
}

func TestWhatAnUpstreamIsAskedIsCompared(t *testing.T) {
	for _, l := range faux.Lapses() {
		t.Run(l.ID, func(t *testing.T) {
			result := askBoth(t, askers(t, asking, nil), l, l.In)
			if d := cmp.Diff(l.Says, findings(&result.Scenarios[0])); d != "" {
				t.Errorf("%s (-want +got):\n%s", l.Doc, d)
			}
		})
	}
}

func TestMutantsOfWhatAnUpstreamIsAskedAreFound(t *testing.T) {
	p := askers(t, asking, nil)
	var file bytes.Buffer
	result, err := p.Run(t.Context(), &harness.Options{Targets: []string{"right=" + asker(t, nil), "wrong=" + asker(t, nil)}, RunFile: &file})
	if err != nil || result.Verdict != verdict.Match {
		t.Fatalf("%v: the run is %s", err, result.Verdict)
	}
	score, err := p.Mutate(t.Context(), &file, &harness.MutateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(score.FalseAlarms, score.Survivors...) {
		t.Errorf("%s at %s, %s → %s: %s%s", c.Operator, c.Place, c.Before, c.After, c.Hidden, c.Found)
	}
	for _, name := range []string{"forgotten", "twice", "swapped", "method", "path", "query", "no-body", "header-missing", "header-value"} {
		if row := score.Operator("upstream/" + name); row.Judged == 0 || row.Found != row.Judged {
			t.Errorf("upstream/%s: %d of %d were found", name, row.Found, row.Judged)
		}
	}
}

func TestARecordedReferenceHasWhatItsUpstreamWasAsked(t *testing.T) {
	p := askers(t, asking, nil)
	tape, result := record(t, p, harness.Options{}, "right="+asker(t, nil), "wrong="+asker(t, nil))
	if result.Verdict != verdict.Match {
		t.Fatalf("the run is %s", result.Verdict)
	}
	if result := replay(t, p, tape, harness.Options{}, "wrong="+asker(t, nil)); result.Verdict != verdict.Match {
		t.Errorf("a right server against the recording: %s %v", result.Verdict, result.Scenarios)
	}
	for _, l := range faux.Lapses() {
		result := replay(t, p, tape, harness.Options{Select: harness.Selection{Paths: []string{l.In}}}, "wrong="+asker(t, l))
		if d := cmp.Diff(l.Says, findings(&result.Scenarios[0])); d != "" {
			t.Errorf("%s (-want +got):\n%s", l.Doc, d)
		}
	}
}

// A target that is judged alone has to ask what the scenario's rules say that it must.
func TestATargetAloneMustAskItsUpstream(t *testing.T) {
	p := askers(t, asking, nil)
	for _, tc := range []struct {
		lapse *faux.Lapse
		want  verdict.Verdict
	}{{nil, verdict.Match}, {lapse(t, "forgets"), verdict.Differ}, {lapse(t, "asks-twice"), verdict.Differ}, {lapse(t, "other-value"), verdict.Match}} {
		_, result := recorded(t, p, harness.Options{Select: harness.Selection{Paths: []string{"ask/plain"}}}, "right="+asker(t, tc.lapse))
		if result.Verdict != tc.want {
			t.Errorf("%+v: %s, want %s: %v", tc.lapse, result.Verdict, tc.want, result.Scenarios[0].Findings)
		}
	}
}

func lapse(t *testing.T, id string) *faux.Lapse {
	t.Helper()
	for _, l := range faux.Lapses() {
		if l.ID == id {
			return l
		}
	}
	t.Fatalf("there is no lapse %q", id)
	return nil
}

func TestTheOrderOfQuestionsCountsUnlessARuleSaysOtherwise(t *testing.T) {
	result := askBoth(t, askers(t, asking, nil), lapse(t, "backward"), "ask/anyhow")
	if result.Verdict != verdict.Match {
		t.Errorf("%s: %v", result.Verdict, result.Scenarios[0].Findings)
	}
}

// What a rule of a stub, of a scenario or of the project says of an upstream holds there.
func TestRulesForWhatAnUpstreamIsAsked(t *testing.T) {
	const keyless = "compare: {stubs: {llm: {headers: [Content-Type, X-Trace]}}}\n"
	const warm = "compare: {stubs: {llm: {volatile: [{at: $.model, kind: text, because: a test}]}}}\n"
	story := func(rules string) map[string]string {
		return map[string]string{"ask/ruled": rules + `
stubs: {llm: [{answer: {text: "5"}}]}
steps:
  - {http: POST /ask, json: {text: "${{ unique }}", upstream: "${{ stub.llm }}"}}
`}
	}
	own := "stubs: {llm: [{answer: {text: \"5\"}, compare: {volatile: [{at: $.model, kind: text, because: a test}]}}]}\nsteps:\n" +
		"  - {http: POST /ask, json: {text: \"${{ unique }}\", upstream: \"${{ stub.llm }}\"}}\n"
	for _, tc := range []struct {
		name      string
		config    string
		scenarios map[string]string
		lapse     string
		want      verdict.Verdict
		unused    int
	}{
		{"without a key, which is compared by default", asking, story(""), "no-key", verdict.Differ, 0},
		{"of the project, for the header fields", asking + keyless, story(""), "no-key", verdict.Match, 1},
		{"of the scenario, for a value", asking, story(warm), "other-value", verdict.Match, 0},
		{"of the stub's rule, for a value", asking, map[string]string{"ask/ruled": own}, "other-value", verdict.Match, 0},
		{"of the project, for a value", asking + warm, story(""), "other-value", verdict.Match, 0},
		{"another value", asking + warm, story(""), "extra-field", verdict.Differ, 0},
	} {
		p := askers(t, tc.config, tc.scenarios)
		_, result := recorded(t, p, harness.Options{Select: harness.Selection{Paths: []string{"ask/ruled"}}}, "right="+asker(t, nil), "wrong="+asker(t, lapse(t, tc.lapse)))
		if result.Verdict != tc.want {
			t.Errorf("%s: %s, want %s: %v", tc.name, result.Verdict, tc.want, result.Scenarios[0].Findings)
		}
		_, result = recorded(t, p, harness.Options{}, "right="+asker(t, nil), "wrong="+asker(t, nil))
		if len(result.Unused) != tc.unused {
			t.Errorf("%s: rules that never applied: %v", tc.name, result.Unused)
		}
	}
}

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// The examples of the guide are scenarios that run, and parts of a project that loads.
func TestTheExamplesOfTheGuideRun(t *testing.T) {
	stories := map[string]string{}
	config := strings.Replace(asking, "stubs: {llm: {kind: openai}}\n", "", 1)
	for _, block := range yamlBlock.FindAllStringSubmatch(readFile(t, "../docs/stubs.md"), -1) {
		text := block[1]
		switch {
		case strings.HasPrefix(text, "scenario: "):
			id, rest, _ := strings.Cut(strings.TrimPrefix(text, "scenario: "), "\n")
			_, rest, _ = strings.Cut(rest, "\nsource: docs/stubs.md\n")
			stories[id] = rest
		case strings.HasPrefix(text, "targets:"):
			config = strings.Replace(config, "targets:\n", text, 1)
		default:
			config += text
		}
	}
	if len(stories) != 2 {
		t.Fatalf("there are %d scenarios in the guide", len(stories))
	}
	p := askers(t, config, stories)
	if len(p.Stubs) != 2 || len(p.Targets) != 3 {
		t.Errorf("stubs %v, and %d targets", p.Stubs, len(p.Targets))
	}
	for id := range stories {
		_, result := recorded(t, p, harness.Options{Select: harness.Selection{Paths: []string{id}}}, "right="+asker(t, nil), "wrong="+asker(t, nil))
		if result.Verdict != verdict.Match {
			t.Errorf("%s: %s %v %v", id, result.Verdict, result.Scenarios[0].Findings, result.Scenarios[0].Reasons)
		}
	}
}
