package harness_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// pins returns what a waiver would say of each finding.
func pins(result *harness.Result) []string {
	var out []string
	for _, s := range result.Scenarios {
		for _, f := range s.Findings {
			out = append(out, fmt.Sprintf("%s %s %s %s", s.ID, f.At, f.Kind, f.Fingerprint))
		}
	}
	slices.Sort(out)
	return out
}

// Every fault is pinned alike in every run: with other ids, counters, times, ports and unique tokens.
func TestAFaultHasTheSameFingerprintInEveryRun(t *testing.T) {
	p := load(t, running)
	for _, f := range faux.Faults() {
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			walk := where(f)
			first := pins(walk(t, p, &faux.Server{}, &faux.Server{Fault: f}, f.In))
			if len(first) == 0 {
				t.Fatal("the fault is not found")
			}
			for range 3 {
				if diff := cmp.Diff(first, pins(walk(t, p, &faux.Server{}, &faux.Server{Fault: f}, f.In))); diff != "" {
					t.Fatalf("another run (-first +other):\n%s", diff)
				}
			}
		})
	}
}

// Twins write everything in their own way, but say the same values.
func TestAFaultOfATwinHasTheSameFingerprint(t *testing.T) {
	p := load(t, running)
	for _, id := range []string{"other-value", "other-number", "wrong-type", "missing-field", "other-id"} {
		f := faux.Faults()[slices.IndexFunc(faux.Faults(), func(f *faux.Fault) bool { return f.ID == id })]
		first := pins(overSockets(t, p, &faux.Server{}, &faux.Server{Fault: f}, f.In))
		for seed := range uint64(50) {
			t.Run(fmt.Sprint(id, " ", seed), func(t *testing.T) {
				t.Parallel()
				right := &faux.Server{Style: faux.NewStyle(1000 + seed)}
				if diff := cmp.Diff(first, pins(overSockets(t, p, right, &faux.Server{Fault: f, Style: faux.NewStyle(seed)}, f.In))); diff != "" {
					t.Errorf("of twins (-first +twins):\n%s", diff)
				}
			})
		}
	}
}
