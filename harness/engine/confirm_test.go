//go:build unix

package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// A scenario that is red because of what others have left behind is not red on new servers. It stays red all the same.
func TestARedScenarioIsConfirmedOnNewServers(t *testing.T) {
	slow(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "lockstep.yaml")
	testfile.Write(t, file, "scenarios: scenarios\nreference: right\ntargets:\n"+process(t, "right", "tires", "")+process(t, "wrong", "tires", "yes"))
	for _, name := range []string{"first", "second"} {
		fauxproject.Add(t, file, "scenarios/"+name+".yaml", "scenario: "+name+"\nwhy: x\nsource: x\nsteps: [{http: GET /question}]\n")
	}
	var observed bytes.Buffer
	p := fauxproject.Load(t, file)
	result, err := engine.Run(t.Context(), p, &engine.Options{Jobs: 1, Confirm: 2, Environ: os.Environ(), RunFile: &observed})
	if err != nil {
		t.Fatal(err)
	}
	var got []*verdict.Repeated
	for _, s := range result.Scenarios {
		got = append(got, s.Repeated)
	}
	if diff := cmp.Diff([]*verdict.Repeated{nil, {Of: 3, Differ: 1, Shown: 1}}, got); diff != "" || result.Verdict != verdict.Differ {
		t.Errorf("the run is %s; run again (-want +got):\n%s", result.Verdict, diff)
	}
	isJudgedAgain(t, p, &observed, result)
}
