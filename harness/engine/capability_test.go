package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// capable writes a project in which only right can list items, and only one scenario lists them.
func capable(t *testing.T, settings string) (config string) {
	t.Helper()
	config = fauxproject.Write(t, `  right: {url: "http://127.0.0.1:1", ready: {get: /health}, capabilities: [listing]}
  wrong: {url: "http://127.0.0.1:2", ready: {get: /health}}
`)
	appendTo(t, config, settings)
	dir := filepath.Join(filepath.Dir(config), "scenarios")
	for _, folder := range []string{"process", "events", "items"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	fauxproject.Add(t, config, "scenarios/items/list.yaml", "scenario: items/list\nwhy: x\nsource: x\nneeds: [listing]\nsteps: [{http: GET /items, query: {shelf: a}}]\n")
	fauxproject.Add(t, config, "scenarios/items/health.yaml", "scenario: items/health\nwhy: x\nsource: x\nsteps: [{http: GET /health}]\n")
	return config
}

func TestAScenarioThatNeedsWhatATargetLacksIsNotApplicable(t *testing.T) {
	p := fauxproject.Load(t, capable(t, ""))
	right, wrong := &faux.Server{}, &faux.Server{}
	targets := []string{"right=" + faux.Serve(t, right), "wrong=" + faux.Serve(t, wrong)}
	const why = "it needs listing, which wrong does not declare under capabilities"

	file, result := record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}}, targets...)
	judged, err := engine.Judge(t.Context(), p, bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*engine.Result{"run": result, "judge": judged} {
		var got []string
		for _, s := range r.Scenarios {
			line := s.ID + " " + string(s.Verdict)
			for _, reason := range s.Reasons {
				line += ": " + reason.Text
			}
			got = append(got, line)
		}
		if diff := cmp.Diff([]string{"items/health match", "items/list not-applicable: " + why}, got); diff != "" || r.Verdict != verdict.Match || r.Totals.NotApplicable != 1 {
			t.Errorf("%s: %s, %+v (-want +got):\n%s", name, r.Verdict, r.Totals, diff)
		}
	}

	_, result = record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items/list"}}}, targets...)
	if result.Verdict != verdict.Unknown {
		t.Errorf("nothing was judged, but the run is %s", result.Verdict)
	}
	_, result = record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items/list"}}}, targets[0])
	if result.Verdict != verdict.Match || result.Totals.Match != 1 {
		t.Errorf("on the target that has the capability: %s, %+v", result.Verdict, result.Totals)
	}
	_, result = record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items/list"}}}, targets[0], "right="+faux.Serve(t, &faux.Server{}))
	if result.Verdict != verdict.Match || result.Totals.Match != 1 {
		t.Errorf("on two targets that have the capability: %s, %+v", result.Verdict, result.Totals)
	}
}

// A scenario that never applies must not keep the coverage from being judged, and reaches nothing.
func TestWhatOnlyAnInapplicableScenarioReachesIsMissing(t *testing.T) {
	p := fauxproject.Load(t, capable(t, "coverage: {operations: 100%, except: [{operation: POST /items, because: x}]}\n"))
	targets := []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{})}
	_, result := record(t, p, engine.Options{}, targets...)
	g := result.Gate
	if result.Verdict != verdict.Differ || g.State != coverage.GateMissed || len(g.Measures) != 1 {
		t.Fatalf("the run is %s, its coverage %+v", result.Verdict, g)
	}
	if !slices.ContainsFunc(g.Measures[0].Missing, func(m coverage.Missing) bool { return m.Name == "GET /items" }) {
		t.Errorf("GET /items is not missing: %+v", g.Measures[0].Missing)
	}
	if want := "items/list is not applicable, so what only it reaches is missing"; !strings.HasSuffix(g.String(), want) {
		t.Errorf("%q does not end with %q", g.String(), want)
	}
}
