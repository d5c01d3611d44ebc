//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// recordedRuns returns a project with a run for each fault, in the folder that is its key. A fault "" is a correct
// server.
func recordedRuns(t *testing.T, selects []string, faults map[string]string) testProject {
	t.Helper()
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", "http://127.0.0.1:1"))
	for _, folder := range slices.Sorted(maps.Keys(faults)) { // in order, because some tests ask for the latest run
		args := append([]string{"--target", "right", "--target", "wrong=" + faux.Serve(t, &faux.Server{Fault: faux.Named(t, faults[folder])}), "--reports", folder, "--seed", "7"}, selects...)
		if o := p.do(t, "run", args...); o.code == exitUsage || o.code == exitUnknown {
			t.Fatalf("%s: %+v", folder, o)
		}
	}
	return p
}

// diff compares two files of the project.
func (p testProject) diff(t *testing.T, before, after string, args ...string) outcome {
	t.Helper()
	return p.do(t, "diff", append(args, filepath.Join(p.dir, before), filepath.Join(p.dir, after))...)
}

func TestDiffSortsFindingsIntoNewChangedAndFixed(t *testing.T) {
	t.Parallel()
	p := recordedRuns(t, []string{"items"}, map[string]string{"green": "", "value": "other-value", "type": "wrong-type"})
	for _, tc := range []struct {
		before, after string
		code          int
		says          string // the last line of stdout
		has           []string
	}{
		{"green", "green", exitMatch, "no worse: 0 new, 0 changed, 0 fixed, 0 unchanged in 2 scenarios that both runs have", nil},
		{"green", "value", exitDiffer, "worse: 1 new, 0 changed, 0 fixed, 0 unchanged in 2 scenarios that both runs have", []string{"NEW items/story: ", "\n  reference  ", "\n  candidate  "}},
		{"value", "green", exitMatch, "no worse: 0 new, 0 changed, 1 fixed, 0 unchanged in 2 scenarios that both runs have", []string{"FIXED items/story: "}},
		{"value", "value", exitMatch, "no worse: 0 new, 0 changed, 0 fixed, 1 unchanged in 2 scenarios that both runs have", []string{"UNCHANGED items/story: "}},
		{"value", "type", exitDiffer, "worse: 2 new, 0 changed, 1 fixed, 0 unchanged in 2 scenarios that both runs have", []string{"NEW items/story: ", "FIXED items/story: "}},
	} {
		for _, files := range [][2]string{{"run.jsonl", "run.jsonl"}, {"report.json", "report.json"}, {"run.jsonl", "report.json"}} {
			before, after := filepath.Join(tc.before, files[0]), filepath.Join(tc.after, files[1])
			o := p.diff(t, before, after)
			if o.code != tc.code || lastLine(o.stdout) != tc.says || o.stderr != "" {
				t.Errorf("diff %s %s: exit code %d, want %d; stdout ends with %q, want %q; stderr %q", before, after, o.code, tc.code, lastLine(o.stdout), tc.says, o.stderr)
			}
			for _, want := range tc.has {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("diff %s %s does not print %q:\n%s", before, after, want, o.stdout)
				}
			}
		}
	}
}

func TestAFindingWithOtherWordsHasChanged(t *testing.T) {
	t.Parallel()
	p := recordedRuns(t, []string{"items/story"}, map[string]string{"value": "other-value"})
	// In this report the same place has another difference.
	other := strings.Replace(p.read("value/report.json"), `"fingerprint": "`, `"fingerprint": "x`, 1)
	p.write(t, "other/report.json", other)
	o := p.diff(t, "value/report.json", "other/report.json", "--format", "json")
	var got struct {
		Format  int
		Verdict string
		Changed []struct{ Before, After string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &got); err != nil || o.code != exitDiffer || got.Format != 1 || got.Verdict != "differ" ||
		len(got.Changed) != 1 || got.Changed[0].After != "x"+got.Changed[0].Before {
		t.Errorf("%v; %+v", err, o)
	}
	if o := p.diff(t, "value/report.json", "other/report.json", "--format", "markdown"); !strings.HasPrefix(o.stdout, "## ❌ lockstep: worse\n\n0 new, 1 changed, 0 fixed") || !strings.Contains(o.stdout, "- **changed** ` items/story `") {
		t.Errorf("%+v", o)
	}
}

func TestAScenarioThatIsNotJudgedAnyMoreMakesTheDiffUnknown(t *testing.T) {
	t.Parallel()
	p := recordedRuns(t, []string{"items"}, map[string]string{"green": ""})
	lost := strings.Replace(p.read("green/report.json"), `"verdict": "match",
      "targets"`, `"verdict": "unknown", "reasons": [{"text": "the reference's process ended"}],
      "targets"`, 1)
	p.write(t, "lost/report.json", lost)
	o := p.diff(t, "green/report.json", "lost/report.json")
	if o.code != exitUnknown || !strings.Contains(o.stdout, ": was match, is now unknown: the reference's process ended\n") ||
		lastLine(o.stdout) != "unknown: 0 new, 0 changed, 0 fixed, 0 unchanged in 2 scenarios that both runs have; 1 scenario no longer judged" {
		t.Errorf("%+v", o)
	}
	if o := p.diff(t, "lost/report.json", "green/report.json"); o.code != exitMatch || !strings.Contains(o.stdout, "JUDGED items/") {
		t.Errorf("the other way round: %+v", o)
	}
}

func TestScenariosOfOneRunAloneAreListedApart(t *testing.T) {
	t.Parallel()
	p := recordedRuns(t, []string{"items"}, map[string]string{"both": ""})
	wrong := faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")})
	if o := p.do(t, "run", "items/story", "events/story", "--target", "right", "--target", "wrong="+wrong, "--reports", "others"); o.code != exitDiffer {
		t.Fatalf("%+v", o)
	}
	o := p.diff(t, "both/run.jsonl", "others/run.jsonl")
	if o.code != exitDiffer || !strings.Contains(o.stdout, "only in both/run.jsonl: 1 scenario: items/") || !strings.Contains(o.stdout, "only in others/run.jsonl: 1 scenario: events/story\n") ||
		!strings.HasSuffix(lastLine(o.stdout), "in 1 scenario that both runs have") {
		t.Errorf("%+v", o)
	}
}

func TestRunsThatCannotBeComparedAreRefused(t *testing.T) {
	t.Parallel()
	p := recordedRuns(t, []string{"items"}, map[string]string{"a": ""})
	right := faux.Serve(t, &faux.Server{})
	for folder, args := range map[string][]string{
		"alone": {"items", "--target", "right"},
		"other": {"items", "--target", "right", "--target", "third=" + right},
		"back":  {"items", "--target", "right", "--target", "wrong=" + faux.Serve(t, &faux.Server{}), "--reference", "wrong"},
		"rest":  {"events/story", "--target", "right", "--target", "wrong=" + faux.Serve(t, &faux.Server{})},
	} {
		if o := p.do(t, "run", append(args, "--reports", folder)...); o.code != exitMatch {
			t.Fatalf("%s: %+v", folder, o)
		}
	}
	whole := p.read("a/run.jsonl")
	doc := p.read("a/report.json")
	for name, text := range map[string]string{
		"cut.jsonl":       whole[:len(whole)-9],
		"format.jsonl":    strings.Replace(whole, `"format":1`, `"format":9`, 1),
		"format.json":     strings.Replace(doc, `"format": 2`, `"format": 9`, 1),
		"contract.json":   strings.Replace(doc, `"contract": "`, `"contract": "0`, 2),
		"scenarios.json":  strings.Replace(doc, `"scenarios": "`, `"scenarios": "0`, 1),
		"sumless.json":    strings.Replace(doc, `"sums": {`, `"sums_": {`, 1),
		"incomplete.json": strings.Replace(doc, `"verdict": "match"`, `"incomplete": "interrupted", "verdict": "unknown"`, 1),
	} {
		p.write(t, name, text)
	}
	for _, tc := range []struct{ after, says string }{
		{"alone/run.jsonl", "has the targets right (reference), wrong, but "},
		{"other/report.json", " has right (reference), third\n\tfix: run both with the same targets and the same reference\n"},
		{"back/report.json", " has wrong (reference), right\n"},
		{"rest/report.json", " have no scenario in common\n"},
		{"cut.jsonl", "cut.jsonl: run file is incomplete: no footer after line "},
		{"format.jsonl", "format 9; this version of lockstep reads format 1"},
		{"format.json", "it has format 9, and this lockstep reads format 2"},
		{"contract.json", " were made with different contracts\n\tfix: run both with the same files\n"},
		{"scenarios.json", " were made with different scenarios\n"},
		{"sumless.json", "sumless.json does not say which contract and scenarios it was made with\n\tfix: name the run.jsonl of that run instead\n"},
		{"incomplete.json", "incomplete.json comes from an incomplete run: interrupted\n\tfix: run it again\n"},
		{"none.json", "none.json: no such file\n\tfix: name the run.jsonl or report.json of a run\n"},
	} {
		if o := p.diff(t, "a/report.json", tc.after); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("%s: %+v, want the exit code %d and %q", tc.after, o, exitUsage, tc.says)
		}
	}
	if o := p.do(t, "diff", "one"); o.code != exitUsage || !strings.Contains(o.stderr, "diff takes two runs, but got 1\n\tfix: write lockstep diff before/run.jsonl after/run.jsonl") {
		t.Errorf("%+v", o)
	}
	scenario := filepath.Join(p.dir, "scenarios", "items", "story.yaml")
	testfile.Write(t, scenario, "# changed\n"+p.read("scenarios/items/story.yaml"))
	if o := p.diff(t, "a/run.jsonl", "a/run.jsonl"); o.code != exitUsage || !strings.Contains(o.stderr, "the run file was made with different scenarios than those of ") {
		t.Errorf("scenarios that have changed since: %+v", o)
	}
}
