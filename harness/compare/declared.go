package compare

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// DeclaredIn reports whether a rule speaks of the value at a place of an answer, in the words of a contract.Violation.
func (r *Rules) DeclaredIn(step string, answer *transcript.Response, place string) bool {
	ptr, ok := strings.CutPrefix(place, "body/")
	return ok && r.declares(step, bodyContent(answer).data, "/"+ptr)
}

// DeclaredInEvent is DeclaredIn of an event of a stream that a step has opened.
func (r *Rules) DeclaredInEvent(step string, ev *transcript.Event, place string) bool {
	ptr, ok := strings.CutPrefix(place, "event data/")
	return ok && r.declares(step, []byte(ev.Data), "/"+ptr)
}

func (r *Rules) declares(step string, doc []byte, ptr string) bool {
	if r == nil {
		return false
	}
	root, _, err := jsontree.Parse(doc)
	return err == nil && pointers(r.volatile(step), doc, root, func(*Volatile) {})[ptr] != nil
}
