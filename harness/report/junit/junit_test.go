package junit

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestAFailureWithoutFindingsIsADifference(t *testing.T) {
	if got, want := failureType(&verdict.Scenario{}), "differ"; got != want {
		t.Errorf("the type of a failure without findings is %q, want %q", got, want)
	}
}

func TestASuiteIsTheFolderOfAScenario(t *testing.T) {
	for id, want := range map[string]string{
		"client-tools/register":      "client-tools",
		"a/b/c":                      "a/b",
		"client-tools/odd-ids[a/b]":  "client-tools",
		"client-tools/odd-ids[dots]": "client-tools",
		"status":                     "scenarios",
	} {
		if got := folder(id); got != want {
			t.Errorf("folder(%q): %q, want %q", id, got, want)
		}
	}
}
