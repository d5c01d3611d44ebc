//go:build unix

package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// neverReady is a target that never gets ready. It has places for a program and the variable with its role.
const neverReady = `  wrong:
    command: [%q, "${{ host }}:${{ port }}"]
    env: {%s: never-ready, GORACE: atexit_sleep_ms=0}
    ready: {get: /health, within: 500ms}
    stop: 100ms`

// exits is a target that does not start.
const exits = `  wrong: {command: [sh, -c, "echo no database >&2; exit 3", "${{ port }}"], ready: {get: /health}}`

func TestExitCodes(t *testing.T) {
	right := faux.Serve(t, &faux.Server{})
	for _, tc := range []struct {
		name    string
		targets []string
		args    []string
		code    int
		says    string // the last line of stdout
		stderr  string
	}{
		{
			"all match", []string{at("right", right), at("wrong", faux.Serve(t, &faux.Server{}))}, []string{"items"},
			exitMatch, "match: right and wrong do the same in 2 scenarios", "",
		},
		{
			"one differs", []string{at("right", right), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")}))}, []string{"items", "--jobs", "1"},
			exitDiffer, "differ: right and wrong differ in 1 of 2 scenarios", "DIFFER items/story (2/2)\n",
		},
		{
			"one alone is right", []string{at("right", right)}, []string{"items/story"},
			exitMatch, "match: right meets the contract and all expectations in 1 scenario", "",
		},
		{
			"one alone breaks the contract", []string{at("right", right), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-type")}))}, []string{"items/story", "--target", "wrong"},
			exitDiffer, "differ: wrong has violations or shortfalls in 1 of 1 scenario", "DIFFER items/story (1/1)\n",
		},
		{
			"two break the contract in the same way",
			[]string{at("right", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-type")})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-type")}))}, []string{"items/story"},
			exitDiffer, "differ: right and wrong do not differ, but have violations or shortfalls in 1 of 1 scenario", "DIFFER items/story (1/1)\n",
		},
		{
			"one does not answer", []string{at("right", right), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "reset-without-answer")}))}, []string{"items/story"},
			exitDiffer, "differ: right and wrong differ in 1 of 1 scenario", "DIFFER items/story (1/1)\n",
		},
		{
			"one does not start", []string{at("right", right), exits}, []string{"items/story"},
			exitUnknown, "unknown: 1 of 1 scenario could not be judged", "UNKNOWN items/story (1/1)\n",
		},
		{
			"nothing applies", []string{at("right", right)}, []string{"process/stop"},
			exitUnknown, "unknown: nothing was judged, because the only scenario is not applicable; lockstep run --allow-empty accepts that", "NOT-APPLICABLE process/stop (1/1)\n",
		},
		{
			"a mistake", []string{at("right", right)}, []string{"--target", "left"},
			exitUsage, "", "lockstep: target \"left\" is not in lockstep.yaml\n\tfix: use one of: right\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := newProject(t, tc.targets...).do(t, "run", tc.args...)
			if o.code != tc.code {
				t.Errorf("exit code %d, want %d", o.code, tc.code)
			}
			if got := lastLine(o.stdout); got != tc.says {
				t.Errorf("stdout ends with %q, want %q", got, tc.says)
			}
			if o.stderr != tc.stderr {
				t.Errorf("stderr %q, want %q", o.stderr, tc.stderr)
			}
		})
	}
}

// TestTheTextOfARun compares the whole text report.
func TestTheTextOfARun(t *testing.T) {
	for _, tc := range []struct {
		name    string
		project testProject
		want    string
	}{
		{"green", two(t, ""), `lockstep 0.1.0 · openapi.yaml · right (reference), wrong · seed ‹seed›

scenarios     1 match, 0 waived, 0 differ, 0 unknown, 0 not applicable · ‹time› s, ‹some› jobs
reference     right: 7 exchanges (85% 2xx), 0 events
candidate     wrong: 7 exchanges (85% 2xx), 0 events
compared      7 exchanges, 0 events
findings      0 differences, 0 violations, 0 shortfalls
contract      operations 5/7 · statuses 6/13 · events 0/4
schema        15/21 properties · 1/3 enum values
not called    GET /health, GET /events
not answered  GET /items 400, POST /items 400, DELETE /items/{id} 404, GET /items/{id}/label 404
not seen      GET /health 200 application/json status (line 17), GET /events 200 text/event-stream x-events/events/hello shelf (line 109), and 6 more
match: right and wrong do the same in 1 scenario
`},
		{"red", two(t, "wrong-type"), `lockstep 0.1.0 · openapi.yaml · right (reference), wrong · seed ‹seed›

DIFFER items/story  scenarios/items/story.yaml:1
  Items are put on a shelf, read in every way, and taken away again
  scenarios/items/story.yaml:13  step 3: GET /items/${{ lamp }}
    13 |   - http: GET /items/${{ lamp }}
       |     ^
    body /size: the types differ: number and string [type 20a0fa3d]
      reference (right)  4
      candidate (wrong)  "4"
      wrong breaks the contract at openapi.yaml:146: body/size: the string "4" stands here; an integer is wanted

scenarios     0 match, 0 waived, 1 differ, 0 unknown, 0 not applicable · ‹time› s, ‹some› jobs
reference     right: 7 exchanges (85% 2xx), 0 events
candidate     wrong: 7 exchanges (85% 2xx), 0 events
compared      7 exchanges, 0 events
findings      1 difference, 1 violation, 0 shortfalls
blame         differ: candidate 1
contract      operations 5/7 · statuses 6/13 · events 0/4
schema        15/21 properties · 1/3 enum values
rerun         lockstep run --config lockstep.yaml items/story
page          reports/report.html
differ: right and wrong differ in 1 of 1 scenario
`},
		{"unknown", newProject(t, at("right", faux.Serve(t, &faux.Server{})), exits), `lockstep 0.1.0 · openapi.yaml · right (reference), wrong · seed ‹seed›

UNKNOWN items/story  scenarios/items/story.yaml:1
  Items are put on a shelf, read in every way, and taken away again
  wrong: start target "wrong": exited before it was ready: exit status 3 (lockstep.yaml:6)
    last lines of its output
      | stderr: no database

scenarios     0 match, 0 waived, 0 differ, 1 unknown, 0 not applicable · ‹time› s, ‹some› jobs
reference     right: 0 exchanges, 0 events
candidate     wrong: 0 exchanges, 0 events
compared      0 exchanges, 0 events
findings      0 differences, 0 violations, 0 shortfalls
contract      operations 0/7 · statuses 0/13 · events 0/4
schema        0/21 properties · 0/3 enum values
rerun         lockstep run --config lockstep.yaml items/story
page          reports/report.html
unknown: 1 of 1 scenario could not be judged
`},
		{"never ready", newProject(t, at("right", faux.Serve(t, &faux.Server{})), fmt.Sprintf(neverReady, testfile.Program(t), roleVariable)), `lockstep 0.1.0 · openapi.yaml · right (reference), wrong · seed ‹seed›

UNKNOWN items/story  scenarios/items/story.yaml:1
  Items are put on a shelf, read in every way, and taken away again
  wrong: start target "wrong": not ready within 500ms (lockstep.yaml:9): GET http://127.0.0.1:‹port›/health: 503 Service Unavailable; 200 to 299 is wanted: correct ready, or the server
    last lines of its output
      | stderr: listening

scenarios     0 match, 0 waived, 0 differ, 1 unknown, 0 not applicable · ‹time› s, ‹some› jobs
reference     right: 0 exchanges, 0 events
candidate     wrong: 0 exchanges, 0 events
compared      0 exchanges, 0 events
findings      0 differences, 0 violations, 0 shortfalls
contract      operations 0/7 · statuses 0/13 · events 0/4
schema        0/21 properties · 0/3 enum values
rerun         lockstep run --config lockstep.yaml items/story
page          reports/report.html
unknown: 1 of 1 scenario could not be judged
`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := tc.project.do(t, "run", "items/story")
			if diff := cmp.Diff(tc.want, predictable(o.stdout)); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFormats checks that standard output has only the report, in every format, and the same text as the file of that
// format.
func TestFormats(t *testing.T) {
	for _, tc := range []struct{ format, file string }{{"json", "report.json"}, {"junit", "junit.xml"}} {
		t.Run(tc.format, func(t *testing.T) {
			t.Parallel()
			p := two(t, "other-value")
			for _, args := range [][]string{{"--format", tc.format}, {"-f" + tc.format, "--color", "always"}} {
				o := p.do(t, "run", append(args, "items/story")...)
				if o.code != exitDiffer || o.stderr != "" {
					t.Errorf("exit code %d, stderr %q; want %d and nothing", o.code, o.stderr, exitDiffer)
				}
				if diff := cmp.Diff(strings.ReplaceAll(p.read("reports/"+tc.file), p.dir+"/", ""), o.stdout); diff != "" {
					t.Errorf("stdout is not what %s has (-file +stdout):\n%s", tc.file, diff)
				}
				isDocument(t, tc.format, o.stdout)
			}
		})
	}
}

func isDocument(t *testing.T, format, text string) {
	t.Helper()
	if format == "json" {
		doc, err := jsonreport.Read(strings.NewReader(text))
		if err != nil || doc.Verdict != verdict.Differ || len(doc.Scenarios) != 1 {
			t.Errorf("the JSON reads as %+v, %v", doc, err)
		}
		return
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal([]byte(text), &suites); err != nil || suites.Tests != 1 || suites.Failures != 1 {
		t.Errorf("the XML reads as %+v, %v", suites, err)
	}
}

func TestReportsAreWrittenBesideTheProject(t *testing.T) {
	elsewhere := t.TempDir()
	for _, tc := range []struct {
		name string
		args []string
		dir  func(testProject) string
	}{
		{"by default", nil, func(p testProject) string { return filepath.Join(p.dir, "reports") }},
		{"in a folder below it", []string{"--reports", "out/today"}, func(p testProject) string { return filepath.Join(p.dir, "out", "today") }},
		{"anywhere", []string{"-o", elsewhere}, func(testProject) string { return elsewhere }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := two(t, "")
			if o := p.do(t, "run", append(tc.args, "items")...); o.code != exitMatch {
				t.Fatalf("%+v", o)
			}
			if diff := cmp.Diff([]string{"badge.svg", "junit.xml", "report.html", "report.json", "run.jsonl", "summary.md"}, names(t, tc.dir(p))); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			got := transcripts(t, tc.dir(p)) // in the order in which they ended
			if diff := cmp.Diff([]string{"items/every-step", "items/every-step", "items/story", "items/story"}, slices.Sorted(slices.Values(got))); diff != "" {
				t.Errorf("transcripts (-want +got):\n%s", diff)
			}
		})
	}
}

// names lists a folder. It returns nil if the folder does not exist.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// transcripts returns the scenarios of a complete run file.
func transcripts(t *testing.T, dir string) []string {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var ids []string
	_, err = transcript.ReadRun(file, nil, func(tr *transcript.Transcript) error {
		ids = append(ids, tr.Scenario)
		return nil
	})
	if err != nil {
		t.Errorf("run.jsonl: %v", err)
	}
	return ids
}

func TestReportsOfTheLastRunAreReplacedByTheNextAndByNothingElse(t *testing.T) {
	p := two(t, "")
	before := names(t, p.dir)
	if o := p.do(t, "run", "items/story", "--reports", "-"); o.code != exitMatch {
		t.Fatalf("%+v", o)
	}
	if diff := cmp.Diff(before, names(t, p.dir)); diff != "" {
		t.Errorf("a run without reports has left files (-before +after):\n%s", diff)
	}
	p.do(t, "run", "items")
	p.do(t, "run", "items/story")
	one := p.read("reports/run.jsonl")
	if got := transcripts(t, filepath.Join(p.dir, "reports")); len(got) != 2 {
		t.Errorf("the second run has left transcripts of %q", got)
	}
	for _, args := range [][]string{{"--tag", "itmes"}, {"--target", "rihgt"}, {"nowhere"}, {"--reference", "left"}, {"--jobs", "x"}, {"--color", "red"}} {
		if o := p.do(t, "run", args...); o.code != exitUsage || o.stdout != "" {
			t.Errorf("%q: %+v", args, o)
		}
		if p.read("reports/run.jsonl") != one || p.read("reports/report.json") == "" || p.read("reports/junit.xml") == "" {
			t.Fatalf("%q has cost the reports of the run before", args)
		}
	}
}

// TestReportsAppearWhenTheyAreComplete checks that during a run, and after a killed run, each report is either
// complete and of this run, or missing.
func TestReportsAppearWhenTheyAreComplete(t *testing.T) {
	var p testProject
	var during []string
	look := func(operation string) {
		if operation == "DELETE /items/{id}" && during == nil {
			during = names(t, filepath.Join(p.dir, "reports"))
		}
	}
	p = newProject(t, at("right", faux.Serve(t, &faux.Server{Asked: look})))
	for _, name := range []string{"run.jsonl", "report.json", "junit.xml", "report.html", "summary.md", "badge.svg"} {
		p.write(t, "reports/"+name, "of the run before")
	}
	if o := p.do(t, "run", "items/story"); o.code != exitMatch {
		t.Fatalf("%+v", o)
	}
	if diff := cmp.Diff([]string{".lock", "run.jsonl"}, during); diff != "" {
		t.Errorf("files while it is under way (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"badge.svg", "junit.xml", "report.html", "report.json", "run.jsonl", "summary.md"}, names(t, filepath.Join(p.dir, "reports"))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestReportsThatCannotBeOpenedStartNothing(t *testing.T) {
	server := &faux.Server{}
	p := newProject(t, at("right", faux.Serve(t, server)))
	p.write(t, "taken/report.json/a-folder", "")
	for _, tc := range []struct{ dir, want string }{
		{"openapi.yaml", "lockstep: reports: mkdir openapi.yaml: not a directory\n"},
		{"openapi.yaml/reports", "lockstep: reports: mkdir openapi.yaml: not a directory\n"},
		{"taken", "lockstep: reports: open taken/report.json: it is a directory, but must be a regular file\n"},
	} {
		o := p.do(t, "run", "items/story", "--reports", tc.dir)
		want := outcome{exitUsage, "", tc.want + "\tfix: name another folder with --reports, or - for none\n"}
		if diff := cmp.Diff(want, o, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("--reports %s (-want +got):\n%s", tc.dir, diff)
		}
	}
	if n := server.Accepted(); n > 0 {
		t.Errorf("%d connections were made", n)
	}
}

// TestReportsThatCannotBeWrittenAreNoSuccess checks that a run whose reports cannot be written does not end with 0,
// and that the text still has the findings.
func TestReportsThatCannotBeWrittenAreNoSuccess(t *testing.T) {
	for _, tc := range []struct {
		fault, file string
		code        int
		conclusion  string
	}{
		{"", "report.json", exitUnknown, "match: right and wrong do the same in 1 scenario"},
		{"", "junit.xml", exitUnknown, "match: right and wrong do the same in 1 scenario"},
		{"other-value", "junit.xml", exitDiffer, "differ: right and wrong differ in 1 of 1 scenario"},
	} {
		t.Run(tc.file+" of "+tc.conclusion, func(t *testing.T) {
			t.Parallel()
			p := two(t, tc.fault)
			var once sync.Once
			right := faux.Serve(t, &faux.Server{Asked: func(string) { // blocks the report during the run
				once.Do(func() { p.write(t, "reports/"+tc.file+".part/in-the-way", "") })
			}})
			o := p.do(t, "run", "items/story", "--target", "right="+right, "--target", "wrong")
			if o.code != tc.code || !strings.HasSuffix(o.stderr, "open reports/"+tc.file+".part: it is a directory, but must be a regular file\n") {
				t.Errorf("exit code %d, stderr %q; want %d, and why", o.code, o.stderr, tc.code)
			}
			if got := lastLine(o.stdout); got != tc.conclusion {
				t.Errorf("stdout ends with %q, want %q", got, tc.conclusion)
			}
		})
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestAClosedStandardOutputIsAFailure(t *testing.T) {
	for _, format := range []string{"text", "json", "junit"} {
		p := two(t, "")
		var stderr syncbuffer.Buffer
		w := &environment{stdout: closed{}, stderr: &stderr, getenv: func(string) string { return "" }}
		code := run(t.Context(), []string{"run", "-c", p.file, "--format", format, "items/story"}, w)
		if code != exitUnknown || !strings.Contains(stderr.String(), os.ErrClosed.Error()) {
			t.Errorf("%s: exit code %d, stderr %q; want %d, and why", format, code, &stderr, exitUnknown)
		}
		if !strings.Contains(p.read("reports/report.json"), `"verdict": "match"`) {
			t.Errorf("%s: the files were not written", format)
		}
	}
}

func TestTheProjectInTheWorkingDirectoryIsTheDefault(t *testing.T) {
	p := two(t, "wrong-type")
	t.Chdir(p.dir)
	o := lockstep(t, "run", "scenarios/items/story.yaml")
	if o.code != exitDiffer || !strings.Contains(o.stdout, "\nDIFFER items/story  scenarios/items/story.yaml:1\n") {
		t.Errorf("%+v", o)
	}
	t.Chdir(t.TempDir())
	for _, command := range []string{"run", "lint"} {
		want := outcome{exitUsage, "", "lockstep.yaml: no such file\n\tfix: lockstep init creates one; or name another with --config\nlockstep: 1 mistake\n"}
		if diff := cmp.Diff(want, lockstep(t, command), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("%s without a project (-want +got):\n%s", command, diff)
		}
	}
}

// TestTwoProjectsAtOnce checks that two projects can run at the same time.
func TestTwoProjectsAtOnce(t *testing.T) {
	projects := []testProject{two(t, ""), two(t, "other-value")}
	outcomes := make([]outcome, len(projects))
	var wg sync.WaitGroup
	for i, p := range projects {
		wg.Go(func() { outcomes[i] = p.do(t, "run", "items") })
	}
	wg.Wait()
	for i, want := range []struct {
		code    int
		verdict string
	}{{exitMatch, "match"}, {exitDiffer, "differ"}} {
		doc, err := jsonreport.Read(strings.NewReader(projects[i].read("reports/report.json")))
		if err != nil {
			t.Fatal(err)
		}
		if outcomes[i].code != want.code || string(doc.Verdict) != want.verdict || doc.Project != projects[i].file {
			t.Errorf("project %d: exit code %d, %s of %s", i, outcomes[i].code, doc.Verdict, doc.Project)
		}
	}
}

func TestFlagsChooseTargets(t *testing.T) {
	right, wrong, third := faux.Serve(t, &faux.Server{}), faux.Serve(t, &faux.Server{}), faux.Serve(t, &faux.Server{})
	p := newProject(t, at("right", right), at("wrong", wrong))
	alone := newProject(t, at("right", right), at("wrong", "http://127.0.0.1:1")) // nothing listens there
	for _, tc := range []struct {
		name    string
		project testProject
		args    []string
		want    []string // the reference first
		alone   bool
	}{
		{"all", p, nil, []string{"right", "wrong"}, false},
		{"another reference", p, []string{"--reference", "wrong"}, []string{"wrong", "right"}, false},
		{"one alone", alone, []string{"--target", "right"}, []string{"right"}, true},
		{"another address", alone, []string{"-t", "wrong=" + third, "-t", "right"}, []string{"right", "wrong"}, false},
		{"a name of one's own", alone, []string{"-t", "right", "-t", "live=" + third + "/"}, []string{"right", "live"}, false},
		{"three", p, []string{"-t", "live=" + third, "-t", "wrong", "-t", "right"}, []string{"right", "live", "wrong"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc := tc.project.judged(t, append(tc.args, "items/story")...)
			var got []string
			for _, target := range doc.Totals.Targets {
				got = append(got, target.Name)
				if target.Exchanges == 0 {
					t.Errorf("%s was asked nothing", target.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || doc.Alone != tc.alone || doc.Verdict != verdict.Match {
				t.Errorf("%s, alone: %t; targets (-want +got):\n%s", doc.Verdict, doc.Alone, diff)
			}
		})
	}
}

func TestATargetTwiceIsTwoServers(t *testing.T) {
	p := newProject(t, start(t, "right", "right", ""))
	doc := p.judged(t, "--target", "right", "--target", "right", "items/story", "process/stop")
	var got []string
	for _, target := range doc.Totals.Targets {
		got = append(got, target.Name)
	}
	if diff := cmp.Diff([]string{"right", "right-2"}, got); diff != "" || doc.Verdict != verdict.Match || doc.Alone {
		t.Errorf("%s, alone: %t; targets (-want +got):\n%s", doc.Verdict, doc.Alone, diff)
	}
	address := faux.Serve(t, &faux.Server{})
	o := newProject(t, at("right", address)).do(t, "run", "--target", "right", "--target", "right")
	want := outcome{exitUsage, "", "lockstep: targets \"right\" and \"right-2\" are the same server, " + address + "\n\tfix: give each target its own server\n"}
	if diff := cmp.Diff(want, o, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("a server that runs already, twice (-want +got):\n%s", diff)
	}
}

func TestFlagsSelectScenarios(t *testing.T) {
	p := two(t, "")
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"by id and by folder", []string{"items", "events/end"}, []string{"events/end", "items/every-step", "items/story"}},
		{"by file", []string{filepath.Join(p.dir, "scenarios", "events", "end.yaml")}, []string{"events/end"}},
		{"by a tag", []string{"--tag", "items"}, []string{"items/every-step", "items/story"}},
		{"by several tags", []string{"--tag", "events", "--tag", "bytes"}, []string{"events/bytes"}},
		{"by several tags in one word", []string{"--tag", "events,bytes"}, []string{"events/bytes"}},
		{"but not by others", []string{"--skip-tag", "events", "--skip-tag", "process"}, []string{"items/every-step", "items/story"}},
		{"by a text", []string{"--name", "shelf", "--skip-tag", "items"}, []string{"events/story"}},
		{"by several texts", []string{"-n", "STORY", "-n", "taken away"}, []string{"items/story"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range p.judged(t, tc.args...).Scenarios {
				got = append(got, s.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("scenarios (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSeedAndTheJobsArePrintedAndUsed(t *testing.T) {
	p := two(t, "")
	doc := p.judged(t, "items/story", "--seed", "7", "--jobs", "3")
	if doc.Seed != 7 || doc.Jobs != 3 {
		t.Errorf("seed %d and %d jobs, want 7 and 3", doc.Seed, doc.Jobs)
	}
	drawn, again := p.judged(t, "items/story"), p.judged(t, "items/story")
	if drawn.Seed == 0 || drawn.Seed == again.Seed || drawn.Jobs < 4 || drawn.Jobs != again.Jobs {
		t.Errorf("seeds %d and %d, %d and %d jobs", drawn.Seed, again.Seed, drawn.Jobs, again.Jobs)
	}
	o := p.do(t, "run", "items/story", "--seed", "7", "--jobs", "1")
	if !strings.Contains(o.stdout, " · seed 7\n") || !strings.Contains(o.stdout, " s, 1 job\n") {
		t.Errorf("stdout:\n%s", o.stdout)
	}
}

func TestTimeoutsBoundStepsAndScenarios(t *testing.T) {
	for _, tc := range []struct {
		flag string
		want *regexp.Regexp
	}{
		{"--step-timeout", regexp.MustCompile(`got \(.*wrong\)  the step's 200ms were over`)},
		{"--scenario-timeout", regexp.MustCompile(`wrong: cut short: the scenario's 200ms were over`)},
	} {
		t.Run(tc.flag, func(t *testing.T) {
			t.Parallel()
			o := two(t, "hang").do(t, "run", "items/story", tc.flag, "200ms")
			if o.code != exitDiffer || !tc.want.MatchString(o.stdout) {
				t.Errorf("exit code %d, want %d and %s in\n%s", o.code, exitDiffer, tc.want, o.stdout)
			}
		})
	}
}
