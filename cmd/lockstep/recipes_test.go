//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// ciDocuments returns the YAML blocks of docs/ci.md below "Recipes".
func ciDocuments(t *testing.T, text string) (out []*yamldoc.Node) {
	t.Helper()
	_, text, _ = strings.Cut(text, "\n## Recipes\n")
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		if block[1] != "yaml" {
			continue
		}
		n, problems := yamldoc.Parse("docs/ci.md", []byte(block[2]))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		out = append(out, n)
	}
	return out
}

// wrongMatrix returns the mistakes that keep the GitHub recipe from running all shards of one run, and from merging
// them.
func wrongMatrix(n *yamldoc.Node) (wrong []string) {
	shard, merge := n.Get("jobs").Get("shard"), n.Get("jobs").Get("merge")
	matrix := shard.Get("strategy").Get("matrix").Get("shard").Elements()
	for i, item := range matrix {
		if item.Text != strconv.Itoa(i+1) {
			wrong = append(wrong, "the matrix is not 1 to its end")
		}
	}
	if shard.Get("strategy").Get("fail-fast").Str() != "false" && shard.Get("strategy").Get("fail-fast").Value() != false {
		wrong = append(wrong, "a shard that fails ends the others")
	}
	runs, kept, fetched, merged := "", "", "", ""
	for _, step := range append(shard.Get("steps").Elements(), merge.Get("steps").Elements()...) {
		script, with := step.Get("run").Str(), step.Get("with")
		switch {
		case strings.Contains(script, "lockstep run"):
			runs = script
		case strings.Contains(script, "lockstep merge"):
			merged = script
		case with.Get("pattern") != nil:
			fetched = with.Get("path").Str() + " " + with.Get("pattern").Str()
		case strings.Contains(with.Get("name").Str(), "matrix.shard"):
			kept = with.Get("path").Str() + " " + with.Get("name").Str()
			if step.Get("if").Str() != "always()" {
				wrong = append(wrong, "the run file of a red shard is not kept")
			}
		}
	}
	if want := fmt.Sprintf("--shard ${{ matrix.shard }}/%d ", len(matrix)); !strings.Contains(runs, want) {
		wrong = append(wrong, "the shards are not those of the matrix: "+runs)
	}
	if kept != "reports/run.jsonl shard-${{ matrix.shard }}" || fetched != "shards shard-*" || !strings.Contains(merged, " shards/*/run.jsonl") {
		wrong = append(wrong, fmt.Sprintf("what is kept is not what is merged: %s; %s; %s", kept, fetched, merged))
	}
	if merge.Get("needs").Str() != "shard" || merge.Get("if").Str() != "${{ !cancelled() }}" {
		wrong = append(wrong, "the merge does not wait for the shards, or not for red ones")
	}
	return wrong
}

// wrongJobs returns the mistakes that keep the two Kubernetes Jobs from being one run.
func wrongJobs(shards, merge *yamldoc.Node) (wrong []string) {
	demand := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	spec := shards.Get("spec")
	demand(spec.Get("completionMode").Str() == "Indexed", "it is no indexed Job")
	demand(spec.Get("backoffLimitPerIndex") != nil && spec.Get("backoffLimitPerIndex").Text == "0", "a shard is run again")
	var folders []string
	for _, job := range []*yamldoc.Node{shards, merge} {
		demand(job.Get("apiVersion").Str() == "batch/v1" && job.Get("kind").Str() == "Job" && job.Get("metadata").Get("name").Str() != "", "it is no Job with a name")
		pod := job.Get("spec").Get("template").Get("spec")
		demand(pod.Get("restartPolicy").Str() == "Never", "a container is run again")
		if len(pod.Get("containers").Elements()) != 1 || len(pod.Get("volumes").Elements()) != 1 {
			return append(wrong, "one container and one volume were expected")
		}
		container, volume := pod.Get("containers").Items[0], pod.Get("volumes").Items[0]
		mounts := container.Get("volumeMounts").Elements()
		demand(len(mounts) == 1 && mounts[0].Get("name").Str() == volume.Get("name").Str(), "the volume is not mounted")
		demand(volume.Get("persistentVolumeClaim").Get("claimName").Str() != "", "no pod sees what another wrote")
		folders = append(folders, mounts[0].Get("mountPath").Str()+" "+volume.Get("persistentVolumeClaim").Get("claimName").Str())
	}
	demand(folders[0] == folders[1], "the merge has another volume")
	env := shards.Get("spec").Get("template").Get("spec").Get("containers").Items[0].Get("env").Elements()
	total := len(env) == 1 && env[0].Get("name").Str() == "LOCKSTEP_SHARDS" && env[0].Get("value").Str() == spec.Get("completions").Text
	demand(total && env[0].Get("value").Kind == yamldoc.String, "LOCKSTEP_SHARDS is not the number of completions, as a text")
	return wrong
}

// recipesOf returns the recipes for GitHub and Kubernetes.
func recipesOf(t *testing.T, text string) (github *yamldoc.Node, jobs []*yamldoc.Node) {
	t.Helper()
	for _, n := range ciDocuments(t, text) {
		switch {
		case n.Get("jobs").Get("merge").Get("needs") != nil:
			github = n
		case n.Get("kind") != nil:
			jobs = append(jobs, n)
		}
	}
	if github == nil || len(jobs) != 2 {
		t.Fatalf("%v, %d Jobs", github, len(jobs))
	}
	return github, jobs
}

func TestTheRecipesRunAllShardsAndMergeThem(t *testing.T) {
	text := documentation(t)["docs/ci.md"]
	github, jobs := recipesOf(t, text)
	for _, wrong := range append(wrongMatrix(github), wrongJobs(jobs[0], jobs[1])...) {
		t.Error(wrong)
	}
}

// TestMistakesInTheRecipesAreFound checks that the functions above find mistakes.
func TestMistakesInTheRecipesAreFound(t *testing.T) {
	text := documentation(t)["docs/ci.md"]
	for _, tc := range []struct{ from, to, want string }{
		{"shard: [1, 2, 3, 4]", "shard: [1, 2, 3]", "the shards are not those of the matrix"},
		{"shard: [1, 2, 3, 4]", "shard: [0, 1, 2, 3]", "the matrix is not 1 to its end"},
		{"fail-fast: false", "fail-fast: true", "a shard that fails ends the others"},
		{"path: reports/run.jsonl", "path: reports/report.json", "what is kept is not what is merged"},
		{"pattern: shard-*", "pattern: part-*", "what is kept is not what is merged"},
		{"        if: always()\n        with: {name: \"shard", "        with: {name: \"shard", "the run file of a red shard is not kept"},
		{"    needs: shard\n    if: ${{ !cancelled() }}\n", "    needs: shard\n", "the merge does not wait for the shards, or not for red ones"},
		{"completions: 8", "completions: 9", "LOCKSTEP_SHARDS is not the number"},
		{`value: "8"`, "value: 8", "LOCKSTEP_SHARDS is not the number"},
		{"completionMode: Indexed", "completionMode: NonIndexed", "it is no indexed Job"},
		{"  backoffLimitPerIndex: 0\n", "", "a shard is run again"},
		{"restartPolicy: Never", "restartPolicy: OnFailure", "a container is run again"},
		{"{name: shards, mountPath: /shards}", "{name: parts, mountPath: /shards}", "the volume is not mounted"},
		{"persistentVolumeClaim: {claimName: shards}", "emptyDir: {}", "no pod sees what another wrote"},
		{"{claimName: shards}", "{claimName: parts}", "the merge has another volume"},
	} {
		changed := strings.Replace(text, tc.from, tc.to, 1)
		if changed == text {
			t.Errorf("docs/ci.md has no %q", tc.from)
			continue
		}
		github, jobs := recipesOf(t, changed)
		if wrong := strings.Join(append(wrongMatrix(github), wrongJobs(jobs[0], jobs[1])...), "\n"); !strings.Contains(wrong, tc.want) {
			t.Errorf("%q for %q: %q, want %q", tc.to, tc.from, wrong, tc.want)
		}
	}
}

// TestTheJobsOfKubernetesRunAndMerge runs the commands of the Jobs as a pod would. Red and unknown shards must
// succeed, because the merge decides about them; a broken shard must fail.
func TestTheJobsOfKubernetesRunAndMerge(t *testing.T) {
	_, jobs := recipesOf(t, documentation(t)["docs/ci.md"])
	dir := t.TempDir()
	p := testProject{dir: dir}
	p.write(t, "bin/lockstep", "#!/bin/sh\necho \"$*\" >> calls\ncase $1 in run) d=\"$5\"; mkdir -p \"$d\"; : > \"$d/run.jsonl\"; exit $CODE;; esac\n")
	if err := os.Chmod(filepath.Join(dir, "bin/lockstep"), 0o755); err != nil {
		t.Fatal(err)
	}
	do := func(job *yamldoc.Node, env ...string) int {
		t.Helper()
		container := job.Get("spec").Get("template").Get("spec").Get("containers").Items[0]
		var args []string
		for _, item := range container.Get("command").Elements() {
			args = append(args, strings.ReplaceAll(item.Text, container.Get("volumeMounts").Items[0].Get("mountPath").Str()+"/", path.Join(dir, "shards")+"/"))
		}
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		if _, err := cmd.Output(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}
	for i, code := range []struct{ lockstep, pod int }{{0, 0}, {1, 0}, {3, 0}, {2, 1}, {137, 1}} {
		if got := do(jobs[0], fmt.Sprint("JOB_COMPLETION_INDEX=", i), fmt.Sprint("CODE=", code.lockstep)); got != code.pod {
			t.Errorf("lockstep ends with %d, and the pod with %d, want %d", code.lockstep, got, code.pod)
		}
	}
	if got := do(jobs[1]); got != 0 {
		t.Errorf("the merge ends with %d", got)
	}
	shards := filepath.Join(dir, "shards")
	var want strings.Builder
	files := ""
	for i := range 5 {
		fmt.Fprintf(&want, "run --shard auto --reports %s/%d\n", shards, i)
		files += fmt.Sprintf(" %s/%d/run.jsonl", shards, i)
	}
	fmt.Fprintf(&want, "merge%s --reports %s/reports\n", files, shards)
	if diff := cmp.Diff(want.String(), p.read("calls")); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
