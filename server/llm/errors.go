package llm

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/telemetry"
	"github.com/lockstep-dev/lockstep/server/wire/httpstatus"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// An Error is what a provider reports. Users see its text (GA 18.9).
type Error struct {
	Kind Kind
	// Message is the text without the prefix of its kind.
	Message string
	cause   error  // not shown
	status  int    // of the answer, or 0
	said    []byte // the body of the answer, or nil

	errorType string // for telemetry, unless it depends on the cause
}

// A Kind says what can be done about an error.
type Kind int

// The kinds of errors.
const (
	Failed          Kind = iota
	Unauthorized         // the key is wrong
	ContextExceeded      // the conversation is too long
	RateLimited          // worth a retry
	ServerFailed         // worth a retry
)

var prefixes = [...]string{
	Failed:          "Request failed: ",
	Unauthorized:    "Authentication error: ",
	ContextExceeded: "Context length exceeded: ",
	RateLimited:     "Rate limit exceeded: ",
	ServerFailed:    "Server error: ",
}

func (e *Error) Error() string { return prefixes[e.Kind] + e.Message }

// LogValue returns what a log says. That is not the text, which may be the provider's, and have the key of the request.
func (e *Error) LogValue() slog.Value {
	if answered, ok := errors.AsType[*Error](e.cause); ok {
		return answered.LogValue()
	}
	said := strings.TrimSuffix(prefixes[e.Kind], ": ")
	if e.status != 0 {
		said += ", " + httpstatus.Of(e.status)
	}
	if e.cause != nil {
		said += ": " + e.cause.Error()
	}
	return slog.StringValue(said)
}

// Reason returns an error that says why a call has failed, with nothing of its address or its answer.
func Reason(err error) error {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && e.status != 0:
		return errors.New(httpstatus.Of(e.status))
	case ok && e.errorType != "":
		return errors.New(e.errorType)
	case errors.Is(err, errLongAnswer):
		return errLongAnswer
	}
	return errors.New("the answer cannot be read")
}

// Unwrap returns the cause, if it is known.
func (e *Error) Unwrap() error { return e.cause }

// IsContextExceeded reports whether a conversation was too long for the model.
func IsContextExceeded(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == ContextExceeded
}

// transient reports whether a retry may help.
func (e *Error) transient() bool { return e.Kind == RateLimited || e.Kind == ServerFailed }

// statusError returns the error for an answer whose status is not 200 (GA 18.9).
func statusError(status int, body []byte) *Error {
	e := failureOf(status, body)
	e.status, e.said, e.errorType = status, body, strconv.Itoa(status)
	return e
}

func failureOf(status int, body []byte) *Error {
	said, code := complaint(body)
	named := httpstatus.Of(status)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &Error{Kind: Unauthorized, Message: "Authentication failed. Status: " + named + ". Response: " + said}
	case status == http.StatusRequestEntityTooLarge:
		return &Error{Kind: ContextExceeded, Message: said}
	case status == http.StatusBadRequest && (code == "context_length_exceeded" || aboutContext(said)):
		return &Error{Kind: ContextExceeded, Message: said}
	case status == http.StatusBadRequest:
		return &Error{Message: "Bad request (400): " + said}
	case status == http.StatusNotFound:
		return &Error{Message: "Resource not found (404): " + said}
	case status == http.StatusTooManyRequests:
		return &Error{Kind: RateLimited, Message: said}
	case status >= 500:
		return &Error{Kind: ServerFailed, Message: "Server error (" + named + "): " + said}
	}
	return &Error{Message: "Request failed with status " + named + ": " + said}
}

// errorInside returns the error that a successful answer has, or nil (decision M76).
func errorInside(body []byte, answer jsonwire.Text) error {
	failure := answer.Get("error")
	if !isSet(failure) {
		return nil
	}
	code := failure.Get("code")
	digits := string(code)
	if code.Kind() == "string" {
		digits = code.Str()
	}
	if status, err := strconv.ParseUint(digits, 10, 16); err == nil && 400 <= status && status < 600 {
		failed := statusError(int(status), body)
		failed.errorType = telemetry.InvalidResponse
		return failed
	}
	said, _ := complaint(body)
	return &Error{Message: said, errorType: telemetry.InvalidResponse}
}

// complaint returns the message in the body of an error: error.message or message if it is JSON of that form, or else
// the body.
func complaint(body []byte) (said, code string) {
	text, err := jsonwire.Parse(body)
	if err == nil {
		code = text.Get("error").Get("code").Str()
		for _, message := range []jsonwire.Text{text.Get("error").Get("message"), text.Get("message")} {
			if message.Kind() == "string" {
				return message.Str(), code
			}
		}
	}
	return strings.ToValidUTF8(string(body), "\uFFFD"), code
}

// contextWords are words in messages that a request was too long for the model (decision M29).
var contextWords = []string{
	"context", "too long", "prompt length", "input length", "reduce the length", "too many tokens", "token limit", "token count",
}

func aboutContext(said string) bool {
	said = strings.ToLower(said)
	for _, word := range contextWords {
		if strings.Contains(said, word) {
			return true
		}
	}
	return false
}

// errTimeout is the reason for cancelling a call that has taken too long.
var errTimeout = errors.New("the time for the call is over")

// noAnswer returns the error for a call without an answer. It leaves out the network's error, because its text
// differs between machines (decision M28).
func noAnswer(ctx context.Context, limit time.Duration, err error) *Error {
	message, errorType := "No connection to the model", telemetry.ConnectionError
	if errors.Is(context.Cause(ctx), errTimeout) {
		errorType = telemetry.Timeout
		message = "No answer of the model within " + strconv.FormatFloat(limit.Seconds(), 'f', -1, 64) + " s"
	}
	return &Error{Message: message, cause: err, errorType: errorType}
}

func unreadable(err error) *Error {
	return &Error{Message: "The answer of the model cannot be read", cause: err}
}
