package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// pins returns what a waiver would contain for each finding.
func pins(result *engine.Result) []string {
	var out []string
	for _, s := range result.Scenarios {
		for _, f := range s.Findings {
			out = append(out, fmt.Sprintf("%s %s %s %s", s.ID, f.At, f.Kind, f.Fingerprint))
		}
	}
	slices.Sort(out)
	return out
}

// A fault has the same fingerprint in every run, although ids, counters, times, ports and unique tokens differ.
func TestAFaultHasTheSameFingerprintInEveryRun(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	for _, f := range faux.Faults() {
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			walk := where(f)
			first := pins(walk(t, p, &faux.Server{}, &faux.Server{Fault: f}, f.In))
			if len(first) == 0 {
				t.Fatal("the fault is not found")
			}
			if diff := cmp.Diff(first, pins(walk(t, p, &faux.Server{}, &faux.Server{Fault: f}, f.In))); diff != "" {
				t.Errorf("another run (-first +other):\n%s", diff)
			}
		})
	}
}

// Twins send the same values but write everything else in their own way. Most faults are tested in two of 50 ways, some
// in all of them.
func TestAFaultOfATwinHasTheSameFingerprint(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	const seeds, few = 50, 2
	all := []string{"wrong-type", "other-id"}
	for n, f := range faux.Faults() {
		if f.ID == "doubled-header" {
			continue // a twin may swap the two fields, which a client can notice
		}
		of := few
		if slices.Contains(all, f.ID) {
			of = seeds
		}
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			walk := where(f)
			first := pins(walk(t, p, &faux.Server{}, &faux.Server{Fault: f}, f.In))
			for i := range of {
				seed := uint64(n*few+i) % seeds
				right, wrong := &faux.Server{Style: faux.NewStyle(1000 + seed)}, &faux.Server{Fault: f, Style: faux.NewStyle(seed)}
				if diff := cmp.Diff(first, pins(walk(t, p, right, wrong, f.In))); diff != "" {
					t.Errorf("of twins %d (-first +twins):\n%s", seed, diff)
				}
			}
		})
	}
}
