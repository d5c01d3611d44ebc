//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/sequences"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// These variables set the number and the seed of the sequences.
const (
	sequenceCount = "LOCKSTEP_SEQUENCES"
	sequenceSeed  = "LOCKSTEP_SEQUENCES_SEED"
)

// shrinks is how often a sequence that differs is shortened.
const shrinks = 5

// TestSequences runs random sequences on both servers of this repository. It keeps each sequence in which they
// differ, and a shorter one without the steps that the difference does not need.
func TestSequences(t *testing.T) {
	count, err := strconv.Atoi(os.Getenv(sequenceCount))
	if err != nil {
		t.Skip("make test-sequences runs it")
	}
	seed, err := strconv.ParseUint(os.Getenv(sequenceSeed), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", sequenceSeed, err)
	}
	t.Chdir(root)
	document := testfile.Read(t, "openapi.yaml")
	generator, err := sequences.New(document)
	if err != nil {
		t.Fatal(err)
	}
	all, steps, operations, pairs := map[string]*sequences.Sequence{}, 0, map[string]bool{}, map[string]bool{}
	for n := range count {
		q := generator.Sequence(seed, n+1)
		all[q.Name()] = q
		steps += q.Steps()
		before := ""
		for _, name := range generator.Operations(q) {
			operations[name], pairs[before+", "+name] = true, true
			before = name
		}
	}
	dir := filepath.Join(os.TempDir(), "lockstep-sequences", fmt.Sprintf("seed-%d", seed))
	differing := differ(t, all, filepath.Join(dir, "all"))
	fmt.Printf("seed %d: %d sequences, %d steps, %d operations, %d pairs of them, %d sequences differ\n", seed, count, steps, len(operations), len(pairs), len(differing))
	for _, name := range slices.Sorted(maps.Keys(differing)) {
		fmt.Println(told(differing[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(differing)) {
		kept, found := shrink(t, all[name], differing[name], filepath.Join(dir, path.Base(name)))
		t.Errorf("seed %d, %s\n\t%s", seed, kept, found)
	}
	if !t.Failed() {
		os.RemoveAll(dir)
	}
}

// shrink removes the steps that a difference does not need. It returns where the sequence is kept, and what differs.
func shrink(t *testing.T, q *sequences.Sequence, first *verdict.Scenario, dir string) (file, found string) {
	t.Helper()
	found = told(first)
	kept := filepath.Join(dir, "kept.yaml")
	keep(t, kept, q.Scenario("kept"))
	again := differ(t, map[string]*sequences.Sequence{"again": q}, filepath.Join(dir, "again"))
	if again["again"] == nil {
		return kept, "by chance, since it does not differ again: " + found
	}
	for range shrinks {
		shorter := map[string]*sequences.Sequence{}
		for i := range q.Groups {
			if next := q.Without(i); len(next.Groups) > 0 {
				shorter["without-"+strconv.Itoa(i)] = next
			}
		}
		left := differ(t, shorter, filepath.Join(dir, "shorter"))
		least := q
		for name, s := range left {
			if next := shorter[name]; len(next.Groups) < len(least.Groups) && s.Verdict == first.Verdict {
				least, found = next, told(s)
			}
		}
		if least == q {
			break
		}
		q = least
	}
	keep(t, kept, q.Scenario("kept"))
	return kept, found
}

// differ runs sequences on both servers, in a project of its own, and returns those that do not match.
func differ(t *testing.T, all map[string]*sequences.Sequence, dir string) map[string]*verdict.Scenario {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, q := range all {
		keep(t, filepath.Join(dir, "scenarios", filepath.FromSlash(name)+".yaml"), q.Scenario(name))
	}
	if len(all) == 0 {
		return nil
	}
	project := testfile.Text(t, "lockstep.yaml")
	text, _, _ := strings.Cut(project, "\n# What the scenarios reach")
	// The times of a session are not stable, because a later session may get the ID of a deleted one.
	keep(t, filepath.Join(dir, "lockstep.yaml"), strings.Replace(text, "kind: time, stable: true", "kind: time", 1))
	entries, err := os.ReadDir("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	links := []string{"bin", "reference", "openapi.yaml"}
	for _, e := range entries {
		links = append(links, filepath.Join("scenarios", e.Name()))
	}
	here, _ := filepath.Abs(".")
	for _, l := range links {
		if err := os.Symlink(filepath.Join(here, l), filepath.Join(dir, l)); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "bin/lockstep", "run", "-c", filepath.Join(dir, "lockstep.yaml"), "--jobs", "4", "--step-timeout", "10s", "--format", "json", "--reports", "-")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	doc, unread := jsonreport.Read(strings.NewReader(stdout.String()))
	if unread != nil {
		t.Fatalf("%v; %v, stderr:\n%s", unread, err, stderr.String())
	}
	out := map[string]*verdict.Scenario{}
	for i := range doc.Scenarios {
		if s := &doc.Scenarios[i]; s.Verdict != verdict.Match {
			out[s.ID] = s
		}
	}
	return out
}

func keep(t *testing.T, file, text string) {
	t.Helper()
	testfile.Write(t, file, text)
}
