// Package mutate finds out what a judgement would not notice.
//
// A green run says that nothing was found, not that something would have been. An Operator takes what the candidate did
// in a scenario and changes one thing, as a port with one mistake would. Judging the mutant by the same rules shows whether
// the scenarios and rules would have caught that server. A mutant that is found is killed. One that is not survives, and
// Explain names the rule that hides it. Operators that do not matter change what no client can tell: a mutant of theirs
// that is found is a false alarm.
//
// The run itself shows which values the server generates: what both sides of a green run have in common is fixed, the rest
// is generated. What package compare takes for an id plays no part, so a shape that it is wrong about shows as a survivor.
//
// A Content-Length that counted its body counts the changed one, as a framework would do it. Of a document only the first
// 400 values are changed, and none that is nested deeper than 40 levels.
//
// The package is pure: it reads transcripts and returns changed copies that share with them what is not changed.
package mutate

import "slices"

// Operators returns all operators, family by family.
func Operators() []Operator {
	return slices.Concat(
		statusOperators, mediaOperators, headerOperators, presenceOperators, nullOperators, typeOperators,
		booleanOperators, numberOperators, stringOperators, identityOperators, echoOperators, embeddedOperators, timeOperators, orderOperators,
		dropOperators, duplicateOperators, errorOperators, eventOrderOperators, eventDropOperators,
		eventDuplicateOperators, lateOperators, gapOperators, foreignOperators, renamedOperators, endOperators, processOperators, heartbeatOperators,
		framingOperators, pieceOperators, upstreamOperators, mcpOperators,
		harmless(sameOperators), harmless(sameStreamOperators), harmless(samePieceOperators),
	)
}
