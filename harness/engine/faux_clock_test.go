package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// A time that a server sends is checked against what it sent before, and against its other times.
func TestServersWithWrongTimesAreFound(t *testing.T) {
	file := fauxproject.Write(t, fauxproject.Running)
	text := testfile.Text(t, file)
	fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(text, "limits:", "undocumented: allow\nlimits:", 1))
	stable := scenario.Volatile{At: "$..createdAt", Kind: scenario.VolatileTime, Stable: true, Because: "a thing is made once"}
	for _, tc := range []struct {
		right, wrong string
		rule         bool
		place, says  string // "" when nothing is reported
	}{
		{"", "", true, "", ""},
		{"touched", "touched", false, "", ""},
		{"touched", "touched-before", false, "/updatedAt", "the times of one object are in a different order"},
		{"touched-before", "touched", false, "/updatedAt", "the times of one object are in a different order"},
		{"", "unstable", false, "", ""},
		{"", "unstable", true, "/createdAt", "a time changes, although a rule says that it is stable"},
		{"unstable", "", true, "/createdAt", "a time changes, although a rule says that it is stable"},
		{"fine", "fine", false, "", ""},
		{"", "fine", false, "/createdAt", "the times are written differently: the reference's never have fractions of a second, the candidate's always do"},
	} {
		t.Run(tc.right+" and "+tc.wrong, func(t *testing.T) {
			p := fauxproject.Load(t, file)
			if tc.rule {
				p.Rules.Volatile = append(slices.Clone(p.Rules.Volatile), stable)
			}
			result := overSockets(t, p, &faux.Server{Fault: faux.Named(t, tc.right)}, &faux.Server{Fault: faux.Named(t, tc.wrong)}, "items/story")
			found := 0
			for _, s := range result.Scenarios {
				for _, f := range s.Findings {
					found++
					if tc.says == "" || !strings.HasSuffix(f.Place, tc.place) || !strings.HasPrefix(f.Text, tc.says) {
						t.Errorf("said: %s", f.String())
					}
				}
			}
			if (found > 0) != (tc.says != "") {
				t.Errorf("%d findings", found)
			}
		})
	}
}
