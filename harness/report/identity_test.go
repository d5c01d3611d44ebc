package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// confused is a scenario in which its own ids are confused, one pair for each fingerprint.
func confused(id string, fingerprints ...string) verdict.Scenario {
	var findings []verdict.Finding
	for i, fingerprint := range fingerprints {
		ref, cand := fmt.Sprintf("%s-a%d", id, i), fmt.Sprintf("%s-b%d", id, i)
		f := difference("identity", "body /of", "the candidate has "+cand+" where the reference has "+ref, ref, cand)
		f.Fingerprint = fingerprint
		findings = append(findings, step(i+3, fmt.Sprint(i+1), "GET /", f))
	}
	return scenario(id, findings...)
}

func TestTheSameConfusionOfIDsIsReportedInOneScenario(t *testing.T) {
	for _, tc := range []struct {
		name      string
		scenarios []verdict.Scenario
		told      int
		also      string
	}{
		{"in three scenarios", []verdict.Scenario{confused("r0", "f1"), confused("r1", "f1"), confused("r2", "f1")}, 1, "also in 2 scenarios: r1, r2"},
		{"at another place", []verdict.Scenario{confused("r0", "f1"), confused("r1", "f2")}, 2, ""},
		{"without a fingerprint", []verdict.Scenario{confused("r0", ""), confused("r1", "")}, 2, ""},
		{"other ids in one scenario", []verdict.Scenario{confused("r0", "f1", "f1"), confused("r1", "f1")}, 2, "also in 1 scenario: r1"},
	} {
		text := shown(t, document(tc.scenarios...), text.Options{})
		if got := strings.Count(text, "[identity"); got != tc.told {
			t.Errorf("%s: told %d times, want %d:\n%s", tc.name, got, tc.told, text)
		}
		if !strings.Contains(text, tc.also) {
			t.Errorf("%s: the text does not say %q:\n%s", tc.name, tc.also, text)
		}
	}
}
