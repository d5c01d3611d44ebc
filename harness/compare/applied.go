package compare

import "strings"

// HeaderApplied is the name in Result of the rule for a header field, in one step or, with "", in all steps.
func HeaderApplied(name, step string) string {
	return "header " + strings.ToLower(name) + " " + step
}

// StubHeaderApplied is the name in Result.Applied of a header field in requests to a stub.
func StubHeaderApplied(stub, name string) string {
	return "stub " + stub + " header " + strings.ToLower(name)
}
