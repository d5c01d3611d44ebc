package contract

import (
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

// A Violation is one place where an exchange or an event breaks the document.
type Violation struct {
	Step     string `json:"step"`     // the id of the step; empty when only a request was checked
	Exchange int    `json:"exchange"` // index among the step's exchanges
	Stream   string `json:"stream"`   // the stream's name, when the violation is in an event
	Event    int    `json:"event"`    // index in that stream
	Side     Side   `json:"side"`
	// Place says where in the message: "status", "header Cache-Control", "query directory", or the part with the value
	// and the value's JSON Pointer in it: "body/error/code", "event data/type". The sender chose the names in a
	// pointer, so they must be escaped before they are shown.
	Place string `json:"place"`
	Kind  Kind   `json:"kind"`
	Text  string `json:"text"` // what the message has, and what the document wants
	// Schema is a reference to the place of the document that wants it: "#/components/schemas/RegisterResult". Line is
	// the line of that place, or of the nearest enclosing place with its own line; 0 when there is none.
	Schema string `json:"schema"`
	Line   int    `json:"line"`
}

// Side says whose message breaks the document.
type Side string

// lockstep sends the requests, and messages on sockets and to programs. So a violation in a request is the scenario's
// mistake and never a target's.
const (
	Request  Side = "request"
	Response Side = "response"
	Event    Side = "event"
)

// Kind names what is wrong. Package schema has constants for the kinds about a value.
type Kind = schema.Kind

// IsOfValue reports whether a kind is about a single value that is present and has the right type, as far as a text has
// a type.
func IsOfValue(k Kind) bool {
	switch k {
	case spec.ParameterValue, spec.HeaderValue, schema.PatternMismatch, schema.FormatMismatch, schema.NotInEnum, schema.WrongLength, schema.OutOfRange, schema.NotMultiple:
		return true
	}
	return false
}

type KindInfo struct {
	Kind Kind
	Doc  string // its meaning, without a full stop
}

// Kinds lists every kind of violation, in the order of the documentation.
func Kinds() []KindInfo { return append([]KindInfo(nil), kinds...) }

var kinds = []KindInfo{
	{spec.UndocumentedOperation, "the document has no operation for the method and the path"},
	{spec.MissingParameter, "a required path, query, header or cookie parameter is not sent"},
	{spec.RepeatedParameter, "a query parameter that is not an array is sent more than once"},
	{spec.ParameterValue, "a parameter's value does not match its schema"},
	{spec.UndocumentedStatus, "the operation declares neither the status, nor its range, nor a default"},
	{spec.MissingHeader, "a required response header is not sent"},
	{spec.HeaderValue, "a response header's value does not match its schema"},
	{spec.UndocumentedMediaType, "the content type is missing, or not among those that are declared"},
	{spec.MissingBody, "a body is declared, but none is sent"},
	{spec.UndocumentedBody, "a body is sent, but none is declared"},
	{schema.JSONSyntax, "the content type says JSON, but the text is not JSON"},
	{schema.JSONByteOrderMark, "a JSON text begins with a byte order mark"},
	{schema.JSONInvalidUTF8, "a JSON text contains bytes that are not UTF-8"},
	{schema.JSONDuplicateName, "a JSON object has the same name twice"},
	{schema.JSONTrailingText, "something follows the JSON value"},
	{schema.WrongType, "the value is of another type"},
	{schema.NotInEnum, "the value is not one of the listed values"},
	{schema.PatternMismatch, "the string does not match the regular expression"},
	{schema.FormatMismatch, "the string or number is not in the format"},
	{schema.WrongLength, "the string is too short or too long"},
	{schema.OutOfRange, "the number is too small or too large"},
	{schema.NotMultiple, "the number is not a multiple of the given number"},
	{schema.WrongItemCount, "the array has too few or too many elements"},
	{schema.RepeatedItem, "two elements of the array are equal"},
	{schema.WrongFieldCount, "the object has too few or too many fields"},
	{schema.WrongFieldName, "the name of a field does not match `propertyNames`"},
	{schema.MissingField, "a required field is missing"},
	{schema.ForbiddenField, "the object is closed and does not declare the field"},
	{schema.UndocumentedField, "the object is open and no schema that applies to it names the field"},
	{schema.ReadOnlyField, "a request has a field that only responses have"},
	{schema.WriteOnlyField, "a response has a field that only requests have"},
	{schema.UnknownAlternative, "the field that selects the alternative is missing, or names none of them"},
	{schema.SeveralAlternatives, "the value matches more than one of the alternatives"},
	{schema.ForbiddenMatch, "the value matches the schema that it must not match"},
	{spec.UndocumentedEvent, "the stream does not declare an event of that name"},
	{spec.UndocumentedComment, "the stream has a comment, but does not declare comments"},
	{spec.EventData, "an event is declared with data but has none, so no client sees it"},
	{spec.TextInvalidUTF8, "a text message of a socket that is not JSON contains bytes that are not UTF-8"},
	{schema.MoreViolations, "the body or event has more violations than are listed"},
}
