package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/lab/explain"
	"github.com/lockstep-dev/lockstep/harness/lab/mutaterun"
	"github.com/lockstep-dev/lockstep/harness/lab/noise"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

const asking = fauxproject.Plain + `stubs: {llm: {kind: openai}}
limits: {step: 5s, scenario: 7s, settle: 100ms}
`

// askers loads the project of the servers that call a model, and adds these scenarios.
func askers(t *testing.T, config string, scenarios map[string]string) *project.Project {
	t.Helper()
	dir := t.TempDir()
	if err := faux.WriteAsking(dir); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	put("lockstep.yaml", config)
	for id, text := range scenarios {
		put("scenarios/"+id+".yaml", "scenario: "+id+"\nwhy: It is told\nsource: here\n"+text)
	}
	return fauxproject.Load(t, filepath.Join(dir, "lockstep.yaml"))
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

// askBoth runs scenarios on a correct asker and on another one.
func askBoth(t *testing.T, p *project.Project, l *faux.Lapse, ids ...string) *engine.Result {
	t.Helper()
	var file bytes.Buffer
	result, err := engine.Run(t.Context(), p, &engine.Options{
		Targets: []string{"right=" + asker(t, nil), "wrong=" + asker(t, l)}, Select: project.Selection{Paths: ids}, RunFile: &file,
	})
	if err != nil {
		t.Fatal(err)
	}
	isJudgedAgain(t, p, &file, result)
	return result
}

func TestCorrectServersSendTheSameRequestsUpstream(t *testing.T) {
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

func TestRequestsToAnUpstreamAreCompared(t *testing.T) {
	for _, l := range faux.Lapses() {
		t.Run(l.ID, func(t *testing.T) {
			result := askBoth(t, askers(t, asking, nil), l, l.In)
			if d := cmp.Diff(l.Says, findings(&result.Scenarios[0])); d != "" {
				t.Errorf("%s (-want +got):\n%s", l.Doc, d)
			}
		})
	}
}

func TestMutantsOfRequestsToAnUpstreamAreFound(t *testing.T) {
	p := askers(t, asking, nil)
	var file bytes.Buffer
	result, err := engine.Run(t.Context(), p, &engine.Options{Targets: []string{"right=" + asker(t, nil), "wrong=" + asker(t, nil)}, RunFile: &file})
	if err != nil || result.Verdict != verdict.Match {
		t.Fatalf("%v: the run is %s", err, result.Verdict)
	}
	score, err := mutaterun.Run(t.Context(), p, &file, &mutaterun.Options{})
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

func TestARecordedReferenceHasTheRequestsToItsUpstream(t *testing.T) {
	p := askers(t, asking, nil)
	tape, result := record(t, p, engine.Options{}, "right="+asker(t, nil), "wrong="+asker(t, nil))
	if result.Verdict != verdict.Match {
		t.Fatalf("the run is %s", result.Verdict)
	}
	if result := replay(t, p, tape, engine.Options{}, "wrong="+asker(t, nil)); result.Verdict != verdict.Match {
		t.Errorf("a right server against the recording: %s %v", result.Verdict, result.Scenarios)
	}
	for _, l := range faux.Lapses() {
		result := replay(t, p, tape, engine.Options{Select: project.Selection{Paths: []string{l.In}}}, "wrong="+asker(t, l))
		if d := cmp.Diff(l.Says, findings(&result.Scenarios[0])); d != "" {
			t.Errorf("%s (-want +got):\n%s", l.Doc, d)
		}
	}
}

// A target that is judged alone must send the requests that the scenario's rules require.
func TestASingleTargetMustCallItsUpstream(t *testing.T) {
	p := askers(t, asking, nil)
	for _, tc := range []struct {
		lapse *faux.Lapse
		want  verdict.Verdict
	}{{nil, verdict.Match}, {lapse(t, "forgets"), verdict.Differ}, {lapse(t, "asks-twice"), verdict.Differ}, {lapse(t, "other-value"), verdict.Match}} {
		_, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"ask/plain"}}}, "right="+asker(t, tc.lapse))
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

func TestTheOrderOfUpstreamRequestsCountsByDefault(t *testing.T) {
	result := askBoth(t, askers(t, asking, nil), lapse(t, "backward"), "ask/anyhow")
	if result.Verdict != verdict.Match {
		t.Errorf("%s: %v", result.Verdict, result.Scenarios[0].Findings)
	}
}

// Rules of a stub, of a scenario and of the project apply to the requests that an upstream gets.
func TestRulesForRequestsToAnUpstream(t *testing.T) {
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
		_, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"ask/ruled"}}}, "right="+asker(t, nil), "wrong="+asker(t, lapse(t, tc.lapse)))
		if result.Verdict != tc.want {
			t.Errorf("%s: %s, want %s: %v", tc.name, result.Verdict, tc.want, result.Scenarios[0].Findings)
		}
		_, result = fauxproject.Record(t, p, engine.Options{}, "right="+asker(t, nil), "wrong="+asker(t, nil))
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
	for _, block := range yamlBlock.FindAllStringSubmatch(testfile.Text(t, "../../docs/stubs.md"), -1) {
		text := block[1]
		switch {
		case strings.HasPrefix(text, "scenario: "):
			id, rest, _ := strings.Cut(strings.TrimPrefix(text, "scenario: "), "\n")
			_, rest, _ = strings.Cut(rest, "\nsource: docs/stubs.md\n")
			stories[id] = rest
		case strings.HasPrefix(text, "- name: "):
			if rules, problems := scenario.ParseStubRules("docs/stubs.md", []byte(text)); len(problems) > 0 || len(rules) == 0 {
				t.Errorf("the rules\n%s\nhave mistakes: %v", text, problems)
			}
		case strings.HasPrefix(text, "- "): // these are steps for a target that starts the MCP server
		case strings.HasPrefix(text, "targets:"):
			config = strings.Replace(config, "targets:\n", text, 1)
		case strings.HasPrefix(text, "compare:") && strings.Contains(config, "\ncompare:\n"):
			config = strings.Replace(config, "compare:\n", text, 1)
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
		_, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{id}}}, "right="+asker(t, nil), "wrong="+asker(t, nil))
		if result.Verdict != verdict.Match {
			t.Errorf("%s: %s %v %v", id, result.Verdict, result.Scenarios[0].Findings, result.Scenarios[0].Reasons)
		}
	}
}

func TestMistakesAboutStubsHaveTheirPlacesAndFixes(t *testing.T) {
	const head = "scenario: ask/x\nwhy: w\nsource: s\n"
	const steps = "steps: [{http: POST /ask, json: {text: a, upstream: b}}]\n"
	const fresh = head + "isolate: fresh\n"
	collecting := strings.Replace(asking, "openai", "otlp", 1)
	for _, tc := range []struct{ name, config, text, want string }{
		{"no such stub", asking, head + "stubs: {lml: [{answer: {text: a}}]}\n" + steps, `x.yaml:4:9: the project does not define the stub "lml" → did you mean "llm"?`},
		{"no such address", asking, head + "vars: {a: \"${{ stub.ml }}\"}\n" + steps, `x.yaml:4:11: the project does not define the stub "ml" → use one of: llm`},
		{"no stubs at all", strings.Replace(asking, "stubs: {llm: {kind: openai}}\n", "", 1), head + "stubs: {llm: [{answer: {text: a}}]}\n" + steps, `x.yaml:4:9: the project does not define the stub "llm" → add stubs: {llm: {kind: openai}} to lockstep.yaml`},
		{"an address in a command", strings.Replace(asking, `url: "http://127.0.0.1:2"`, `command: [x, "${{ port }}", "${{ stub.lm }}"]`, 1), head + steps, `lockstep.yaml:6:39: ${{ stub.lm }} is unknown; there are ${{ port }}, ${{ host }} and ${{ directory }}, ${{ lockstep }}, ${{ stub.llm }} → did you mean "stub.llm"?`},
		{"no such kind", strings.Replace(asking, "openai", "opneai", 1), head + steps, `lockstep.yaml:7:21: "kind" is "opneai" → did you mean "openai"?`},
		{"models of what has none", strings.Replace(asking, "openai", "http, models: [a]", 1), head + steps, `lockstep.yaml:7:27: the stub "llm" lists models, but its kind is http → remove models, or write kind: openai or anthropic`},
		{"rules for no stub", asking + "compare: {stubs: {lm: {headers: [X]}}}\n", head + steps, `lockstep.yaml:9:19: the project does not define the stub "lm" → did you mean "llm"?`},
		{"rules for no method", asking + "compare: {mcp: {cancelled: {volatile: []}}}\n", head + steps, `lockstep.yaml:9:17: key "cancelled" is not a valid name → write a method, such as tools/call or notifications/cancelled, or answer; before it, if it is one server's alone, that server's name and a blank`},
		{"rules for two servers", asking, head + "compare: {mcp: {a b tools/call: {volatile: []}}}\n" + steps, `x.yaml:4:17: key "a b tools/call" is not a valid name → write a method, such as tools/call or notifications/cancelled, or answer; before it, if it is one server's alone, that server's name and a blank`},
		{"header fields of MCP", asking, head + "compare: {mcp: {answer: {headers: [X]}}}\n" + steps, `x.yaml:4:26: unknown key "headers" → use one of: lists, numbers, volatile`},
		{"a rule without a reason", asking, head + "compare: {mcp: {answer: {volatile: [{at: $.a, kind: text}]}}}\n" + steps, `x.yaml:4:37: item 1 of "volatile" has no "because" → add it: because, why the rule is right`},
		{"no answer", asking, head + "stubs: {llm: [{name: a}]}\n" + steps, `x.yaml:4:15: rule a of the stub "llm" (kind openai) has no answer → add one, such as answer: {status: 200}`},
		{"an answer to what was exported", collecting, fresh + "stubs: {llm: [{answer: {status: 200}}]}\n" + steps, `x.yaml:5:15: rule 1 of the stub "llm" (kind otlp) answers what was exported, which is not a request → remove answer, or add http: POST /v1/traces`},
		{"no answer to an export", collecting, fresh + "stubs: {llm: [{when: {http: POST /v1/traces}}]}\n" + steps, `x.yaml:5:15: rule 1 of the stub "llm" (kind otlp) has no answer → add one, such as answer: {status: 200}`},
		{"a cadence of exports", collecting, fresh + "stubs: {llm: [{when: {http: POST /v1/traces}, answer: {status: 200}, cadence: {every: 1s, tolerance: 1s}}]}\n" + steps, `x.yaml:5:15: rule 1 of the stub "llm" (kind otlp) has a cadence, but the number of exports depends on times → remove cadence`},
		{"exports of a shared process", collecting, head + "stubs: {llm: [{name: a}]}\n" + steps, `x.yaml:4:9: the stub "llm" collects what a whole process exports, but other scenarios use the same process → add isolate: fresh`},
		{"two answers", asking, head + "stubs: {llm: [{answer: {text: a, json: {}}}]}\n" + steps, `x.yaml:4:34: an answer has both text and json → keep one of them`},
		{"a body with tools", asking, head + "stubs: {llm: [{answer: {body: a, tools: [{tool: t}]}}]}\n" + steps, `x.yaml:4:34: an answer has both body and tools → keep one of them; tools can be combined with text, or be part of pieces`},
		{"two pieces in one", asking, head + "stubs: {llm: [{answer: {pieces: [{text: a, raw: b}]}}]}\n" + steps, `x.yaml:4:44: a piece has both text and raw → split it into two pieces`},
		{"times that never are", asking, head + "stubs: {llm: [{times: 3..2, answer: {text: a}}]}\n" + steps, `x.yaml:4:23: times is 3..2, so the rule never responds → write a range that grows, such as 0..1, or any`},
		{"times that are none", asking, head + "stubs: {llm: [{times: often, answer: {text: a}}]}\n" + steps, `x.yaml:4:23: "times" is "often" → write 2, 0..1, 1.. or any`},
		{"a name twice", asking, head + "stubs: {llm: [{name: a, answer: {text: a}}, {name: a, answer: {text: a}}]}\n" + steps, `x.yaml:4:52: the name "a" is already used → give it another name; reserved are authorization, models, protected-delete, protected-get, protected-post, unexpected`},
		{"a name that is given", asking, head + "stubs: {llm: [{name: models, answer: {text: a}}]}\n" + steps, `x.yaml:4:22: the name "models" is already used → give it another name; reserved are authorization, models, protected-delete, protected-get, protected-post, unexpected`},
		{"a path with a query", asking, head + "stubs: {llm: [{when: {http: \"GET /a?b=c\"}, answer: {text: a}}]}\n" + steps, `x.yaml:4:29: the path has a query → write its parameters under query`},
		{"a value that nothing defines", asking, head + "stubs: {llm: [{answer: {text: \"${{ b }}\"}}]}\n" + steps, `x.yaml:4:31: ${{ b }} is not defined here → use one of: directory, lockstep, unique`},
		{"thoughts of OpenAI", asking, head + "stubs: {llm: [{answer: {pieces: [{thinking: a}]}}]}\n" + steps, `x.yaml:4:15: rule 1 of the stub "llm" (kind openai) responds with thinking, which this kind does not support → use text, or the kind anthropic`},
		{"a tool of no model", strings.Replace(asking, "openai", "http", 1), head + "stubs: {llm: [{answer: {tools: [{tool: a}]}}]}\n" + steps, `x.yaml:4:15: rule 1 of the stub "llm" (kind http) responds with a tool call, which this kind does not support → use status, json, body, or pieces of text`},
		{"a chat with no model", strings.Replace(asking, "openai", "http", 1), head + "stubs: {llm: [{when: {last: a}, answer: {text: a}}]}\n" + steps, `x.yaml:4:15: rule 1 of the stub "llm" (kind http) matches a conversation, which this kind does not have → use http, query, headers, body, json, matches or absent`},
		{"a socket of a model", asking, head + "stubs: {llm: [{answer: {socket: [{drop: true}]}}]}\n" + steps, `x.yaml:4:15: rule 1 of the stub "llm" (kind openai) responds with a socket, which this kind does not have → use a stub of the kind http`},
		{"a program of no program", asking, head + "stubs: {llm: [{answer: {program: [{exit: 1}]}}]}\n" + steps, `x.yaml:4:15: rule 1 of the stub "llm" (kind openai) has a program, which this kind does not have → use a stub of the kind stdio`},
		{"a program without a script", strings.Replace(asking, "openai", "stdio", 1), head + "stubs: {llm: [{answer: {status: 200}}]}\n" + steps, `x.yaml:4:15: rule 1 of the stub "llm" (kind stdio) has no program → write answer: {program: […]}`},
		{"variables of no program", strings.Replace(asking, "openai", "http, env: [A]", 1), head + steps, `lockstep.yaml:7:27: the stub "llm" names variables, but its kind is http → remove env, or write kind: stdio`},
		{"a line that is two", asking, head + "stubs: {llm: [{answer: {socket: [{send: {text: a}, drop: true}]}}]}\n" + steps, `x.yaml:4:52: a line has both send and drop → write a line for each of them`},
		{"a line after the end", asking, head + "stubs: {llm: [{answer: {socket: [{drop: true}, {send: {text: a}}]}}]}\n" + steps, `x.yaml:4:48: nothing can follow drop, which is the end → remove what follows, or move it before that line`},
		{"an exit of a socket", asking, head + "stubs: {llm: [{answer: {socket: [{exit: 1}]}}]}\n" + steps, `x.yaml:4:35: exit is only for a program, and this is a socket → remove it, or use what this has: docs/stubs.md`},
		{"a status of a socket", asking, head + "stubs: {llm: [{answer: {socket: [], status: 200}}]}\n" + steps, `x.yaml:4:37: an answer has both socket and status → keep one of them; only after and headers can be combined with socket`},
		{"a cadence since nothing", asking, head + "stubs: {llm: [{name: up, answer: {text: a}, cadence: {every: 1s, tolerance: 1s, since: dwn}}, {name: down, answer: {text: a}}]}\n" + steps, `x.yaml:4:88: this stub has no rule "dwn" → did you mean "down"?`},
		{"a range that does not grow", asking, head + "stubs: {llm: [{answer: {text: a}, cadence: {every: 1s..4s, tolerance: 1s}}]}\n" + steps, `x.yaml:4:52: every is 1s..4s, but nothing makes it grow → add growing: 2, or write one time`},
		{"a rule that nobody has", asking, head + "stubs: {llm: [{name: one, answer: {text: a}}]}\nsteps: [{asked: llm.noe}]\n", `x.yaml:5:17: no rule under stubs is called "llm.noe" → did you mean "llm.one"?`},
	} {
		if d := cmp.Diff([]string{tc.want}, mistakesOfAsking(t, tc.config, tc.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

// mistakesOfAsking returns the mistakes in a project file, and in the scenario ask/x of its project.
func mistakesOfAsking(t *testing.T, config, text string) (mistakes []string) {
	t.Helper()
	dir := t.TempDir()
	if err := faux.WriteAsking(dir); err != nil {
		t.Fatal(err)
	}
	fauxproject.Add(t, filepath.Join(dir, "lockstep.yaml"), "lockstep.yaml", config)
	fauxproject.Add(t, filepath.Join(dir, "lockstep.yaml"), "scenarios/ask/x.yaml", text)
	_, err := project.Load(filepath.Join(dir, "lockstep.yaml"))
	problems, _ := errors.AsType[scenario.Problems](err)
	for _, p := range problems {
		file := strings.TrimPrefix(strings.TrimPrefix(p.File, dir+"/"), "scenarios/ask/")
		if strings.HasPrefix(file, "x.yaml") || file == "lockstep.yaml" {
			mistakes = append(mistakes, fmt.Sprintf("%s:%d:%d: %s → %s", file, p.Line, p.Column, p.What, strings.ReplaceAll(p.Fix, dir+"/", "")))
		}
	}
	return mistakes
}

func TestExplainShowsTheAnswersOfUpstreams(t *testing.T) {
	p := askers(t, asking, map[string]string{"ask/x": "table: [{name: a, n: 3}]\nstubs: {llm: [{name: one, answer: {text: \"${{ row.n }} ${{ unique }}\"}}]}\nsteps:\n  - {http: POST /ask, json: {text: a, upstream: \"${{ stub.llm }}\"}}\n  - asked: llm.one\n"})
	out, err := explain.Scenarios(p, project.Selection{Paths: []string{"ask/x"}}, nil, "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	data, _ := out[0].MarshalJSON()
	text := string(data)
	for _, want := range []string{`"stubs":{"llm":[{"name":"one","answer":{"text":"3 ${{ unique }}"}}]}`, `"upstream":"${{ stub.llm }}"`, `"by_default":{"within":"5s","times":"1"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// Values that servers generate for upstreams are found like those for clients, and a rule for them works.
func TestNoiseInRequestsToAnUpstream(t *testing.T) {
	p := askers(t, asking, nil)
	measured := func() *noise.Report {
		noise, err := noise.Measure(t.Context(), p, &noise.Options{
			Targets: []string{"one=" + asker(t, faux.Noisy()), "two=" + asker(t, faux.Noisy())}, Runs: 2,
			Select: project.Selection{Paths: []string{"ask/plain", "ask/several", "ask/streamed"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return noise
	}
	noise := measured()
	if len(noise.Rules) != 1 || len(noise.Rest) > 0 || noise.Rules[0].At != "$.trace" || noise.Rules[0].Kind != scenario.VolatileID {
		t.Fatalf("found: %+v", noise)
	}
	p.Rules.Volatile = append(p.Rules.Volatile, noise.Rules[0].Volatile)
	if again := measured(); !again.Silent() {
		t.Errorf("with the rule there is still: %+v", again)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A run that is interrupted while an upstream hangs still ends, and leaves nothing running.
func TestARunIsInterruptedWhileAnUpstreamHangs(t *testing.T) {
	p := askers(t, asking, map[string]string{"ask/silent": `
stubs: {llm: [{answer: {end: hang}}]}
steps:
  - {http: POST /ask, json: {text: "${{ unique }}", upstream: "${{ stub.llm }}"}}
`})
	ctx, cancel := context.WithCancelCause(t.Context())
	transport := &http.Transport{}
	s := httptest.NewServer(&faux.Asker{Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		cancel(errors.New("somebody has had enough"))
		return transport.RoundTrip(r)
	})}})
	defer transport.CloseIdleConnections()
	defer s.Close()
	result, err := engine.Run(ctx, p, &engine.Options{Targets: []string{"right=" + asker(t, nil), "wrong=" + s.URL}, Select: project.Selection{Paths: []string{"ask/silent"}}})
	if err != nil || !strings.Contains(result.Incomplete, "somebody has had enough; ask/silent was under way") {
		t.Errorf("%v, %q", err, result.Incomplete)
	}
}

// Scenarios that run at the same time share targets and upstreams, and each gets its own responses.
func TestScenariosSideBySideGetTheirOwnAnswers(t *testing.T) {
	text := "table:\n"
	for i := range 40 {
		text += fmt.Sprintf("  - {name: r%d, answer: \"answer %d\"}\n", i, i)
	}
	text += `
stubs: {llm: [{times: 2, answer: {text: ["${{ row.answer }} for ", "${{ unique }}"]}}]}
vars: {want: "${{ row.answer }} for ${{ unique }}"}
steps:
  - http: POST /ask
    json: {text: "${{ unique }}", also: ["again ${{ unique }}"], stream: true, upstream: "${{ stub.llm }}"}
    expect: {json: {answers: ["${{ want }}", "${{ want }}"]}}
`
	p := askers(t, asking, map[string]string{"ask/many": text})
	_, result := fauxproject.Record(t, p, engine.Options{Jobs: 16, Select: project.Selection{Paths: []string{"ask/many"}}}, "right="+asker(t, nil), "wrong="+asker(t, nil))
	if result.Verdict != verdict.Match || result.Totals.Match != 40 {
		for _, s := range result.Scenarios {
			t.Errorf("%s: %s %v", s.ID, s.Verdict, s.Findings)
		}
	}
}
