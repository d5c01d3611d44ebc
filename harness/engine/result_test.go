package engine_test

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/target"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// The command that a red run prints repeats it on the same servers.
func TestRerunNamesTheTargetsThatRan(t *testing.T) {
	p := &project.Project{File: "lockstep.yaml", Reference: "old", Targets: []project.Target{
		{Spec: target.Spec{Name: "old"}}, {Spec: target.Spec{Name: "new"}},
	}}
	for _, tc := range []struct {
		name    string
		ran     []string
		partial bool
		want    string
	}{
		{"the project's targets", []string{"old", "new"}, false, "lockstep run a"},
		{"one alone", []string{"new"}, true, "lockstep run --target new a"},
		{"one against itself", []string{"old", "old-2"}, true, "lockstep run --target old --target old a"},
		{"all, and one twice", []string{"old", "new", "old-2"}, false, "lockstep run --target old --target new --target old a"},
		{"another reference", []string{"new", "old"}, true, "lockstep run --target new --target old --reference new a"},
		{"a server with a URL", []string{"old", "next"}, true, "lockstep run a"},
	} {
		r := &engine.Result{}
		r.Partial = tc.partial
		for _, name := range tc.ran {
			r.Totals.Targets = append(r.Totals.Targets, verdict.Target{Name: name})
		}
		if got := r.Document(p).Rerun([]string{"a"}); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
