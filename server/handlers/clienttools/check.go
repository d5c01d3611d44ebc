package clienttools

import (
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/validation"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Bodies returns the rules for the request bodies, by operation.
func Bodies(bounds Bounds) map[string]body.Rules {
	bounds = bounds.withDefaults()
	// This is checked first, because tools above the limit are not validated.
	moreTools := func(raw []byte) response.Writer {
		if jsonwire.CountElements(raw, "tools") > bounds.MaxTools {
			return problem(http.StatusTooManyRequests, tooManyTools)
		}
		return nil
	}
	return map[string]body.Rules{
		"registerClientTools":      {First: moreTools, Check: check(registerIssues, "clientID", "tools", "lease"), Refusals: Refusals, Malformed: malformed},
		"unregisterClientTools":    {Check: check(unregisterIssues, "clientID", "toolIDs"), Refusals: Refusals, Malformed: malformed},
		"submitClientToolResult":   {Check: check(resultIssues, "requestID", "result"), Refusals: Refusals, Malformed: malformed},
		"reportClientToolProgress": {Check: check(progressIssues, "requestID", "progress", "total", "message"), Refusals: Refusals, Malformed: malformed},
		"callServerTool":           {Check: check(callIssues, "requestID", "tool", "input"), Refusals: Refusals, Malformed: malformed},
		"answerPermission":         {Check: check(permissionIssues, "response"), Refusals: Refusals, Malformed: malformed},
		"executeClientTool":        {AnyType: true, Check: checkExecute, Refusals: executeRefusals, Malformed: executeMalformed},
	}
}

// issues adds what is wrong with a value, in the order of CT 3.5: an object's members in the order of its schema, an
// array's elements by index, and nothing inside a value of the wrong type.
type issues func(value jsonwire.Text, found *validation.Issues)

// check returns the check of a body that must be an object. It accepts only the named members.
func check(all issues, names ...string) func(jsonwire.Text) (jsonwire.Text, response.Writer) {
	return func(text jsonwire.Text) (jsonwire.Text, response.Writer) {
		var found validation.Issues
		all(text, &found)
		if found.Any() {
			return nil, validation.Refuse(text, &found)
		}
		return jsonwire.Object(names, text.Pick(names...)), nil
	}
}

const (
	aNumber api.InvalidTypeIssueExpected = api.InvalidTypeIssueExpectedNumber
	aString api.InvalidTypeIssueExpected = api.InvalidTypeIssueExpectedString
	anArray api.InvalidTypeIssueExpected = api.InvalidTypeIssueExpectedArray
	object  api.InvalidTypeIssueExpected = api.InvalidTypeIssueExpectedObject
	record  api.InvalidTypeIssueExpected = api.InvalidTypeIssueExpectedRecord
)

// is adds an issue unless the value has the type.
func is(expected api.InvalidTypeIssueExpected) issues {
	kind := string(expected)
	if expected == record {
		kind = string(object)
	}
	return func(value jsonwire.Text, found *validation.Issues) {
		if value.Kind() != kind || expected == aNumber && !isDouble(value) {
			found.Type(expected, value)
		}
	}
}

// isDouble reports whether a number is in the range of doubles (CT 2.1).
func isDouble(number jsonwire.Text) bool {
	_, err := strconv.ParseFloat(string(number), 64)
	return err == nil
}

// atLeast adds an issue unless the value is a number that is not below the minimum.
func atLeast(minimum int) issues {
	return func(value jsonwire.Text, found *validation.Issues) {
		if value.Kind() != "number" || !isDouble(value) {
			found.Type(aNumber, value)
		} else if n, _ := strconv.ParseFloat(string(value), 64); n < float64(minimum) {
			found.TooSmall(minimum)
		}
	}
}

// maxLease is the longest lease in seconds (CT 14.4).
const maxLease = 86400

// isLease adds an issue unless the value is a lease (decision S78).
func isLease(value jsonwire.Text, found *validation.Issues) {
	n, whole := value.Integer()
	switch {
	case value.Kind() != "number":
		found.Type(aNumber, value)
	case !whole:
		found.NotInteger(value)
	case n < 1:
		found.TooSmall(1)
	case n > maxLease:
		found.TooBig(maxLease)
	}
}

// optional adds no issue if the value is missing.
func optional(inner issues) issues {
	return func(value jsonwire.Text, found *validation.Issues) {
		if value != nil {
			inner(value, found)
		}
	}
}

// arrayOf adds the issues of an array, with those of its elements.
func arrayOf(inner issues) issues {
	return func(value jsonwire.Text, found *validation.Issues) {
		if value.Kind() != "array" {
			found.Type(anArray, value)
			return
		}
		for i, element := range value.Elements() {
			found.Enter(validation.Step{Index: i})
			inner(element, found)
			found.Leave()
		}
	}
}

// A field is a member of an object in a schema.
type field struct {
	name   string
	issues issues
}

// objectOf adds the issues of an object with the given members.
func objectOf(fields ...field) issues {
	return func(value jsonwire.Text, found *validation.Issues) {
		if value.Kind() != "object" {
			found.Type(object, value)
			return
		}
		members(value, fields, found)
	}
}

func members(value jsonwire.Text, fields []field, found *validation.Issues) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	for i, member := range value.Pick(names...) {
		found.Enter(validation.Step{Key: names[i]})
		fields[i].issues(member, found)
		found.Leave()
	}
}

var (
	clientField    = field{"clientID", is(aString)}
	registerFields = []field{{"tools", arrayOf(objectOf(
		field{"id", is(aString)},
		field{"description", is(aString)},
		field{"parameters", is(record)},
	))}, {"lease", optional(isLease)}}
	unregisterFields = []field{{"toolIDs", optional(arrayOf(is(aString)))}}
	resultFields     = []field{
		{"requestID", is(aString)},
		{"result", responseIssues},
	}
	progressFields = []field{
		{"requestID", is(aString)},
		{"progress", atLeast(0)},
		{"total", optional(is(aNumber))},
		{"message", optional(is(aString))},
	}
	callIssues = objectOf(
		field{"requestID", is(aString)},
		field{"tool", is(aString)},
		field{"input", optional(is(record))},
	)
	progressIssues   = objectOf(progressFields...)
	permissionIssues = objectOf(field{"response", permissionIssue})
	registerIssues   = objectOf(append([]field{clientField}, registerFields...)...)
	unregisterIssues = objectOf(append([]field{clientField}, unregisterFields...)...)
	resultIssues     = objectOf(resultFields...)
	successFields    = []field{
		{"title", is(aString)},
		{"output", is(aString)},
		{"metadata", optional(is(record))},
	}
	errorFields = []field{
		{"error", is(aString)},
	}
)

// responseIssues adds the issues of the union of CT 2.3. Attachments may have any form (D8).
func responseIssues(value jsonwire.Text, found *validation.Issues) {
	if value.Kind() != "object" {
		found.UnionType(value)
		return
	}
	switch status := value.Get("status"); string(status) {
	case `"success"`:
		members(value, successFields, found)
	case `"error"`:
		members(value, errorFields, found)
	default:
		found.NoMember()
	}
}

// maxTimeout is the longest timeout in milliseconds. A longer one counts as this (decision S9).
const maxTimeout = math.MaxInt32

// checkExecute checks the body of /client-tools/execute, which has the same answer for all errors (CT 4.4, decisions
// S8 and S9). It rewrites a timeout as a plain integer, and a negative one as 0, which has the same effect.
func checkExecute(text jsonwire.Text) (jsonwire.Text, response.Writer) {
	if text.Kind() == "null" {
		text = jsonwire.Text("{}")
	}
	if text.Kind() != "object" {
		return nil, executeMalformed
	}
	names := []string{"toolID", "requestID", "sessionID", "messageID", "callID", "input", "timeout"}
	values := text.Pick(names...)
	last := len(names) - 1
	for i, value := range values[:last] {
		want := "string"
		if names[i] == "input" {
			want = "object"
		}
		if value != nil && value.Kind() != want {
			return nil, executeMalformed
		}
	}
	if timeout := values[last]; timeout != nil {
		ms, ok := timeout.Integer()
		if !ok {
			return nil, executeMalformed
		}
		values = slices.Clone(values)
		values[last] = strconv.AppendInt(nil, min(max(ms, 0), maxTimeout), 10)
	}
	return jsonwire.Object(names, values), nil
}

// permissionIssue adds an issue unless the value is one of the answers to a question (CT 10.2).
func permissionIssue(value jsonwire.Text, found *validation.Issues) {
	if value.Kind() != "string" || !api.PermissionResponse(value.Str()).Valid() {
		found.NoOption()
	}
}
