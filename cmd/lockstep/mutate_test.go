//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
)

func TestTheExitStatusOfMutateFollowsTheScore(t *testing.T) {
	green, red := two(t, ""), two(t, "other-value")
	for p, code := range map[testProject]int{green: exitMatch, red: exitDiffer} {
		if o := p.do(t, "run", "items/story"); o.code != code {
			t.Fatalf("run: %+v", o)
		}
	}
	hides := two(t, "")
	hides.write(t, "lockstep.yaml", strings.Replace(hides.read("lockstep.yaml"), "limits:", "    - {at: $..*, kind: text, because: a test}\nlimits:", 1))
	if o := hides.do(t, "run", "items/story"); o.code != exitMatch {
		t.Fatalf("run: %+v", o)
	}
	for _, tc := range []struct {
		name         string
		project      testProject
		args         []string
		code         int
		says, stderr string
	}{
		{"enough are killed", green, []string{"--sample", "600"}, exitMatch, " that do not were flagged\n", ""},
		{"a rule hides many", hides, []string{"--sample", "600"}, exitDiffer, "hidden by: volatile $..*, kind text\n", ""},
		{"fewer are enough", hides, []string{"--sample", "600", "--at-least", "50"}, exitMatch, "hidden by: volatile $..*, kind text\n", ""},
		{"the run is red", red, nil, exitUnknown, "", "run.jsonl: the run is not green: its verdict is differ; `lockstep judge` shows why\n"},
		{"no run file", two(t, ""), nil, exitUsage, "", "run.jsonl: no such file or directory\n\tfix: "},
		{"no mutants", green, []string{"--sample", "0"}, exitUsage, "", "--sample is 0: write a number above 0, or --all\n"},
		{"more than all", green, []string{"--at-least", "101"}, exitUsage, "", "--at-least is 101: write a percentage from 0 to 100\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := tc.project.do(t, "mutate", tc.args...)
			if o.code != tc.code || !strings.Contains(o.stdout, tc.says) || !strings.Contains(o.stderr, tc.stderr) {
				t.Errorf("exit code %d, want %d; stderr %q, want %q; stdout, which should have %q:\n%s", o.code, tc.code, o.stderr, tc.stderr, tc.says, o.stdout)
			}
		})
	}
}

func TestMutateIsJudgedAgainByItsSeed(t *testing.T) {
	p := two(t, "")
	if o := p.do(t, "run", "items/story"); o.code != exitMatch {
		t.Fatalf("run: %+v", o)
	}
	file := filepath.Join(p.dir, "reports", "run.jsonl")
	score := func(args ...string) mutate.Score {
		var s mutate.Score
		o := p.do(t, "mutate", append(args, file, "--json")...)
		if err := json.Unmarshal([]byte(o.stdout), &s); err != nil { // stderr may have progress on a busy machine
			t.Fatalf("%v: %+v", err, o)
		}
		return s
	}
	a, all := score("--seed", "5", "--sample", "300"), score("--all")
	if a.Seed != 5 || a.Judged > 300 || a.Judged < 200 || all.Judged != all.Mutants || all.Mutants != a.Mutants {
		t.Errorf("seed %d, %d judged; with --all %d of %d", a.Seed, a.Judged, all.Judged, all.Mutants)
	}
}
