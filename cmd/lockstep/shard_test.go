//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

func TestTheShardIsReadFromWhatTheSchedulerSets(t *testing.T) {
	for _, tc := range []struct {
		set  string // name=value, separated by spaces
		want project.Shard
		from string // or the error, if there is no shard
	}{
		{"LOCKSTEP_SHARD=2/8 CI_NODE_INDEX=1 CI_NODE_TOTAL=3", project.Shard{Index: 2, Of: 8}, "LOCKSTEP_SHARD=2/8"},
		{"JOB_COMPLETION_INDEX=0 LOCKSTEP_SHARDS=4", project.Shard{Index: 1, Of: 4}, "JOB_COMPLETION_INDEX=0 and LOCKSTEP_SHARDS=4"},
		{"JOB_COMPLETION_INDEX=3 LOCKSTEP_SHARDS=4", project.Shard{Index: 4, Of: 4}, "JOB_COMPLETION_INDEX=3 and LOCKSTEP_SHARDS=4"},
		{"CI_NODE_INDEX=1 CI_NODE_TOTAL=4", project.Shard{Index: 1, Of: 4}, "CI_NODE_INDEX=1 and CI_NODE_TOTAL=4"},
		{"CI_NODE_INDEX=4 CI_NODE_TOTAL=4", project.Shard{Index: 4, Of: 4}, "CI_NODE_INDEX=4 and CI_NODE_TOTAL=4"},
		{"CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=2", project.Shard{Index: 1, Of: 2}, "CIRCLE_NODE_INDEX=0 and CIRCLE_NODE_TOTAL=2"},
		{"BUILDKITE_PARALLEL_JOB=1 BUILDKITE_PARALLEL_JOB_COUNT=2", project.Shard{Index: 2, Of: 2}, "BUILDKITE_PARALLEL_JOB=1 and BUILDKITE_PARALLEL_JOB_COUNT=2"},
		{"", project.Shard{}, "no variable says which shard this is\n\tfix: set one of LOCKSTEP_SHARD, JOB_COMPLETION_INDEX,"},
		{"CI_NODE_TOTAL=1", project.Shard{}, "no variable says which shard this is"},
		{"JOB_COMPLETION_INDEX=0", project.Shard{}, "but LOCKSTEP_SHARDS is not set\n\tfix: a Job does not tell its pods the number of completions"},
		{"JOB_COMPLETION_INDEX=4 LOCKSTEP_SHARDS=4", project.Shard{}, "is not a valid shard\n\tfix: JOB_COMPLETION_INDEX counts from 0"},
		{"CI_NODE_INDEX=0 CI_NODE_TOTAL=4", project.Shard{}, "is not a valid shard\n\tfix: CI_NODE_INDEX counts from 1"},
		{"CI_NODE_INDEX=5 CI_NODE_TOTAL=4", project.Shard{}, "is not a valid shard"},
		{"CIRCLE_NODE_INDEX=x CIRCLE_NODE_TOTAL=2", project.Shard{}, "is not a valid shard"},
		{"CIRCLE_NODE_INDEX=-1 CIRCLE_NODE_TOTAL=2", project.Shard{}, "is not a valid shard"},
		{"LOCKSTEP_SHARD=9/8", project.Shard{}, "LOCKSTEP_SHARD: there is no shard 9/8"},
	} {
		set := map[string]string{}
		for _, pair := range strings.Fields(tc.set) {
			name, value, _ := strings.Cut(pair, "=")
			set[name] = value
		}
		got, from, err := shardOf(func(name string) string { return set[name] })
		switch {
		case got.Of > 0 && err == nil:
			if got != tc.want || from != tc.from {
				t.Errorf("%s: %v by %q, want %v by %q", tc.set, got, from, tc.want, tc.from)
			}
		case err == nil || tc.want.Of > 0 || !strings.Contains(err.Error(), tc.from):
			t.Errorf("%s: %v, %v; want %v, %q", tc.set, got, err, tc.want, tc.from)
		}
	}
}

func TestShardsAreRunAndMerged(t *testing.T) {
	t.Parallel()
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")})))
	first := p.do(t, "run", "items", "--shard", "1/2", "--reports", "one")
	second := p.as(t, shell{variables: map[string]string{"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "2"}}, "run", "items", "--shard", "auto", "--reports", "two")
	if first.code != exitMatch || !strings.Contains(first.stdout, "shard         1 of 2, out of 2 scenarios: lockstep merge judges the whole run\n") {
		t.Errorf("the first shard: %+v", first)
	}
	if second.code != exitDiffer || !strings.HasPrefix(second.stderr, "shard 2/2, from CI_NODE_INDEX=2 and CI_NODE_TOTAL=2\n") {
		t.Errorf("the second shard: %+v", second)
	}
	one, two := filepath.Join(p.dir, "one", "run.jsonl"), filepath.Join(p.dir, "two", "run.jsonl")
	o := p.do(t, "merge", two, one)
	if o.code != exitDiffer || lastLine(o.stdout) != "differ: right and wrong differ in 1 of 2 scenarios" {
		t.Errorf("%+v", o)
	}
	again := p.do(t, "judge", "--format", "json")
	if diff := cmp.Diff(strings.ReplaceAll(p.read("reports/report.json"), p.dir+"/", ""), again.stdout); diff != "" {
		t.Errorf("judged again, the merged run is another (-merge +judge):\n%s", diff)
	}
	for _, name := range []string{"run.jsonl", "report.html", "junit.xml", "summary.md", "badge.svg"} {
		if p.read("reports/"+name) == "" {
			t.Errorf("merge writes no %s", name)
		}
	}
	before := p.read("one/run.jsonl")
	for _, tc := range []struct {
		args []string
		says string
	}{
		{nil, "merge needs the run files of the shards\n\tfix: write lockstep merge shards/*/run.jsonl\n"},
		{[]string{one}, "of 2 shards, 1 are here; missing: 2/2\n\tfix: run the missing shards"},
		{[]string{one, two, "--reports", "one"}, "one/run.jsonl is the file that the merged run would overwrite\n\tfix: name another folder with --reports\n"},
		{[]string{one, filepath.Join(p.dir, "three.jsonl")}, "three.jsonl: no such file or directory\n\tfix: `lockstep run --shard` writes it\n"},
	} {
		if o := p.do(t, "merge", tc.args...); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("merge %q: %+v, want %q", tc.args, o, tc.says)
		}
	}
	p.write(t, "cut.jsonl", before[:len(before)-7])
	if o := p.do(t, "merge", filepath.Join(p.dir, "cut.jsonl"), two); o.code != exitUsage || !strings.Contains(o.stderr, "cut.jsonl: run file is incomplete: ") || !strings.Contains(o.stderr, "\n\tfix: run that shard again: ") {
		t.Errorf("%+v", o)
	}
	if p.read("one/run.jsonl") != before {
		t.Error("a merge that was refused has changed a shard")
	}
}

func TestAnUnknownShardStartsNothing(t *testing.T) {
	p := two(t, "")
	for text, says := range map[string]string{
		"3/2":  "--shard: there is no shard 3/2\n\tfix: shards count from 1: write 1/2 to 2/2\n",
		"half": "--shard: \"half\" is not a shard\n\tfix: write its number and how many there are: 1/8 is the first of eight\n",
		"auto": "--shard auto: no variable says which shard this is\n",
	} {
		if o := p.do(t, "run", "--shard", text); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, says) {
			t.Errorf("--shard %s: %+v, want %q", text, o, says)
		}
	}
}

func TestNothingToJudgeIsGreenOnlyWhenThatIsAllowed(t *testing.T) {
	t.Parallel()
	p := two(t, "")
	const because = ", because the only scenario is not applicable"
	for _, tc := range []struct {
		args string
		code int // without --allow-empty
		says string
		why  string // with --allow-empty
	}{
		{"items/story --shard 2/2", exitUsage, "--shard 2/2 has no scenario: only 1 selected\n\tfix: split into at most 1, or accept empty shards with --allow-empty\n", ""},
		{"--name event --name submarine", exitUsage, `no scenario is selected: --name "submarine" fits none of the `, ""},
		{"process/stop", exitUnknown, "unknown: nothing was judged" + because + "; lockstep run --allow-empty accepts that\n", because},
		{"process/stop --shard 1/1", exitUnknown, "unknown: nothing was judged" + because + "; lockstep run --allow-empty accepts that\n", because},
	} {
		args := strings.Fields(tc.args)
		if o := p.do(t, "run", args...); o.code != tc.code || !strings.Contains(o.stdout+o.stderr, tc.says) {
			t.Errorf("run %s: %+v, want %d and %q", tc.args, o, tc.code, tc.says)
		}
		allowed := "match: nothing was judged" + tc.why + ", and --allow-empty accepts that"
		if o := p.do(t, "run", append(args, "--allow-empty")...); o.code != exitMatch || lastLine(o.stdout) != allowed {
			t.Errorf("run %s --allow-empty: %+v", tc.args, o)
		}
		if text := p.read("reports/junit.xml"); strings.Contains(text, "nothing was judged") {
			t.Errorf("run %s --allow-empty is an error in JUnit:\n%s", tc.args, text)
		}
		if o := p.do(t, "judge"); o.code != exitMatch || lastLine(o.stdout) != allowed {
			t.Errorf("judge, after run %s --allow-empty: %+v", tc.args, o)
		}
	}
	for _, args := range [][]string{{"--tag", "submarine"}, {"--skip-tag", "submarine"}, {"submarine"}} {
		if o := p.do(t, "run", append(args, "--allow-empty")...); o.code != exitUsage {
			t.Errorf("%v, which no scenario has: %+v", args, o)
		}
	}
	const stays = "a path or tag that no scenario has is still an error"
	if help := lockstep(t, "run", "--help"); !strings.Contains(help.stdout, stays) {
		t.Errorf("the help of --allow-empty does not say %q", stays)
	}
}

func TestEmptyShardsAreMerged(t *testing.T) {
	t.Parallel()
	p := two(t, "")
	var files []string
	for _, n := range []string{"1", "2", "3"} {
		if o := p.do(t, "run", "items/story", "--shard", n+"/3", "--allow-empty", "--reports", n); o.code != exitMatch {
			t.Fatalf("shard %s: %+v", n, o)
		}
		files = append(files, filepath.Join(p.dir, n, "run.jsonl"))
	}
	if o := p.do(t, "merge", files...); o.code != exitMatch || lastLine(o.stdout) != "match: right and wrong do the same in 1 scenario" {
		t.Errorf("merge: %+v", o)
	}
}
