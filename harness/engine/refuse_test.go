package engine_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// Options that cannot be fulfilled are refused before anything starts: no connection is opened, no command runs, and no
// run file is created.
func TestInvalidOptionsStartNothing(t *testing.T) {
	server := &faux.Server{}
	address := faux.Serve(t, server)
	p := fauxproject.New(t, `
  right: {url: "`+address+`", ready: {get: /health}}
  wrong: {command: [touch, "started-${{ port }}"], ready: {get: /health}}
`)
	for _, tc := range []struct {
		name    string
		options engine.Options
		want    string
	}{
		{"the same server twice", engine.Options{Targets: []string{"one=" + address, "two=" + address + "/"}}, `targets "one" and "two" are the same server`},
		{"the same name twice, at a URL", engine.Options{Targets: []string{"right", "right"}}, `targets "right" and "right-2" are the same server`},
		{"an unknown target", engine.Options{Targets: []string{"right", "wromg"}}, "target \"wromg\" is not in "},
		{"no address", engine.Options{Targets: []string{"right", "wrong=127.0.0.1:80"}}, `target wrong: "127.0.0.1:80" is not the URL of a server`},
		{"an unknown reference", engine.Options{Reference: "left"}, `reference "left" is not among the targets of this run`},
		{"an unknown tag", engine.Options{Select: project.Selection{Tags: []string{"itmes"}}}, `no scenario has the tag "itmes"`},
		{"an unknown tag to skip", engine.Options{Select: project.Selection{Skip: []string{"slow"}}}, `no scenario has the tag "slow"`},
		{"an unknown path", engine.Options{Select: project.Selection{Paths: []string{"items/stroy"}}}, `no scenario or folder is called "items/stroy"`},
		{"one unknown path of two", engine.Options{Select: project.Selection{Paths: []string{"items/story", "nowhere"}}}, `no scenario or folder is called "nowhere"`},
		{"tags that no scenario has together", engine.Options{Select: project.Selection{Tags: []string{"items", "events"}}}, "no scenario is selected"},
		{"a name that nothing has", engine.Options{Select: project.Selection{Names: []string{"submarine"}}}, "no scenario is selected"},
		{"everything skipped", engine.Options{Select: project.Selection{Tags: []string{"items"}, Skip: []string{"items"}}}, "no scenario is selected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var file strings.Builder
			tc.options.RunFile = &file
			tc.options.Environ = os.Environ()
			result, err := engine.Run(t.Context(), p, &tc.options)
			usage, ok := errors.AsType[*project.UsageError](err)
			if !ok || !strings.Contains(usage.What, tc.want) {
				t.Errorf("Run: %v, want a usage error: %s", err, tc.want)
			}
			if ok && usage.Fix == "" {
				t.Errorf("%q comes without a cure", usage.What)
			}
			if early := engine.Validate(p, &tc.options); early == nil || early.Error() != err.Error() {
				t.Errorf("Validate: %v, want what Run says", early)
			}
			if result != nil || file.Len() > 0 {
				t.Errorf("there is a result %v, or a run file %q", result, file.String())
			}
			if n := server.Accepted(); n > 0 {
				t.Errorf("%d connections were made", n)
			}
			if started, _ := filepath.Glob(filepath.Join(filepath.Dir(p.File), "started-*")); len(started) > 0 {
				t.Errorf("a command has run: %v", started)
			}
		})
	}
}

func TestTheSameServerByAnotherNameIsTheSameServer(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	everywhere := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	name, err := os.Hostname()
	if _, fault := net.LookupHost(name); err != nil || fault != nil {
		name = "localhost" // this machine cannot resolve its own name
	}
	for _, tc := range []struct {
		one, other string
		same       bool
	}{
		{"http://127.0.0.1:" + everywhere, "http://127.0.0.9:" + everywhere, true},
		{"http://127.0.0.1:" + everywhere, "http://[::ffff:127.0.0.1]:" + everywhere, true},
		{"http://127.0.0.1:" + everywhere, "http://0.0.0.0:0" + everywhere, true},
		{"http://127.0.0.1:" + everywhere, "http://" + strings.ToUpper(name) + ".:" + everywhere, true},
		{"http://127.0.0.1:80", "http://localhost", true},
		{"http://[::1]:8080", "http://LOCALHOST:8080/", true},
		{"http://0.0.0.0:8080", "http://localhost:8080", true},
		{"https://api.example.com", "HTTPS://API.example.com.:443/", true},
		{"http://[::1]:8080", "http://[0:0::1]:8080", true},
		{"http://127.0.0.1:8080", "http://[::1]:8080", true}, // no process listens there, so there is no owner to compare
		{"http://127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080", true},
		{"http://192.0.2.1:8080", "http://192.0.2.2:8080", false},
		{"http://192.0.2.1:8080", "http://127.0.0.1:8080", false},
		{"http://localhost:8080", "http://localhost:8081", false},
		{"http://localhost:8080/v1", "http://localhost:8080/v2", false},
		{"http://localhost:443", "https://localhost:443", false},
	} {
		err := engine.Validate(p, &engine.Options{Targets: []string{"one=" + tc.one, "other=" + tc.other}, Select: project.Selection{Paths: []string{"items"}}})
		if same := err != nil && strings.Contains(err.Error(), "are the same server"); same != tc.same {
			t.Errorf("%s and %s: %v, want the same server: %t", tc.one, tc.other, err, tc.same)
		}
	}
}

// On one port, one process can have 127.0.0.1 and another one 127.0.0.2.
func TestTwoServersOnOnePortAreTwo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who listens where")
	}
	address := faux.Serve(t, &faux.Server{})
	other := strings.Replace(address, "127.0.0.1", "127.0.0.2", 1)
	self := testfile.Program(t)
	server := exec.Command(self, strings.TrimPrefix(other, "http://"))
	server.Env = append(os.Environ(), roleVariable+"=right")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	for {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(other, "http://")); err == nil {
			conn.Close()
			break
		}
		runtime.Gosched()
	}
	p := fauxproject.New(t, fauxproject.Running)
	options := engine.Options{Targets: []string{"one=" + address, "two=" + other}, Select: project.Selection{Paths: []string{"items/story"}}}
	if err := engine.Validate(p, &options); err != nil {
		t.Error(err)
	}
}

// A missing program is reported before the first scenario, at the line of its command.
func TestACommandThatIsNotThereIsAMistakeInItsLine(t *testing.T) {
	server := &faux.Server{}
	address := faux.Serve(t, server)
	p := fauxproject.New(t, `
  right: {url: "`+address+`", ready: {get: /health}}
  wrong:
    command:
      - ./bin/nowhere
      - "${{ port }}"
    ready: {get: /health}
`)
	dir := filepath.Dir(p.File)
	want := p.File + `:9:9: command "./bin/nowhere": there is no ` + dir + "/bin/nowhere\n\tfix: build it or install it, or name another command"
	for name, options := range map[string]*engine.Options{"all": nil, "two of a kind": {Targets: []string{"wrong", "wrong"}}} {
		result, err := engine.Run(t.Context(), p, options)
		if problems, ok := errors.AsType[scenario.Problems](err); result != nil || !ok || problems.Error() != want {
			t.Errorf("%s: Run: %v, %v\nwant %s", name, result, err, want)
		}
	}
	if err := engine.Validate(p, &engine.Options{Targets: []string{"right"}}); err != nil {
		t.Errorf("Validate of the target that is there: %v", err)
	}
	if n := server.Accepted(); n > 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestMistakesInFilesStartNothing(t *testing.T) {
	const steps = "scenario: items/wrong\nwhy: It asks for what is not there\nsource: openapi.yaml\nsteps:\n"
	for _, tc := range []struct {
		name, step string
		want, fix  string // "" when no fix is known
	}{
		{"a path that the contract does not have", "  - http: GET /itmes\n", "wrong.yaml:5:11: the contract has no operation for GET /itmes", `did you mean "GET /items"?`},
		{"a method that the contract does not have", "  - http: PUT /items\n", "the contract has no operation for PUT /items", "malformed: true"},
		{"OPTIONS of a path that nobody has", "  - http: OPTIONS /itmes\n", "the contract has no operation for OPTIONS /itmes", "malformed: true"},
		{"a request like no other", "  - start: call\n    http: TRACE /nowhere/at/all\n  - join: call\n", "wrong.yaml:6:11: the contract has no operation for TRACE /nowhere/at/all", "fix: if this is intended, mark the step malformed: true"},
		{"a stream of an operation that has none", "  - {open: feed, sse: GET /health}\n", "wrong.yaml:5:23: the contract has no event stream for GET /health", "write http instead of open and sse; event streams have: GET /events"},
		{"an event that the contract does not have", "  - {open: feed, sse: GET /events, query: {shelf: a}}\n  - await: feed\n    match: {event: craeted}\n  - close: feed\n", `wrong.yaml:7:20: GET /events has no event "craeted"`, `did you mean "created"?`},
		{"an event that nothing resembles", "  - {open: feed, sse: GET /events, query: {shelf: a}}\n  - {never: feed, match: {event: explosion}, within: 1ms}\n", `wrong.yaml:6:34: GET /events has no event "explosion"`, "use one of: created, "},
		{"an event to be ready by", "  - {open: feed, sse: GET /events, query: {shelf: a}, ready: {event: helo}}\n", `wrong.yaml:5:70: GET /events has no event "helo"`, `did you mean "hello"?`},
		{"an event to record", "  - {open: feed, sse: GET /events, query: {shelf: a}, only: [{event: created}, {event: delete}]}\n", `wrong.yaml:5:88: GET /events has no event "delete"`, `did you mean "deleted"?`},
		{"a heartbeat that the contract does not have", "  - {open: feed, sse: GET /events, query: {shelf: a}}\ncompare: {streams: {feed: {heartbeat: {event: pong}}}}\n", `wrong.yaml:6:47: GET /events has no event "pong"`, `did you mean "ping"?`},
		{"rules for a stream that is not opened", "  - http: GET /health\ncompare: {streams: {feed: {framing: exact}}}\n", `wrong.yaml:6:21: rules for "feed", which is not a stream`, "name a stream that the scenario opens"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := fauxproject.Write(t, fauxproject.Running)
			testfile.Write(t, filepath.Join(filepath.Dir(file), "scenarios", "items", "wrong.yaml"), steps+tc.step)
			p, err := project.Load(file)
			problems, ok := errors.AsType[scenario.Problems](err)
			if p != nil || !ok || len(problems) != 1 {
				t.Fatalf("Load: %v, %v; want one problem", p, err)
			}
			if text := problems[0].Error(); !strings.Contains(text, tc.want) || !strings.Contains(text, tc.fix) {
				t.Errorf("said: %s\nwant: %s\n\tfix: %s", text, tc.want, tc.fix)
			}
		})
	}
}

// What cannot be known before the run is not checked before the run.
func TestEventsOfStreamsThatAreNotDeclaredAreLeftAlone(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	fauxproject.Add(t, file, "scenarios/items/odd.yaml", `
scenario: items/odd
why: Nobody knows what comes
source: openapi.yaml
vars: {name: craeted}
steps:
  - {open: one, sse: GET /evnets, malformed: true, only: [{event: craeted}]}
  - {await: one, match: {event: craeted}}
  - {open: two, sse: GET /events, query: {shelf: a}}
  - {await: two, match: {event: "${{ name }}"}}
`)
	fauxproject.Load(t, file)
	fauxproject.Add(t, file, "openapi.yaml", undescribed(t, filepath.Join(filepath.Dir(file), "openapi.yaml")))
	fauxproject.Add(t, file, "scenarios/items/odd.yaml", `
scenario: items/odd
why: The contract does not say what comes
source: openapi.yaml
steps:
  - {open: one, sse: GET /events, query: {shelf: a}, ready: {event: craeted}}
`)
	fauxproject.Load(t, file)
}

// undescribed returns a contract without its x-events.
func undescribed(t *testing.T, file string) string {
	t.Helper()
	data := testfile.Text(t, file)
	return strings.ReplaceAll(data, "x-events:", "x-other:")
}

func TestAScenarioWithTargetsOfItsOwnDoesNotApplyToURLs(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	targets := []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{})}
	run := func(ids ...string) *engine.Result {
		t.Helper()
		result, err := engine.Run(t.Context(), p, &engine.Options{Targets: targets, Select: project.Selection{Paths: ids}})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	result := run("process/stop")
	s := result.Scenarios[0]
	if s.Verdict != verdict.NotApplicable || len(s.Reasons) != 1 || !strings.Contains(s.Reasons[0].Text, "right is a server that is already running") {
		t.Errorf("the scenario is %s %v", s.Verdict, s.Reasons)
	}
	if result.Verdict != verdict.Unknown { // because nothing was judged
		t.Errorf("the run is %s, want %s", result.Verdict, verdict.Unknown)
	}
	result = run("process/stop", "items/story")
	if result.Verdict != verdict.Match || result.Totals.NotApplicable != 1 || result.Totals.Match != 1 {
		t.Errorf("the run is %s, %+v; want a match, and one that does not apply", result.Verdict, result.Totals)
	}
}

func TestATargetThatIsNotReadyLeavesNothingKnown(t *testing.T) {
	p := fauxproject.New(t, `
  right: {url: "http://127.0.0.1:1", ready: {get: /health, within: 300ms}}
  wrong: {url: "http://127.0.0.1:2", ready: {get: /health, within: 300ms}}
`)
	right := &faux.Server{}
	address := faux.Serve(t, right)
	for _, f := range faux.Nulls() {
		if f.ID != "404" && f.ID != "close" && f.ID != "hang" {
			continue // the others say that they are ready, whatever they are asked
		}
		for _, turned := range []bool{false, true} {
			t.Run(f.ID, func(t *testing.T) {
				t.Parallel()
				wrong := "wrong=" + faux.Serve(t, &faux.Server{Fault: f.Unready()})
				options := &engine.Options{Targets: []string{"right=" + address, wrong}, Select: project.Selection{Skip: []string{"clock", "process"}}}
				if turned {
					options.Reference = "wrong"
				}
				result, err := engine.Run(t.Context(), p, options)
				if err != nil {
					t.Fatal(err)
				}
				if result.Verdict != verdict.Unknown || result.Totals.Unknown != 5 || result.Totals.Match+result.Totals.Differ > 0 {
					t.Errorf("the run is %s: %+v", result.Verdict, result.Totals)
				}
				for _, s := range result.Scenarios {
					if len(s.Findings) > 0 || len(s.Reasons) != 1 || s.Reasons[0].Target != "wrong" ||
						!strings.HasPrefix(s.Reasons[0].Text, `reach target "wrong": not ready within 300ms (lockstep.yaml:7): GET http://127.0.0.1:`) {
						t.Errorf("%s: %v %v", s.ID, s.Findings, s.Reasons)
					}
				}
			})
		}
	}
}
