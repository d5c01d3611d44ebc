package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// A twin is a correct server that generates other ids and counts from another number. It also differs in everything
// that can be written in several ways: the order of members and header fields, white space, escapes, numbers, times,
// the case of field names, lengths or chunks. Its heartbeats are a little late.

func TestACorrectTwinIsNotAccused(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			isMatch(t, overSockets(t, p, &faux.Server{}, &faux.Server{Style: faux.NewStyle(seed)}), 5)
		})
	}
}

func TestTwoTwinsAreNotAccused(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			one, other := faux.NewStyle(seed), faux.NewStyle(1000+seed)
			isMatch(t, inMemory(t, p, &faux.Server{Style: one}, &faux.Server{Style: other}), 6)
		})
	}
}

func isMatch(t *testing.T, result *engine.Result, scenarios int) {
	t.Helper()
	for _, s := range result.Scenarios {
		for _, f := range s.Findings {
			t.Errorf("%s: %s", s.ID, f)
		}
		for _, r := range s.Reasons {
			t.Errorf("%s: %s", s.ID, r)
		}
		if s.Verdict != verdict.Match || s.Compared.Exchanges+s.Compared.Sum() == 0 {
			t.Errorf("%s is %s, and %+v", s.ID, s.Verdict, s.Compared)
		}
	}
	if result.Verdict != verdict.Match || result.Incomplete != "" || len(result.Scenarios) != scenarios {
		t.Errorf("the run is %s %q, with %d scenarios; want %d that match", result.Verdict, result.Incomplete, len(result.Scenarios), scenarios)
	}
	c := result.Totals.Compared
	if c.Exchanges < 20 || c.Sum() < 8 {
		t.Errorf("compared %d exchanges and %d messages or events: too few to mean anything", c.Exchanges, c.Sum())
	}
}

// A fault is reported in the same way when the server writes everything else in its own way.
func TestAFaultOfATwinHasTheSameName(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for i, f := range faux.Faults() {
		walk := where(f)
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			result := walk(t, p, &faux.Server{}, &faux.Server{Fault: f, Style: faux.NewStyle(uint64(i))}, f.In)
			if diff := cmp.Diff(bare(f.Says), bare(findings(&result.Scenarios[0]))); diff != "" {
				t.Errorf("what is said (-want +got):\n%s", diff)
			}
		})
	}
}

// bare returns findings without their values, which every style writes in its own way.
func bare(all []faux.Finding) []faux.Finding {
	var out []faux.Finding
	for _, f := range all {
		f.Reference, f.Candidate = "", ""
		out = append(out, f)
	}
	return sorted(out)
}
