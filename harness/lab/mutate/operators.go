// Package mutate finds out what a judgement would not notice.
//
// A green run shows that nothing was found, not that a mistake would have been found. An Operator takes what the
// candidate did in a scenario and changes one thing, as a server with one mistake would. Judging the mutant by the same
// rules shows whether the scenarios and rules would have caught that server. A mutant that is found is killed. A mutant
// that is not found survives, and Explain names the rule that hides it. Operators that do not matter make changes that
// no client can notice: if such a mutant is found, that is a false alarm.
//
// The run itself shows which values the server generates. What both sides of a green run have in common is fixed, and
// the rest is generated. What package compare considers an id does not matter here. So if it is wrong about a shape of
// ids, a mutant survives.
//
// A Content-Length that was right stays right, as with a framework. Only the first 400 values of a document are
// changed, and none that is nested deeper than 40 levels.
//
// The package is pure: it reads transcripts and returns changed copies, which share with them what is not changed.
package mutate

import "slices"

// Operators returns all operators, family by family.
func Operators() []Operator {
	return slices.Concat(
		statusOperators, mediaOperators, headerOperators, presenceOperators, nullOperators, typeOperators,
		booleanOperators, numberOperators, stringOperators, identityOperators, echoOperators, embeddedOperators, timeOperators, orderOperators,
		dropOperators, duplicateOperators, errorOperators, eventOrderOperators, eventDropOperators,
		eventDuplicateOperators, messageOperators, closeOperators, exitOperators, lateOperators, foreignOperators, renamedOperators, endOperators, processOperators, heartbeatOperators,
		framingOperators, pieceOperators, upstreamOperators,
		harmless(sameOperators),
	)
}
