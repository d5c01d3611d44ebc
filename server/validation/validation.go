// Package validation says what is wrong with a request that is JSON but not what the operation needs (CT 2.5, 3.5).
package validation

import (
	"bufio"
	"iter"
	"net/http"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// An Issue is one thing that is wrong. It is one of the issues of the contract, or one with the same keys in another order.
type Issue any

// Path says where in a body an issue is: keys are strings, indexes are ints.
type Path []any

// At returns the path of something inside what p points to.
func (p Path) At(key any) Path { return append(p[:len(p):len(p)], key) }

// Type is the issue of a value that is missing or has another type than expected, which is string, array, object or
// record: an object with any keys.
func Type(expected api.InvalidTypeIssueExpected, got jsonwire.Text, at Path) Issue {
	return api.InvalidTypeIssue{
		Expected: expected,
		Code:     api.InvalidTypeIssueCodeInvalidType,
		Path:     api.IssuePath(at),
		Message:  typeMessage(expected, got.Kind()),
	}
}

// UnionType is the issue of a union that is missing or not an object. It begins with other keys than [Type].
func UnionType(got jsonwire.Text, at Path) Issue {
	const expected = api.InvalidTypeIssueExpectedObject
	return struct {
		Code     api.InvalidTypeIssueCode     `json:"code"`
		Expected api.InvalidTypeIssueExpected `json:"expected"`
		Path     api.IssuePath                `json:"path"`
		Message  string                       `json:"message"`
	}{api.InvalidTypeIssueCodeInvalidType, expected, api.IssuePath(at), typeMessage(expected, got.Kind())}
}

// NoMember is the issue of a union whose discriminator, the key status, names none of its members.
func NoMember(at Path) Issue {
	return api.InvalidUnionIssue{
		Code:          api.InvalidUnionIssueCodeInvalidUnion,
		Errors:        []map[string]any{},
		Note:          api.InvalidUnionIssueNoteNoMatchingDiscriminator,
		Discriminator: api.InvalidUnionIssueDiscriminatorStatus,
		Path:          api.IssuePath(at.At("status")),
		Message:       api.InvalidUnionIssueMessageInvalidInput,
	}
}

func typeMessage(expected api.InvalidTypeIssueExpected, received string) string {
	return "Invalid input: expected " + string(expected) + ", received " + received
}

// Refuse returns the answer 400 with the parsed body and its issues. The issues are asked for when the answer is
// written, more than once: there can be many more bytes of them than of the body, and they are never all in memory.
func Refuse(data jsonwire.Text, issues iter.Seq[Issue]) answer.Writer {
	return refusal{data, issues}
}

type refusal struct {
	data   jsonwire.Text
	issues iter.Seq[Issue]
}

func (r refusal) Write(w http.ResponseWriter) error {
	length := 0
	for part := range r.parts() {
		length += len(part)
	}
	answer.Head(w, http.StatusBadRequest, "application/json", length)
	out := bufio.NewWriter(w)
	for part := range r.parts() {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return out.Flush()
}

// parts yields the body piece by piece.
func (r refusal) parts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield([]byte(`{"data":`)) || !yield(r.data) || !yield([]byte(`,"error":[`)) {
			return
		}
		first := true
		for issue := range r.issues {
			if !first && !yield([]byte(",")) || !yield(jsonwire.Marshal(issue)) {
				return
			}
			first = false
		}
		yield([]byte(`],"success":false}`))
	}
}
