package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A red run ends with the command that runs just its red scenarios again.
func TestARedRunNamesTheCommandThatRepeatsIt(t *testing.T) {
	wrong := difference("value", "body /a", "the values differ", "1", "2")
	red := document(scenario("items/one", wrong), scenario("items/two"), scenario("odd[1 2]", wrong))
	if got, want := shown(t, red, text.Options{}), "\nrerun         lockstep run items/one 'odd[1 2]'\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	red.Project, red.TargetFlags = "e2e/lockstep.yaml", []string{"--target", "typescript"}
	if got, want := shown(t, red, text.Options{}), "lockstep run --config e2e/lockstep.yaml --target typescript items/one 'odd[1 2]'\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	for _, id := range []string{strings.Repeat("x", 10_000), "a\u202eb"} {
		if got := red.Rerun([]string{id}); got != "" {
			t.Errorf("the command was cut or escaped: %.100q", got)
		}
	}
	if got := shown(t, document(scenario("items/two")), text.Options{}); strings.Contains(got, "rerun") {
		t.Errorf("a green run has nothing to repeat:\n%s", got)
	}
}

// A scenario names each cause that an earlier scenario shows.
func TestWhatIsShownAboveIsNamed(t *testing.T) {
	shared := difference("value", "body /a", "the values differ", "1", "2")
	own := difference("value", "body /b", "the values differ", "3", "4")
	got := shown(t, document(scenario("items/one", shared), scenario("items/two", own, shared)), text.Options{})
	if want := "\n  and, shown above under items/one: body /a: the values differ [value]\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// What a few scenarios do not reach of the contract is no news.
func TestARedSelectionListsNoGapsOfTheContract(t *testing.T) {
	d := document(scenario("items/one", difference("value", "body /a", "the values differ", "1", "2")))
	if got := shown(t, d, text.Options{}); !strings.Contains(got, "\nnot answered  ") {
		t.Fatalf("a whole run lists the gaps:\n%s", got)
	}
	d.Selection = true
	if got := shown(t, d, text.Options{}); strings.Contains(got, "\nnot answered  ") || strings.Contains(got, "\nnot seen  ") || !strings.Contains(got, "\ncontract      ") {
		t.Errorf("a selection has the sums and no gaps:\n%s", got)
	}
}

// A violation that the reference and a candidate share is the mistake of both.
func TestASharedViolationBlamesBoth(t *testing.T) {
	both := []verdict.Finding{
		violation("typescript", "type", "body/a", "a number", "#/components/schemas/A", 7),
		violation("go", "type", "body/a", "a number", "#/components/schemas/A", 7),
	}
	for want, findings := range map[string][]verdict.Finding{"blame: both": both, "blame: reference": both[:1], "blame: candidate": both[1:]} {
		var out bytes.Buffer
		if err := markdown.Write(&out, document(scenario("items/one", findings...)), markdown.DefaultBudget); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
