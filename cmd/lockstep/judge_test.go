//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestJudgePrintsWhatTheRunPrinted(t *testing.T) {
	right := faux.Serve(t, &faux.Server{})
	for _, tc := range []struct {
		name    string
		project testProject
		code    int
	}{
		{"green", two(t, ""), exitMatch},
		{"red", two(t, "wrong-type"), exitDiffer},
		{"unknown", newProject(t, at("right", right), exits), exitUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := tc.project
			ran := p.do(t, "run", "items", "--jobs", "1")
			if ran.code != tc.code {
				t.Fatalf("run: %+v, want the exit code %d", ran, tc.code)
			}
			again := p.do(t, "judge")
			again.stderr = ran.stderr // scenarios are judged in any order
			if diff := cmp.Diff(ran, again, cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("judge prints something else (-run +judge):\n%s", diff)
			}
			for format, file := range map[string]string{"json": "reports/report.json", "junit": "reports/junit.xml"} {
				o := p.do(t, "judge", "--format", format, filepath.Join(p.dir, "reports", "run.jsonl"))
				if diff := cmp.Diff(strings.ReplaceAll(p.read(file), p.dir+"/", ""), o.stdout); diff != "" || o.code != tc.code || o.stderr != "" {
					t.Errorf("judge --format %s: exit code %d, stderr %q (-%s +stdout):\n%s", format, o.code, o.stderr, file, diff)
				}
			}
		})
	}
}

func TestARunFileThatHasNoJudgementIsAMistake(t *testing.T) {
	p := two(t, "")
	if o := p.do(t, "judge"); o.code != exitUsage || !strings.Contains(o.stderr, "run.jsonl: no such file or directory\n\tfix: `lockstep run` writes it") {
		t.Errorf("without a run: %+v", o)
	}
	if o := p.do(t, "run", "items/story"); o.code != exitMatch {
		t.Fatalf("%+v", o)
	}
	whole := p.read("reports/run.jsonl")
	p.write(t, "reports/cut.jsonl", whole[:len(whole)-5])
	cut := filepath.Join(p.dir, "reports", "cut.jsonl")
	for _, tc := range []struct {
		name string
		args []string
		says string
	}{
		{"cut off", []string{cut}, "cut.jsonl: run file is incomplete: no footer after line "},
		{"cut off, and the cure", []string{cut}, "\n\tfix: run again: a run that was interrupted or is still going on cannot be judged\n"},
		{"two files", []string{cut, cut}, "judge takes at most one run file: "},
		{"a format that there is not", []string{"--format", "xml"}, `--format is "xml": write text, json, junit, html, markdown or github`},
	} {
		if o := p.do(t, "judge", tc.args...); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("%s: %+v, want the exit code %d and %q", tc.name, o, exitUsage, tc.says)
		}
	}
	scenario := filepath.Join(p.dir, "scenarios", "items", "story.yaml")
	testfile.Write(t, scenario, append([]byte("# changed\n"), p.read("scenarios/items/story.yaml")...))
	o := p.do(t, "judge")
	if o.code != exitUsage || !strings.Contains(o.stderr, "run.jsonl: the run file was made with different scenarios than those of lockstep.yaml\n\tfix: use the files") {
		t.Errorf("other scenarios: %+v", o)
	}
}

func TestOtherRulesAreNoted(t *testing.T) {
	p := two(t, "other-value")
	if o := p.do(t, "run", "items/story"); o.code != exitDiffer {
		t.Fatalf("%+v", o)
	}
	rules := strings.Replace(p.read("lockstep.yaml"), "limits:", "    - {at: $..name, kind: text, because: a test}\nlimits:", 1)
	p.write(t, "lockstep.yaml", rules)
	o := p.do(t, "judge")
	if o.code != exitMatch || o.stderr != "note: lockstep.yaml has changed since the run; the current rules apply\n" {
		t.Errorf("%+v", o)
	}
}

func TestJudgeWritesTheReports(t *testing.T) {
	p := two(t, "other-value")
	if o := p.do(t, "run", "items/story"); o.code != exitDiffer {
		t.Fatalf("%+v", o)
	}
	before, recorded := p.read("reports/report.json"), p.read("reports/run.jsonl")
	p.write(t, "lockstep.yaml", strings.Replace(p.read("lockstep.yaml"), "limits:", "    - {at: $..name, kind: text, because: a test}\nlimits:", 1))
	elsewhere := filepath.Join(p.dir, "elsewhere")
	if o := p.do(t, "judge", "--reports", "-"); o.code != exitMatch || p.read("reports/report.json") != before {
		t.Errorf("without reports: %+v", o)
	}
	if o := p.do(t, "judge", "--reports", elsewhere); o.code != exitMatch || p.read("reports/report.json") != before ||
		!strings.Contains(p.read("elsewhere/report.json"), `"verdict": "match"`) || p.read("elsewhere/run.jsonl") != "" {
		t.Errorf("in another folder: %+v", o)
	}
	if o := p.do(t, "judge"); o.code != exitMatch || p.read("reports/run.jsonl") != recorded || p.read("reports/report.json") == before {
		t.Errorf("beside the run file: %+v", o)
	}
	for _, name := range []string{"report.json", "report.html", "junit.xml", "summary.md", "badge.svg"} {
		if p.read("reports/"+name) != p.read("elsewhere/"+name) {
			t.Errorf("%s differs between the folders", name)
		}
	}
	written := p.read("reports/report.json")
	p.write(t, "reports/run.jsonl", recorded[:len(recorded)/2])
	if o := p.do(t, "judge"); o.code != exitUsage || p.read("reports/report.json") != written {
		t.Errorf("a run file that is cut off costs no report: %+v", o)
	}
}
