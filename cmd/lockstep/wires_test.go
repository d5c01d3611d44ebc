//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWiresAreRecordedShardedComparedAndAccepted checks that everything which reads runs reads those of sockets, programs
// and drivers.
func TestWiresAreRecordedShardedComparedAndAccepted(t *testing.T) {
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			p := w.project(t, "other")
			tapes := filepath.Join(p.dir, "tapes")
			do := func(code int, says, command string, args ...string) {
				t.Helper()
				if o := p.on(t, day, command, args...); o.code != code || !strings.Contains(o.stdout+o.stderr, says) {
					t.Errorf("%s %q: %+v, want %d and %q", command, args, o, code, says)
				}
			}
			const red, green = "differ: right and wrong differ in 1 of 2 scenarios", "match: right and wrong do the same in 2 scenarios"
			do(exitDiffer, red, "run", "--record", tapes, "--reference-version", "1")
			do(exitDiffer, red, "judge")
			do(exitDiffer, red, "run", "--against", tapes, "--reports", "again")
			do(exitMatch, "no worse: 0 new, 0 changed, 0 fixed, ", "diff", filepath.Join(p.dir, "reports/report.json"), filepath.Join(p.dir, "again/report.json"))
			do(exitMatch, "match: right meets all expectations in 1 scenario", "run", "equal", "--target", "right", "--reports", "alone")
			p.shardsAreMerged(t)
			if o := p.on(t, day, "waive", "--append", "--class", "intended"); o.code != exitMatch {
				t.Fatalf("waive: %+v", o)
			}
			p.fillIn(t, "2027-02-18")
			if text := p.read(waivers); !strings.Contains(text, `at: "`+w.at+`"`) {
				t.Errorf("no waiver is for %s:\n%s", w.at, text)
			}
			do(exitMatch, "waived: right and wrong do the same in 1 scenario; in 1 more, all findings are accepted", "run")
			p.write(t, waivers, "")
			do(exitDiffer, red, "run")
			if o := p.updated(t, "--accept-new"); o.code != exitMatch {
				t.Errorf("baseline: %+v", o)
			}
			do(exitMatch, "waived: right and wrong do the same in 1 scenario; in 1 more, all findings are accepted", "run", "--baseline", baselineFile)
			same := w.project(t, "right")
			if o := same.do(t, "run"); o.code != exitMatch || lastLine(o.stdout) != green {
				t.Errorf("the same server twice: %+v", o)
			}
			if o := same.do(t, "mutate", "--all"); o.code != exitMatch || !strings.Contains(o.stdout, ": 100.00 %; 0 of ") {
				t.Errorf("mutate: %+v", o)
			}
		})
	}
}

// TestNoiseOfMessagesIsFound checks that values which change from process to process give rules for their places, in
// lines and in outcomes.
func TestNoiseOfMessagesIsFound(t *testing.T) {
	for _, w := range wires[1:] {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			p := w.project(t, "right")
			if o := p.do(t, "noise", "--runs", "2"); o.code != exitMatch || !strings.Contains(o.stdout, "# there is no noise\n") {
				t.Errorf("without noise: %+v", o)
			}
			steps, place := "\n  - {do: number}\n", "- at: $.ok.serial\n"
			if w.name == "program" {
				steps, place = "\n  - {open: server, program: {}}\n  - {send: server, json: {jsonrpc: \"2.0\", id: 1, method: number}}\n  - {await: server, match: {json: {$.id: 1}}}\n", "- at: $.result.serial\n"
			}
			p.write(t, "scenarios/noisy.yaml", "scenario: noisy\nwhy: It counts\nsource: the guide\nsteps:"+steps)
			o := p.do(t, "noise", "--runs", "2", "noisy")
			if o.code != exitDiffer || !strings.Contains(o.stdout, place) || !strings.Contains(o.stdout, "# 2 of 2 values differ, such as ") {
				t.Errorf("%+v, want a rule %s", o, place)
			}
		})
	}
}

// shardsAreMerged runs the project in two shards, and merges them.
func (p testProject) shardsAreMerged(t *testing.T) {
	t.Helper()
	for n, folder := range []string{"one", "two"} {
		if o := p.do(t, "run", "--shard", []string{"1/2", "2/2"}[n], "--reports", folder); o.code > exitDiffer {
			t.Fatalf("%+v", o)
		}
	}
	o := p.do(t, "merge", filepath.Join(p.dir, "one", "run.jsonl"), filepath.Join(p.dir, "two", "run.jsonl"))
	if o.code != exitDiffer || !strings.Contains(o.stdout, "differ: right and wrong differ in 1 of 2 scenarios") {
		t.Errorf("merge: %+v", o)
	}
}
