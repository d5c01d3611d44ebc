//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

const (
	baselineFile = "reports/baseline.json"
	theName      = "items/story: GET /items/${{ lamp }}: body /name [value 469ed423]"
	theSize      = "items/story: GET /items/${{ lamp }}: body /size [value c97d1b01]"
)

// updated runs lockstep baseline update.
func (p testProject) updated(t *testing.T, args ...string) outcome {
	t.Helper()
	o := lockstep(t, append([]string{"baseline", "update", "--config", p.file}, args...)...)
	o.stdout, o.stderr = strings.ReplaceAll(o.stdout, p.dir+"/", ""), strings.ReplaceAll(o.stderr, p.dir+"/", "")
	return o
}

func TestTheBaselineIsARatchet(t *testing.T) {
	p := two(t, "other-value")
	right := faux.Serve(t, &faux.Server{})
	if o := p.do(t, "run", "items/story"); o.code != exitDiffer {
		t.Fatalf("run: %+v", o)
	}
	if o := p.updated(t); o != (outcome{exitUsage, "", "lockstep: " + baselineFile + ": no such file\n\tfix: create it with lockstep baseline update --accept-new\n"}) {
		t.Errorf("update without a baseline: %+v", o)
	}
	if o := p.updated(t, "--accept-new"); o != (outcome{exitMatch, "+ " + theName + "\n" + baselineFile + ": 1 known finding, 0 removed, 1 added\n", ""}) {
		t.Errorf("the first baseline: %+v", o)
	}
	first := p.read(baselineFile)

	o := p.do(t, "run", "items/story", "--baseline", baselineFile)
	for _, want := range []string{"KNOWN " + theName + "\n", "0 match, 1 waived, 0 differ", "1 difference, 0 violations, 0 shortfalls; of these 1 known\n", "\nwaived: "} {
		if !strings.Contains(o.stdout, want) || o.code != exitMatch || o.stderr != "" {
			t.Errorf("a known finding: code %d, stderr %q, stdout does not say %q:\n%s", o.code, o.stderr, want, o.stdout)
		}
	}
	if o := p.do(t, "judge", "--baseline", baselineFile); o.code != exitMatch || !strings.Contains(o.stdout, "KNOWN "+theName) {
		t.Errorf("judged again: %+v", o)
	}
	if o := p.do(t, "run", "items/story"); o.code != exitDiffer {
		t.Errorf("without the baseline: %+v", o)
	}

	// With another fault, the known finding is fixed. The new one is red, and is not accepted silently.
	p.with(t, right, faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-number")}))
	o = p.do(t, "run", "items/story", "--baseline", baselineFile)
	if o.code != exitDiffer || !strings.Contains(o.stdout, "body /size: the numbers differ") || !strings.Contains(o.stdout, "fixed         1 finding of the baseline: run lockstep baseline update\n") {
		t.Errorf("a new finding, and one that is fixed: %+v", o)
	}
	if p.read(baselineFile) != first {
		t.Error("the run has changed the baseline")
	}
	if o := p.updated(t); o != (outcome{exitMatch, "- " + theName + "\n" + baselineFile + ": 0 known findings, 1 removed, 0 added\n", "1 new finding not added; --accept-new adds them\n"}) {
		t.Errorf("update: %+v", o)
	}
	if o := p.updated(t, "--accept-new", "--from", p.dir+"/reports/run.jsonl"); o != (outcome{exitMatch, "+ " + theSize + "\n" + baselineFile + ": 1 known finding, 0 removed, 1 added\n", ""}) {
		t.Errorf("update --accept-new: %+v", o)
	}
	if o := p.updated(t, "--accept-new"); o != (outcome{exitMatch, baselineFile + ": 1 known finding, 0 removed, 0 added\n", ""}) {
		t.Errorf("once more: %+v", o)
	}
}

// TestViolationsInCommonAreAcceptedAlone checks that only violations of both servers are accepted. What only one
// server does stays red.
func TestViolationsInCommonAreAcceptedAlone(t *testing.T) {
	extra := func() string { return faux.Serve(t, &faux.Server{Fault: faux.Named(t, "extra-field")}) }
	p := two(t, "extra-field")
	p.with(t, extra(), extra())
	if o := p.do(t, "run", "items/story"); o.code != exitDiffer {
		t.Fatalf("run: %+v", o)
	}
	const at = "items/story: GET /items/${{ lamp }}: body/color"
	o := p.updated(t, "--common")
	if o.code != exitMatch || o.stderr != "" || strings.Count(o.stdout, "\n+ "+at)+strings.Count("\n"+o.stdout, "\n+ "+at) < 2 || !strings.Contains(o.stdout, "2 known findings, 0 removed, 2 added") {
		t.Errorf("update --common: %+v", o)
	}
	if o := p.do(t, "run", "items/story", "--baseline", baselineFile); o.code != exitMatch || !strings.Contains(o.stdout, "1 waived") {
		t.Errorf("the same run: %+v", o)
	}
	p.with(t, faux.Serve(t, &faux.Server{}), extra())
	if o := p.do(t, "run", "items/story"); o.code != exitDiffer {
		t.Fatalf("run: %+v", o)
	}
	if o := p.updated(t, "--common", "--baseline", "other.json"); o.code != exitMatch || !strings.HasPrefix(o.stdout, "other.json: 0 known findings, 0 removed, 0 added") {
		t.Errorf("what one target does alone: %+v", o)
	}
}

func TestABaselineKeepsWhatARunHasNotLookedAt(t *testing.T) {
	p := two(t, "other-value")
	p.do(t, "run", "items/story")
	p.updated(t, "--accept-new")
	before := p.read(baselineFile)
	for _, tc := range []struct {
		args   []string
		stderr string
	}{
		{[]string{"events/story"}, ""},
		{[]string{"items/story", "--target", "right"}, "the run is incomplete or left out targets, so known findings that it does not show are kept\n"},
	} {
		p.do(t, "run", append(tc.args, "--baseline", baselineFile)...)
		if o := p.updated(t); o != (outcome{exitMatch, baselineFile + ": 1 known finding, 0 removed, 0 added\n", tc.stderr}) || p.read(baselineFile) != before {
			t.Errorf("after run %q: %+v", tc.args, o)
		}
	}
}

func TestTheProjectNamesItsBaseline(t *testing.T) {
	p := two(t, "other-value")
	p.write(t, "lockstep.yaml", "baseline: known.json\n"+p.read("lockstep.yaml"))
	missing := "lockstep.yaml:1:11: open known.json: no such file or directory\n  1 | baseline: known.json\n    |           ^\n\tfix: create it with lockstep baseline update --accept-new\nlockstep: 1 mistake\n"
	for _, command := range []string{"run", "judge"} {
		p.write(t, "reports/run.jsonl", "")
		if o := p.do(t, command); o != (outcome{exitUsage, "", missing}) {
			t.Errorf("%s without the baseline: %+v", command, o)
		}
	}
	if o := p.do(t, "lint"); o.code != exitMatch {
		t.Errorf("lint: %+v", o)
	}
	p.write(t, "empty.json", `{"format": 1, "findings": []}`)
	p.do(t, "run", "items/story", "--baseline", "empty.json")
	if o := p.updated(t, "--accept-new"); o.code != exitMatch || !strings.HasSuffix(o.stdout, "known.json: 1 known finding, 0 removed, 1 added\n") {
		t.Errorf("update: %+v", o)
	}
	if o := p.do(t, "run", "items/story"); o.code != exitMatch || !strings.Contains(o.stdout, "KNOWN "+theName) {
		t.Errorf("run: %+v", o)
	}
	whole := p.read("known.json")
	p.write(t, "known.json", strings.NewReplacer(`"format": 2`, `"format": 1`, `"target":"wrong",`, "").Replace(whole))
	if o := p.do(t, "lint"); o.code != exitMatch || !strings.Contains(o.stderr, "known.json: some findings name no target") {
		t.Errorf("lint of a baseline of the first format: %+v", o)
	}
	if o := p.do(t, "run", "items/story"); o.code != exitMatch || !strings.Contains(o.stdout, "KNOWN "+theName) {
		t.Errorf("run with a baseline of the first format: %+v", o)
	}
	if o := p.updated(t); o.code != exitMatch || p.read("known.json") != whole {
		t.Errorf("update of a baseline of the first format: %+v:\n%s", o, p.read("known.json"))
	}
	p.write(t, "known.json", "{\"format\": 1,\n\"findings\": 5}\n")
	for _, command := range []string{"lint", "run"} {
		if o := p.do(t, command); o != (outcome{exitUsage, "", "known.json:2:13: \"findings\" is a number\n  2 | \"findings\": 5}\n    |             ^\n\tfix: make it a list\nlockstep: 1 mistake\n"}) {
			t.Errorf("%s: %+v", command, o)
		}
	}
	if o := p.do(t, "run", "--baseline", "gone.json"); o.code != exitUsage {
		t.Errorf("with another that is not there: %+v", o)
	}
}

func TestMistakesOfBaseline(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"baseline"}, "lockstep: baseline needs a command\n\tfix: `lockstep baseline update` removes the findings that are fixed\n"},
		{[]string{"baseline", "updat"}, "lockstep: unknown command \"updat\" of lockstep baseline\n\tfix: did you mean \"update\"?\n"},
		{[]string{"baseline", "update", "x"}, "lockstep: update takes no arguments: \"x\"\n\tfix: leave it out; --config names another project\n"},
		{[]string{"baseline", "update", "--common", "--accept-new"}, "lockstep: --accept-new and --common exclude each other\n\tfix: leave one out: --accept-new adds all new findings, --common only contract violations that all targets share\n"},
	} {
		if o := lockstep(t, tc.args...); o != (outcome{exitUsage, "", tc.want}) {
			t.Errorf("lockstep %q: %+v", tc.args, o)
		}
	}
}
