//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// emptied returns a folder that has only the contract of package faux's servers.
func emptied(t *testing.T) testProject {
	t.Helper()
	p := newProject(t, at("right", "http://127.0.0.1:1"))
	for _, name := range []string{"scenarios", "lockstep.yaml"} {
		if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// initialised runs lockstep init on the contract of the folder.
func (p testProject) initialised(t *testing.T, args ...string) outcome {
	t.Helper()
	return p.do(t, "init", append([]string{filepath.Join(p.dir, "openapi.yaml")}, args...)...)
}

// serials adds a rule for the one generated value that no format gives away, as `lockstep noise` would.
func (p testProject) serials(t *testing.T) {
	t.Helper()
	p.write(t, "lockstep.yaml", p.read("lockstep.yaml")+"  volatile: [{at: $..serial, kind: id, because: each server counts for itself}]\n")
}

const wrote = `wrote      lockstep.yaml
wrote      scenarios/health/health.yaml (GET /health)
wrote      scenarios/items/list-items.yaml (GET /items)
wrote      scenarios/items/create-item.yaml (POST /items)
wrote      scenarios/items/get-item.yaml (GET /items/{id})
set aside  scenarios/items/delete-item.yaml.todo (DELETE /items/{id}): it may destroy what the server holds (--destructive)
wrote      scenarios/items/label-item.yaml (GET /items/{id}/label)
wrote      scenarios/events/watch-shelf.yaml (GET /events)

next, with 6 scenarios:
`

// TestWhatInitWritesRuns checks that the written project works: two correct servers match, and a wrong one is found.
func TestWhatInitWritesRuns(t *testing.T) {
	for _, tc := range []struct {
		fault string
		code  int
	}{{"", exitMatch}, {"wrong-status", exitDiffer}} {
		t.Run(tc.fault, func(t *testing.T) {
			right, other := faux.Serve(t, &faux.Server{}), faux.Serve(t, &faux.Server{Fault: faux.Named(t, tc.fault)})
			p := emptied(t)
			p.write(t, "openapi.yaml", strings.Replace(p.read("openapi.yaml"), "name: {type: string, minLength: 1}", "name: {type: string, minLength: 1, example: lamp}", 1)) // the fault needs an item of this name
			o := p.initialised(t, "--url", "new="+other, "--url", "old="+right)
			const next = "  lockstep run -c lockstep.yaml --target new   one server alone, against the contract\n" +
				"  lockstep run -c lockstep.yaml                all targets, against new\n" +
				"  lockstep noise -c lockstep.yaml              what differs between new and itself, and the rules for it\n"
			if diff := cmp.Diff(outcome{exitMatch, wrote + next, ""}, o, cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("init (-want +got):\n%s", diff)
			}
			if o := p.do(t, "lint"); o.code != exitMatch || !strings.HasSuffix(o.stdout, "no mistakes in 6 scenarios\n") {
				t.Errorf("lint: %+v", o)
			}
			p.serials(t)
			o = p.do(t, "run", "--jobs", "1")
			if o.code != tc.code || !strings.Contains(o.stdout, " 0 unknown, 0 not applicable") || !strings.Contains(o.stdout, "operations 6/7") {
				t.Errorf("run: %+v", o)
			}
		})
	}
}

// TestWhatInitWritesStartsServers checks that scenarios which see each other's data get newly started targets.
func TestWhatInitWritesStartsServers(t *testing.T) {
	self := testfile.Program(t)
	p := emptied(t)
	command := "=" + roleVariable + "=right GORACE=atexit_sleep_ms=0 '" + self + "' ${{ host }}:${{ port }}"
	if o := p.initialised(t, "--destructive", "--command", "old"+command, "--command", "new"+command); o.code != exitMatch {
		t.Fatalf("init: %+v", o)
	}
	if text := p.read("scenarios/events/watch-shelf.yaml"); !strings.Contains(text, "\nisolate: fresh ") {
		t.Errorf("the stream is not isolated:\n%s", text)
	}
	p.serials(t)
	if o := p.do(t, "run"); o.code != exitMatch || !strings.Contains(o.stdout, "7 match, 0 waived, 0 differ, 0 unknown, 0 not applicable") {
		t.Errorf("run: %+v", o)
	}
}

func TestInitOverwritesNothing(t *testing.T) {
	p := emptied(t)
	p.write(t, "scenarios/health/health.yaml", "scenario: health/health\nwhy: Mine\nsource: x\nsteps: [{http: GET /health}]\n")
	o := p.initialised(t)
	if o.code != exitMatch || !strings.Contains(o.stdout, "kept       scenarios/health/health.yaml, which already exists\n") ||
		!strings.Contains(o.stdout, "  write in lockstep.yaml where your two servers run") || !strings.Contains(p.read("scenarios/health/health.yaml"), "why: Mine") {
		t.Errorf("%+v", o)
	}
	before := p.read("lockstep.yaml")
	want := outcome{exitUsage, "", "lockstep: lockstep.yaml already exists\n\tfix: name another file with --config, or use another folder\n"}
	if diff := cmp.Diff(want, p.initialised(t), cmp.AllowUnexported(outcome{})); diff != "" || p.read("lockstep.yaml") != before {
		t.Errorf("init again (-want +got):\n%s", diff)
	}
}

// TestInitSavesIncompleteScenariosAsTodo checks that a scenario without a valid request is set aside, and that the
// others are written.
func TestInitSavesIncompleteScenariosAsTodo(t *testing.T) {
	p := emptied(t)
	p.write(t, "openapi.yaml", strings.Replace(p.read("openapi.yaml"), "schema: {$ref: '#/components/schemas/NewItem'}", "schema: {type: string, pattern: '^(?!a)'}", 1))
	o := p.initialised(t)
	if o.code != exitMatch || !strings.Contains(o.stdout, "set aside  scenarios/items/create-item.yaml.todo (POST /items): no value for the body, application/json\n") ||
		!strings.Contains(o.stdout, "next, with 5 scenarios:") {
		t.Errorf("%+v", o)
	}
	if text := p.read("scenarios/items/get-item.yaml"); !strings.Contains(text, "steps:\n  - http: GET /items/id-${{ unique }}\n") {
		t.Errorf("without a POST, an id is made up:\n%s", text)
	}
}

// The only operation lists what other scenarios change, and lockstep does not start the servers.
func TestInitWithoutACompleteScenarioSaysWhatToDo(t *testing.T) {
	p := emptied(t)
	p.write(t, "openapi.yaml", `openapi: 3.0.3
info: {title: t, version: '1'}
paths:
  /events: {get: {responses: {'200': {description: d, content: {text/event-stream: {}}}}}}
`)
	o := p.initialised(t, "--url", "old=http://127.0.0.1:1")
	if o.code != exitMatch || o.stderr != "" || !strings.HasSuffix(o.stdout, "\n\nno scenario is complete: correct one that was set aside, and remove .todo from its name\n") {
		t.Errorf("%+v", o)
	}
}

func TestWhatIsWrongWithInit(t *testing.T) {
	p := emptied(t)
	p.write(t, "broken.yaml", "openapi: 3.0.3\n")
	for _, tc := range []struct {
		args   []string
		stderr string
	}{
		{[]string{filepath.Join(p.dir, "none.yaml")}, "open none.yaml: no such file or directory\n\tfix: name the OpenAPI document: lockstep init path/to/openapi.yaml"},
		{[]string{"a.yaml", "b.yaml"}, "init takes at most one OpenAPI document: \"b.yaml\" is a second one\n\tfix: leave it out"},
		{[]string{"--url", "http://127.0.0.1:1"}, "invalid argument \"http://127.0.0.1:1\" for \"--url\" flag: write name=…, with lower-case letters, digits and hyphens in the name\n\tfix: lockstep init --help lists the flags"},
		{[]string{"--url", "old=127.0.0.1:1"}, "invalid argument \"old=127.0.0.1:1\" for \"--url\" flag: write name=http://host:port\n\tfix: lockstep init --help lists the flags"},
		{[]string{"--url", "old=http://h:1", "--url", "old=http://h:2"}, "invalid argument \"old=http://h:2\" for \"--url\" flag: two targets are called \"old\"\n\tfix: lockstep init --help lists the flags"},
		{[]string{"--command", "old=node server.js"}, "invalid argument \"old=node server.js\" for \"--command\" flag: say where the server listens: ${{ port }} is a free port\n\tfix: lockstep init --help lists the flags"},
		{[]string{"--command", "old="}, "invalid argument \"old=\" for \"--command\" flag: write name=program and its arguments\n\tfix: lockstep init --help lists the flags"},
	} {
		want := outcome{exitUsage, "", "lockstep: " + tc.stderr + "\n"}
		if diff := cmp.Diff(want, p.do(t, "init", tc.args...), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("init %q (-want +got):\n%s", tc.args, diff)
		}
	}
	if o := p.do(t, "init", filepath.Join(p.dir, "broken.yaml")); o.code != exitUsage || !strings.HasPrefix(o.stderr, "broken.yaml:") {
		t.Errorf("%+v", o)
	}
	if p.read("lockstep.yaml") != "" {
		t.Error("something was written all the same")
	}
}

func TestInitFindsTheOpenAPIDocument(t *testing.T) {
	document := emptied(t).read("openapi.yaml")
	for _, name := range []string{"openapi.yaml", "openapi.yml", "openapi.json"} {
		t.Chdir(t.TempDir())
		if name == "openapi.json" {
			document = `{"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {"/a": {"get": {"responses": {"200": {"description": "x"}}}}}}`
		}
		testfile.Write(t, name, document)
		o := shell{}.lockstep(t, "init", "--url", "typescript=http://127.0.0.1:1", "--url", "go=http://127.0.0.1:2")
		const next = "  lockstep run --target typescript   one server alone, against the contract\n" +
			"  lockstep run                       all targets, against typescript\n" +
			"  lockstep noise                     what differs between typescript and itself, and the rules for it\n"
		if o.code != exitMatch || !strings.HasSuffix(o.stdout, next) {
			t.Errorf("%s: %+v", name, o)
		}
		if config, err := os.ReadFile("lockstep.yaml"); err != nil || !strings.Contains(string(config), "\ncontract: "+name+"\n") {
			t.Errorf("%v\n%s", err, config)
		}
	}
}

func TestInitWithoutADocumentDraftsAProjectWithoutAContract(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"init"}
	for _, name := range []string{"old", "new"} {
		server := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		args = append(args, "--url", name+"="+server.URL)
	}
	o := shell{}.lockstep(t, args...)
	const want = `without a contract: there is no OpenAPI document here, and none was named
wrote      lockstep.yaml
wrote      scenarios/first.yaml (GET /)

next, with 1 scenario:
  lockstep run --target old   one server alone, against what the scenarios expect
  lockstep run                all targets, against old
  lockstep noise              what differs between old and itself, and the rules for it
`
	if diff := cmp.Diff(outcome{exitMatch, want, ""}, o, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("init (-want +got):\n%s", diff)
	}
	if o := (shell{}).lockstep(t, "run"); o.code != exitMatch || !strings.HasSuffix(o.stdout, "match: old and new do the same in 1 scenario\n") {
		t.Errorf("run: %+v", o)
	}
}

func TestInitFetchesADocument(t *testing.T) {
	const document = `{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {"/a": {"get": {"responses": {"200": {"description": "x"}}}}}}`
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/api", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, document) })
	mux.Handle("/moved", http.RedirectHandler("/api", http.StatusFound))
	mux.Handle("/circle", http.RedirectHandler("/circle", http.StatusFound))
	withPassword := strings.Replace(server.URL, "http://", "http://me:hunter2@", 1)
	for _, tc := range []struct{ url, stdout, stderr string }{
		{withPassword + "/moved", "fetched    openapi.json\nwrote      lockstep.yaml\nwrote      scenarios/a/get-a.yaml (GET /a)\n", ""},
		{withPassword + "/none", "", "/none: the server answers 404 Not Found\n\tfix: save the document, and name the file: lockstep init openapi.yaml\n"},
		{withPassword + "/circle", "", "/circle: more than 5 redirects\n\tfix: save the document"},
		{"http://127.0.0.1:0/x", "", "http://127.0.0.1:0/x: dial tcp"},
	} {
		t.Chdir(t.TempDir())
		o := shell{}.lockstep(t, "init", tc.url)
		if tc.stdout != "" && (o.code != exitMatch || !strings.HasPrefix(o.stdout, tc.stdout)) ||
			tc.stderr != "" && (o.code != exitUsage || !strings.Contains(o.stderr, tc.stderr)) || strings.Contains(o.stderr+o.stdout, "hunter2") {
			t.Errorf("init %s: %+v", tc.url, o)
		}
		if again := (shell{}).lockstep(t, "init", "-c", "other.yaml", tc.url); tc.stdout != "" && (again.code != exitUsage || !strings.Contains(again.stderr, "openapi.json already exists")) {
			t.Errorf("init %s again: %+v", tc.url, again)
		}
	}
}

func TestInitSaysThatTheDocumentHasNotes(t *testing.T) {
	p := emptied(t)
	p.write(t, "openapi.yaml", strings.Replace(p.read("openapi.yaml"), "name: {type: string, minLength: 1}", "name: {type: string, minLength: 1, example: 7}", 1))
	if o := p.initialised(t); o.code != exitMatch || !strings.Contains(o.stdout, "  lockstep lint -c lockstep.yaml               1 note about the document, such as an example that does not match\n") {
		t.Errorf("%+v", o)
	}
}
