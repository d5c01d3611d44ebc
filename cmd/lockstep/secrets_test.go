//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// canaries are secrets that the tests plant and then search for.
var canaries = map[string]string{
	"env": "canary-env-8f31c2/77", "cookie": "canary-cookie-0a1b2c", "key": "canary-key-9d8e7f", "own": "canary-own-field-31",
}

const vault = `openapi: 3.0.3
info: {title: vault, version: "1"}
paths:
  /health: {get: {responses: {"200": {description: ok}}}}
  /login:
    get:
      parameters: [{name: key, in: query, schema: {type: string}}]
      responses:
        "200": {description: ok, content: {application/json: {schema: {type: object}}}}
`

// vaultAnswers returns a server that reveals its secrets in answers, with a given greeting.
func vaultAnswers(t *testing.T, greeting string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "sid="+canaries["cookie"]+"; Path=/")
		w.Header().Set("X-Own", canaries["own"])
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiKey": canaries["key"], "greeting": greeting + " " + canaries["key"], "seen": r.Header.Get("Authorization") + r.URL.RawQuery,
			"basic": base64.StdEncoding.EncodeToString([]byte(canaries["env"])), "own": greeting + canaries["own"],
		})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func newVault(t *testing.T, targets string) testProject {
	t.Helper()
	dir := t.TempDir()
	p := testProject{dir, filepath.Join(dir, "lockstep.yaml")}
	p.write(t, "openapi.yaml", vault)
	p.write(t, "lockstep.yaml", "contract: openapi.yaml\nscenarios: scenarios\nreference: right\nundocumented: allow\nsecrets: {env: [CANARY], headers: [X-Own], at: [$..apiKey]}\ncompare: {headers: [Set-Cookie, X-Own]}\ntargets:\n"+targets)
	p.write(t, "scenarios/login.yaml", "scenario: login\nwhy: The key opens the vault\nsource: the guide\nsteps:\n  - {http: GET /login, capture: {key: $.apiKey}}\n  - {http: GET /login, query: {key: \"${{ key }}\"}, expect: {json: {$.greeting: never}}}\n")
	return p
}

// differsInFormats runs the project once for each format of the terminal. It fails unless all runs find differences.
func (p testProject) differsInFormats(t *testing.T, flag string) (outcomes []outcome) {
	t.Helper()
	for _, format := range formats {
		o := p.do(t, "run", "--format", format, flag)
		if o.code != exitDiffer {
			t.Fatalf("run: %+v", o)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// leaks fails for each canary in an output, or in a file of the project.
func leaks(t *testing.T, p testProject, outcomes ...outcome) {
	t.Helper()
	texts := map[string]string{}
	for i, o := range outcomes {
		texts[fmt.Sprintf("output %d", i)] = o.stdout + o.stderr
	}
	err := filepath.WalkDir(filepath.Join(p.dir, "reports"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[d.Name()] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range texts {
		for name, canary := range canaries {
			for _, written := range []string{canary, strings.ReplaceAll(canary, "/", `\/`), strings.ReplaceAll(canary, "/", "%2F"), base64.StdEncoding.EncodeToString([]byte(canary))} {
				if i := strings.Index(text, written); i >= 0 {
					t.Errorf("%s shows the canary %s: …%s", where, name, text[max(0, i-80):i+len(written)])
				}
			}
		}
	}
	if len(texts) < 7 {
		t.Errorf("only %d texts were looked through", len(texts))
	}
}

func TestSecretsAreInNoOutput(t *testing.T) {
	t.Setenv("CANARY", canaries["env"])
	target := func(name, greeting string) string {
		return fmt.Sprintf("  %s: {url: %q, ready: {get: /health}, headers: {Authorization: \"Bearer ${{ env.CANARY }}\"}}\n", name, vaultAnswers(t, greeting))
	}
	p := newVault(t, target("right", "hello")+target("wrong", "hallo"))
	outcomes := append(p.differsInFormats(t, "--verbose"), p.differsInFormats(t, "--verbose=false")...)
	leaks(t, p, append(outcomes, p.do(t, "judge", "--verbose"))...)
	if text := p.read("reports/report.json"); !strings.Contains(text, "hello") || !strings.Contains(text, "hallo") {
		t.Error("what differs is gone, too")
	}
	again := p.do(t, "judge", "--format", "json")
	if diff := cmp.Diff(strings.ReplaceAll(p.read("reports/report.json"), p.dir+"/", ""), again.stdout); diff != "" {
		t.Errorf("judged again, the run comes to something else (-run +judge):\n%s", diff)
	}
}

// A scenario that gives each target a key of its own, which contains ${{ unique }}, gets equal answers.
func TestSecretsOfEachTargetMatch(t *testing.T) {
	answers := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			key := r.URL.Query().Get("key")
			_ = json.NewEncoder(w).Encode(map[string]any{"apiKey": key, "greeting": "hello " + key, "seen": r.Header.Get("Authorization")})
		}))
		t.Cleanup(s.Close)
		return fmt.Sprintf("{url: %q, ready: {get: /health}}\n", s.URL)
	}
	p := newVault(t, "  right: "+answers()+"  wrong: "+answers())
	p.write(t, "scenarios/login.yaml", `scenario: login
why: Each key opens the vault
source: the guide
vars: {key: "key-${{ unique }}-of-ann"}
steps:
  - {http: GET /login, query: {key: "${{ key }}"}, headers: {Authorization: "Bearer ${{ key }}"}, capture: {again: $.apiKey}}
  - {http: GET /login, query: {key: "${{ again }}"}, expect: {json: {$.apiKey: "${{ key }}"}}}
`)
	if o := p.do(t, "run", "--verbose"); o.code != exitMatch {
		t.Errorf("run: %+v", o)
	}
	leaked := regexp.MustCompile("key-u[0-9a-z]{11}-of-ann")
	if text := p.read("reports/run.jsonl"); leaked.MatchString(text) {
		t.Errorf("run.jsonl shows the key %s", leaked.FindString(text))
	}
}

func TestSecretsOfAProcessAreInNoOutput(t *testing.T) {
	t.Setenv("CANARY", canaries["env"])
	chatty := "  %s: {command: [sh, -c, \"echo using $CANARY; echo and $CANARY >&2; exit 3\", \"${{ port }}\"], inherit: [CANARY], ready: {get: /health}}\n"
	p := newVault(t, fmt.Sprintf(chatty, "right")+fmt.Sprintf(chatty, "wrong"))
	o := p.do(t, "run", "--verbose")
	if o.code != exitUnknown || !strings.Contains(o.stdout, "using ") {
		t.Fatalf("run: %+v", o)
	}
	leaks(t, p, o)
}

// TestVariablesInACommandAreArgumentsAndSecret checks that a variable in a command becomes one argument, which no
// shell splits, and is masked.
func TestVariablesInACommandAreArgumentsAndSecret(t *testing.T) {
	t.Setenv("CANARY", canaries["env"]+" $(exit 4); *")
	chatty := "  %s: {command: [sh, -c, 'test \"$#\" = 2 && test \"$1\" = \"-k=$CANARY\" && test \"$OWN\" = \"$CANARY\" && echo \"handed over $1\"', x, \"-k=${{ env.CANARY }}\", \"${{ port }}\"], env: {OWN: \"${{ env.CANARY }}\"}, inherit: [CANARY], ready: {get: /health}}\n"
	p := newVault(t, fmt.Sprintf(chatty, "right")+fmt.Sprintf(chatty, "wrong"))
	o := p.do(t, "run", "--verbose")
	if o.code != exitUnknown || !strings.Contains(o.stdout, "handed over ") {
		t.Fatalf("run: %+v", o)
	}
	leaks(t, p, o)

	missing := "  right: {command: [\"/${{ env.CANARY }}/nope\", \"${{ port }}\"], ready: {get: /health}}\n"
	if o := newVault(t, missing).do(t, "run"); o.code != exitUsage || !strings.Contains(o.stderr, "there is no /") || strings.Contains(o.stderr, canaries["env"]) {
		t.Errorf("a command that is not there: %+v", o)
	}
	t.Setenv("CANARY", "")
	if o := newVault(t, missing).do(t, "run"); o.code != exitUsage || !strings.Contains(o.stderr, `target "right" is started with ${{ env.CANARY }}, but the variable CANARY is not set`) {
		t.Errorf("a variable that is not set: %+v", o)
	}
	other := strings.Replace(missing, "env.CANARY", "env.OTHER", 1)
	if o := newVault(t, other).do(t, "lint"); o.code != exitUsage || !strings.Contains(o.stderr, "add OTHER to secrets: {env: […]}") {
		t.Errorf("a variable that is no secret: %+v", o)
	}
}

func TestMistakesAboutSecrets(t *testing.T) {
	const header = "  right: {url: \"http://127.0.0.1:1\", ready: {get: /}, headers: {Authorization: %q}}\n"
	for _, tc := range []struct{ value, set, says string }{
		{"Bearer ${{ env.OTHER }}", "", "the variable OTHER is not listed under secrets in this file"},
		{"Bearer ${{ port }}", "", "is not a variable"},
		{"Bearer ${{ env.CANARY", "", "is not a variable"},
		{"Bearer ${{ env.CANARY }}", "", `target "right" sends Authorization, but the variable CANARY is not set`},
	} {
		t.Setenv("CANARY", tc.set)
		if o := newVault(t, fmt.Sprintf(header, tc.value)).do(t, "run"); o.code != exitUsage || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("%s: %+v, want %q", tc.value, o, tc.says)
		}
	}
	p := newVault(t, fmt.Sprintf(header, "x"))
	p.write(t, "lockstep.yaml", strings.Replace(p.read("lockstep.yaml"), "$..apiKey", "nope", 1))
	if o := p.do(t, "lint"); o.code != exitUsage || !strings.Contains(o.stderr, `"nope" is not a valid JSONPath`) {
		t.Errorf("a path that is none: %+v", o)
	}
}
