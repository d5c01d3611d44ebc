package compare

import "strings"

// HeaderApplied is the name in Result of the rule for a header field, in one step or, with "", in all steps.
func HeaderApplied(name, step string) string {
	return "header " + strings.ToLower(name) + " " + step
}

// StreamApplied is the name in Result of the rules for streams with a name or an operation.
func StreamApplied(key string) string { return "stream " + key }

// OrderApplied is the name in Result of the rule for the order of such streams.
func OrderApplied(key string) string { return "order " + key }

// AnchorApplied is the name in Result of the rule that makes an event an anchor of such streams.
func AnchorApplied(key, event string) string { return "anchor " + key + " " + event }

// CollapseApplied is the name in Result of the rule that joins the pieces of text in an event of such streams.
func CollapseApplied(key, event string) string { return "collapse " + key + " " + event }
