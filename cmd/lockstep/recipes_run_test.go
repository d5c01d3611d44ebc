//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A recipe is what a CI server does with one of the recipes of docs/ci.md.
type recipe struct {
	shards       int
	shard, merge string // scripts
	variables    func(shard int) []string
	accepted     []int                             // exit codes of a shard, in addition to 0
	kept         func(shard int) (from, to string) // a path on the machine of a shard, and on that of the merge
}

// scriptWith returns the script among the steps of a job that has some words.
func scriptWith(job *yamldoc.Node, words string) string {
	for _, step := range job.Get("steps").Elements() {
		if script := step.Get("run").Str(); strings.Contains(script, words) {
			return script
		}
	}
	return ""
}

func number(n *yamldoc.Node) (out int) {
	_, _ = fmt.Sscan(n.Text, &out)
	return out
}

// from0 and from1 return variables that count shards.
func from0(index, total string, of int) func(int) []string {
	return func(i int) []string { return []string{fmt.Sprint(index, "=", i), fmt.Sprint(total, "=", of)} }
}

func from1(index, total string, of int) func(int) []string {
	return func(i int) []string { return from0(index, total, of)(i + 1) }
}

func same(path string) func(int) (string, string) {
	return func(int) (string, string) { return path, path }
}

// allRecipes reads the recipes for many machines.
func allRecipes(t *testing.T, text string) map[string]recipe {
	t.Helper()
	out := map[string]recipe{}
	for _, n := range ciDocuments(t, text) {
		shard, merge, steps := n.Get("shard"), n.Get("merge"), n.Get("steps").Elements()
		jobs := n.Get("jobs")
		switch {
		case jobs.Get("merge").Get("needs") != nil:
			of := len(jobs.Get("shard").Get("strategy").Get("matrix").Get("shard").Elements())
			out["GitHub"] = recipe{
				shards: of, shard: scriptWith(jobs.Get("shard"), "lockstep run"), merge: scriptWith(jobs.Get("merge"), "lockstep merge"),
				variables: from1("MATRIX", "NONE", of),
				kept: func(i int) (string, string) {
					return "reports/run.jsonl", fmt.Sprintf("shards/shard-%d/run.jsonl", i+1)
				},
			}
		case shard != nil && merge != nil:
			r := recipe{
				shards: number(shard.Get("parallel")), shard: shard.Get("script").Str(), merge: merge.Get("script").Str(),
				kept: same(strings.TrimSuffix(shard.Get("artifacts").Get("paths").Elements()[0].Str(), "/")),
			}
			r.variables = from1("CI_NODE_INDEX", "CI_NODE_TOTAL", r.shards)
			for _, code := range shard.Get("allow_failure").Get("exit_codes").Elements() {
				r.accepted = append(r.accepted, number(code))
			}
			out["GitLab"] = r
		case n.Get("workflows") != nil:
			r := recipe{
				shards: number(jobs.Get("shard").Get("parallelism")), shard: scriptWith(jobs.Get("shard"), "lockstep run"),
				merge: scriptWith(jobs.Get("merge"), "lockstep merge"),
			}
			r.variables = from0("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", r.shards)
			for _, step := range jobs.Get("shard").Get("steps").Elements() {
				if kept := step.Get("persist_to_workspace"); kept != nil {
					r.kept = same(kept.Get("paths").Elements()[0].Str())
				}
			}
			out["CircleCI"] = r
		case len(steps) == 3:
			r := recipe{
				shards: number(steps[0].Get("parallelism")), shard: steps[0].Get("command").Str(), merge: steps[2].Get("command").Str(),
				kept: same(path.Dir(path.Dir(steps[0].Get("artifact_paths").Str()))),
			}
			r.variables = from0("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", r.shards)
			for _, fail := range steps[0].Get("soft_fail").Elements() {
				r.accepted = append(r.accepted, number(fail.Get("exit_status")))
			}
			out["Buildkite"] = r
		case n.Get("kind").Str() == "Job":
			r := out["Kubernetes"]
			container := n.Get("spec").Get("template").Get("spec").Get("containers").Items[0]
			script := strings.ReplaceAll(container.Get("command").Elements()[2].Str(), container.Get("volumeMounts").Items[0].Get("mountPath").Str()+"/", "volume/")
			if of := n.Get("spec").Get("completions"); of != nil {
				env := container.Get("env").Elements()[0]
				r.shards, r.shard, r.kept = number(of), script, same("volume")
				r.variables = func(i int) []string {
					return []string{fmt.Sprint("JOB_COMPLETION_INDEX=", i), env.Get("name").Str() + "=" + env.Get("value").Str()}
				}
			} else {
				r.merge = script
			}
			out["Kubernetes"] = r
		}
	}
	return out
}

// TestTheRecipesAreOneRun does what each recipe for many machines says, with a folder for each machine, and demands that
// the merged run has every scenario with the result of an ordinary run.
func TestTheRecipesAreOneRun(t *testing.T) {
	t.Parallel()
	all := allRecipes(t, documentation(t)["docs/ci.md"])
	if len(all) != 5 {
		t.Errorf("%d recipes for many machines", len(all))
	}
	project := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")})))
	for i := range 8 { // for a shard in each of eight pods
		project.write(t, fmt.Sprintf("scenarios/more/n%d.yaml", i), fmt.Sprintf("scenario: more/n%d\nwhy: x\nsource: x\nsteps:\n  - http: GET /health\n", i))
	}
	program := newReader(t).bin
	project.write(t, "bin/lockstep", fmt.Sprintf("#!/bin/sh\nexec '%s/lockstep' \"$@\"\n", program))
	project.write(t, "bin/buildkite-agent", "#!/bin/sh\n") // the files are there already
	for _, name := range []string{"lockstep", "buildkite-agent"} {
		if err := os.Chmod(filepath.Join(project.dir, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	machine := func(t *testing.T) string {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(project.dir)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	execute := func(t *testing.T, dir, script string, variables []string) (code int, said string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH")), variables...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	whole := machine(t)
	code, said := execute(t, whole, "bin/lockstep run", nil)
	if code != exitDiffer {
		t.Fatalf("%d: %s", code, said)
	}
	want := results(t, filepath.Join(whole, "reports"))
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			merging := machine(t)
			for i := range r.shards {
				dir := machine(t)
				script := strings.NewReplacer("${{ matrix.shard }}", fmt.Sprint(i+1), "$$", "$").Replace(r.shard)
				if code, said := execute(t, dir, script, r.variables(i)); code != 0 && !slices.Contains(r.accepted, code) {
					t.Fatalf("shard %d: %s ends with %d\n%s", i, script, code, said)
				}
				from, to := r.kept(i)
				if err := os.MkdirAll(filepath.Join(merging, filepath.Dir(to)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := join(filepath.Join(dir, from), filepath.Join(merging, to)); err != nil {
					t.Fatal(err)
				}
			}
			code, said := execute(t, merging, r.merge, nil)
			if code != exitDiffer {
				t.Fatalf("%s ends with %d\n%s", r.merge, code, said)
			}
			folder := "reports"
			if name == "Kubernetes" {
				folder = "volume/reports"
			}
			if diff := cmp.Diff(want, results(t, filepath.Join(merging, folder))); diff != "" {
				t.Errorf("the merged run is not that of one machine (-one +merged):\n%s", diff)
			}
		})
	}
}

// join moves a file or a folder to where others of its name may be.
func join(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return os.Rename(from, to)
	}
	return os.CopyFS(to, os.DirFS(from))
}

// results returns the result of each scenario in a report.
func results(t *testing.T, reports string) map[string]string {
	t.Helper()
	file, err := os.Open(filepath.Join(reports, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := jsonreport.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range doc.Scenarios {
		out[s.ID] = fmt.Sprint(s.Verdict)
	}
	return out
}
