package jsondiff

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Refusal is a rule that is broader than what it is to silence, and why. What the reference sends decides: a candidate
// that sends an object for an id has a fault, and the rule has none.
type Refusal struct {
	Kind RefusalKind
	Rule string // Volatile.Rule
	Text string
}

// RefusalKind is a reason to refuse a rule. The kinds appear in reports.
type RefusalKind string

// The reasons to refuse a rule. That it selects the root of all documents can be seen before any run, and is a mistake of
// its file.
const (
	Structural     RefusalKind = "rule-structural"      // it selects an object or a list
	AmbiguousOrder RefusalKind = "rule-ambiguous-order" // it selects the elements of a list, so that nobody can tell which is missing
)

// String returns the refusal in a sentence, with the rule's place.
func (r Refusal) String() string { return strings.TrimPrefix(r.Rule+": "+r.Text, ": ") }

// structural refuses the rule that names a place which has an object or a list. One that looks for a name anywhere finds
// what it finds: where that is no single value, it silences nothing.
func (r *reporter) structural(rule *Volatile, at *ident.Path, ref *jsontree.Node) {
	if (ref.Kind == jsontree.Object || ref.Kind == jsontree.Array) && !strings.Contains(rule.At, "..") {
		r.refuse(Refusal{Structural, rule.Rule, fmt.Sprintf("the rule for %s selects an %s, at %s: select the values in it", rule.At, ref.Kind, r.at(at))})
	}
}

// ambiguous refuses the rule that makes the elements of two lists of different lengths volatile one and all.
func (r *reporter) ambiguous(at *ident.Path, ref, cand *jsontree.Node) {
	if len(r.volatile[0]) == 0 {
		return
	}
	pointer := at.Pointer(0)
	for i := range ref.Items {
		rule := r.volatile[0][jsontree.AppendIndex(pointer, i)]
		if rule != nil && selectsElements(rule.At) {
			r.refuse(Refusal{AmbiguousOrder, rule.Rule, fmt.Sprintf("the rule for %s selects the elements of the list at %s, which has %d on one side and %d on the other: nobody can tell which is missing", rule.At, r.at(at), len(ref.Items), len(cand.Items))})
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
