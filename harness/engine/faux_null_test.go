package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestAServerThatDoesNothingPassesNoScenario(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for _, f := range faux.Nulls() {
		walk := where(f)
		t.Run(f.ID+"/as the candidate", func(t *testing.T) {
			t.Parallel()
			result := walk(t, p, &faux.Server{}, &faux.Server{Fault: f})
			passesNone(t, result)
			isSaidFirst(t, f, f.Says, result)
		})
		t.Run(f.ID+"/as the reference", func(t *testing.T) {
			t.Parallel()
			result := walk(t, p, &faux.Server{Fault: f}, &faux.Server{})
			passesNone(t, result)
			isSaidFirst(t, f, turned(f.Says), result)
		})
		t.Run(f.ID+"/beside its like", func(t *testing.T) {
			t.Parallel()
			result := walk(t, p, &faux.Server{Fault: f}, &faux.Server{Fault: f})
			passesNone(t, result)
			for _, s := range result.Scenarios {
				for _, found := range s.Findings {
					if found.Class == verdict.Difference {
						t.Errorf("%s: two servers that do the same differ: %s", s.ID, found)
					}
				}
			}
		})
		t.Run(f.ID+"/alone", func(t *testing.T) {
			t.Parallel()
			passesNone(t, walk(t, p, &faux.Server{Fault: f}, nil))
		})
	}
}

// Two servers that both lack a stream behave alike, and an event that must not come does not come. But such a scenario
// has shown nothing, so it must not pass.
func TestAStreamThatNoServerOpensIsNotGreen(t *testing.T) {
	for _, tc := range []struct{ name, steps, want string }{
		{"an event is awaited", "[{open: feed, sse: GET /events}, {await: feed, match: {event: created}}]", "2 event-awaited"},
		{"an event must not come", "[{open: feed, sse: GET /events}, {never: feed, within: 1ms}]", "2 stream-missing"},
		{"it is awaited that it is ready", "[{open: feed, sse: GET /events, ready: {event: hello}}]", "1 event-awaited"},
		{"its end is awaited", "[{open: feed, sse: GET /events}, {await: feed, end: server}]", "2 end-awaited"},
		{"it is half closed", "[{open: feed, sse: GET /events}, {half-close: feed}]", "2 stream-missing"},
		{"it is closed", "[{open: feed, sse: GET /events}, {close: feed}]", "2 stream-missing"},
		{"its refusal is expected, and an event too", "[{open: feed, sse: GET /events, expect: {status: 400}}, {await: feed, match: {event: created}}]", "2 event-awaited"},
		{"its refusal is expected", "[{open: feed, sse: GET /events, expect: {status: 400}}, {close: feed}]", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := fauxproject.Write(t, fauxproject.Running)
			story := "scenario: items/none\nwhy: Nobody has a stream\nsource: openapi.yaml\nsteps: " + strings.ReplaceAll(tc.steps, "GET /events", "GET /events, malformed: true") + "\n"
			testfile.Write(t, filepath.Join(filepath.Dir(file), "scenarios", "items", "none.yaml"), story)
			p := fauxproject.Load(t, file)
			for name, other := range map[string]*faux.Server{"together": {}, "alone": nil} {
				s := overSockets(t, p, &faux.Server{}, other, "items/none").Scenarios[0]
				want := verdict.Differ
				if tc.want == "" {
					want = verdict.Match
				}
				if s.Verdict != want {
					t.Errorf("%s: %s, want %s", name, s.Verdict, want)
				}
				for _, f := range s.Findings {
					if got := f.Step + " " + f.Kind; f.Class != verdict.Unmet || got != tc.want {
						t.Errorf("%s: %s, want the shortfall %q", name, f, tc.want)
					}
				}
			}
		})
	}
}

// passesNone fails unless the run and all its scenarios are red.
func passesNone(t *testing.T, result *engine.Result) {
	t.Helper()
	for _, s := range result.Scenarios {
		if s.Verdict != verdict.Differ {
			t.Errorf("%s is %s", s.ID, s.Verdict)
		}
		isWellSaid(t, &s)
	}
	if result.Verdict != verdict.Differ || len(result.Scenarios) < 5 {
		t.Errorf("the run is %s, with %d scenarios", result.Verdict, len(result.Scenarios))
	}
}

// isSaidFirst fails unless the findings about the first step are exactly these.
func isSaidFirst(t *testing.T, f *faux.Fault, want []faux.Finding, result *engine.Result) {
	t.Helper()
	for _, s := range result.Scenarios {
		if s.ID != f.In {
			continue
		}
		var got []faux.Finding
		for _, found := range findings(&s) {
			if found.Step == "1" {
				got = append(got, found)
			}
		}
		if diff := cmp.Diff(sorted(want), got); diff != "" {
			t.Errorf("about a server with the fault %q (-want +got):\n%s", f.Doc, diff)
		}
	}
}

func TestACorrectServerPassesAlone(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for name, walk := range map[string]walk{"over sockets": overSockets, "in memory": inMemory} {
		t.Run(name, func(t *testing.T) {
			result := walk(t, p, &faux.Server{Style: faux.NewStyle(1)}, nil)
			for _, s := range result.Scenarios {
				if s.Verdict != verdict.Match || len(s.Findings)+len(s.Reasons) > 0 {
					t.Errorf("%s is %s: %v %v", s.ID, s.Verdict, s.Findings, s.Reasons)
				}
			}
			if result.Verdict != verdict.Match || len(result.Scenarios) < 5 || !result.Alone {
				t.Errorf("the run is %s, with %d scenarios, alone: %t", result.Verdict, len(result.Scenarios), result.Alone)
			}
		})
	}
}
