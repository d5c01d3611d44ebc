package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

func TestTheRunFileNamesWhatRan(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	options := &engine.Options{
		Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{})}, Reference: "wrong",
		Select: project.Selection{Paths: []string{"items/story", "events/end"}}, Seed: 7, Jobs: 1,
	}
	if err := engine.Validate(p, options); err != nil {
		t.Errorf("Validate: %v", err)
	}
	var file strings.Builder
	options.RunFile = &file
	result, err := engine.Run(t.Context(), p, options)
	if err != nil {
		t.Fatal(err)
	}
	if result.Seed != 7 || result.Jobs != 1 || result.Verdict != verdict.Match {
		t.Errorf("seed %d, %d jobs, %s", result.Seed, result.Jobs, result.Verdict)
	}
	var got []string
	header := func(h transcript.RunHeader) error {
		if h.Seed != 7 || h.Version != engine.Version || !h.Started.Equal(result.Started) {
			t.Errorf("header %+v", h)
		}
		want := []transcript.RunTarget{{Name: "wrong", Reference: true}, {Name: "right"}}
		if diff := cmp.Diff(want, h.Targets); diff != "" {
			t.Errorf("targets (-want +got):\n%s", diff)
		}
		for _, sum := range []string{h.Contract, h.Scenarios, h.Rules} {
			if len(sum) != 64 {
				t.Errorf("%q is no SHA-256 sum", sum)
			}
		}
		return nil
	}
	_, err = transcript.ReadRun(strings.NewReader(file.String()), header, func(tr *transcript.Transcript) error {
		got = append(got, tr.Scenario+" on "+tr.Target)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"events/end on wrong", "events/end on right", "items/story on wrong", "items/story on right"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transcripts (-want +got):\n%s", diff)
	}
}

var errFull = errors.New("no space left on device")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestARunFileThatCannotBeWrittenLeavesTheJudgement(t *testing.T) {
	result, err := engine.Run(t.Context(), fauxproject.New(t, fauxproject.Running), &engine.Options{
		Targets: []string{"right=" + faux.Serve(t, &faux.Server{})}, Select: project.Selection{Paths: []string{"items"}}, RunFile: full{},
	})
	if !errors.Is(err, errFull) {
		t.Errorf("Run: %v, want %v", err, errFull)
	}
	if result == nil || result.Totals.Match != 2 {
		t.Errorf("the result is %+v, want two scenarios that match", result)
	}
}
