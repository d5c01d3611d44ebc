package noise_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/lab/noise"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// Two servers of one kind generate something that lockstep does not recognise. The rule that is found must be the
// strictest one that holds, and with it nothing may differ.
func TestNoiseIsMeasuredAndTyped(t *testing.T) {
	for _, tc := range []struct {
		id   string // of package faux; "" for the serial number that all servers have
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
			file := fauxproject.Write(t, fauxproject.Running)
			text := testfile.Text(t, file)
			change := strings.NewReplacer("limits:", "undocumented: allow\nlimits:")
			if tc.id == "" {
				change = strings.NewReplacer("  volatile:\n    - {at: $..serial, kind: id, because: each server counts for itself}\n", "")
			}
			fauxproject.Add(t, file, "lockstep.yaml", change.Replace(text))
			p := fauxproject.Load(t, file)
			found := measure(t, p, func() *faux.Server { return &faux.Server{Fault: noiseOf(tc.id)} })
			if len(found.Rules) != 1 || len(found.Rest) > 0 || found.Silent() || found.Unknown > 0 || found.Runs != 2 {
				t.Fatalf("found: %+v", found)
			}
			r := found.Rules[0]
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

func TestDifferencesWithoutARuleAreListed(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	servers := []*faux.Server{{}, {Fault: faux.Named(t, "missing-field")}}
	found, err := noise.Measure(t.Context(), p, &noise.Options{
		Targets: []string{"one=" + faux.Serve(t, servers[0]), "two=" + faux.Serve(t, servers[1])}, Runs: 2, Select: project.Selection{Paths: []string{"items"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Rules) > 0 || len(found.Rest) == 0 || found.Rest[0].Times != 2 {
		t.Errorf("%+v", found)
	}
	if diff := cmp.Diff([]string{"items/story step 3"}, found.Rest[0].Places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// What two equal servers always do is no noise, even if the contract forbids it.
func TestASharedViolationIsNoNoise(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	found := measure(t, p, func() *faux.Server { return &faux.Server{Fault: faux.Named(t, "missing-field")} })
	if !found.Silent() || found.Broken != 1 {
		t.Errorf("%+v", found)
	}
}

func TestTwoCorrectServersHaveNoNoise(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	if found := measure(t, p, func() *faux.Server { return &faux.Server{} }); !found.Silent() || found.Scenarios != 4 || found.Target != "one" {
		t.Errorf("%+v", found)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(p.File), "reports")); err == nil {
		t.Error("it has left reports")
	}
}

// measure measures the noise between two servers of a kind.
func measure(t *testing.T, p *project.Project, server func() *faux.Server) *noise.Report {
	t.Helper()
	found, err := noise.Measure(t.Context(), p, &noise.Options{
		Targets: []string{"one=" + faux.Serve(t, server()), "two=" + faux.Serve(t, server())}, Runs: 2,
		Select: project.Selection{Paths: []string{"items"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func noiseOf(id string) *faux.Fault {
	for _, f := range faux.Noises() {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// A property of times is not noise. It is proposed as a rule only if all runs support it.
func TestRulesThatTimesFollowAreProposed(t *testing.T) {
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
			p := fauxproject.New(t, fauxproject.Running)
			found := measure(t, p, func() *faux.Server { return &faux.Server{Fault: faux.Named(t, tc.id)} })
			if !found.Silent() {
				t.Errorf("found: %+v", found.Rules)
			}
			i := slices.IndexFunc(found.Times, func(r noise.TimeRule) bool { return r.At == "$..createdAt" })
			if i < 0 {
				t.Fatalf("nothing is said of the time: %+v", found.Times)
			}
			if r := found.Times[i]; r.Stable != tc.stable || r.Digits != tc.digits && r.Digits != "" || r.Kind != scenario.VolatileTime || r.Values < r.Again {
				t.Errorf("the rule: %+v", r)
			}
		})
	}
}
