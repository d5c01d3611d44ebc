package compare

import (
	"fmt"
	"strings"

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

func (c *comparison) refuse(r Refusal) {
	for _, other := range c.result.Refused {
		if other.Rule == r.Rule && other.Kind == r.Kind {
			return
		}
	}
	c.result.Refused = append(c.result.Refused, r)
}

// structural refuses the rule that names a place which has an object or a list. One that looks for a name anywhere finds
// what it finds: where that is no single value, it silences nothing.
func (d *documents) structural(rule *Volatile, at *spot, ref *jsontree.Node) {
	if (ref.Kind == jsontree.Object || ref.Kind == jsontree.Array) && !strings.Contains(rule.At, "..") {
		d.refuse(Refusal{Structural, rule.Rule, fmt.Sprintf("the rule for %s selects an %s, at %s: select the values in it", rule.At, ref.Kind, d.at(at))})
	}
}

// ambiguous refuses the rule that makes the elements of two lists of different lengths volatile one and all.
func (d *documents) ambiguous(at *spot, ref, cand *jsontree.Node) {
	if len(d.volatile[0]) == 0 {
		return
	}
	pointer := at.pointer(0)
	for i := range ref.Items {
		rule := d.volatile[0][jsontree.AppendIndex(pointer, i)]
		if rule != nil && selectsElements(rule.At) {
			d.refuse(Refusal{AmbiguousOrder, rule.Rule, fmt.Sprintf("the rule for %s selects the elements of the list at %s, which has %d on one side and %d on the other: nobody can tell which is missing", rule.At, d.at(at), len(ref.Items), len(cand.Items))})
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

// HeaderApplied is what Result calls a rule for a header field, in a step or, with "", anywhere.
func HeaderApplied(name, step string) string {
	return "header " + strings.ToLower(name) + " " + step
}

// StreamApplied is what Result calls the rules for streams of a name or an operation.
func StreamApplied(key string) string { return "stream " + key }

// OrderApplied is what Result calls the rule for the order of such streams.
func OrderApplied(key string) string { return "order " + key }

// AnchorApplied is what Result calls the rule that makes events of a name anchors of such streams.
func AnchorApplied(key, event string) string { return "anchor " + key + " " + event }

// CollapseApplied is what Result calls the rule for the pieces of texts that events of a name bring on such streams.
func CollapseApplied(key, event string) string { return "collapse " + key + " " + event }
