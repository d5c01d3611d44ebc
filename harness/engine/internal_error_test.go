package engine_test

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// A bug in lockstep makes only its own scenario unknown, and never green.
func TestAPanicInAScenarioLeavesThatOneUnknown(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	story := p.Scenarios[slices.IndexFunc(p.Scenarios, func(s *scenario.Scenario) bool { return s.ID == "items/story" })]
	isBroken := func(t *testing.T, result *engine.Result, others int) {
		t.Helper()
		if result.Verdict != verdict.Unknown || result.Totals.Match != others || result.Totals.Unknown != 1 {
			t.Errorf("the run is %s: %+v", result.Verdict, result.Totals)
		}
		for _, s := range result.Scenarios {
			if s.ID != story.ID {
				continue
			}
			if len(s.Reasons) != 1 || !strings.HasPrefix(s.Reasons[0].Text, "lockstep itself failed: runtime error: ") {
				t.Fatalf("reasons: %+v", s.Reasons)
			}
			if !strings.Contains(strings.Join(s.Reasons[0].Log, "\n"), ".go:") {
				t.Errorf("it does not say where: %q", s.Reasons[0].Log)
			}
		}
	}
	t.Run("in judging", func(t *testing.T) {
		result := judgeFile(t.Context(), p, &runfile.File{
			Header: transcript.RunHeader{Targets: []transcript.RunTarget{{Name: "right", Reference: true}, {Name: "wrong"}}},
			Cases:  []*runfile.Case{{Scenario: story, Transcripts: []*transcript.Transcript{nil, nil}}},
		})
		isBroken(t, result, 0)
	})
	t.Run("in walking", func(t *testing.T) {
		script := engine.Break(story)
		defer runtime.KeepAlive(script)
		var file bytes.Buffer
		result, err := engine.Run(t.Context(), p, &engine.Options{
			RunFile: &file,
			Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{})},
			Select:  project.Selection{Paths: []string{"items"}}, Jobs: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		isBroken(t, result, 1)
		whole, err := project.Load(p.File) // a project without the broken step must not turn a scenario green that never ran
		if err != nil {
			t.Fatal(err)
		}
		again, err := engine.Judge(t.Context(), whole, &file, nil)
		if err != nil {
			t.Fatal(err)
		}
		isBroken(t, again, 1)
	})
}
