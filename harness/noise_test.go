package harness_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// Two servers of one kind make up something that nobody recognises. The rule that is found for it must be the strictest
// that holds, and with it there must be nothing left to say.
func TestNoiseIsMeasuredAndTyped(t *testing.T) {
	for _, tc := range []struct {
		id   string // of package faux; "" for the serial that all servers have
		kind scenario.VolatileKind
		at   string
		unit string
	}{
		{"", "id", "$..serial", ""},
		{"odd-id", "id", "$..noise", ""},
		{"millis", "time", "$..noise", "ms"},
		{"random", "number", "$..noise", ""},
	} {
		t.Run("of "+tc.id, func(t *testing.T) {
			t.Parallel()
			file := write(t, running)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			change := strings.NewReplacer("limits:", "undocumented: allow\nlimits:")
			if tc.id == "" {
				change = strings.NewReplacer("  volatile:\n    - {at: $..serial, kind: id, because: each server counts for itself}\n", "")
			}
			add(t, file, "lockstep.yaml", change.Replace(string(text)))
			p := loaded(t, file)
			noise := measure(t, p, func() *faux.Server { return &faux.Server{Fault: noiseOf(tc.id)} })
			if len(noise.Rules) != 1 || len(noise.Rest) > 0 || noise.Silent() || noise.Unknown > 0 || noise.Runs != 2 {
				t.Fatalf("found: %+v", noise)
			}
			r := noise.Rules[0]
			if got, want := []string{r.At, string(r.Kind), r.Unit}, []string{tc.at, string(tc.kind), tc.unit}; !slices.Equal(got, want) {
				t.Errorf("the rule is %v, want %v", got, want)
			}
			if r.Differ < 3 || r.Of < r.Differ || r.Example[0] == r.Example[1] || len(r.Places) == 0 || r.Because == "" {
				t.Errorf("the evidence: %+v", r)
			}
			p.Rules.Volatile = append(p.Rules.Volatile, r.Volatile)
			if again := measure(t, p, func() *faux.Server { return &faux.Server{Fault: noiseOf(tc.id)} }); !again.Silent() && tc.id != "random" {
				t.Errorf("with the rule there is still: %+v", again)
			}
		})
	}
}

func TestWhatNoRuleFitsIsToldAsItIs(t *testing.T) {
	p := load(t, running)
	servers := []*faux.Server{{}, {Fault: fault(t, "missing-field")}}
	noise, err := p.Noise(t.Context(), &harness.NoiseOptions{
		Targets: []string{"one=" + serve(t, servers[0]), "two=" + serve(t, servers[1])}, Runs: 2, Select: harness.Selection{Paths: []string{"items"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(noise.Rules) > 0 || len(noise.Rest) == 0 || noise.Rest[0].Times != 2 {
		t.Errorf("%+v", noise)
	}
	if diff := cmp.Diff([]string{"items/story step 3"}, noise.Rest[0].Places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestTwoRightServersAreSilent(t *testing.T) {
	p := load(t, running)
	if noise := measure(t, p, func() *faux.Server { return &faux.Server{} }); !noise.Silent() || noise.Scenarios != 4 || noise.Target != "one" {
		t.Errorf("%+v", noise)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(p.File), "reports")); err == nil {
		t.Error("it has left reports")
	}
}

// measure measures the noise between two servers of a kind.
func measure(t *testing.T, p *harness.Project, server func() *faux.Server) *harness.Noise {
	t.Helper()
	noise, err := p.Noise(t.Context(), &harness.NoiseOptions{
		Targets: []string{"one=" + serve(t, server()), "two=" + serve(t, server())}, Runs: 2,
		Select: harness.Selection{Paths: []string{"items"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return noise
}

func noiseOf(id string) *faux.Fault {
	for _, f := range faux.Noises() {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// What times keep to is no noise. It is said when all runs bear it out, and only what does.
func TestWhatTimesKeepToIsProposed(t *testing.T) {
	for _, tc := range []struct {
		id     string
		stable bool
		digits string
	}{
		{"", true, "0"},
		{"unstable", false, "0"},
		{"fine", true, "6"},
	} {
		t.Run("of "+tc.id, func(t *testing.T) {
			t.Parallel()
			p := load(t, running)
			noise := measure(t, p, func() *faux.Server { return &faux.Server{Fault: clock(tc.id)} })
			if !noise.Silent() {
				t.Errorf("found: %+v", noise.Rules)
			}
			i := slices.IndexFunc(noise.Times, func(r harness.NoiseTime) bool { return r.At == "$..createdAt" })
			if i < 0 {
				t.Fatalf("nothing is said of the time: %+v", noise.Times)
			}
			if r := noise.Times[i]; r.Stable != tc.stable || r.Digits != tc.digits && r.Digits != "" || r.Kind != scenario.VolatileTime || r.Values < r.Again {
				t.Errorf("the rule: %+v", r)
			}
		})
	}
}
