package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Result is the outcome of comparing two transcripts.
type Result struct {
	Differences      []diff.Difference
	Exchanges        int // pairs of exchanges that were compared
	transcript.Tally     // pairs of what came on streams
	// NotCompared counts what was recorded but not compared, by reason.
	NotCompared map[string]int
	// Unnamed counts, for each header field that no rule names, the responses in which it differs.
	Unnamed map[string]int
	// Applied are the rules that selected something: Volatile.Rule, HeaderApplied, streamdiff.Applied, streamdiff.OrderApplied,
	// streamdiff.AnchorApplied, streamdiff.CollapseApplied.
	Applied map[string]bool
	// Refused are the rules that were rejected because they are too broad, each once.
	Refused []jsondiff.Refusal
	// Names are the names of the ids in differences, in the order in which the ids were bound.
	Names []ident.Name
	// Assumed are the values that were accepted as generated ones without a rule.
	Assumed []ident.Assumed
}

// HeaderApplied is the name in Result of the rule for a header field, in one step or, with "", in all steps.
func HeaderApplied(name, step string) string {
	return "header " + strings.ToLower(name) + " " + step
}

// StubHeaderApplied is the name in Result.Applied of a header field in requests to a stub.
func StubHeaderApplied(stub, name string) string {
	return "stub " + stub + " header " + strings.ToLower(name)
}
