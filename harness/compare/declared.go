package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Declared returns a function that reports whether a rule selects the value at a place in a response. The place is
// written like that of a contract.Violation.
func (r *Rules) Declared(step string, answer *transcript.Response) func(place string) bool {
	return r.declared(step, bodyContent(answer).Data, "body")
}

// DeclaredInEvent is Declared for an event of a stream that a step opened.
func (r *Rules) DeclaredInEvent(step string, ev *transcript.Event) func(place string) bool {
	return r.declared(step, []byte(ev.Data), "event data")
}

func (r *Rules) declared(step string, doc []byte, of string) func(place string) bool {
	var places map[string]*jsondiff.Volatile
	if root, _, err := jsontree.Parse(doc); r != nil && err == nil {
		places = jsondiff.Pointers(r.volatile(step), doc, root, map[string]bool{})
	}
	return func(place string) bool {
		ptr, ok := strings.CutPrefix(place, of)
		return ok && strings.HasPrefix(ptr, "/") && places[ptr] != nil
	}
}
