package jsondiff

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Refusal is a rule that is rejected because it covers more than single values, and the reason. The reference's
// message decides: if only the candidate sends an object for an id, the candidate is wrong, and not the rule.
type Refusal struct {
	Kind RefusalKind
	Rule string // Volatile.Rule
	Text string
}

// RefusalKind is a reason to refuse a rule. The kinds appear in reports.
type RefusalKind string

// The reasons to refuse a rule. A rule that selects the root of every document is a mistake in its file, which is found
// before a run.
const (
	Structural     RefusalKind = "rule-structural"      // it selects an object or a list
	AmbiguousOrder RefusalKind = "rule-ambiguous-order" // it selects the elements of a list: a missing one cannot be identified
	KeyUnusable    RefusalKind = "rule-key"             // it pairs the elements of a list by a key that does not identify each of them
)

// String returns the refusal as a sentence, with the position of the rule.
func (r Refusal) String() string { return strings.TrimPrefix(r.Rule+": "+r.Text, ": ") }

// refuseStructural refuses a rule that selects an object or a list. A rule with ".." selects a name anywhere, so it is not
// refused: it has no effect where the value is not a single one.
func refuseStructural(in *setting, rule *Volatile, at *ident.Path, ref *jsontree.Node) {
	if (ref.Kind == jsontree.Object || ref.Kind == jsontree.Array) && !strings.Contains(rule.At, "..") {
		in.refuse(Refusal{Structural, rule.Rule, fmt.Sprintf("the rule for %s selects an %s, at %s: select the values in it", rule.At, ref.Kind, in.at(at))})
	}
}

// refuseAmbiguous refuses a rule that selects all elements of two lists with different lengths.
func refuseAmbiguous(in *setting, at *ident.Path, ref, cand *jsontree.Node) {
	if len(in.rules[0]) == 0 {
		return
	}
	pointer := at.Pointer(0)
	for i := range ref.Items {
		rule := in.rules[0][jsontree.AppendIndex(pointer, i)]
		if rule != nil && selectsElements(rule.At) {
			in.refuse(Refusal{AmbiguousOrder, rule.Rule, fmt.Sprintf("the rule for %s selects the elements of the list at %s, which has %d on one side and %d on the other: lockstep cannot tell which ones are missing", rule.At, in.at(at), len(ref.Items), len(cand.Items))})
			return
		}
	}
}

// selectsElements reports whether a JSONPath ends in a wildcard or a slice.
func selectsElements(path string) bool {
	if strings.HasSuffix(path, "*") {
		return true
	}
	last := path[strings.LastIndexByte(path, '[')+1:]
	return strings.HasSuffix(last, "]") && !strings.ContainsAny(last, `'"`) && strings.ContainsAny(last, "*:?")
}
