package mutaterun_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/lab/mutaterun"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// greenRun returns the run file of two correct servers, one of which writes in another style.
func greenRun(t *testing.T, p *project.Project, paths ...string) []byte {
	t.Helper()
	file, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: paths, Skip: []string{"clock", "process"}}},
		"right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{}))
	if result.Verdict != verdict.Match {
		t.Fatalf("the run is %s", result.Verdict)
	}
	return file.Bytes()
}

func TestMutantsOfAGreenRunAreFoundAndWhatDoesNotMatterIsNot(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	score, err := mutaterun.Run(t.Context(), p, bytes.NewReader(greenRun(t, p)), &mutaterun.Options{Sample: 3000})
	if err != nil {
		t.Fatal(err)
	}
	if len(score.FalseAlarms) > 0 {
		t.Errorf("false alarms: %+v", score.FalseAlarms)
	}
	if score.Percent() < 99 || score.Judged < 2000 || score.Harmless < 100 {
		t.Errorf("%.2f %% of %d judged, %d that do not matter, of %d", score.Percent(), score.Judged, score.Harmless, score.Mutants)
	}
	for _, c := range score.Survivors {
		if c.Operator != "time/unstable" { // the comparison does not find this one
			t.Errorf("a mutant lives: %+v", c)
		}
		if c.Operator == "" || c.Scenario == "" || c.Target != "wrong" || c.Place == "" || c.Hidden == "" {
			t.Errorf("a mutant lives, and who, where or why is missing: %+v", c)
		}
	}
}

func TestTheScoreIsTheSameForTheSameSeed(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file := greenRun(t, p, "items/story")
	score := func(seed uint64) *mutate.Score {
		s, err := mutaterun.Run(t.Context(), p, bytes.NewReader(file), &mutaterun.Options{Sample: 300, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		s.Took = 0
		return s
	}
	if diff := cmp.Diff(score(1), score(1)); diff != "" {
		t.Errorf("the same seed gives another score (-once +again):\n%s", diff)
	}
}

// Rules that allow everything let mutants survive, and the report names them.
func TestARuleThatHidesMutantsIsNamed(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file := greenRun(t, p, "items/story")
	text := strings.Replace(testfile.Text(t, p.File), "limits:", "    - {at: $..name, kind: text, because: a test}\nlimits:", 1)
	text = strings.Replace(text, "headers: [Cache-Control, Content-Type, Location, X-Shelf]", "headers: [Content-Type]", 1)
	config := filepath.Join(filepath.Dir(p.File), "lenient.yaml")
	testfile.Write(t, config, text)
	lenient := fauxproject.Load(t, config)
	strict, err := mutaterun.Run(t.Context(), p, bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	score, err := mutaterun.Run(t.Context(), lenient, bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if score.Percent() >= strict.Percent() {
		t.Errorf("%.2f %% by rules that hide, %.2f %% by those that do not", score.Percent(), strict.Percent())
	}
	for _, want := range []string{"volatile $..name, kind text", "header field X-Shelf is not named in compare.headers"} {
		found := false
		for _, c := range score.Survivors {
			found = found || c.Hidden == want
		}
		if !found {
			t.Errorf("no mutant lives because of %q", want)
		}
	}
}

// An operator that changes nothing survives if it matters, and is no false alarm if it does not. For an operator that
// changes everything, it is the other way round.
func TestASurvivorAndAFalseAlarmAreReported(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file := greenRun(t, p, "items/story")
	operator := func(name string, matters bool) mutate.Operator {
		for _, op := range mutate.Operators() {
			if op.Name == name {
				op.Matters = matters
				return op
			}
		}
		t.Fatalf("no operator %s", name)
		return mutate.Operator{}
	}
	score, err := mutaterun.Run(t.Context(), p, bytes.NewReader(file), &mutaterun.Options{
		Operators: []mutate.Operator{operator("same/header-case", true), operator("status/class", false)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if score.Killed != 0 || score.Matter == 0 || len(score.Survivors) != score.Matter {
		t.Errorf("killed %d of %d, %d live", score.Killed, score.Matter, len(score.Survivors))
	}
	if score.Harmless == 0 || len(score.FalseAlarms) != score.Harmless || !strings.Contains(score.FalseAlarms[0].Found, "the statuses differ") {
		t.Errorf("%d false alarms of %d: %+v", len(score.FalseAlarms), score.Harmless, score.FalseAlarms)
	}
}

func TestARunThatIsNotGreenHasNoMutants(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	items := engine.Options{Select: project.Selection{Paths: []string{"items/story"}}}
	red, _ := fauxproject.Record(t, p, items, "right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")}))
	alone, _ := fauxproject.Record(t, p, items, "right="+faux.Serve(t, &faux.Server{}))
	for name, file := range map[string]*bytes.Buffer{"red": red, "alone": alone} {
		if score, err := mutaterun.Run(t.Context(), p, file, nil); !errors.Is(err, mutaterun.ErrNotGreen) || score != nil {
			t.Errorf("%s: %v, %v", name, score, err)
		}
	}
}

func TestAnInterruptedAnalysisIsIncomplete(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file := greenRun(t, p, "items/story")
	ctx, interrupt := context.WithCancelCause(t.Context())
	monitor := &engine.Monitor{}
	score, err := mutaterun.Run(ctx, p, bytes.NewReader(file), &mutaterun.Options{Monitor: monitor, Sample: 50})
	if err != nil || score.Incomplete != "" || monitor.Status().Done != score.Judged || monitor.Status().Of != score.Judged {
		t.Errorf("%v; incomplete %q, %+v of %d", err, score.Incomplete, monitor.Status(), score.Judged)
	}
	operator := mutate.Operators()[0]
	all := operator.Mutants
	operator.Mutants = func(s *mutate.Subject, seed uint64) iter.Seq[mutate.Mutant] {
		return func(yield func(mutate.Mutant) bool) {
			for m := range all(s, seed) {
				build := m.Build
				m.Build = func() *transcript.Transcript {
					interrupt(errors.New("interrupt"))
					return build()
				}
				if !yield(m) {
					return
				}
			}
		}
	}
	score, err = mutaterun.Run(ctx, p, bytes.NewReader(file), &mutaterun.Options{Operators: []mutate.Operator{operator}})
	if err != nil || score.Incomplete != "interrupted: interrupt" || score.Judged != 1 || score.Mutants < 2 {
		t.Errorf("%v; %+v; want one mutant, and that it was interrupted", err, score)
	}
	score, err = mutaterun.Run(ctx, p, bytes.NewReader(file), nil)
	if err != nil || score.Incomplete != "interrupted: interrupt" || score.Judged != 0 {
		t.Errorf("interrupted before it began: %v, %+v", err, score)
	}
}
