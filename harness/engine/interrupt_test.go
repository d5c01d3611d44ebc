package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

var errInterrupt = errors.New("interrupt")

// An interrupted run blames no side for what it was doing. TestMain checks that no goroutine and no process is left.
func TestAnInterruptedRunIsIncompleteAndBlamesNoServer(t *testing.T) {
	for _, tc := range []struct {
		name  string
		fault string
		in    string
		at    string // the operation
	}{
		{"while nothing is answered", "hang", "items/story", "POST /items"},
		{"while a body drips", "drip", "items/story", "GET /items/{id}"},
		{"while an event is awaited", "missing-last-event", "events/story", "DELETE /items/{id}"},
		{"while a stream's end is awaited", "never-ends", "events/end", "POST /items"},
		{"while pings are awaited", "no-heartbeat", "events/beats", "GET /events"},
		{"while it does what it should", "", "items/story", "GET /items"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancelCause(t.Context())
			defer interrupt(nil)
			wrong := &faux.Server{Fault: faux.Named(t, tc.fault), Asked: func(operation string) {
				if operation == tc.at {
					interrupt(errInterrupt)
				}
			}}
			var file strings.Builder
			result, err := engine.Run(ctx, fauxproject.New(t, fauxproject.Running), &engine.Options{
				Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, wrong)},
				Select:  project.Selection{Paths: []string{tc.in}}, RunFile: &file,
			})
			if err != nil {
				t.Fatal(err)
			}
			isInterrupted(t, result, "interrupted after 0 of 1 scenarios: interrupt; "+tc.in+" was under way")
			_, err = transcript.ReadRun(strings.NewReader(file.String()), nil, func(*transcript.Transcript) error { return nil })
			if !errors.Is(err, transcript.ErrIncomplete) {
				t.Errorf("its run file reads as %v, want %v", err, transcript.ErrIncomplete)
			}
		})
	}
}

func isInterrupted(t *testing.T, result *engine.Result, want string) {
	t.Helper()
	if result.Verdict != verdict.Unknown || len(result.Scenarios) > 0 {
		t.Errorf("the run is %s, with %v", result.Verdict, result.Scenarios)
	}
	if result.Incomplete != want {
		t.Errorf("incomplete: %q, want %q", result.Incomplete, want)
	}
}

// Verdicts from before an interrupt stay. A run that had nothing left to do does not count as interrupted.
func TestAnInterruptLeavesWhatIsJudged(t *testing.T) {
	for _, tc := range []struct {
		at, incomplete string
		judged         int
	}{
		{"events/bytes", "interrupted after 1 of 2 scenarios: interrupt", 1},
		{"items/story", "", 2},
	} {
		ctx, interrupt := context.WithCancelCause(t.Context())
		defer interrupt(nil)
		var file strings.Builder
		result, err := engine.Run(ctx, fauxproject.New(t, fauxproject.Running), &engine.Options{
			Targets: []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{Fault: faux.Named(t, "framing")})},
			Select:  project.Selection{Paths: []string{"events/bytes", "items/story"}}, Jobs: 1, RunFile: &file,
			Progress: func(_, _ int, s *verdict.Scenario) {
				if s.ID == tc.at {
					interrupt(errInterrupt)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if result.Verdict != verdict.Differ || len(result.Scenarios) != tc.judged || result.Totals.Differ != 1 {
			t.Errorf("the run is %s, with %+v", result.Verdict, result.Totals)
		}
		if result.Incomplete != tc.incomplete {
			t.Errorf("incomplete: %q, want %q", result.Incomplete, tc.incomplete)
		}
		transcripts := 0
		_, err = transcript.ReadRun(strings.NewReader(file.String()), nil, func(*transcript.Transcript) error {
			transcripts++
			return nil
		})
		if transcripts != 2*tc.judged || errors.Is(err, transcript.ErrIncomplete) != (tc.incomplete != "") {
			t.Errorf("its run file has %d transcripts, %v", transcripts, err)
		}
	}
}
