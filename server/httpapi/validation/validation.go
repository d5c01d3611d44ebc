// Package validation describes what is wrong with a request that is JSON but not what the operation accepts
// (CT 2.5, 3.5).
package validation

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// These bounds limit an answer (decision S43).
const (
	maxIssues = 100
	maxData   = 64 << 10
)

// Issues collects what is wrong with a body. It keeps the first hundred issues and counts the others, so that a bad
// body takes no more memory than a good one.
type Issues struct {
	at   []Step
	kept []any // issues of the contract, or structs with the same keys in another order
	more int
}

// A Step is one step from a value to a value in it: a key, or an index if the key is empty.
type Step struct {
	Key   string
	Index int
}

// Enter moves to a value in the current value.
func (s *Issues) Enter(step Step) { s.at = append(s.at, step) }

// Leave moves back to the value that contains the current one.
func (s *Issues) Leave() { s.at = s.at[:len(s.at)-1] }

// Any reports whether there is an issue.
func (s *Issues) Any() bool { return len(s.kept) > 0 }

// First returns the first issue in one line: its path, joined with dots, and its message (CT 7.1).
func (s *Issues) First() string {
	issue := jsonwire.Marshal(s.kept[0])
	var steps []string
	for _, step := range issue.Get("path").Elements() {
		if step.Kind() == "string" {
			steps = append(steps, step.Str())
		} else {
			steps = append(steps, string(step))
		}
	}
	message := issue.Get("message").Str()
	if len(steps) == 0 {
		return message
	}
	return strings.Join(steps, ".") + ": " + message
}

// add keeps or counts an issue of the current value.
func (s *Issues) add(issue func(at api.IssuePath) any) {
	if len(s.kept) == maxIssues {
		s.more++
		return
	}
	at := make(api.IssuePath, len(s.at))
	for i, step := range s.at {
		at[i] = step.Index
		if step.Key != "" {
			at[i] = step.Key
		}
	}
	s.kept = append(s.kept, issue(at))
}

// Type adds the issue that the current value is missing, or is not of the expected type: string, array, object, or
// record, which is an object with any keys.
func (s *Issues) Type(expected api.InvalidTypeIssueExpected, got jsonwire.Text) {
	s.add(func(at api.IssuePath) any {
		return api.InvalidTypeIssue{
			Expected: expected,
			Code:     api.InvalidTypeIssueCodeInvalidType,
			Path:     at,
			Message:  typeMessage(expected, got.Kind()),
		}
	})
}

// UnionType adds the issue that the current value, a union, is missing or not an object. Its keys are in another
// order than those of [Issues.Type].
func (s *Issues) UnionType(got jsonwire.Text) {
	const expected = api.InvalidTypeIssueExpectedObject
	s.add(func(at api.IssuePath) any {
		return struct {
			Code     api.InvalidTypeIssueCode     `json:"code"`
			Expected api.InvalidTypeIssueExpected `json:"expected"`
			Path     api.IssuePath                `json:"path"`
			Message  string                       `json:"message"`
		}{api.InvalidTypeIssueCodeInvalidType, expected, at, typeMessage(expected, got.Kind())}
	})
}

// NoMember adds the issue that the discriminator of the current value, its key status, selects no member of the
// union.
func (s *Issues) NoMember() {
	s.add(func(at api.IssuePath) any {
		return api.InvalidUnionIssue{
			Code:          api.InvalidUnionIssueCodeInvalidUnion,
			Errors:        []map[string]any{},
			Note:          api.InvalidUnionIssueNoteNoMatchingDiscriminator,
			Discriminator: api.InvalidUnionIssueDiscriminatorStatus,
			Path:          append(at, "status"),
			Message:       api.InvalidUnionIssueMessageInvalidInput,
		}
	})
}

// NotInteger adds the issue that the current value is a number and not an integer (CT 14.4).
func (s *Issues) NotInteger(got jsonwire.Text) {
	const expected = api.InvalidTypeIssueExpectedInt
	s.add(func(at api.IssuePath) any {
		return api.InvalidTypeIssue{
			Expected: expected, Format: new(api.InvalidTypeIssueFormatSafeint), Code: api.InvalidTypeIssueCodeInvalidType,
			Path: at, Message: typeMessage(expected, got.Kind()),
		}
	})
}

// TooBig adds the issue that the current value, a number, is above a maximum (CT 14.4).
func (s *Issues) TooBig(maximum int) {
	s.add(func(at api.IssuePath) any {
		return api.TooBigIssue{
			Origin: api.TooBigIssueOriginNumber, Code: api.TooBigIssueCodeTooBig, Maximum: api.TooBigIssueMaximum(maximum),
			Inclusive: true, Path: at, Message: api.TooBigIssueMessage(fmt.Sprintf("Too big: expected number to be <=%d", maximum)),
		}
	})
}

// NoOption adds the issue that the current value is none of the answers to a question (CT 10.2).
func (s *Issues) NoOption() {
	options := []api.PermissionResponse{api.PermissionResponseOnce, api.PermissionResponseAlways, api.PermissionResponseReject}
	s.add(func(at api.IssuePath) any {
		return struct { // the contract's type has another type of values
			Code    api.InvalidValueIssueCode    `json:"code"`
			Values  []api.PermissionResponse     `json:"values"`
			Path    api.IssuePath                `json:"path"`
			Message api.InvalidValueIssueMessage `json:"message"`
		}{
			api.InvalidValueIssueCodeInvalidValue, options, at, api.InvalidValueIssueMessageInvalidOptionExpectedOneOfOnceAlwaysReject,
		}
	})
}

// TooSmall adds the issue that the current value, a number, is below a minimum (CT 14.2, 14.4).
func (s *Issues) TooSmall(minimum int) {
	s.add(func(at api.IssuePath) any {
		return api.TooSmallIssue{
			Origin: api.TooSmallIssueOriginNumber, Code: api.TooSmallIssueCodeTooSmall, Minimum: api.TooSmallIssueMinimum(minimum),
			Inclusive: true, Path: at, Message: api.TooSmallIssueMessage(fmt.Sprintf("Too small: expected number to be >=%d", minimum)),
		}
	})
}

func typeMessage(expected api.InvalidTypeIssueExpected, received string) string {
	return "Invalid input: expected " + string(expected) + ", received " + received
}

// Refuse returns an answer 400 with the issues, and with the parsed body unless it is large.
func Refuse(data jsonwire.Text, found *Issues) response.Writer {
	issues := found.kept
	if found.more > 0 {
		issues = append(issues, api.TooManyIssues{
			Code:    api.TooManyIssuesCodeTooManyIssues,
			Path:    []string{},
			Message: fmt.Sprintf("%d more issues", found.more),
		})
	}
	body := jsonwire.Text("{")
	if len(data) <= maxData {
		body = append(append(append(body, `"data":`...), data...), ',')
	}
	body = append(append(body, `"error":`...), jsonwire.Marshal(issues)...)
	return response.JSON{Status: http.StatusBadRequest, Body: append(body, `,"success":false}`...)}
}
