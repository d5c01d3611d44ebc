package compare

import "strings"

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
